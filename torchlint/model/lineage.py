"""Which classes a class derives from, in the order in which attributes are looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import torch_api
from torchlint.model.interpretation import Key
from torchlint.model.values import Value

if TYPE_CHECKING:
    from torchlint.model import Model

_LONGEST = 300
"""How many classes one may derive from; of the others nothing is known, so that a long line of classes has an end."""


@dataclass(eq=False, slots=True)
class Lineage:
    """A class and those of this project that it derives from."""

    classes: tuple[tuple[Model, cst.ClassDef], ...]
    """Each with the model of its file."""
    rests_on: frozenset[Key] | None = frozenset()
    """The scopes that are not finished yet; None if nothing tells when it changes."""
    kind: str | None = None
    """See ``Model.class_kind``; None if nobody has asked yet."""
    torch_base: str | None = ""
    """The class of torch that it derives from, if it does; empty if nobody has asked yet."""

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
        known = self._final.get(id(cls)) or self._still(self._for_now.get(id(cls)))
        if known is not None:
            return known
        found: dict[int, tuple[Model, cst.ClassDef]] = {}
        rests_on: frozenset[Key] | None = frozenset()
        waiting = [cls]
        while waiting and len(found) < _LONGEST:
            at = waiting.pop()
            home = self._model.home(at)
            inherited = home.lineages.known(at)
            if inherited is not None:
                found |= {id(each): (where, each) for where, each in inherited.classes if id(each) not in found}
                rests_on = _all_of(rests_on, inherited.rests_on)
                continue
            found[id(at)] = (home, at)
            bases = [value.node for value in home.lineages.bases(at)]
            rests_on = _all_of(rests_on, home.lineages.unfinished(at))
            waiting += [node for node in reversed(bases) if isinstance(node, cst.ClassDef) and id(node) not in found]
        lineage = Lineage(tuple(found.values())[:_LONGEST], rests_on)
        self._keep(cls, lineage)
        return lineage

    def known(self, cls: cst.ClassDef) -> Lineage | None:
        """The lineage of a class if it was found out before and still holds."""
        return self._final.get(id(cls)) or self._still(self._for_now.get(id(cls)))

    def _still(self, lineage: Lineage | None) -> Lineage | None:
        """A lineage that holds for now, if the scopes that it rests on are still being interpreted."""
        if lineage is None:
            return None
        now = self._model.codebase.interpretation
        open_ = [now.is_open(key) for key in lineage.rests_on or ()]  # whoever asks rests on all of them
        return lineage if all(open_) else None

    def unfinished(self, cls: cst.ClassDef) -> frozenset[Key] | None:
        """The scope that the bases of a class rest on as long as it is not finished; None if nothing tells."""
        if id(cls) in self._bases:
            return frozenset()
        scope = id(self._model.scopes.scope_of(cls))
        is_known = not self._model.is_part and not any(map(self._may_change, self._named(cls)))
        return frozenset((scope,)) if is_known and self._model.codebase.interpretation.is_open(scope) else None

    def _keep(self, cls: cst.ClassDef, lineage: Lineage) -> None:
        if lineage.is_final:
            self._final[id(cls)] = lineage
        elif lineage.rests_on is not None:
            self._for_now[id(cls)] = lineage
            for home, each in lineage.classes:
                if home is self._model and id(each) not in self._met:
                    self._met[id(each)] = self._named(each)

    def defines(self, cls: cst.ClassDef) -> None:
        """The statement of a class is being interpreted, and its bases have been."""
        before = self._met.get(id(cls))
        if before is None:
            return
        now = self._named(cls)
        if any(a != b or a.node is not b.node for a, b in zip(before, now, strict=True)):
            self._for_now, self._met = {}, {}

    def torch_base(self, cls: cst.ClassDef) -> str | None:
        """The class of torch that a class derives from."""
        lineage = self.of(cls)
        if lineage.torch_base == "":
            lineage.torch_base = self._torch_base(lineage)
        return lineage.torch_base

    def _torch_base(self, lineage: Lineage) -> str | None:
        for home, each in lineage.classes:
            for value in home.lineages.bases(each):
                ref = self._model.reference(value)
                if ref is not None and (torch_api.module_info(ref) or torch_api.class_kind(ref) == "distribution"):
                    return ref
        return None


def _all_of(one: frozenset[Key] | None, other: frozenset[Key] | None) -> frozenset[Key] | None:
    return None if one is None or other is None else one | other
