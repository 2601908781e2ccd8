"""Which files of a project put something in the place of a name of torch's, ``F.upsample = mine``, or of an attribute.

What is patched that way is patched for every file, so a call of it anywhere may be a call of something else. Tests
that do so with ``setattr``, or by a text that names it (``patch("torch.tanh")``), count like any other file.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.model.codebase.python_trees import dotted_parts, imported
from torchlint.model.codebase.second_order import (
    asks_for_graphs,
    assigns_gradients,
    called_name,
    leaves_graphs,
    writes_to_gradients,
)
from torchlint.model.names import REPLACING, UNCALLABLE
from torchlint.model.torch import library
from torchlint.system import importable

ParseFile = Callable[[str], ast.Module | None]
"""Gives the tree of a file; None if it does not parse."""

_ASSIGNED = re.compile(
    rb"\.(?<=[\w)\]]\.)(?<!\bself\.)([^\W\d]\w*)\s*(?:\[[^\]\n]{0,100}\]\s*){0,3}"
    rb"(?:(?:[-+*/@%&|^]|//|\*\*|<<|>>)?=(?!=)|[,:][^=\n()]{0,200}=(?!=)|\.(?:\w+_|append|extend|insert|setdefault|update)\s*\()"
)
"""An attribute that is assigned to, alone, with others or annotated, an element of one, and one written in place.

