"""One file: text to findings to text.

    gate -> parse and walk -> rules (asking the model) -> spans -> suppressions -> findings
                                                                  and edits -> splice -> again, until nothing changes

Only the gate is there for most files; libcst, the model and the rules are imported when a file gets past it.
"""

from __future__ import annotations

import ast
import bisect
import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from torchlint.diagnostic import (
    AS_RULES_SAY,
    Applicability,
    Diagnostic,
    Fixing,
    LocatedEvidence,
    LocatedFix,
    Policy,
    Position,
    Problem,
    TextEdit,
)
from torchlint.gate import possible_rules, sites
from torchlint.guard import BREAKS, Guard, splice
from torchlint.limits import BUDGET
from torchlint.rules import catalogue
from torchlint.standin import ASYNC_STAND_IN, STAND_IN, without_async, without_chains
from torchlint.standin import MESSAGE as SKIPPED
from torchlint.suppress import Suppressions
from torchlint.target import ANY, Target

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.model import Evidence, Model
    from torchlint.model.codebase import Codebase
    from torchlint.rule import Anchor, Edit, Finding, Fix, Rule
    from torchlint.tree import Source, Span, Tree

MAX_ROUNDS = 500
"""Rounds of fixing before a file counts as not converging. Statements that join one block do so one a round."""

MAX_DEPTH = 200
"""CPython's tokenizer refuses more nested brackets (Parser/lexer/state.h, MAXLEVEL); libcst's parser dies of them."""

NAME_WIDTH = 40
"""Characters shown of the expression that a reason is about."""

TOO_DEEP = "an expression is nested too deeply to be analysed"

TOO_MUCH = "there is more to interpret than `model-budget` allows: some of it was not, so findings may be missing"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    diagnostics: tuple[Diagnostic, ...]
    """What remains, sorted, without what is suppressed."""
    text: str
    """The text with fixes applied; the very same text if there were none."""
    fixed: tuple[tuple[str, int], ...] = ()
    """How many fixes of each code were applied."""
    problems: tuple[Problem, ...] = ()
    suppressed: int = 0
    rests_on: Mapping[str, str] = field(default_factory=dict)
    """The other files that were looked at, with their state then."""


