"""What else may be called by the name of a function: methods of subclasses, and what is put in its place.

A class is judged by its name here, as its subclasses write it, so that no file has to be interpreted to find these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model import bindings, replaced
from torchlint.model.classes import class_of, find_method
from torchlint.model.codebase.exports import is_mentioned, replacer, setter
from torchlint.model.codebase.heirs import MAKING_ONE, handed_over
from torchlint.model.lineage import lineage_of
from torchlint.model.syntax import decorator_names, is_given_plainly, is_stub, last_name, parameters, root

if TYPE_CHECKING:
    from torchlint.model.context import Context

_MANY_HEIRS = 64
_MANY_METHODS = 4
"""Of what more classes derive from, and more methods override, it is not known what is called."""
COMPUTED = frozenset(("property", "cached_property", "lazy_property"))
"""Decorators that make an attribute of a method."""
_METACLASSES = frozenset(("", "ABCMeta", "EnumMeta", "EnumType", "type"))
"""Metaclasses that leave methods as they are; none does so, too."""
_PARTS_OF_ONE = frozenset(("setter", "getter", "deleter", "overload", "register"))
"""Decorators of further functions of the same name, which leave what the name stands for."""


class Override(NamedTuple):
    """A method that overrides another one, and the class that has it, or inherits it."""

    context: Context
    cls: cst.ClassDef
    function: cst.FunctionDef


class Overriding(NamedTuple):
    """What overrides a method."""

    methods: tuple[Override, ...] = ()
    has_more: bool = False
    """Whether something overrides it that is no plain method, or too many are there to be followed."""


def overriding(context: Context, function: cst.FunctionDef) -> Overriding:
    """What overrides a method in the subclasses of its class, in the file and in other files of the project."""
    cls = class_of(context, function)
    return Overriding() if cls is None else context.remember(_overriding, cls, function.name.value)


def always(context: Context, function: cst.FunctionDef, test: Callable[[cst.FunctionDef], bool]) -> bool:
    """Whether something is true of a function, and of each that overrides it."""
    others = overriding(context, function)
    return not others.has_more and test(function) and all(test(each.function) for each in others.methods)


def is_replaced(context: Context, function: cst.FunctionDef) -> bool:
    """Whether something else is put in the place of a function: by a later definition, or as an attribute."""
    return context.remember(_is_replaced, function)


def is_set_by_others(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether an attribute is set by others than the class, in the file or in other files of the project."""
    if context.scopes.is_set_outside(cls, name) or setter(context, name) is not None:
        return True
    return is_bound_by_heirs(context, cls, name)


