"""Which classes a class derives from, in the order in which attributes are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat

import libcst as cst

from torchlint.model.context import Context, at_home
from torchlint.model.definitions import follow, is_defined
from torchlint.model.interpret.keys import Key, ScopeKey
from torchlint.model.interpreted import class_body, is_settled, trace_of
from torchlint.model.names import is_foreign
from torchlint.model.torch import library
from torchlint.model.values import Value, reference

LONGEST = 300
"""How many classes one may derive from; of the others nothing is known, so that a look up a long line has an end."""


@dataclass(eq=False, slots=True)
class Lineage:
    """A class and those of this project that it derives from."""

    home: Context
    """The context of the file that the class is in."""
    cls: cst.ClassDef
    rests_on: frozenset[Key[object]] | None
    """The scopes that are not finished yet; None if nothing tells when it changes."""
    kind: str | None
    """The first kind that a base has which is not defined in this project, if that is known and means something."""
    has_unknown: bool
    """Whether there are bases of which nothing is known."""
    has_forward: bool
    """Whether a method is called ``forward``."""
    torch_base: str | None
    """The class of torch that it derives from."""
    bases: list[Lineage] = field(default_factory=list)
    """Those of its bases that are defined in this project."""

    def classes(self) -> Iterator[tuple[Context, cst.ClassDef]]:
        """Each class with the context of its file, in the order in which attributes are looked up."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            at = waiting.pop()
            if id(at.cls) in seen:
                continue
            if len(seen) >= LONGEST:
                self.home.budget.has_left_out_classes = True
                return
            seen.add(id(at.cls))
            yield at.home, at.cls
            waiting += reversed(at.bases)

    @property
    def is_final(self) -> bool:
        """Whether it will not change any more."""
        return self.rests_on is not None and not self.rests_on


