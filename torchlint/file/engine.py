"""One file: text to findings to text.

    gate -> parse and walk -> rules (asking the model) -> spans -> suppressions -> findings
                                                                  and edits -> splice -> again, until nothing changes

Only the gate is there for most files; libcst, the model and the rules are imported when a file gets past it.
"""

from __future__ import annotations

import ast
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
from torchlint.file.announce import Tally, with_waits
from torchlint.file.choice import Blocks, LocatedBlock, block_edits, chosen, edits_of
from torchlint.file.gate import possible_rules, sites
from torchlint.file.silenced import Silence, Silenced, lost, near
from torchlint.file.suppressions import Suppressions
from torchlint.file.text.lines import Lines, line_start, without_blanks
from torchlint.file.text.source import TOKENS
from torchlint.file.tree.standin import ASYNC_STAND_IN, STAND_IN, without_async, without_chains
from torchlint.file.tree.standin import MESSAGE as SKIPPED
from torchlint.file.verify import BREAKS, Guard, splice
from torchlint.model.torch.versions import ANY, Target
from torchlint.rules import catalogue
from torchlint.system.crash import described, traceback_of
from torchlint.system.limits import BUDGET

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.file.tree.tree import Source, Span, Tree
    from torchlint.model import Evidence, Model
    from torchlint.model.codebase.modules import Codebase
    from torchlint.rule import Anchor, Edit, Finding, Fix, Rule