@functools.cache
def _rules(codes: frozenset[str]) -> tuple[Rule, ...]:
    from torchlint.rule import load

    return tuple(load(info.module) for code, info in sorted(catalogue().items()) if code in codes)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked, apart from the text."""

    path: str
    """For messages."""
    codes: frozenset[str]
    """The rules to check it with."""
    location: str | None = None
    """Where the file is, so that what it imports can be found; without it nothing is looked for."""
    codebase: Codebase | None = None
    """What is known of the other files."""
    policy: Policy = AS_RULES_SAY
    """What the settings say about fixes."""
    target: Target = ANY
    """The versions of torch it is written for."""
    budget: int = BUDGET
    """How many expressions of it are interpreted; 0 for no limit."""


def check_text(
    text: str,
    path: str,
    codes: frozenset[str],
    fixing: Fixing = Fixing.NONE,
    *,
    location: str | None = None,
    codebase: Codebase | None = None,
    policy: Policy = AS_RULES_SAY,
    target: Target = ANY,
    budget: int = BUDGET,
) -> Outcome:
    """Lint one text with the rules of the given codes, and fix it; for the rest see :class:`Subject`.

    Never raises for bad input: what does not parse is a TL001 finding, a rule that raises is a problem.
    """
    return _fixed(text, Subject(path, codes, location, codebase, policy, target, budget), fixing)


def _fixed(text: str, subject: Subject, fixing: Fixing) -> Outcome:
    original = _check(text, subject)
    if fixing is Fixing.NONE:
        return original.outcome()
    off = frozenset[str]()
    while True:
        current, fixed, endless = _rounds(original, subject, fixing, off)
        if not endless:
            break
        off |= endless
    if off:
        current.drop([d for d in current.diagnostics if d.code in off and d.fix is not None])
        message = f"the fixes of {', '.join(sorted(off))} did not come to an end: left out"
        current.problems.append(Problem(subject.path, message))
    return current.outcome(fixed)


def _rounds(
    original: _Checked, subject: Subject, fixing: Fixing, off: frozenset[str]
) -> tuple[_Checked, Counter[str], frozenset[str]]:
    """Fix until nothing is left to fix, without the fixes of some rules; also the rules whose fixes never end."""
    current, fixed = original, Counter[str]()
    seen = {original.text: 0}
    history: list[frozenset[str]] = []
    for number in range(1, MAX_ROUNDS + 1):
        applied, following = _round(current, subject, fixing, off)
        if not applied:
            return current, fixed, frozenset()
        fixed.update(diagnostic.code for diagnostic in applied)
        history.append(frozenset(diagnostic.code for diagnostic in applied))
        if following.text in seen:
            return current, fixed, frozenset[str]().union(*history[seen[following.text] :])
        seen[following.text] = number
        current = following
    return current, fixed, frozenset[str]().union(*history[-MAX_ROUNDS // 10 :])


def _round(
    current: _Checked, subject: Subject, fixing: Fixing, off: frozenset[str]
) -> tuple[list[Diagnostic], _Checked]:
    """The fixes that are applied to a text in one round, and the text after it."""
    chosen = list(_chosen(current, fixing, off))
    if not chosen:
        return [], current
    judge = _Judge(current)
    applied = judge.admitted(chosen)
    following = _check(splice(current.text, _edits(applied)), subject) if applied else current
    if following.broken and not current.broken:
        judge.is_thorough = True
        applied = judge.admitted(applied)
        following = _check(splice(current.text, _edits(applied)), subject) if applied else current
    current.drop(list(judge.refused))
    for diagnostic, reason in judge.refused.items():
        message = f"the fix of {diagnostic.code} {reason}: left out"
        current.problems.append(Problem(subject.path, message, diagnostic.start.row))
    if not applied:  # others may have waited for those
        return _round(current, subject, fixing, off)
    return applied, following


class _Judge:
    """Says which fixes of a round may be applied: a last line of defence against mistakes in rules."""

    def __init__(self, current: _Checked) -> None:
        self.text = current.text
        self.refused: dict[Diagnostic, str] = {}
        self.is_thorough = False
        """Whether libcst is asked, too. It is anyway, in the next round."""
        self._guard = Guard(current.text, without_async(current.text))

    def admitted(self, chosen: Sequence[Diagnostic]) -> list[Diagnostic]:
        """As many of these fixes as there can be without objection; the others are refused."""
        kept: list[Diagnostic] = []
        waiting = [list(chosen)]
        while waiting:
            group = waiting.pop()
            objection = self._objection([*kept, *group])
            if objection is None:
                kept += group
            elif len(group) == 1:
                self.refused[group[0]] = objection
            else:
                middle = len(group) // 2
                waiting += (group[middle:], group[:middle])
        return kept

    def _objection(self, fixed: Iterable[Diagnostic]) -> str | None:
        edits = _edits(fixed)
        if not edits:
            return None
        text = splice(self.text, edits)
        objection = self._guard.objection(edits, without_async(text))
        return objection or (BREAKS if self.is_thorough and not _parses(text) else None)


def _parses(text: str) -> bool:
    try:
        return not parse(text, "").is_repaired
    except (Unparsed, RecursionError):
        return False


def _edits(fixed: Iterable[Diagnostic]) -> list[TextEdit]:
    """The edits of some fixes, those that they share once."""
    return list(dict.fromkeys(edit for diagnostic in fixed if diagnostic.fix for edit in diagnostic.fix.edits))


@dataclass(slots=True)
class _Checked:
    """The state of a file in one round."""

    text: str
    diagnostics: list[Diagnostic]
    problems: list[Problem]
    suppressed: int = 0
    broken: bool = False
    rests_on: Mapping[str, str] = field(default_factory=dict)

    def drop(self, refused: Collection[Diagnostic]) -> None:
        """Take away the fixes of these findings."""
        self.diagnostics = [replace(each, fix=None) if each in refused else each for each in self.diagnostics]

    def outcome(self, fixed: Counter[str] | None = None) -> Outcome:
        counts = tuple(sorted(fixed.items())) if fixed else ()
        return Outcome(tuple(self.diagnostics), self.text, counts, tuple(self.problems), self.suppressed, self.rests_on)


class Lines:
    """Offsets to rows and columns. Rows end at LF, CR or CRLF and nothing else."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]

    def position(self, offset: int) -> Position:
        """1-based row and column of an offset."""
        row = bisect.bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)