The bounds are for long lines: of each attribute on one all that is behind it would be looked at. `re` finds a character
that a pattern begins with in a tenth of the time."""
_BY_SETATTR = re.compile(rb"(?:attr|attr__|object)\s*\(\s*[^,\n]{1,100},\s*[\"'](\w+)[\"']")
_BY_TEXT = re.compile(rb"torch(?<=[\"']torch)[\w.]*\.(\w+)[\"']")
_BY_PATH = re.compile(rb"(?:attr|patch)\s*\(\s*[\"'][\w.]*\.(\w+)[\"']")
_BY_METHOD = re.compile(rb"(?<!\bself)\.(?:__setattr__|add_module|register_\w+)\s*\(\s*[\"'](\w+)[\"']")
_IN_TABLE = re.compile(
    rb"(?<!\bself\.)(?:_modules|_buffers|_parameters|__dict__|vars\([^()\n]{1,50}\))\s*\[\s*[\"'](\w+)[\"']\s*\]\s*=(?!=)"
)
_COMPUTED = re.compile(rb"setattr\s*\(\s*(?!self\b)[^,\n]{1,100},\s*[^\W\d]")
_COMPUTED_OF_TORCH = re.compile(
    rb"setattr\s*\(\s*[\w.]{0,100}\b(?:torch|nn|F|functional|init|linalg|utils|Tensor)\s*,\s*[^\W\d]"
)
_TEXT = re.compile(rb"[\"']([^\W\d]\w*)[\"']")
"""A name that is no text, by which something is set, and a text that may be it: ``for n in ("a", "b"): …``."""
_REGISTERING = frozenset(("__setattr__", "add_module", "register_module", "register_buffer", "register_parameter"))
"""Methods of the object itself that set an attribute by its name."""
_FILLING = frozenset(("append", "extend", "insert", "setdefault", "update"))
"""Methods that put something into a container."""
_TABLES = frozenset(("_modules", "_buffers", "_parameters", "__dict__"))
"""What an object keeps its attributes in."""
_WORKING = (b"torch", b"import", b"def")
"""What has one of these in it may do something with objects of other files; what has none is a table."""
_MODULES = frozenset(("torch", "F"))
"""What modules of torch are called where a file has them from another one of the project."""


class Patching:
    """The assignments to attributes of modules in all files of one project."""

    def __init__(self, parse: ParseFile) -> None:
        self._parse = parse
        self._by_word: dict[str, list[str]] = defaultdict(list)
        self._asking: dict[str, bool | None] = {}
        """The files that ask for gradients with a graph, with whether `.grad` may have it; None until that is asked."""
        self._computing: list[str] = []
        """The files that set attributes by names that are computed, of what is called like a module of torch."""
        self._writing: list[str] = []
        """The files that write to gradients in place."""
        self._replacements: dict[str, _Replacements | None] = {}
        self._giving: dict[str, bool | None] = {}
        """The files that assign gradients, with whether these may have a graph; None until that is asked."""

    def add(self, path: str, data: bytes) -> None:
        """Take a file in."""
        is_asking = asks_for_graphs(data)
        if is_asking:
            self._asking[path] = None
        if is_asking or assigns_gradients(data):
            self._giving[path] = None
        if writes_to_gradients(data):
            self._writing.append(path)
        if not any(word in data for word in _WORKING):
            return
        if _COMPUTED_OF_TORCH.search(data) is not None:
            self._computing.append(path)
        for word in set(_words(data)):
            self._by_word[word.decode(errors="replace")].append(path)

    def patcher(self, path: str, name: str) -> str | None:
        """The first file other than ``path`` that puts something in the place of a name; None if there is none."""
        others: list[str] = [*self._by_word.get(name.rpartition(".")[2], ()), *self._computing]
        for other in others:
            if other != path and self._patches(other, name):
                return other
        return None

    def keeper(self, path: str) -> str | None:
        """The first other file that may ask for gradients with a graph, or assign such: ``p.grad = g + c * p``."""
        found = next((other for other in self._asking if other != path), None)
        return found or self._giver(path)

    def leaver(self, path: str) -> str | None:
        """The first other file by which a gradient that a tensor has, its `.grad`, may have a graph.

        One that asks for graphs of gradients that are given back makes any write to a gradient one of these.
        """
        found = next((other for other in self._asking if other != path and self._leaves(other)), None)
        return found or self._giver(path) or (next(iter(self._writing), None) if self._asking else None)

    def _giver(self, path: str) -> str | None:
        return next((other for other in self._giving if other != path and self._gives(other)), None)

    def _leaves(self, other: str) -> bool:
        known = self._asking[other]
        if known is None:
            known = self._asking[other] = leaves_graphs(self._parse(other))
        return known

    def _gives(self, other: str) -> bool:
        known = self._giving[other]
        if known is None:
            tree = self._parse(other)
            known = self._giving[other] = tree is None or _gives_gradients(tree)
        return known

    def is_put(self, attribute: str) -> bool:
        """Whether any file may put another object into an attribute of that name, or into a part of it."""
        return any(self._sets(path, attribute, _is_of_what_was_there) for path in self._by_word.get(attribute, ()))

    def rebinder(self, path: str, name: str) -> str | None:
        """The first other file that may put something else under a name of the module; None if there is none."""
        module = importable.module_name(path)
        return self._first(path, name, lambda other: self._rebinds(other, module, name))

    def setter(self, path: str, attribute: str) -> str | None:
        """The first other file that may assign an attribute of that name of any object; None if there is none."""
        return self._first(path, attribute, lambda other: self._sets(other, attribute))

    def replacer(self, path: str, attribute: str) -> str | None:
        """The same for what can be called: where numbers or texts are assigned, no method of that name is meant."""
        return self._first(path, attribute, lambda other: self._sets(other, attribute, _is_of_no_method))

    def _first(self, path: str, word: str, test: Callable[[str], bool]) -> str | None:
        """The first file other than ``path`` with a word that something is true of."""
        return next((other for other in self._by_word.get(word, ()) if other != path and test(other)), None)

    def _sets(self, other: str, attribute: str, is_harmless: _IsHarmless | None = None) -> bool:
        """Whether a file may set an attribute of that name, but by what is harmless."""
        found = self._replacements_of(other)
        if found is None or attribute in found.texts:
            return True
        return any(
            _is_setting(node, attribute) and not (is_harmless is not None and is_harmless(node, found))
            for node in found.nodes
        )

    def _rebinds(self, other: str, module: str, name: str) -> bool:
        found = self._replacements_of(other)
        return found is None or any(_is_of_module(node, module, name, found.names) for node in found.nodes)

    def _patches(self, other: str, name: str) -> bool:
        found = self._replacements_of(other)
        return found is None or any(_is_patch(node, name, found.names) for node in found.nodes)

    def _replacements_of(self, other: str) -> _Replacements | None:
        """What a file may replace; None if it does not parse, so that what its text says has to count."""
        if other not in self._replacements:
            tree = self._parse(other)
            self._replacements[other] = None if tree is None else _replacements(tree)
        return self._replacements[other]


def _words(data: bytes) -> Iterator[bytes]:
    """The names that a file may put something in the place of."""
    for pattern in (_ASSIGNED, _BY_SETATTR, _BY_TEXT, _BY_PATH, _BY_METHOD, _IN_TABLE):
        yield from pattern.findall(data)
    if _COMPUTED.search(data) is not None:
        yield from _TEXT.findall(data)


@dataclass(frozen=True)
class _Replacements:
    """What of a file is looked at for each name that is asked about: the file is gone through once."""

    nodes: tuple[ast.AST, ...]
    """The assignments to attributes, and the calls of what replaces."""
    names: dict[str, str]
    """What the names of the file stand for that are imported."""
    texts: frozenset[str]
    """The names that attributes may have which are set by a name that is computed."""
    plain: frozenset[int]
    """Which of the nodes are assigned what cannot be called, by identity."""
    kept: frozenset[int]
    """Which of them are assigned what is made of them, or cannot be called: ``net.body = net.body.to(device)``."""


_IsHarmless = Callable[[ast.AST, _Replacements], bool]


def _is_of_no_method(node: ast.AST, found: _Replacements) -> bool:
    """Whether what is set is no method: it cannot be called, or is an element."""
    return _is_part_written(node) or id(node) in found.plain


def _is_of_what_was_there(node: ast.AST, found: _Replacements) -> bool:
    return id(node) in found.kept


def _replacements(tree: ast.Module) -> _Replacements:
    everything = tuple(ast.walk(tree))
    own = frozenset(each for node in everything for each in _of_classmethod(node))
    nodes = tuple(node for node in everything if _is_replacement(node) and id(node) not in own)
    texts = _texts(tree) if any(map(_is_computed, nodes)) else frozenset[str]()
    plain = frozenset(id(target) for node in everything for target in _assigned_plainly(node))
    kept = frozenset(id(target) for node in everything for target in _made_of_itself(node))
    return _Replacements(nodes, imported(tree), texts, plain, plain | kept)


def _made_of_itself(node: ast.AST) -> Iterator[ast.expr]:
    """What an assignment gives something that is made of what was there."""
    match node:
        case ast.Assign(targets=targets, value=value):
            inside = {ast.dump(each.value) + each.attr for each in ast.walk(value) if isinstance(each, ast.Attribute)}
            for target in targets:
                if isinstance(target, ast.Attribute) and ast.dump(target.value) + target.attr in inside:
                    yield target


def _of_classmethod(node: ast.AST) -> Iterator[int]:
    """What a class method assigns to its own class, by identity: ``cls.count = 0``."""
    match node:
        case ast.FunctionDef(decorator_list=[*_, ast.Name(id="classmethod")], args=ast.arguments(args=[first, *_])):
            for each in ast.walk(node):
                match each:
                    case ast.Attribute(value=ast.Name(id=first.arg)):
                        yield id(each)


def _assigned_plainly(node: ast.AST) -> Iterator[ast.expr]:
    """What an assignment gives something that cannot be called: ``state.loss = total / n``, ``args.test = True``."""
    match node:
        case ast.AugAssign(target=target):
            yield target
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            yield from (target for target, value in zip(targets, values, strict=False) if _is_plain(value))
        case ast.Assign(targets=targets, value=value) if _is_plain(value):
            yield from targets
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_plain(value):
            yield target


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is written as what cannot be called: a number, a text, a list."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in UNCALLABLE
    return isinstance(node, _PLAIN)


_PLAIN = (ast.Constant, ast.JoinedStr, ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)


def _is_part_written(node: ast.AST) -> bool:
    """Whether an element is written, or all in place: what has it is no method. Tables have attributes as elements."""
    match node:
        case ast.Subscript(value=table, slice=ast.Constant(value=str())):
            return not _is_table(table)
        case ast.Call(func=ast.Attribute(attr=method)):
            return method.endswith("_") and not method.endswith("__")
    return isinstance(node, ast.Subscript)


def _is_computed(node: ast.AST) -> bool:
    """Whether an attribute of something else than a method's own object is set by a name that is no text."""
    match node:
        case ast.Call(args=[ast.Name(id="self" | "cls"), *_]) | ast.Call(args=[_, ast.Constant(), *_]):
            return False
        case ast.Call(args=[_, _, _]):
            return called_name(node) == "setattr"
    return False


