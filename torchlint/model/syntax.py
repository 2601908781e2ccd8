"""Questions about syntax alone."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import count

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.names import UNCALLABLE

LoopStatement = cst.For | cst.While

LEAVING = (cst.Return, cst.Raise, cst.Break, cst.Continue)
"""Simple statements behind which nothing of their block runs."""

Function = cst.FunctionDef | cst.Lambda

_LONGEST = 30
"""Parts of a path, and steps of a chain, that anybody looks at: every one of them asks about all those around it."""


def dotted(node: cst.CSTNode) -> str | None:
    """``a.b.c`` of names and attributes, None for all else and for paths that nobody writes by hand."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        if len(parts) >= _LONGEST:
            return None
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def last_name(node: cst.CSTNode) -> str:
    """The name that a name or attribute ends with, ``c`` of ``a.b.c``; nothing for all else."""
    if type(node) is cst.Name:
        return node.value
    return node.attr.value if type(node) is cst.Attribute else ""


def ending_name(node: cst.CSTNode) -> str:
    """The name an expression ends with: ``loss`` of ``self.loss``, ``f`` of ``m.f(x)``, ``xs`` of ``xs[0]``."""
    while isinstance(node, (cst.Call, cst.Subscript, cst.UnaryOperation)):
        match node:
            case cst.Call(func=inner) | cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
                node = inner
    return last_name(node)


def root(node: cst.BaseExpression) -> str:
    """``a`` of ``a.b[c].d``; nothing if it does not begin with a name."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def is_dotted(node: cst.BaseExpression) -> bool:
    """Whether an expression is a name or a path of attributes."""
    return dotted(node) is not None


def bound_name(alias: cst.ImportAlias) -> str:
    """The name under which ``from a import b`` or ``from a import b as c`` makes something known."""
    return last_name(alias.asname.name if alias.asname is not None else alias.name)


def is_global(statement: cst.CSTNode, tree: Tree) -> bool:
    """Whether what a statement binds belongs to the module."""
    return tree.enclosing(statement, cst.FunctionDef, cst.ClassDef) is None


def loops_of(comprehension: cst.BaseComp) -> Iterator[cst.CompFor]:
    """The loops of a comprehension, the outermost first."""
    loop: cst.CompFor | None = comprehension.for_in
    while loop is not None:
        yield loop
        loop = loop.inner_for_in


def call_of(node: cst.CSTNode, tree: Tree) -> cst.Call | None:
    """The call of which a node is the callee, ``f(x)`` for ``f``; None if it is not called on the spot."""
    parent = tree.parent(node)
    return parent if isinstance(parent, cst.Call) and parent.func is node else None


def without_subscripts(node: cst.BaseExpression) -> cst.BaseExpression:
    """What an element is one of: ``x`` of ``x[0][1]``; what is no element is itself."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def without_brackets(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x`` of ``(x)``; what is nothing without them keeps them: ``()``, a generator."""
    needs_them = isinstance(node, cst.GeneratorExp) or (isinstance(node, cst.Tuple) and not node.elements)
    return node.with_changes(lpar=(), rpar=()) if node.lpar and not needs_them else node


def assignment_of(target: cst.CSTNode, tree: Tree) -> cst.Assign | None:
    """The assignment whose target a name is by itself: ``x = f()`` for ``x``; None for a part of a tuple."""
    parent = tree.parent(target)
    assign = tree.parent(parent) if isinstance(parent, cst.AssignTarget) else None
    return assign if isinstance(assign, cst.Assign) else None


def assigned_value(target: cst.CSTNode, tree: Tree) -> cst.BaseExpression | None:
    """What a name is bound to by itself, by a statement or in an expression: ``x: T = f()``, ``(x := f())``."""
    parent = tree.parent(target)
    if type(parent) is cst.AnnAssign or type(parent) is cst.NamedExpr:
        return parent.value if parent.target is target else None
    assign = assignment_of(target, tree)
    return assign.value if assign is not None else None


def chain(node: cst.CSTNode, tree: Tree) -> Iterator[tuple[str, cst.CSTNode]]:
    """What is done to the value of ``node`` in the same expression: ``(method, call)``, ``("[]", subscript)``.

    What comes behind the first steps of a very long one is a method without a name.
    """
    for step in count(1):
        parent = tree.parent(node)
        match parent:
            case cst.Attribute() | cst.Subscript() if step > _LONGEST:
                yield "", parent
                return
            case cst.Attribute(attr=cst.Name(value=name)):
                node = call_of(parent, tree) or parent
                yield name, node
            case cst.Subscript() if parent.value is node:
                yield "[]", parent
                node = parent
            case _:
                return


