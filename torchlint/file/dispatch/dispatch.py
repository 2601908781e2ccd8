"""Rules at work on a tree: which node is shown to which function, and what comes of one that raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import Problem, Severity
from torchlint.file.dispatch.loading import loaded
from torchlint.file.dispatch.subject import Subject
from torchlint.file.text.lines import Lines
from torchlint.rules import BUILT_IN, catalogue
from torchlint.system.crash import described, described_for, traceback_of
from torchlint.system.limits import TOO_MUCH
from torchlint.system.profile import measured

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.file.tree.tree import Tree
    from torchlint.model import Model
    from torchlint.model.codebase.modules import Codebase
    from torchlint.rule import Finding, Rule

NOT_ALL_INTERPRETED = f"{TOO_MUCH}: some of it was not, so findings may be missing"
NOT_ALL_CLASSES = "a class derives from more classes than are looked at, so findings may be missing"


_NAMESAKE = "a class of the project has a method of that name, too, so this may be no tensor"


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at a file has shown."""

    codes: frozenset[str]
    """The rules that found something."""
    rests_on: Mapping[str, str] = field(default_factory=dict)
    """The other files that were looked at, with their state then."""
    missing: str = ""
    """Why not all was looked at, if it was not."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the rules found in a tree."""

    found: tuple[tuple[Rule, Finding], ...]
    problems: tuple[Problem, ...]
    rests_on: Mapping[str, str]
    missing: str
    """Why not all was looked at, if it was not."""


def rules_of(codes: frozenset[str]) -> tuple[Rule, ...]:
    """The rules of some codes, loaded, in order."""
    return loaded(codes).rules


def dispatch(tree: Tree, codes: frozenset[str], subject: Subject) -> Findings:
    """What rules find in a tree. One that raises finds nothing, which is a problem."""
    model = _model_for(tree, subject)
    found: list[tuple[Rule, Finding]] = []
    problems: list[Problem] = []
    try:
        for rule in rules_of(codes):
            findings, problem = _run(rule, tree, model, subject)
            found += [(rule, finding) for finding in findings]
            problems += [problem] if problem is not None else []
        missing = _missing(model)
    finally:
        rests_on = model.close()
    if missing:
        problems.append(Problem(subject.path, missing))
    return Findings(tuple(found), tuple(problems), rests_on, missing)


def which_find(tree: Tree, codes: frozenset[str], subject: Subject) -> Look:
    """Which rules find anything at all. What a rule raises is raised."""
    model = _model_for(tree, subject)
    try:
        finding = {rule.code for rule in rules_of(codes) if _finds(rule, tree, model, subject)}
        missing = _missing(model)
    finally:
        rests_on = model.close()
    return Look(frozenset(finding), rests_on, missing)


def _finds(rule: Rule, tree: Tree, model: Model, subject: Subject) -> bool:
    with measured(rule.code, subject.path):
        return next(_Work(rule, tree, model).findings(), None) is not None


def _missing(model: Model) -> str:
    """Why there may be more than the rules have found."""
    if model.budget.is_spent:
        return NOT_ALL_INTERPRETED
    return NOT_ALL_CLASSES if model.budget.has_left_out_classes else ""


def model_of(tree: Tree, location: str | None, codebase: Codebase | None = None) -> Model:
    """The model of a file: the one place that makes one."""
    from torchlint.model import Model

    return Model(tree, location, codebase)


def _model_for(tree: Tree, subject: Subject) -> Model:
    from torchlint.model.budget import Budget

    model = model_of(tree, subject.location, subject.codebase)
    model.target, model.budget = subject.target, Budget(subject.budget)
    model.original = subject.original
    return model


def _run(rule: Rule, tree: Tree, model: Model, subject: Subject) -> tuple[list[Finding], Problem | None]:
    """All findings of one rule; if it raises, none and the problem."""
    work = _Work(rule, tree, model)
    try:
        with measured(rule.code, subject.path):
            return [_explained(finding, model) for finding in work.findings()], None
    except Exception as error:
        message = f"{rule.code} raised {_described(rule, error)}"
        return [], Problem(subject.path, message, work.row(), traceback_of(error))


def _described(rule: Rule, error: Exception) -> str:
    distribution = catalogue()[rule.code].distribution
    return described(error) if distribution == BUILT_IN.distribution else described_for(distribution, error)


class _Work:
    """A rule at work."""

    def __init__(self, rule: Rule, tree: Tree, model: Model) -> None:
        self.rule, self.tree, self.model = rule, tree, model
        self.node: cst.CSTNode | None = None
        """The node it is looking at."""

    def findings(self) -> Iterator[Finding]:
        """What it finds, in the order of its functions and nodes, but for what is left alone."""
        for found in self._found():
            if not self._is_left_alone(found):
                yield found

    def _is_left_alone(self, found: Finding) -> bool:
        """Whether something is for an older torch, or is an error that a test waits for."""
        from torchlint.rules.api.fallbacks import is_fallback
        from torchlint.rules.shared.statements import is_expected

        if is_fallback(found.node, self.model):
            return True
        return (found.severity or self.rule.severity) is Severity.ERROR and is_expected(found.node, self.model)

    def _found(self) -> Iterator[Finding]:
        from torchlint.rule import Finding

        for check in self.rule.checks:
            for cls in check.types:
                for node in self.tree.all(cls):
                    self.node = node
                    found = check.function(node, self.model)
                    if found is None:
                        continue
                    if isinstance(found, Finding):
                        yield found
                    else:
                        yield from found
        self.node = None

    def row(self) -> int | None:
        """The line of the node it is looking at."""
        if self.node is None:
            return None
        span = self.tree.spans([self.node]).get(id(self.node))
        return Lines(self.tree.source.text).position(span.start).row if span else None


def _explained(finding: Finding, model: Model) -> Finding:
    """A finding with the evidence for its receiver, where the rule has none of its own; a fix is as safe as that."""
    from torchlint.model.codebase.namesakes import is_shared

    if finding.receiver is None:
        return finding
    evidence = finding.evidence or model.value(finding.receiver).evidence
    fix = finding.fix
    if fix is not None and evidence is not None and is_shared(evidence, model):
        fix = fix.doubted(_NAMESAKE)
    return replace(finding, evidence=evidence, fix=fix)
