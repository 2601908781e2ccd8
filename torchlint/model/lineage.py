"""Which classes a class derives from, in the order in which attributes are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret.queries import Key, ScopeKey
from torchlint.model.torch import returned
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model import Model

_LONGEST = 300
"""How many classes one may derive from; of the others nothing is known, so that a look up a long line has an end."""


@dataclass(eq=False, slots=True)
class Lineage:
    """A class and those of this project that it derives from."""

    home: Model
    """The model of the file that the class is in."""
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

    def classes(self) -> Iterator[tuple[Model, cst.ClassDef]]:
        """Each class with the model of its file, in the order in which attributes are looked up."""
        seen: set[int] = set()
        waiting = [self]
        while waiting and len(seen) < _LONGEST:
            at = waiting.pop()
            if id(at.cls) not in seen:
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

    def __init__(self, model: Model) -> None:
        self._model = model
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
        values = tuple(map(self._model.follow, named))
        if self._model.is_settled(self._model.scopes.scope_of(cls)) and not any(map(self._may_change, named)):
            self._bases[id(cls)] = values
        return values

    def _named(self, cls: cst.ClassDef) -> list[Value]:
        """The values of the expressions that name the bases of a class."""
        model = self._model
        trace = model.trace(model.scopes.scope_of(cls))
        if model.is_part:
            outer = model.tree.enclosing(cls, cst.ClassDef, cst.FunctionDef)
            if isinstance(outer, cst.ClassDef):
                trace = model.class_body(outer).trace
        return [trace.value(base) for base in model.scopes.info(cls).bases]

    def _may_change(self, value: Value) -> bool:
        """Whether something imported from the project may turn out to be something else when it is asked for again."""
        ref = self._model.reference(value)
        return ref is not None and not self._model.is_defined(ref)

    def of(self, cls: cst.ClassDef) -> Lineage:
        """The lineage of a class."""
        known = self.known(cls)
        if known is not None:
            return known
        found: dict[int, Lineage] = {}
        for at in self._bases_first(cls):
            found[id(at)] = self._model.home(at).lineages._composed(at, found)
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
                home = self._model.home(at)
                if home.lineages.known(at) is None:
                    waiting.append((at, True))
                    bases = [value.node for value in home.lineages.bases(at)]
                    waiting += [(base, False) for base in reversed(bases) if isinstance(base, cst.ClassDef)]

    def _composed(self, cls: cst.ClassDef, found: dict[int, Lineage]) -> Lineage:
        """The lineage of a class from those of its bases; one that derives from itself is not among these."""
        model, bases = self._model, self.bases(cls)
        kinds = list(model.kinds_of_bases(cls))
        own = (kind for kind in kinds if kind not in ("unknown", "other"))
        lineage = Lineage(
            model,
            cls,
            self.unfinished(cls),
            next(own, None),
            "unknown" in kinds,
            "forward" in model.scopes.info(cls).methods,
            next(filter(None, map(self._of_torch, bases)), None),
        )
        for base in (value.node for value in bases):
            if isinstance(base, cst.ClassDef):
                _inherit(lineage, found.get(id(base)) or model.home(base).lineages.known(base))
        self._keep(cls, lineage)
        return lineage

    def _of_torch(self, base: Value) -> str | None:
        """The class of torch that a base is, if it matters which."""
        ref = self._model.reference(base)
        matters = ref is not None and (returned.module_info(ref) or returned.class_kind(ref) == "distribution")
        return ref if matters else None

    def known(self, cls: cst.ClassDef) -> Lineage | None:
        """The lineage of a class if it was found out before and still holds."""
        return self._final.get(id(cls)) or self._still(self._for_now.get(id(cls)))

    def _still(self, lineage: Lineage | None) -> Lineage | None:
        """A lineage that holds for now, if the scopes that it rests on are still being interpreted."""
        if lineage is None:
            return None
        queries = self._model.codebase.queries
        open_ = [queries.is_open(key) for key in lineage.rests_on or ()]  # whoever asks rests on all of them
        return lineage if all(open_) else None

    def unfinished(self, cls: cst.ClassDef) -> frozenset[Key[object]] | None:
        """The scope that the bases of a class rest on as long as it is not finished; None if nothing tells."""
        if id(cls) in self._bases:
            return frozenset()
        scope = ScopeKey(id(self._model.scopes.scope_of(cls)))
        is_known = not self._model.is_part and not any(map(self._may_change, self._named(cls)))
        return frozenset((scope,)) if is_known and self._model.codebase.queries.is_open(scope) else None

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