def keyword(args: Sequence[cst.Arg], name: str) -> cst.Arg | None:
    """The argument given by that keyword."""
    return next((arg for arg in args if arg.keyword is not None and arg.keyword.value == name), None)


def positional(args: Sequence[cst.Arg], at: int) -> cst.Arg | None:
    """The positional argument at an index, if it can be told."""
    before = args[: at + 1]
    if len(before) <= at or any(arg.star or arg.keyword is not None for arg in before):
        return None
    return before[at]


def has_stars(args: Sequence[cst.Arg]) -> bool:
    """Whether there are arguments that cannot be seen: ``*args``, ``**kwargs``."""
    return any(arg.star for arg in args)


def is_none(node: cst.BaseExpression) -> bool:
    """Whether an expression is the literal ``None``."""
    return isinstance(node, cst.Name) and node.value == "None"


def parameters(function: Function) -> list[cst.Param]:
    """All parameters of a function, in order, with the starred ones."""
    p = function.params
    params = [*p.posonly_params, *p.params]
    if isinstance(p.star_arg, cst.Param):
        params.append(p.star_arg)
    params += p.kwonly_params
    if p.star_kwarg is not None:
        params.append(p.star_kwarg)
    return params


def positional_parameters(function: Function) -> list[cst.Param]:
    """The parameters of a function that take positional arguments, without the starred one."""
    return [*function.params.posonly_params, *function.params.params]


def decorator_names(function: cst.FunctionDef) -> list[str]:
    """Last names of the decorators: ``property``, ``setter``, ``no_grad`` …"""
    names = []
    for decorator in function.decorators:
        node = decorator.decorator
        while isinstance(node, cst.Call):
            node = node.func
        name = dotted(node)
        if name:
            names.append(name.rpartition(".")[2])
    return names


def cut_from(node: cst.CSTNode) -> cst.BaseExpression | None:
    """``p`` of ``p.data`` and ``p.detach()``, as it is written; None for all else."""
    match node:
        case cst.Attribute(value=whole, attr=cst.Name("data")):
            return whole
        case cst.Call(func=cst.Attribute(value=whole, attr=cst.Name("detach")), args=[]):
            return whole
    return None


