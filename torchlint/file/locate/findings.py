"""Findings with their places in the text: from nodes to rows and columns, by one code generation for all of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

import libcst as cst

from torchlint.diagnostic import Diagnostic, LocatedFix, Policy, Problem
from torchlint.file.dispatch.dispatch import Findings
from torchlint.file.dispatch.subject import Subject
from torchlint.file.locate import evidence, fixes
from torchlint.file.locate.located import Located
from torchlint.file.locate.sites import Sites
from torchlint.file.text.lines import Lines
from torchlint.file.tree.given import NotRoundTripped, Span
from torchlint.file.tree.tree import Tree
from torchlint.rule import Finding, Rule


def locate(tree: Tree, findings: Findings, subject: Subject) -> Located:
    """The findings with positions, and their fixes with offsets, as the settings want them."""
    lines = Lines(tree.source.text)
    problems = list(findings.problems)
    for chain in tree.skipped:
        if chain.matters:
            row = lines.position(tree.source.original(chain.start)).row
            problems.append(Problem(subject.path, chain.reason, row))
    try:
        diagnostics = _diagnostics(tree, findings, lines)
    except NotRoundTripped as reason:
        return Located((), (*problems, Problem(subject.path, str(reason))), findings.rests_on)
    diagnostics = _sure(diagnostics, subject.policy)
    diagnostics = [replace(each, fix=subject.policy.of(each.fix, each.code)) for each in diagnostics]
    if findings.missing:
        diagnostics = [replace(each, fix=_doubted(each.fix)) for each in diagnostics]
    return Located(tuple(diagnostics), tuple(problems), findings.rests_on, tree.is_repaired)


def _sure(diagnostics: list[Diagnostic], policy: Policy) -> list[Diagnostic]:
    """The findings that are sure enough; one that is half of a statement the rest of which is not has no fix."""
    parted = {each.half_of for each in diagnostics if not policy.reports(each)} - {None}
    return [replace(each, fix=None) if each.half_of in parted else each for each in diagnostics if policy.reports(each)]


def _diagnostics(tree: Tree, findings: Findings, lines: Lines) -> list[Diagnostic]:
    if not findings.found:
        return []
    wanted = {id(node): node for _, finding in findings.found for node in _anchors(tree, finding)}
    fixes = (finding.fix for _, finding in findings.found if finding.fix is not None)
    awaited = {id(fix.waits_for): fix.waits_for for fix in fixes}  # the same for all imports of a name
    wanted.update((id(node), node) for nodes in awaited.values() for node in nodes)
    places = _Places(tree.spans(wanted.values()), lines, Sites(tree))
    return [_diagnostic(tree, rule, finding, places) for rule, finding in findings.found]


class _Places:
    """Where the nodes stand that findings are about."""

    def __init__(self, spans: dict[int, Span], lines: Lines, sites: Sites) -> None:
        self.spans, self.lines, self.sites = spans, lines, sites
        self._waits: dict[int, tuple[tuple[int, int], ...]] = {}

    def waits(self, nodes: tuple[cst.CSTNode, ...]) -> tuple[tuple[int, int], ...]:
        """The places that a deferred fix waits for; the same object for all imports of a name."""
        if id(nodes) not in self._waits:
            spans = (self.spans[id(node)] for node in nodes)
            self._waits[id(nodes)] = tuple((span.inner_start, span.inner_end) for span in spans)
        return self._waits[id(nodes)]


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
    if finding.half_of is not None:
        yield finding.half_of
    if finding.evidence is not None and finding.evidence.node is not None:
        yield finding.evidence.node
    if finding.fix is not None:
        yield from fixes.anchors(tree, finding.fix)


def _diagnostic(tree: Tree, rule: Rule, finding: Finding, places: _Places) -> Diagnostic:
    spans, lines = places.spans, places.lines
    start = lines.position(spans[id(finding.node)].inner_start)
    end = lines.position(spans[id(finding.end or finding.node)].inner_end)
    statement = tree.statement(finding.node)
    span = spans[id(statement)]
    first, last = lines.position(span.start).row, lines.position(span.end).row
    code_end = span.end
    if _is_compound(statement):  # its header only
        code_end = spans[id(statement.body)].start
        header = lines.position(code_end)
        last = header.row if start < header and not _is_in_decorator(tree, finding.node) else end.row
    because = None
    if finding.evidence is not None:
        because = evidence.located(finding.evidence, spans, lines)
        if finding.receiver is not None:
            because = replace(because, message=evidence.reason(tree, finding.receiver, finding.evidence, spans))
    fix = _fix(tree, finding, places)
    half = spans[id(finding.half_of)] if finding.half_of is not None else None
    return Diagnostic(
        rule.code,
        rule.name,
        finding.message,
        start,
        end,
        (first, last),
        fix,
        because,
        finding.severity or rule.severity,
        (half.start, half.end) if half is not None else None,
        places.sites.of(finding.node, span.start, code_end),
    )


def _fix(tree: Tree, finding: Finding, places: _Places) -> LocatedFix | None:
    fix = fixes.located(tree, finding.fix, places.spans) if finding.fix is not None else None
    if fix is None or finding.fix is None:
        return None
    if finding.fix.waits_for:
        fix = replace(fix, waits_for=places.waits(finding.fix.waits_for))
    return fix.doubted("the program prints this code") if _is_shown(tree, finding.node) else fix


def _is_in_decorator(tree: Tree, node: cst.CSTNode) -> bool:
    return tree.enclosing(node, cst.Decorator) is not None


def _is_compound(statement: cst.CSTNode) -> TypeGuard[cst.BaseCompoundStatement]:
    return hasattr(statement, "body") and hasattr(statement.body, "body")


def _is_shown(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node's code is part of what the program prints: ``f"{w.data=}"``."""
    shown = tree.enclosing(node, cst.FormattedStringExpression)
    while isinstance(shown, cst.FormattedStringExpression) and shown.equal is None:
        shown = tree.enclosing(shown, cst.FormattedStringExpression)
    return shown is not None


def _doubted(fix: LocatedFix | None) -> LocatedFix | None:
    """A fix in a file of which some is not known: what speaks against it may be there."""
    return fix.doubted("not all of this file was looked at") if fix is not None else None