class Unparsed(ValueError):
    """A text is no Python; ``diagnostic`` says where and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def parse(text: str, path: str, is_wanted: Callable[[int, int], bool] | None = None) -> Tree:
    """The tree of a text. ``async`` as a keyword argument is read as a stand-in, which ``Tree.is_repaired`` tells.

    With ``is_wanted``, only bodies of functions for which it is true are parsed at once (see ``Tree``).

    Raises:
        Unparsed: it is no Python.
        RecursionError: it is nested too deeply for the stack there is.
    """
    error = _unparsable(text)
    if error is not None:
        raise Unparsed(error)
    import libcst as cst

    from torchlint.tree import Source, is_refused

    source = Source(text)
    source.parsed, skipped = without_chains(source.parsed, without_async(source.parsed))
    try:
        tree = _tree(source, is_wanted if source.parsed == text else None)  # the lines are those of the text
    except cst.ParserSyntaxError as error_:
        raise Unparsed(syntax_error(text, path) or _libcst_error(error_)) from None
    if is_refused(tree) and (error := syntax_error(text, path, flags=0)) is not None:
        raise Unparsed(error)
    tree.skipped = skipped
    tree.is_package = _is_package(path)
    return tree


def _is_package(path: str) -> bool:
    return path.replace("\\", "/").endswith("__init__.py")


def _tree(source: Source, is_wanted: Callable[[int, int], bool] | None) -> Tree:
    import libcst as cst

    from torchlint.tree import Tree

    try:
        return Tree(source, is_wanted)
    except cst.ParserSyntaxError:
        repaired = without_async(source.parsed)
        if repaired == source.parsed:
            raise
        source.parsed = repaired
    tree = Tree(source)
    tree.is_repaired = True
    return tree


def model_of(tree: Tree, location: str | None, codebase: Codebase | None = None) -> Model:
    """The model of a file: the one place that makes one."""
    from torchlint.model import Model

    return Model(tree, location, codebase)


def _model_of(tree: Tree, subject: Subject) -> Model:
    from torchlint.model.budget import Budget

    model = model_of(tree, subject.location, subject.codebase)
    model.target, model.budget = subject.target, Budget(subject.budget)
    return model


def _check(text: str, subject: Subject) -> _Checked:
    from torchlint.unread import Unreadable

    data = text.encode(errors="surrogatepass")
    codes = possible_rules(data, subject.codes)
    look = first_look(text, subject, codes, data)
    if look is not None and not look.codes:
        problems = [Problem(subject.path, TOO_MUCH)] if look.is_cut_short else []
        return _suppress(_Checked(text, [], problems, rests_on=look.rests_on), subject.codes)
    if look is not None:
        codes = look.codes
    try:
        checked = _check_with(text, subject, codes, sites(data, codes))
    except Unreadable:
        checked = _check_with(text, subject, codes, None)
    if look is not None:
        checked.rests_on = {**look.rests_on, **checked.rests_on}
        if look.is_cut_short and not any(problem.message == TOO_MUCH for problem in checked.problems):
            checked.problems.append(Problem(subject.path, TOO_MUCH))
    return checked


class Look(NamedTuple):
    """What a first look at a file has shown."""

    codes: frozenset[str]
    """The rules that found something."""
    rests_on: Mapping[str, str]
    """The other files that were looked at, with their state then."""
    is_cut_short: bool = False
    """Whether there was more to interpret than the budget allows."""


def first_look(text: str, subject: Subject, possible: frozenset[str], data: bytes) -> Look | None:
    """Which rules find something in a sketch of a text; None if only libcst's tree can tell."""
    from torchlint.sketch import Unsketchable
    from torchlint.tree import Tree
    from torchlint.unread import python_tree

    try:
        if "\0" in text or without_chains(text, text)[1]:
            return None
        if not possible:
            return Look(frozenset(), {}) if python_tree(text) is not None else None
        tree = Tree(text.replace("\r\n", "\n"), sites(data, possible), is_sketch=True)
    except (Unsketchable, RecursionError):
        return None
    tree.is_package = _is_package(subject.path)
    try:
        return _look(tree, subject, possible)
    except Exception:  # whatever it is, rules get at it again with libcst's tree
        return None
    finally:
        tree.close()