def _texts(tree: ast.Module) -> frozenset[str]:
    """The texts of a file that are names."""
    return frozenset(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    )


def _is_replacement(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Call():
            name = called_name(node)
            return name in REPLACING or name in _REGISTERING or name in _FILLING or name.endswith("_")
    return False


def _gives_gradients(tree: ast.Module) -> bool:
    """Whether a file gives a tensor a gradient that may have a graph."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    names = {name: whole for name, whole in imported(tree).items() if name not in defined}
    return any(_is_giving(node, names) for node in ast.walk(tree))


def _is_giving(node: ast.AST, names: dict[str, str]) -> bool:
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AugAssign(target=target, value=value):
            targets = [target]
        case _:
            return False
    stored = [part for each in targets for part in ast.walk(each) if isinstance(part, ast.Attribute)]
    is_gradient = any(each.attr == "grad" and isinstance(each.ctx, ast.Store) for each in stored)
    return is_gradient and _may_have_graph(value, names)


def _may_have_graph(value: ast.expr, names: dict[str, str]) -> bool:
    match value:
        case ast.Constant():
            return False
        case ast.Attribute(attr=name):
            return name not in ("data", "grad")
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
            return _may_have_graph(inner, names)
        case ast.BinOp(left=left, right=right):
            return _may_have_graph(left, names) or _may_have_graph(right, names)
        case ast.Call() if _cuts(value, names) or _is_like(value):
            return False
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=args):
            is_new = name.endswith("_like") or name.startswith("new_") or name in _CUT
            return not is_new and (_may_have_graph(inner, names) or any(_may_have_graph(arg, names) for arg in args))
    return True


def _cuts(call: ast.Call, names: dict[str, str]) -> bool:
    """Whether a tensor is wrapped by `torch.autograd.Variable`, without asking for a graph."""
    first, *rest = [*dotted_parts(call.func)] or [""]
    if ".".join((names.get(first, first), *rest)) != "torch.autograd.Variable":
        return False
    return len(call.args) == 1 and all(
        each.arg in ("requires_grad", "volatile") and isinstance(each.value, ast.Constant) and not each.value.value
        for each in call.keywords
    )


def _is_like(call: ast.Call) -> bool:
    """Whether `new` makes a tensor of the size of another one: given a tensor, it gives that one back."""
    match call:
        case ast.Call(func=ast.Attribute(value=like, attr="new"), args=[ast.Starred(value=size)] | [size], keywords=[]):
            pass
        case _:
            return False
    match size:
        case ast.Call(func=ast.Attribute(value=sized, attr="size"), args=[]) | ast.Attribute(value=sized, attr="shape"):
            return [*dotted_parts(like)][:1] == [*dotted_parts(sized)][:1] != []
    return False


_CUT = frozenset(("detach", "zeros", "ones", "empty", "full", "rand", "randn", "tensor", "from_numpy"))
"""What gives a tensor without a graph, as a method or a function of torch."""


def _is_patch(node: ast.AST, name: str, names: dict[str, str]) -> bool:
    last = name.rpartition(".")[2]
    match node:
        case ast.Attribute(value=owner, attr=attribute, ctx=ast.Store() | ast.Del()):
            return attribute == last and _is_owner(owner, name, names)
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return name in (text, library.canonical(text))
        case ast.Call(args=[owner, ast.Constant(value=str(attribute)), *_]):
            return attribute == last and _is_owner(owner, name, names)
        case ast.Call(args=[owner, _, _]):
            return _is_computed(node) and _is_owner(owner, name, names)  # any name
    return False


def _is_setting(node: ast.AST, attribute: str) -> bool:
    """Whether an attribute of that name, or a part of it, is written, of anything but what a method belongs to."""
    match node:
        case ast.Subscript(value=table, slice=ast.Constant(value=str(name)), ctx=ast.Store()) if _is_table(table):
            return name == attribute
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return _is_named(node, text, attribute)
        case ast.Subscript(value=ast.Attribute() as inner, ctx=ast.Store()):
            return _is_setting(ast.Attribute(inner.value, inner.attr, ast.Store()), attribute)
        case ast.Subscript(value=ast.Subscript() as inner, ctx=ast.Store()):
            return _is_setting(ast.Subscript(inner.value, inner.slice, ast.Store()), attribute)
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as inner, attr=method)) if _changes(method):
            return _is_setting(ast.Attribute(inner.value, inner.attr, ast.Store()), attribute)
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name == attribute
        case ast.Call(args=[_, ast.Constant(value=str(name)), *_]):
            return name == attribute
    return False


def _changes(method: str) -> bool:
    """Whether a method changes what it is called on: a tensor in place, a container."""
    return method.endswith("_") or method in _FILLING


def _is_of_module(node: ast.AST, module: str, name: str, names: dict[str, str]) -> bool:
    """Whether a name of a module is written: ``m.f = g``, ``patch("pkg.m.f")``, ``setattr(m, "f", g)``."""
    match node:
        case ast.Attribute(value=owner, attr=attribute, ctx=ast.Store() | ast.Del()):
            return attribute == name and _last_part(owner, names) == module
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return called_name(node) in REPLACING and text.endswith(f"{module}.{name}")
        case ast.Call(args=[owner, ast.Constant(value=str(attribute)), *_]):
            return attribute == name and _last_part(owner, names) == module
    return False


def _last_part(owner: ast.expr, names: dict[str, str]) -> str:
    """The last part of the full name of what a dotted name stands for."""
    first, *rest = [*dotted_parts(owner)] or [""]
    return ".".join((names.get(first, first), *rest)).rpartition(".")[2]


def _is_table(node: ast.expr) -> bool:
    """Whether an expression is the dictionary of the attributes of an object, other than that of a method."""
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return False
        case ast.Attribute(attr=name):
            return name in _TABLES
    return isinstance(node, ast.Call) and called_name(node) == "vars"


def _is_named(call: ast.Call, text: str, attribute: str) -> bool:
    """Whether a call sets an attribute by a text that names it: ``m.add_module("a", …)``, ``patch("b.m.a")``."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr="__setattr__" | "add_module"):
            return False
        case ast.Attribute(attr=method) if method in _REGISTERING:
            return text == attribute
    return called_name(call) in REPLACING and text.endswith(f".{attribute}")


def _is_owner(owner: ast.expr, name: str, names: dict[str, str]) -> bool:
    """Whether an expression is the module or class that a name of torch is in, or may be."""
    path = list(dotted_parts(owner))
    if not path or path[0] not in names:
        return False
    full = ".".join((names[path[0]], *path[1:]))
    module, _, last = name.rpartition(".")
    if full.partition(".")[0] == "torch":
        return library.canonical(f"{full}.{last}") == name or full == module
    return path[-1] in _MODULES or path[-1] == module.rpartition(".")[2]
