"""One file, from its text to what is reported and to the fixed text: the stages, in their order.

    triggers -> first look -> parse -> dispatch -> locate -> suppress -> fix and verify, again until nothing changes

For most files nothing but the triggers is looked for; libcst, the model and the rules are imported when a file gets
past them.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import AS_RULES_SAY, Diagnostic, FindingKey, Fixing, Policy, Problem, TextEdit
from torchlint.file.dispatch.dispatch import Look, dispatch
from torchlint.file.dispatch.loading import loaded
from torchlint.file.dispatch.subject import Revise, Subject
from torchlint.file.first_look import first_look
from torchlint.file.fix.announce import announced
from torchlint.file.fix.halves import joined
from torchlint.file.fix.protect import protected
from torchlint.file.fix.rounds import fixed
from torchlint.file.locate.located import Located
from torchlint.file.parse.invalid import NOT_UNDERSTOOD, TOO_DEEP, NotUnderstood, Unparsed, syntax_error
from torchlint.file.parse.parser import parse
from torchlint.file.suppress.suppress import Examined, suppressed
from torchlint.file.tree.placeholders import ASYNC
from torchlint.file.triggers.gate import possible_rules
from torchlint.system.limits import BUDGET
from torchlint.versions import ANY, Target

if TYPE_CHECKING:
    from torchlint.file.tree.tree import Tree
    from torchlint.model.codebase.modules import Codebase


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
    accepted: tuple[Diagnostic, ...] = ()
    """What remains of the findings that were to be left alone."""
    rests_on: Mapping[str, str] = field(default_factory=dict)
    """The other files that were looked at, with their state then."""
    rounds: Sequence[Sequence[TextEdit]] = ()
    """The edits of each round of fixing, which are about the text that the one before has left."""


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
    accepted: Mapping[FindingKey, int] | None = None,
    revised: Revise | None = None,
    is_promising: bool = False,
) -> Outcome:
    """Lint one text with the rules of the given codes, and fix it; for the rest see :class:`Subject`.

    Never raises for bad input: what does not parse is a TL001 finding, a rule that raises is a problem.
    """
    original = text if fixing is Fixing.UNSAFE else ""
    subject = Subject(
        path, codes, location, codebase, policy, target, budget, accepted or {}, revised, is_promising, original
    )

    def examined(text: str) -> Examined:
        return joined(examine(text, subject))

    def settled(text: str) -> Examined:
        return announced(protected(examined(text), examined))

    end, counts, rounds = settled(text), Counter[str](), list[Sequence[TextEdit]]()
    if fixing is not Fixing.NONE:
        end, counts, rounds = fixed(end, settled, fixing, path)
    known = tuple(each.finding for each in end.silenced if each.is_accepted)
    return Outcome(
        end.diagnostics,
        end.text,
        tuple(sorted(counts.items())),
        end.problems,
        len(end.silenced) - len(known),
        known,
        end.rests_on,
        rounds,
    )


def examine(text: str, subject: Subject) -> Examined:
    """What is to be said of a text as it stands: the way of one round."""
    possible = possible_rules(text.encode(errors="surrogatepass"), subject.codes)
    examined = _examined(text, possible, subject)
    return examined.with_problems(loaded(possible).problems) if possible else examined


def examine_without_triggers(text: str, subject: Subject) -> Examined:
    """The same if rules look at all of every text: what triggers keep from them is what a test of triggers is after."""
    return suppressed(text, _located(text, subject.codes, subject), subject)


def _examined(text: str, possible: frozenset[str], subject: Subject) -> Examined:
    """What the rules that are possible have to say of a text."""
    look = first_look(text, possible, subject) if not subject.is_promising else None
    located = Located()
    if look is None or look.codes:
        located = _located(text, look.codes if look is not None else possible, subject)
    located = _after_look(located, look, subject)
    if subject.revised is not None:
        located = replace(located, diagnostics=subject.revised(text, located.diagnostics))
    return suppressed(text, located, subject)


def _located(text: str, codes: frozenset[str], subject: Subject) -> Located:
    """What some rules find, with places."""
    from torchlint.file.locate.findings import locate

    try:
        tree = parse(text, subject.path)
    except Unparsed as error:
        return Located((error.diagnostic,), is_broken=True, has_tree=False)
    except RecursionError:
        return Located(problems=(Problem(subject.path, TOO_DEEP),), has_tree=False)
    except NotUnderstood:
        return Located(problems=(Problem(subject.path, NOT_UNDERSTOOD),), has_tree=False)
    with contextlib.closing(tree):
        located = locate(tree, dispatch(tree, codes, subject), subject)
        return _with_syntax_error(tree, located, subject.path) if located.is_broken else located


def _after_look(located: Located, look: Look | None, subject: Subject) -> Located:
    """What was found, with what the first look has come upon besides."""
    if look is None:
        return located
    rests_on: Mapping[str, str] = {**look.rests_on, **located.rests_on}
    is_told = any(problem.message == look.missing for problem in located.problems)
    told = (Problem(subject.path, look.missing),) if look.missing and not is_told else ()
    return replace(located, rests_on=rests_on, problems=(*located.problems, *told))


def _with_syntax_error(tree: Tree, located: Located, path: str) -> Located:
    """What was found in a text that had to be repaired to be parsed: a syntax error unless TL204 found all of it."""
    error = syntax_error(tree.source.text, path)
    if error is None or sum(each.code == "TL204" for each in located.diagnostics) >= len(tree.names(ASYNC)):
        return located
    return replace(located, diagnostics=(error, *located.diagnostics))