def _look(tree: Tree, subject: Subject, possible: frozenset[str]) -> Look:
    model = _model_of(tree, subject)
    try:
        codes = {rule.code for rule in _rules(possible) if next(_findings(rule, tree, model), None) is not None}
        is_cut_short = model.budget.is_spent
    finally:
        rests_on = model.close()
    return Look(frozenset(codes), rests_on, is_cut_short)


def _check_with(
    text: str, subject: Subject, possible: frozenset[str], is_wanted: Callable[[int, int], bool] | None
) -> _Checked:
    """Check a text with those of the rules that are possible; for ``is_wanted`` see :func:`parse`."""
    path, codes = subject.path, subject.codes
    try:
        tree = parse(text, path, is_wanted)
    except Unparsed as error_:
        return _unparsed(text, error_.diagnostic)
    except RecursionError:
        return _Checked(text, [], [Problem(path, TOO_DEEP)])
    try:
        checked = _check_tree(tree, text, subject, possible)
    finally:
        tree.close()
    return _suppress(checked, codes)


def _check_tree(tree: Tree, text: str, subject: Subject, possible: frozenset[str]) -> _Checked:
    from torchlint.tree import NotRoundTripped

    path = subject.path
    findings, problems, rests_on = _run_rules(tree, subject, possible)
    lines = Lines(text)
    for chain in tree.skipped:
        if chain.matters:
            problems.append(Problem(path, SKIPPED, lines.position(tree.source.original(chain.start)).row))
    try:
        diagnostics = [replace(d, fix=subject.policy.of(d.fix, d.code)) for d in _locate(tree, findings)]
    except NotRoundTripped as reason:
        return _Checked(text, [], [*problems, Problem(path, str(reason))])
    if any(problem.message == TOO_MUCH for problem in problems):
        diagnostics = [replace(d, fix=_doubted(d.fix)) for d in diagnostics]
    if tree.is_repaired:
        keywords = len(tree.names(ASYNC_STAND_IN))
        error = syntax_error(text, path)
        if error is not None and sum(d.code == "TL204" for d in diagnostics) < keywords:
            diagnostics.insert(0, error)
    return _Checked(text, diagnostics, problems, broken=tree.is_repaired, rests_on=rests_on)


def _doubted(fix: LocatedFix | None) -> LocatedFix | None:
    """A fix in a file of which some is not known: what speaks against it may be there."""
    return replace(fix, applicability=Applicability.UNSAFE) if fix is not None else None


def _unparsed(text: str, error: Diagnostic) -> _Checked:
    return _suppress(_Checked(text, [error], [], broken=True))