def integer(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal; None for all else."""
    match node:
        case cst.Integer(value=digits):
            return int(digits.replace("_", ""), 0)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=digits)):
            return -int(digits.replace("_", ""), 0)
    return None


def literal_key(node: cst.BaseExpression) -> str | int | None:
    """The value of a string or integer literal; None for all else."""
    if isinstance(node, cst.SimpleString):
        code = node.value
        if code[0] in "'\"" and code[1:3] != 2 * code[0] and "\\" not in code:
            return code[1:-1]
        text = node.evaluated_value  # compiles it
        return text if isinstance(text, str) else None
    return integer(node)


def element_at(node: cst.BaseExpression | None, index: int) -> cst.BaseExpression | None:
    """What stands at one place of a tuple that is written out; None if it has no such place, or a star before it."""
    elements = node.elements[: index + 1] if isinstance(node, cst.Tuple) else ()
    if len(elements) <= index or any(isinstance(each, cst.StarredElement) for each in elements):
        return None
    return elements[index].value


def alternatives(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The classes of ``isinstance(x, (A, B))`` or ``isinstance(x, A | B)``."""
    match node:
        case cst.Tuple(elements=elements):
            return [e.value for e in elements]
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return [*alternatives(left), *alternatives(right)]
    return [node]


def chained(node: cst.BooleanOperation) -> list[cst.BooleanOperation]:
    """The operations that ``a or b or c`` is made of, all of one operator, the innermost first."""
    found = [node]
    while isinstance(left := found[-1].left, cst.BooleanOperation) and type(left.operator) is type(node.operator):
        found.append(left)
    return found[::-1]


def last_statement(suite: cst.BaseSuite) -> cst.CSTNode:
    """The last statement of a block; of several on its last line the last one."""
    last = suite.body[-1]
    return last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last


def calls_method(node: cst.BaseExpression, names: Container[str]) -> bool:
    """Whether an expression is a call of a method with one of some names, on whatever: ``x.cpu()``."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in names
    return False


def has_break(suite: cst.BaseSuite) -> bool:
    """Whether a loop's body can end the loop."""
    stack: list[cst.CSTNode] = list(suite.body)
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if isinstance(node, cst.SimpleStatementLine):
            stack += node.body
        elif isinstance(node, (cst.If, cst.With, cst.Try, cst.Else, cst.ExceptHandler, cst.Finally)):
            stack += node.body.body
            for name in ("orelse", "handlers", "finalbody"):
                more = getattr(node, name, None)
                stack += more if isinstance(more, (list, tuple)) else [more] if more is not None else []
    return False


def is_stub(function: cst.FunctionDef) -> bool:
    """Whether a function has no body to speak of: ``pass``, ``...``, a docstring, ``raise NotImplementedError``."""
    for statement in function.body.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else (statement,):
            match small:
                case cst.Pass() | cst.Raise() | cst.Expr(value=cst.Ellipsis() | cst.BaseString()):
                    continue
            return False
    return True


_BINDING = frozenset(
    (
        *(cst.AssignTarget, cst.AsName, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr),
        *(cst.MatchStar, cst.MatchAs, cst.MatchMapping, cst.Element, cst.StarredElement),
    )
)
"""What can bind a part of itself. (Looked up, for `isinstance` of what it is not is slow: libcst's nodes are ABCs.)"""

_ELEMENTS = frozenset((cst.Element, cst.StarredElement))

_WITH_PARTS = frozenset((*_ELEMENTS, cst.Tuple, cst.List, cst.Subscript))
"""What is assigned to with its parts, and they are."""

_NAMING = frozenset((cst.Attribute, cst.Arg, cst.FunctionDef, cst.ClassDef, cst.Param))
"""What has a name that is no expression."""


def is_bound(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether an assignment, a loop, ``with``, ``import … as`` or a pattern binds ``node``, be it in a tuple."""
    parent = tree.parent(node)
    if type(parent) not in _BINDING:
        return False
    match parent:
        case cst.AssignTarget() | cst.AsName() | cst.MatchStar():
            return True
        case cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
            return parent.target is node
        case cst.MatchAs():
            return parent.name is node
        case cst.MatchMapping():
            return parent.rest is node
        case cst.Element() | cst.StarredElement():
            sequence = tree.parent(parent)
            return isinstance(sequence, (cst.Tuple, cst.List)) and is_bound(tree, sequence)
    return False


def is_target(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether ``node``, or an element of it, is bound or deleted."""
    target, parent = tree.nearest(_is_no_part).way_to(node)
    return isinstance(parent, cst.Del) or is_bound(tree, target)


def _is_no_part(node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    """Whether a node is assigned to, if it is, for itself and not with what it is a part of."""
    if type(parent) not in _WITH_PARTS:
        return True
    match parent:
        case cst.Element() | cst.StarredElement():
            return False
        case cst.Tuple() | cst.List():
            return type(node) not in _ELEMENTS
        case cst.Subscript():
            return parent.value is not node
    return True


def is_label(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a name is no expression: an attribute's, a keyword, that of a function, class or parameter."""
    parent = tree.parent(node)
    if type(parent) not in _NAMING:
        return False
    match parent:
        case cst.Attribute():
            return parent.attr is node
        case cst.Arg():
            return parent.keyword is node
        case cst.FunctionDef() | cst.ClassDef() | cst.Param():
            return parent.name is node
    return False


def is_given_plainly(tree: Tree, target: cst.CSTNode) -> bool:
    """Whether what is assigned is written as what cannot be called: ``state.loss = total / n``, ``args.on = True``."""
    match tree.parent(target):
        case cst.AugAssign():
            return True
        case cst.AnnAssign(value=cst.BaseExpression() as value):
            return _is_plain(value)
        case cst.AssignTarget() as parent:
            assign = tree.parent(parent)
            return isinstance(assign, cst.Assign) and _is_plain(assign.value)
    return False


def _is_plain(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Name(value=name):
            return name in ("None", "True", "False")
        case cst.BinaryOperation(operator=operator):
            return isinstance(operator, _ARITHMETIC)
        case cst.Call(func=cst.Name(value=name)):
            return name in UNCALLABLE
    return isinstance(node, _PLAIN)


_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)
_PLAIN = (cst.BaseNumber, cst.BaseString, cst.Comparison, cst.BaseList, cst.Tuple, cst.BaseDict, cst.BaseSet)