MAX_ROUNDS = 500
"""Rounds of fixing before a file counts as not converging: fixes that overlap are applied one a round."""

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
    current = original
    tally = Tally(current.text, [d for d in current.diagnostics if d.fix is not None and fixing.applies(d.fix)])
    seen = {original.text: 0}
    history: list[frozenset[str]] = []
    for number in range(1, MAX_ROUNDS + 1):
        applied, following = _round(current, subject, fixing, off)
        if not applied:
            return current, tally.total(current.text, current.diagnostics), frozenset()
        tally.count(current.text, applied, edits_of(applied, current.blocks))
        history.append(frozenset(diagnostic.code for diagnostic in applied))
        if following.text in seen:
            return current, Counter(), frozenset[str]().union(*history[seen[following.text] :])
        seen[following.text] = number
        current = following
    return current, Counter(), frozenset[str]().union(*history[-MAX_ROUNDS // 10 :])


def _round(
    current: _Checked, subject: Subject, fixing: Fixing, off: frozenset[str]
) -> tuple[list[Diagnostic], _Checked]:
    """The fixes that are applied to a text in one round, and the text after it."""
    waiting = list(chosen(current.diagnostics, current.text, current.blocks, fixing, off))
    if not waiting:
        return [], current
    judge = _Judge(current)
    applied = judge.admitted(waiting)
    following = _check(judge.fixed(applied), subject) if applied else current
    if following.broken and not current.broken:
        judge.is_thorough = True
        applied = judge.admitted(applied)
        following = _check(judge.fixed(applied), subject) if applied else current
    current.drop(list(judge.refused))
    for diagnostic, reason in judge.refused.items():
        message = f"the fix of {diagnostic.code} {reason}: left out"
        current.problems.append(Problem(subject.path, message, diagnostic.start.row))
    parting = _parting(current, applied, following)
    current.drop(parting)
    if parting or not applied:  # others may have waited for those
        return _round(current, subject, fixing, off)
    return applied, following


class _Judge:
    """Says which fixes of a round may be applied: a last line of defence against mistakes in rules."""

    def __init__(self, current: _Checked) -> None:
        self.text = current.text
        self.blocks = current.blocks
        self.refused: dict[Diagnostic, str] = {}
        self.is_thorough = False
        """Whether libcst is asked, too. It is anyway, in the next round."""
        self._guard = Guard(current.text, without_async(current.text))

    def fixed(self, applied: Iterable[Diagnostic]) -> str:
        """The text after some fixes."""
        return splice(self.text, edits_of(applied, self.blocks))

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
        edits = edits_of(fixed, self.blocks)
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


@dataclass(slots=True)
class _Checked:
    """The state of a file in one round."""

    text: str
    diagnostics: list[Diagnostic]
    problems: list[Problem]
    silenced: list[Silenced] = field(default_factory=list)
    broken: bool = False
    rests_on: Mapping[str, str] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=dict)
    waits: dict[tuple[TextEdit, ...], list[tuple[int, int]]] = field(default_factory=dict)
    """Of the edits of deferred fixes, the places that have to be fixed before."""

    def drop(self, refused: Collection[Diagnostic]) -> None:
        """Take away the fixes of these findings."""
        self.diagnostics = [replace(each, fix=None) if each in refused else each for each in self.diagnostics]

    def outcome(self, fixed: Counter[str] | None = None) -> Outcome:
        counts = tuple(sorted(fixed.items())) if fixed else ()
        return Outcome(
            tuple(self.diagnostics), self.text, counts, tuple(self.problems), len(self.silenced), self.rests_on
        )


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

    from torchlint.file.tree.tree import Source, is_refused

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

    from torchlint.file.tree.tree import Tree

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
    """What is found in a text; what may be fixed leaves alone what is silenced."""
    checked = _found(text, subject)
    for fixing in (Fixing.SAFE, Fixing.UNSAFE) if checked.silenced else ():
        _withhold(checked, subject, fixing)
    checked.diagnostics = with_waits(checked.diagnostics, checked.waits)
    return checked


def _withhold(checked: _Checked, subject: Subject, fixing: Fixing) -> None:
    """Take away the fixes that would part what is silenced from its comment, or rewrite it."""
    lines = Lines(checked.text)
    waiting = [d for d in checked.diagnostics if d.fix is not None and near(d.fix, checked.silenced, lines)]
    while together := list(chosen(waiting, checked.text, checked.blocks, fixing, ())):
        following = _found(splice(checked.text, edits_of(together, checked.blocks)), subject)
        checked.drop(_parting(checked, together, following))
        seen = {(d.code, d.start) for d in together}
        waiting = [d for d in waiting if (d.code, d.start) not in seen]


def _parting(before: _Checked, applied: Sequence[Diagnostic], following: _Checked) -> list[Diagnostic]:
    """Those of the fixes that led to a text in which something is no longer silenced, or gone, though it was."""
    if not before.silenced or following.broken:
        return []
    was, now = (Silence(each.text, each.silenced) for each in (before, following))
    parted = lost(was, now, edits_of(applied, before.blocks))
    if not parted:
        return []
    lines = Lines(before.text)
    places = {(d.code, d.start) for d in applied if d.fix is not None and near(d.fix, parted, lines)}
    return [d for d in before.diagnostics if (d.code, d.start) in places]


def _found(text: str, subject: Subject) -> _Checked:
    from torchlint.file.tree.fast.unread import Unreadable

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
    from torchlint.file.tree.fast.sketch import Unsketchable
    from torchlint.file.tree.fast.unread import python_tree
    from torchlint.file.tree.tree import Tree

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
    from torchlint.file.tree.tree import NotRoundTripped

    path = subject.path
    findings, problems, rests_on = _run_rules(tree, subject, possible)
    lines = Lines(text)
    for chain in tree.skipped:
        if chain.matters:
            problems.append(Problem(path, SKIPPED, lines.position(tree.source.original(chain.start)).row))
    try:
        blocks: dict[tuple[TextEdit, ...], LocatedBlock] = {}
        located_, waits = _locate(tree, findings, blocks)
        diagnostics = [replace(d, fix=subject.policy.of(d.fix, d.code)) for d in located_]
    except NotRoundTripped as reason:
        return _Checked(text, [], [*problems, Problem(path, str(reason))])
    if any(problem.message == TOO_MUCH for problem in problems):
        diagnostics = [replace(d, fix=_doubted(d.fix)) for d in diagnostics]
    if tree.is_repaired:
        keywords = len(tree.names(ASYNC_STAND_IN))
        error = syntax_error(text, path)
        if error is not None and sum(d.code == "TL204" for d in diagnostics) < keywords:
            diagnostics.insert(0, error)
    return _Checked(text, diagnostics, problems, broken=tree.is_repaired, rests_on=rests_on, blocks=blocks, waits=waits)


def _doubted(fix: LocatedFix | None) -> LocatedFix | None:
    """A fix in a file of which some is not known: what speaks against it may be there."""
    return replace(fix, applicability=Applicability.UNSAFE) if fix is not None else None


def _unparsed(text: str, error: Diagnostic) -> _Checked:
    return _suppress(_Checked(text, [error], [], broken=True))


def _suppress(checked: _Checked, codes: frozenset[str] = frozenset()) -> _Checked:
    suppressions = Suppressions(checked.text)
    found = [*checked.diagnostics, *(suppressions.malformed() if "TL004" in codes else ())]
    kept = []
    for diagnostic in found:
        by = suppressions.silencing(diagnostic)
        if by:
            checked.silenced.append(Silenced(diagnostic, frozenset(each.start.row for each in by if each.rows)))
        else:
            kept.append(diagnostic)
    if "TL002" in codes:
        kept += suppressions.unused(codes)
    checked.diagnostics = sorted(kept, key=lambda d: d.sort_key)
    return checked


_MARK = "\ufeff"
"""The byte order mark. That of a file is no part of its text; another one Python refuses in a file, not in a string."""


def _unparsable(text: str) -> Diagnostic | None:
    """What would kill the parser or pass it unnoticed: a second byte order mark, null bytes and bracket towers."""
    if text.startswith(_MARK):
        return _syntax(Position(1, 1), "invalid non-printable character U+FEFF")
    if "\0" in text:
        return _syntax(Lines(text).position(text.index("\0")), "source code cannot contain null bytes")
    if text.count("(") + text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    depth = 0
    for match in TOKENS.finditer(text):
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
    if text.startswith(_MARK):
        return _unparsable(text)
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
    from torchlint.file.tree.fast.unread import Unreadable

    try:
        return [_explained(finding, model) for finding in _findings(rule, tree, model)], None
    except Unreadable:
        raise
    except Exception as error:
        where = _raised_at(tree)
        message = f"{rule.code} raised {described(error)}"
        return [], Problem(subject.path, message, where, traceback_of(error))


def _explained(finding: Finding, model: Model) -> Finding:
    """A finding with the evidence for its receiver, where the rule has none of its own; a fix is as safe as that."""
    from torchlint.model.codebase.namesakes import is_shared

    if finding.receiver is None:
        return finding
    evidence = finding.evidence or model.value(finding.receiver).evidence
    fix = finding.fix
    if fix is not None and evidence is not None and is_shared(evidence, model):
        fix = replace(fix, applicability=Applicability.UNSAFE)
    return replace(finding, evidence=evidence, fix=fix)


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


def _locate(
    tree: Tree, findings: list[tuple[Rule, Finding]], blocks: dict[tuple[TextEdit, ...], LocatedBlock]
) -> tuple[list[Diagnostic], dict[tuple[TextEdit, ...], list[tuple[int, int]]]]:
    """The findings with positions, and what deferred fixes wait for; the blocks that fixes make go into ``blocks``."""
    if not findings:
        return [], {}
    wanted: dict[int, cst.CSTNode] = {}
    for _, finding in findings:
        for node in _anchors(tree, finding):
            wanted[id(node)] = node
    awaited = {id(f.fix.waits_for): f.fix.waits_for for _, f in findings if f.fix is not None and f.fix.waits_for}
    wanted.update((id(node), node) for nodes in awaited.values() for node in nodes)
    spans = tree.spans(wanted.values())
    lines = Lines(tree.source.text)
    diagnostics = [_diagnostic(tree, rule, finding, spans, lines, blocks=blocks) for rule, finding in findings]
    places: dict[int, list[tuple[int, int]]] = {}
    waits: dict[tuple[TextEdit, ...], list[tuple[int, int]]] = {}
    for diagnostic, (_, finding) in zip(diagnostics, findings, strict=True):
        if diagnostic.fix is None or finding.fix is None or not finding.fix.waits_for:
            continue
        nodes = finding.fix.waits_for  # the same for all imports of a name
        if id(nodes) not in places:
            places[id(nodes)] = [(spans[id(node)].inner_start, spans[id(node)].inner_end) for node in nodes]
        waits[diagnostic.fix.edits] = places[id(nodes)]
    return diagnostics, waits


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
    from torchlint.file.blocks import anchors as block_anchors

    for edit in fix.edits:
        yield edit.start.node
        yield edit.end.node
    if fix.block is not None:
        yield from block_anchors(tree, fix.block)
    if fix.imports and (place := _import_anchor(tree)) is not None:
        yield place[0]


def _diagnostic(
    tree: Tree,
    rule: Rule,
    finding: Finding,
    spans: dict[int, Span],
    lines: Lines,
    *,
    blocks: dict[tuple[TextEdit, ...], LocatedBlock],
) -> Diagnostic:
    start = lines.position(spans[id(finding.node)].inner_start)
    end = lines.position(spans[id(finding.end or finding.node)].inner_end)
    statement = tree.statement(finding.node)
    span = spans[id(statement)]
    first, last = lines.position(span.start).row, lines.position(span.end).row
    if _is_compound(statement):  # its header only
        header = lines.position(spans[id(statement.body)].start)
        last = header.row if start < header and not _is_in_decorator(tree, finding.node) else end.row
    fix = _located_fix(tree, finding.fix, spans, blocks) if finding.fix is not None else None
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


def _located_fix(
    tree: Tree, fix: Fix, spans: dict[int, Span], blocks: dict[tuple[TextEdit, ...], LocatedBlock]
) -> LocatedFix | None:
    from torchlint.file.blocks import located as located_block

    edits = {_text_edit(tree, e, spans) for e in fix.edits}
    block = located_block(tree, fix.block, spans) if fix.block is not None else None
    if block is not None:
        edits.update(block_edits([block]))
    edits.update(_import_edit(tree, module, spans) for module in fix.imports)
    if tree.skipped and any(STAND_IN in edit.content for edit in edits):
        return None  # it would write what was skipped
    ordered = tuple(sorted(edits, key=lambda e: (e.start, e.end)))
    if block is not None:
        blocks[ordered] = block
    applicability = fix.applicability
    if any(_loses_comment(tree.source.text, e) for e in ordered):
        applicability = Applicability.UNSAFE
    others = (_located_fix(tree, other, spans, blocks) for other in fix.alternatives)
    alternatives = tuple(other for other in others if other is not None)
    return LocatedFix(fix.message, applicability, ordered, fix.deferred, alternatives)


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
        start = line_start(text, start)
        return TextEdit(start, line.end() if line else end, edit.text)
    if edit.text.startswith(("\n", "\r")):  # no blanks at the end of a line
        start = without_blanks(tree.source.text, start)
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

    shown = tree.enclosing(node, cst.FormattedStringExpression)
    while isinstance(shown, cst.FormattedStringExpression) and shown.equal is None:
        shown = tree.enclosing(shown, cst.FormattedStringExpression)
    return shown is not None


def _loses_comment(text: str, edit: TextEdit) -> bool:
    """Whether an edit inside a line removes a comment."""
    removed = text[edit.start : edit.end]
    if "#" not in removed or removed.endswith(("\n", "\r")):
        return False
    return any(match.group().startswith("#") for match in TOKENS.finditer(removed))


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