def _suppress(checked: _Checked, codes: frozenset[str] = frozenset()) -> _Checked:
    suppressions = Suppressions(checked.text)
    kept = [d for d in checked.diagnostics if not suppressions.silences(d)]
    checked.suppressed = len(checked.diagnostics) - len(kept)
    if "TL002" in codes:
        kept += suppressions.unused(codes)
    checked.diagnostics = sorted(kept, key=lambda d: d.sort_key)
    return checked


_BRACKETS = re.compile(
    r"\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|#[^\r\n]*|[(\[{]|[)\]}]",
    re.DOTALL,
)


def _unparsable(text: str) -> Diagnostic | None:
    """What would kill the parser or pass it unnoticed: null bytes and bracket towers."""
    if "\0" in text:
        return _syntax(Lines(text).position(text.index("\0")), "source code cannot contain null bytes")
    if text.count("(") + text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    depth = 0
    for match in _BRACKETS.finditer(text):
        token = match.group()
        if token in "([{":
            depth += 1
            if depth > MAX_DEPTH:
                return _syntax(Lines(text).position(match.start()), "too many nested parentheses")
        elif token in ")]}":
            depth = max(0, depth - 1)
    return None


def _syntax(at: Position, message: str) -> Diagnostic:
    return Diagnostic(
        "TL001", "syntax-error", message, at, Position(at.row, at.column + 1), (at.row, at.row), severity="error"
    )