class Lineages:
    """The lineages of the classes of one file.

    Until a module has been interpreted to its end, its classes may derive from something else in the next round. What
    was found until then holds as long as no statement of a class that is part of it comes out differently.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._bases: dict[int, tuple[Value, ...]] = {}
        self._final: dict[int, Lineage] = {}
        self._for_now: dict[int, Lineage] = {}
        self._met: dict[int, list[Value]] = {}
        """What the bases of the classes were that are part of lineages that hold for now."""

    def bases(self, cls: cst.ClassDef) -> tuple[Value, ...]:
        """What the bases of a class are."""
        known = self._bases.get(id(cls))
        if known is not None:
            return known
        named = self._named(cls)
        values = tuple(map(follow, repeat(self._context), named))
        if is_settled(self._context, self._context.scopes.scope_of(cls)) and not any(map(self._may_change, named)):
            self._bases[id(cls)] = values
        return values

    def _named(self, cls: cst.ClassDef) -> list[Value]:
        """The values of the expressions that name the bases of a class."""
        context = self._context
        trace = trace_of(context, context.scopes.scope_of(cls))
        if context.is_part:
            outer = context.tree.enclosing(cls, cst.ClassDef, cst.FunctionDef)
            if isinstance(outer, cst.ClassDef):
                trace = class_body(context, outer).trace
        return [trace.value(base) for base in context.scopes.info(cls).bases]

    def _may_change(self, value: Value) -> bool:
        """Whether something imported from the project may turn out to be something else when it is asked for again."""
        ref = reference(value)
        return ref is not None and not is_defined(self._context, ref)

    def of(self, cls: cst.ClassDef) -> Lineage:
        """The lineage of a class."""
        known = self.known(cls)
        if known is not None:
            return known
        found: dict[int, Lineage] = {}
        for at in self._bases_first(cls):
            found[id(at)] = lineages(self._context.home(at))._composed(at, found)
        return found[id(cls)]

    def _bases_first(self, cls: cst.ClassDef) -> Iterator[cst.ClassDef]:
        """A class and those it derives from whose lineage is not known, each after its bases."""
        seen: set[int] = set()
        waiting = [(cls, False)]
        while waiting:
            at, is_done = waiting.pop()
            if is_done:
                yield at
            elif id(at) not in seen:
                seen.add(id(at))
                there = lineages(self._context.home(at))
                if there.known(at) is None:
                    waiting.append((at, True))
                    bases = [value.node for value in there.bases(at)]
                    waiting += [(base, False) for base in reversed(bases) if isinstance(base, cst.ClassDef)]

    def _composed(self, cls: cst.ClassDef, found: dict[int, Lineage]) -> Lineage:
        """The lineage of a class from those of its bases; one that derives from itself is not among these."""
        context, bases = self._context, self.bases(cls)
        kinds = list(kinds_of_bases(context, cls))
        own = (kind for kind in kinds if kind not in ("unknown", "other"))
        lineage = Lineage(
            context,
            cls,
            self.unfinished(cls),
            next(own, None),
            "unknown" in kinds,
            "forward" in context.scopes.info(cls).methods,
            next(filter(None, map(self._of_torch, bases)), None),
        )
        for base in (value.node for value in bases):
            if isinstance(base, cst.ClassDef):
                _inherit(lineage, found.get(id(base)) or lineages(context.home(base)).known(base))
        self._keep(cls, lineage)
        return lineage

    def _of_torch(self, base: Value) -> str | None:
        """The class of torch that a base is, if it matters which."""
        ref = reference(base)
        matters = ref is not None and (library.module_info(ref) or library.class_kind(ref) == "distribution")
        return ref if matters else None

    def known(self, cls: cst.ClassDef) -> Lineage | None:
        """The lineage of a class if it was found out before and still holds."""
        return self._final.get(id(cls)) or self._still(self._for_now.get(id(cls)))

    def _still(self, lineage: Lineage | None) -> Lineage | None:
        """A lineage that holds for now, if the scopes that it rests on are still being interpreted."""
        if lineage is None:
            return None
        queries = self._context.codebase.queries
        open_ = [queries.is_open(key) for key in lineage.rests_on or ()]  # whoever asks rests on all of them
        return lineage if all(open_) else None

    def unfinished(self, cls: cst.ClassDef) -> frozenset[Key[object]] | None:
        """The scope that the bases of a class rest on as long as it is not finished; None if nothing tells."""
        if id(cls) in self._bases:
            return frozenset()
        scope = ScopeKey(id(self._context.scopes.scope_of(cls)))
        is_known = not self._context.is_part and not any(map(self._may_change, self._named(cls)))
        return frozenset((scope,)) if is_known and self._context.codebase.queries.is_open(scope) else None

    def _keep(self, cls: cst.ClassDef, lineage: Lineage) -> None:
        if lineage.is_final:
            self._final[id(cls)] = lineage
        elif lineage.rests_on is not None:
            self._for_now[id(cls)] = lineage
            self._met.setdefault(id(cls), self._named(cls))

    def defines(self, cls: cst.ClassDef) -> None:
        """The statement of a class is being interpreted, and its bases have been."""
        before = self._met.get(id(cls))
        if before is None:
            return
        now = self._named(cls)
        if any(a != b or a.node is not b.node for a, b in zip(before, now, strict=True)):
            self._for_now, self._met = {}, {}


def _inherit(lineage: Lineage, base: Lineage | None) -> None:
    """Add what a base has to a lineage."""
    if base is None:  # the class derives from itself
        lineage.rests_on = None
        return
    lineage.bases.append(base)
    is_open = lineage.rests_on is None or base.rests_on is None
    lineage.rests_on = None if is_open else (lineage.rests_on or frozenset()) | (base.rests_on or frozenset())
    lineage.kind = lineage.kind or base.kind
    lineage.has_unknown |= base.has_unknown
    lineage.has_forward |= base.has_forward
    lineage.torch_base = lineage.torch_base or base.torch_base


def lineages(context: Context) -> Lineages:
    """The lineages of the classes of a file."""
    return context.remember(Lineages)


@at_home
def bases_of(context: Context, cls: cst.ClassDef) -> tuple[Value, ...]:
    """What the bases of a class are."""
    return lineages(context).bases(cls)


@at_home
def lineage_of(context: Context, cls: cst.ClassDef) -> Lineage:
    """A class and those of this project that it derives from, in the order in which attributes are looked up."""
    return lineages(context).of(cls)


def kinds_of_bases(context: Context, cls: cst.ClassDef) -> Iterator[str]:
    """What the bases that are not defined in this project are."""
    for value in bases_of(context, cls):
        if isinstance(value.node, cst.ClassDef):
            continue
        ref = reference(value)
        if ref is None:
            yield "unknown"
        elif ref in ("torch.autograd.Function", "torch.autograd.function.Function"):
            yield "function"
        elif (known := library.class_kind(ref)) is not None:
            yield known
        elif is_foreign(ref.partition(".")[0]) or ref.startswith("builtins."):
            yield "other"
        else:
            yield "module" if ref.endswith("Module") else "unknown"