def is_bound_by_heirs(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether a class that derives from a class has something of its own by a name, or may have."""
    if has_many_heirs(context, cls) or is_bound_by_unknown_heir(context, cls, name):
        return True
    return any(
        _has_its_own(home, each, name)
        for at, heir in heirs(context, cls)
        for home, each in at.remember(_beside, heir, cls.name.value)
    )


def is_bound_by_class(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether a class has something of a name before its objects get it: in its body, or by one of its bases."""
    if name in context.scopes.info(cls).methods or context.remember(_binds_otherwise, name, cls):
        return True
    return any(each is not cls and _has_its_own(home, each, name) for home, each in lineage_of(context, cls).classes())


def stands_before_others(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a class may stand between one and its base, where something derives from it and from others."""
    if not context.remember(_has_several_bases) and not context.codebase.heirs(context, cls.name.value, _MANY_HEIRS):
        return False
    return any(home.remember(_derives_from_several, heir) for home, heir in heirs(context, cls))


def _has_several_bases(context: Context) -> bool:
    return any(context.remember(_derives_from_several, each) for each in context.scopes.all_classes())


def _derives_from_several(context: Context, cls: cst.ClassDef) -> bool:
    return len(context.scopes.info(cls).bases) > 1


def is_bound_by_unknown_heir(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether a class binds a name that may derive from a class, as its base is one that is given or chosen.

    That the class is given to something, or kept for it, has to be seen: ``mixed(Base)``, ``{"a": Base}``, ``@keep``.
    """
    if not context.is_part and any(
        each is not cls and _has_its_own(context, each, name) for each in context.remember(_open_classes)
    ):
        return context.remember(is_class_handed_over, cls.name.value)
    others = context.codebase.others(context)
    if others is None or not others.heirs.is_bound_openly(context.path or "", name):
        return False
    return context.remember(is_class_handed_over, cls.name.value)


def is_class_handed_over(context: Context, name: str) -> bool:
    """Whether a file of the project gives a class of a name to something, or keeps it for that."""
    others = context.codebase.others(context)
    given = context.remember(_handed_over)
    return name.encode() in given or (others is not None and others.is_handed_over(name.encode()))


def _handed_over(context: Context) -> set[bytes]:
    return handed_over(context.tree.source.text.encode(errors="replace"))


def _open_classes(context: Context) -> list[cst.ClassDef]:
    """The classes of a file with a base that a function is given, or that is chosen where it stands."""
    return [
        each
        for each in context.scopes.all_classes()
        if any(_is_open(context, base) for base in context.scopes.info(each).bases)
    ]


def _is_open(context: Context, base: cst.BaseExpression) -> bool:
    if isinstance(base, cst.Name):
        around = bindings.owner(context, base)
        return isinstance(around, cst.FunctionDef) and any(p.name.value == base.value for p in parameters(around))
    match base:
        case cst.Subscript(value=table):
            return last_name(table).isupper() or last_name(table).islower()
        case cst.Call(func=func):
            return last_name(func) not in MAKING_ONE
    return False


def _beside(context: Context, heir: cst.ClassDef, name: str) -> list[tuple[Context, cst.ClassDef]]:
    """A class that derives from one of that name, with its other bases: ``class Net(Mixin, Base)``."""
    if not _derives_from_several(context, heir):
        return [(context, heir)]
    above: set[int] = set()
    found: list[tuple[Context, cst.ClassDef]] = []
    for home, each in lineage_of(context, heir).classes():
        if each.name.value == name:
            above.update(id(base) for _, base in lineage_of(home, each).classes())
        found.append((home, each))
    return [(home, each) for home, each in found if id(each) not in above]


def _has_its_own(context: Context, cls: cst.ClassDef, name: str) -> bool:
    own = context.scopes.attribute(cls, name)
    if own.assigned or own.registered or name in context.scopes.info(cls).methods:
        return True
    return context.remember(_binds_otherwise, name, cls)


def _is_replaced(context: Context, function: cst.FunctionDef) -> bool:
    name, cls = function.name.value, class_of(context, function)
    if cls is None:
        scopes, module = context.scopes, context.tree.module
        if scopes.scope_of(function) is not module:
            return False
        is_rebound = bool(scopes.rebinders(module, name)) or replaced.is_replaced(context, name)
        return is_rebound or replacer(context, name) is not None
    bound = context.remember(_bound_in_bodies, name).get(id(cls), [function])
    if len(bound) > 1 and not (bound[-1] is function and context.tree.parent(function) is cls.body):
        return True
    if not COMPUTED.isdisjoint(decorator_names(function)):
        return False  # what is assigned to it goes to its setter
    if context.scopes.is_set_outside(cls, name, is_called=True) or replaced.is_replaced(context, name):
        return True
    if name.startswith("__") and name.endswith("__"):  # these are looked up in the class, not in the object
        return False
    return replacer(context, name) is not None or context.remember(_may_have_another, cls, name)


def _may_have_another(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether objects of a class, or the class itself, may be given something else than a method by its name.

    A method of the class or of its bases does so (``self.f = g``), what makes the class may, and so may what changes
    the class of an object.
    """
    if setter(context, "__class__") is not None or context.scopes.is_set_outside(cls, "__class__"):
        return True
    return any(
        _assigns(home, each, name) or _assigns(home, each, "__class__") or _metaclass(each) not in _METACLASSES
        for home, each in lineage_of(context, cls).classes()
    )


def _assigns(context: Context, cls: cst.ClassDef, name: str) -> bool:
    """Whether the methods of a class give its objects something of a name that may be called."""
    return any(not is_given_plainly(context.tree, site) for site in context.scopes.attribute(cls, name).assigned)


def _metaclass(cls: cst.ClassDef) -> str:
    """The name of the metaclass that a class is given; nothing if it is given none."""
    given = (arg.value for arg in cls.keywords if arg.keyword is not None and arg.keyword.value == "metaclass")
    return next(map(last_name, given), "")


def _bound_in_bodies(context: Context, name: str) -> dict[int, list[cst.CSTNode]]:
    """By class, what its body binds to a name as methods and otherwise: the parts of a property count as one."""
    found = defaultdict[int, list[cst.CSTNode]](list)
    for each in context.tree.names(name):
        definition = context.tree.parent(each)
        match definition:
            case cst.FunctionDef() if definition.name is each:
                cls = class_of(context, definition)
                if cls is None or not _PARTS_OF_ONE.isdisjoint(decorator_names(definition)):
                    continue
            case cst.AssignTarget() | cst.ClassDef():
                around = context.tree.enclosing(definition, cst.ClassDef, cst.FunctionDef)
                cls = around if isinstance(around, cst.ClassDef) else None
            case _:
                continue
        if cls is not None:
            found[id(cls)].append(definition)
    return found


def _overriding(context: Context, cls: cst.ClassDef, name: str) -> Overriding:
    if has_many_heirs(context, cls) or is_bound_by_unknown_heir(context, cls, name) or _stands_for_others(context, cls):
        return Overriding(has_more=True)
    found: list[Override] = []
    for home, heir in heirs(context, cls):
        if len(found) >= _MANY_METHODS:
            break
        if _binds_to_other(home, heir, name, cls):
            return Overriding(tuple(found), has_more=True)
        method = _method(home, heir, name)
        if method is not None and not _is_of(home, method, context, cls) and not is_stub(method):
            if all(method is not each.function for each in found):
                found.append(Override(home, heir, method))
    return Overriding(tuple(found), has_more=len(found) >= _MANY_METHODS)


def _stands_for_others(context: Context, cls: cst.ClassDef) -> bool:
    """Whether objects of other classes count as those of a class: of a protocol, of an abstract class."""
    bases = {
        last_name(base.value if isinstance(base, cst.Subscript) else base) for base in context.scopes.info(cls).bases
    }
    if "Protocol" in bases:
        return True
    is_abstract = "ABC" in bases or _metaclass(cls) == "ABCMeta"
    return is_abstract and is_mentioned(context, rf"\b{cls.name.value}\.register\b")


def _binds_to_other(context: Context, heir: cst.ClassDef, name: str, cls: cst.ClassDef) -> bool:
    """Whether a subclass puts something else than a method in the place of one, or one of its other bases does.

    What a class has in its body is no method then, or its objects get an attribute of their own: ``self.f = g``.
    """
    is_special = name.startswith("__") and name.endswith("__")
    return any(
        home.remember(_binds_otherwise, name, each) or (not is_special and home.scopes.attribute(each, name).assigned)
        for home, each in context.remember(_beside, heir, cls.name.value)
    )


def _binds_otherwise(context: Context, name: str, cls: cst.ClassDef) -> bool:
    """Whether a class binds a name in its body by something else than a method in the end."""
    bound = context.remember(_bound_in_bodies, name).get(id(cls), [])
    return bool(bound) and not isinstance(bound[-1], cst.FunctionDef)


def _method(context: Context, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """The method of a class, or what it has from another base than the one that is asked about."""
    info = context.scopes.info(cls)
    if (own := info.methods.get(name)) is not None:
        return own
    return find_method(context, cls, name) if len(info.bases) > 1 else None


def _is_of(home: Context, method: cst.FunctionDef, context: Context, cls: cst.ClassDef) -> bool:
    """Whether a method is that of a class, which may have been read twice."""
    home = home.home(method)
    owner = class_of(home, method)
    return owner is cls or (owner is not None and home.path == context.path and owner.name.value == cls.name.value)


def has_many_heirs(context: Context, cls: cst.ClassDef) -> bool:
    """Whether so many classes derive from a class that not all of them are looked at, or one of them is not found."""
    if not context.is_part and len(_heirs_in_file(context, cls)) > _MANY_HEIRS:
        return True
    if len(context.codebase.heirs(context, cls.name.value, _MANY_HEIRS)) > _MANY_HEIRS:
        return True
    return any(heir is None for _, heir in context.remember(_all_heirs, cls))


def heirs(context: Context, cls: cst.ClassDef) -> list[tuple[Context, cst.ClassDef]]:
    """The classes that derive from a class, each with the context of its file: the first of them if they are many."""
    return [(home, heir) for home, heir in context.remember(_all_heirs, cls) if heir is not None]


def _all_heirs(context: Context, cls: cst.ClassDef) -> list[tuple[Context, cst.ClassDef | None]]:
    """The same; None stands for one of which nothing is known: that a call makes, or a function of another file."""
    found: list[tuple[Context, cst.ClassDef | None]] = []
    if not context.is_part:
        found += [(context, heir) for heir in _heirs_in_file(context, cls)[:_MANY_HEIRS]]
    for other in context.codebase.heirs(context, cls.name.value, _MANY_HEIRS)[:_MANY_HEIRS]:
        if other.path == context.path and not context.is_part and other.name:
            continue
        home = context.codebase.member(other.path, other.name, context) if other.name else None
        named = [(home, each) for each in _called(home, other.name, cls)] if home is not None else []
        found += named or [(context, None)]
    return found


def _called(context: Context, name: str, base: cst.ClassDef) -> list[cst.ClassDef]:
    """The classes of a file that have a name, without the one that they derive from."""
    return [each for each in context.scopes.all_classes() if each.name.value == name and each is not base]


def _heirs_in_file(context: Context, cls: cst.ClassDef) -> list[cst.ClassDef]:
    by_base = context.remember(_by_base)
    found: dict[int, cst.ClassDef] = {}
    waiting = [cls]
    while waiting and len(found) <= _MANY_HEIRS:
        base = waiting.pop()
        for heir in by_base.get((base.name.value, id(context.scopes.scope_of(base))), ()):
            if id(heir) not in found and heir is not cls:
                found[id(heir)] = heir
                waiting.append(heir)
    return list(found.values())


def _by_base(context: Context) -> dict[tuple[str, int], list[cst.ClassDef]]:
    """The classes of a file by the names of those that they derive from, and by the scopes that these are names of."""
    found = defaultdict[tuple[str, int], list[cst.ClassDef]](list)
    for cls in context.scopes.all_classes():
        for base in context.scopes.info(cls).bases:
            found[last_name(base), id(context.scopes.owner(root(base), cls))].append(cls)
            for name in context.tree.within(base, cst.Name):
                for each in _meant(context, name):
                    found[each.value, id(context.scopes.owner(each.value, cls))].append(cls)
    return found


def _meant(context: Context, name: cst.Name) -> Iterator[cst.Name]:
    """A name in the bases of a class, and what it is another name for: ``P = Base``."""
    yield name
    made = bindings.made(context, name)
    if isinstance(made, cst.Name):
        yield made