def syntax_error(text: str, path: str, flags: int = ast.PyCF_ONLY_AST) -> Diagnostic | None:
    """CPython's opinion of a text, as a TL001 diagnostic; None if it compiles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, path, "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            message = error.msg
            if "print" in message or "exec" in message:
                message += " (is this Python 2?)"
            return _syntax(Position(max(error.lineno or 1, 1), max(error.offset or 1, 1)), message)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return _syntax(Position(1, 1), str(error) or type(error).__name__)
    return None


def _libcst_error(error: cst.ParserSyntaxError) -> Diagnostic:
    return _syntax(Position(max(error.raw_line, 1), error.raw_column + 1), error.message.partition("\n")[0])


def _run_rules(
    tree: Tree, subject: Subject, possible: frozenset[str]
) -> tuple[list[tuple[Rule, Finding]], list[Problem], Mapping[str, str]]:
    model = _model_of(tree, subject)
    findings: list[tuple[Rule, Finding]] = []
    problems: list[Problem] = []
    try:
        for rule in _rules(possible):
            found, problem = _run_rule(rule, tree, model, subject)
            findings += [(rule, finding) for finding in found]
            problems += [problem] if problem is not None else []
        if model.budget.is_spent:
            problems.append(Problem(subject.path, TOO_MUCH))
    finally:
        rests_on = model.close()
    return findings, problems, rests_on


def _run_rule(rule: Rule, tree: Tree, model: Model, subject: Subject) -> tuple[list[Finding], Problem | None]:
    """All findings of one rule; if it raises, none and the problem."""
    from torchlint.unread import Unreadable

    try:
        return [_explained(finding, model) for finding in _findings(rule, tree, model)], None
    except Unreadable:
        raise
    except Exception as error:
        where = _raised_at(tree)
        return [], Problem(subject.path, f"{rule.code} raised {type(error).__name__}: {error}", where)


def _explained(finding: Finding, model: Model) -> Finding:
    """A finding with the evidence for its receiver, where the rule has none of its own."""
    if finding.receiver is None or finding.evidence is not None:
        return finding
    return replace(finding, evidence=model.value(finding.receiver).evidence)


def _raised_at(tree: Tree) -> int | None:
    """Line of the node a rule was looking at when it raised."""
    node = tree.visiting
    if node is None:
        return None
    start = tree.spans([node]).get(id(node))
    return Lines(tree.source.text).position(start.start).row if start else None


def _findings(rule: Rule, tree: Tree, model: Model) -> Iterator[Finding]:
    from torchlint.rule import Finding

    for check in rule.checks:
        for cls in check.types:
            for node in tree.parsed(cls):  # findings are where the needles are
                tree.visiting = node
                found = check.function(node, model)
                if found is None:
                    continue
                if isinstance(found, Finding):
                    yield found
                else:
                    yield from found
    tree.visiting = None


def _locate(tree: Tree, findings: list[tuple[Rule, Finding]]) -> list[Diagnostic]:
    if not findings:
        return []
    wanted: dict[int, cst.CSTNode] = {}
    for _, finding in findings:
        for node in _anchors(tree, finding):
            wanted[id(node)] = node
    spans = tree.spans(wanted.values())
    lines = Lines(tree.source.text)
    return [_diagnostic(tree, rule, finding, spans, lines) for rule, finding in findings]


def _anchors(tree: Tree, finding: Finding) -> Iterable[cst.CSTNode]:
    yield finding.node
    statement = tree.statement(finding.node)
    yield statement
    if _is_compound(statement):
        yield statement.body
    if finding.end is not None:
        yield finding.end
    if finding.receiver is not None:
        yield finding.receiver
    if finding.evidence is not None and finding.evidence.node is not None:
        yield finding.evidence.node
    if finding.fix is not None:
        for fix in (finding.fix, *finding.fix.alternatives):
            yield from _anchors_of_fix(tree, fix)


def _anchors_of_fix(tree: Tree, fix: Fix) -> Iterable[cst.CSTNode]:
    for edit in fix.edits:
        yield edit.start.node
        yield edit.end.node
    if fix.indent is not None:
        yield fix.indent
    if fix.indent_to is not None:
        yield fix.indent_to
    if fix.imports and (place := _import_anchor(tree)) is not None:
        yield place[0]


def _diagnostic(tree: Tree, rule: Rule, finding: Finding, spans: dict[int, Span], lines: Lines) -> Diagnostic:
    start = lines.position(spans[id(finding.node)].inner_start)
    end = lines.position(spans[id(finding.end or finding.node)].inner_end)
    statement = tree.statement(finding.node)
    span = spans[id(statement)]
    first, last = lines.position(span.start).row, lines.position(span.end).row
    if _is_compound(statement):  # its header only
        header = lines.position(spans[id(statement.body)].start)
        last = header.row if start < header and not _is_in_decorator(tree, finding.node) else end.row
    fix = _located_fix(tree, finding.fix, spans) if finding.fix is not None else None
    if fix is not None and _is_shown(tree, finding.node):
        fix = replace(fix, applicability=Applicability.UNSAFE)
    evidence = None
    if finding.evidence is not None:
        evidence = located(finding.evidence, spans, lines)
        if finding.receiver is not None:
            evidence = replace(evidence, message=_reason(tree, finding.receiver, finding.evidence, spans))
    return Diagnostic(rule.code, rule.name, finding.message, start, end, (first, last), fix, evidence, finding.severity)


def _is_in_decorator(tree: Tree, node: cst.CSTNode) -> bool:
    import libcst as cst

    return tree.enclosing(node, cst.Decorator) is not None


def _is_compound(statement: cst.CSTNode) -> TypeGuard[cst.BaseCompoundStatement]:
    return hasattr(statement, "body") and hasattr(statement.body, "body")


def _located_fix(tree: Tree, fix: Fix, spans: dict[int, Span]) -> LocatedFix | None:
    edits = {_text_edit(tree, e, spans) for e in fix.edits}
    if fix.indent is not None:
        edits.update(_indentation(tree, spans[id(fix.indent)], spans[id(fix.indent_to or fix.indent)]))
    edits.update(_import_edit(tree, module, spans) for module in fix.imports)
    if tree.skipped and any(STAND_IN in edit.content for edit in edits):
        return None  # it would write what was skipped
    ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
    applicability = fix.applicability
    if any(_loses_comment(tree.source.text, e) for e in ordered):
        applicability = Applicability.UNSAFE
    others = (_located_fix(tree, other, spans) for other in fix.alternatives)
    alternatives = tuple(other for other in others if other is not None)
    return LocatedFix(fix.message, applicability, ordered, fix.deferred, alternatives, fix.is_preferred)


def located(evidence: Evidence, spans: dict[int, Span], lines: Lines) -> LocatedEvidence:
    """Evidence with the line it comes from."""
    span = spans.get(id(evidence.node))
    row = lines.position(span.start).row if span is not None else None
    return LocatedEvidence(evidence.kind, evidence.text, row)


def _reason(tree: Tree, receiver: cst.CSTNode, evidence: Evidence, spans: dict[int, Span]) -> str:
    """Why an expression is believed to be a tensor, in a sentence."""
    from torchlint.model import Strength

    span = spans[id(receiver)]
    name = f"`{shortened(tree.source.text[span.inner_start : span.inner_end], NAME_WIDTH)}`"
    if evidence.text.startswith(f"{name} "):
        return evidence.text
    return f"{name} {'is' if evidence.strength > Strength.NAME else 'looks like'} a tensor: {evidence.text}"


def shortened(code: str, width: int) -> str:
    """A piece of code on one line that is not longer than ``width``."""
    head = " ".join(code[: 8 * width].split())
    return head if len(head) <= width and len(code) <= 8 * width else f"{head[: width - 1]}…"


def _text_edit(tree: Tree, edit: Edit, spans: dict[int, Span]) -> TextEdit:
    import libcst as cst

    start, end = (_offset(anchor, spans) for anchor in (edit.start, edit.end))
    if (
        edit.start.node is edit.end.node and not edit.text and isinstance(edit.start.node, cst.SimpleStatementLine)
    ):  # a line goes as a whole
        text = tree.source.text
        line = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?").match(text, end)
        start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        return TextEdit(start, line.end() if line else end, edit.text)
    if edit.text.startswith(("\n", "\r")):  # no blanks at the end of a line
        while start and tree.source.text[start - 1] in " \t":
            start -= 1
    if edit.keeps_comments:
        start = _after_comments(tree.source.text, start, end, edit.text)
    return TextEdit(start, end, edit.text)


_COMMENTS = re.compile(r"(?:\s*#[^\r\n]*)+")


def _after_comments(text: str, start: int, end: int, content: str) -> int:
    """Where to start replacing ``text[start:end]`` so that the comments it begins with stay."""
    comments = _COMMENTS.match(text, start, end)
    if comments is None:
        return start
    if not content and re.compile(r"[ \t]*[\r\n]").match(text, end):
        return comments.end()
    space = re.compile(r"\s*").match(text, comments.end(), end)
    return space.end() if space else comments.end()


def _is_shown(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node's code is part of what the program prints: ``f"{w.data=}"``."""
    import libcst as cst

    for up in tree.ancestors(node):
        if isinstance(up, cst.FormattedStringExpression) and up.equal is not None:
            return True
        if isinstance(up, cst.BaseStatement):
            break
    return False


def _loses_comment(text: str, edit: TextEdit) -> bool:
    """Whether an edit inside a line removes a comment."""
    removed = text[edit.start : edit.end]
    if "#" not in removed or removed.endswith(("\n", "\r")):
        return False
    return any(match.group().startswith("#") for match in _BRACKETS.finditer(removed))


def _indentation(tree: Tree, first: Span, last: Span) -> Iterator[TextEdit]:
    """Insertions that move the lines of some statements after the first line in by one step; those in strings stay.

    They stand where the block's own indentation ends, so that what removes such a line is seen to get in the way.
    """
    source, step = tree.source.text, tree.module.default_indent
    base = re.compile(r"[ \t]*\Z").search(source, 0, first.start)
    width = source[base.start() : first.start] if base else ""
    text = source[first.start : last.end]
    strings = [m.span() for m in _BRACKETS.finditer(text) if m.group()[0] in "'\""]
    for line in re.finditer(r"(?:\r\n|\r|\n)(?=[^\r\n])", text):
        if not any(start < line.end() <= end for start, end in strings):
            offset = first.start + line.end() + (len(width) if text.startswith(width, line.end()) else 0)
            yield TextEdit(offset, offset, step)


def _offset(anchor: Anchor, spans: dict[int, Span]) -> int:
    span = spans[id(anchor.node)]
    if anchor.inside:
        return span.inner_end if anchor.at_end else span.inner_start
    return span.end if anchor.at_end else span.start


def _import_anchor(tree: Tree) -> tuple[cst.CSTNode, bool] | None:
    """Where a new import goes: a top-level statement, and whether after it; None in an empty file.

    Before the first import of something of torch, else after the last import, else after the docstring.
    """
    import libcst as cst

    anchor: cst.CSTNode | None = None
    for number, statement in enumerate(tree.module.body):
        if not isinstance(statement, cst.SimpleStatementLine):
            if anchor is not None:
                break
            continue
        match statement.body[0]:
            case cst.Import() | cst.ImportFrom(relative=[]) as small if re.match(
                r"(import|from) torch\b", tree.code(small)
            ):
                return statement, False
            case cst.Import() | cst.ImportFrom():
                anchor = statement
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()) if number == 0:
                anchor = statement
    if anchor is not None:
        return anchor, True
    return (tree.module.body[0], False) if tree.module.body else None


def _import_edit(tree: Tree, module: str, spans: dict[int, Span]) -> TextEdit:
    anchor, after = _import_anchor(tree) or (tree.module, False)
    offset, newline = spans[id(anchor)].start, tree.source.newline
    if not after:
        return TextEdit(offset, offset, f"import {module}{newline}")
    line = re.compile(r"[^\r\n]*").match(tree.source.text, spans[id(anchor)].end)
    offset = line.end() if line else offset
    return TextEdit(offset, offset, f"{newline}import {module}")


def _chosen(checked: _Checked, fixing: Fixing, off: Collection[str]) -> Iterator[Diagnostic]:
    """The findings whose fixes are applied in one round: as many as do not overlap, without those of some rules."""
    chosen: set[TextEdit] = set()
    taken: list[tuple[int, int]] = []
    for diagnostic in checked.diagnostics:
        fix = _wanted(diagnostic.fix, fixing)
        if fix is None or fix.deferred or diagnostic.code in off or not fixing.applies(fix):
            continue
        new = [edit for edit in fix.edits if edit not in chosen]
        extents = [_extent(edit, checked.text) for edit in new]
        if any(_clash(extent, taken) for extent in extents):
            continue
        chosen.update(new)
        for extent in extents:
            bisect.insort(taken, extent)
        yield diagnostic if fix is diagnostic.fix else replace(diagnostic, fix=fix)


def _wanted(fix: LocatedFix | None, fixing: Fixing) -> LocatedFix | None:
    """A fix, or the alternative that is preferred to it in this mode."""
    others = fix.alternatives if fix is not None else ()
    return next((other for other in others if other.is_preferred and fixing.applies(other)), fix)


def _extent(edit: TextEdit, text: str) -> tuple[int, int]:
    """What an edit takes, in half characters: where a line goes, nothing can be inserted at its start."""
    line_goes = not edit.content and edit.end > edit.start and text[edit.end - 1] in "\r\n"
    return (2 * edit.start - line_goes, 2 * edit.end - line_goes)


def _clash(new: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Whether an edit touches what another one replaces, or inserts where another one inserts."""
    index = bisect.bisect_left(taken, new)
    if index < len(taken) and (taken[index][0] < new[1] or taken[index] == new):
        return True
    return index > 0 and taken[index - 1][1] > new[0]
