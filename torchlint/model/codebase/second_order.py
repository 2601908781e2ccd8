"""Which files ask for gradients that have a graph, and whether `backward()` is asked, which leaves them in `.grad`.

``torch.autograd.grad(…, create_graph=True)`` gives such gradients back, and leaves `.grad` alone.
"""

from __future__ import annotations

import ast
import re

_ASKING = re.compile(
    rb"create_graph(?<!\wcreate_graph)\b(?!\s*=\s*False\b)"
    rb"|\bfunctional\.(?:hessian|hvp|vhp)\s*\(|\bfunctional\s+import\s[^\n]*\b(?:hessian|hvp|vhp)\b"
    rb"|(?<!save_for_)backward\s*\((?:[^(),\n]{0,100},){2}\s*(?!False\b)\w+\s*[,)]|grad(?<!\wgrad)\s*\((?:[^(),\n]{0,100},){4}"
)
"""What asks for gradients with a graph, by its name or place, or hands the question on."""
_GIVEN = re.compile(rb"\.grad(?<=[\w)\]]\.grad)\s*(?:[-+*/]?=)(?!=)\s*(?!None\b)")
"""A gradient that is assigned, and not only taken away."""
_WRITTEN = re.compile(rb"\.grad(?<=[\w)\]]\.grad)\s*\.\w+_\s*\(\s*(?![)\d])")
"""A gradient that is written in place, with something that may have a graph."""
_DEFINITION = re.compile(rb"\bdef\s+\w*(?:backward|grad)\s*\(")
_GIVING_BACK = frozenset(("grad", "jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"))
"""Functions of `torch.autograd` that give gradients back."""
_BEFORE_CREATE_GRAPH = 2
"""How many arguments of `backward()` stand before `create_graph`, at least."""


def asks_for_graphs(data: bytes) -> bool:
    """Whether a file asks for gradients with a graph, or hands the question on."""
    if _ASKING.search(data) is None:
        return False
    return _ASKING.search(_DEFINITION.sub(b"", data)) is not None


def assigns_gradients(data: bytes) -> bool:
    """Whether a file assigns gradients."""
    return b".grad" in data and _GIVEN.search(data) is not None


def writes_to_gradients(data: bytes) -> bool:
    """Whether a file writes to gradients in place what may have a graph."""
    return b".grad" in data and _WRITTEN.search(data) is not None


_DECIDING = (ast.If, ast.While, ast.IfExp, ast.Assert)
"""What may ask a flag without handing it on: ``if create_graph: retain_graph = True``."""


def leaves_graphs(tree: ast.Module | None) -> bool:
    """Whether a file that asks for gradients with a graph may ask that of `backward()`."""
    if tree is None:
        return True
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = {id(each) for call in calls if called_name(call) in _GIVING_BACK for each in _parts_given(call)}
    given |= {id(node.test) for node in ast.walk(tree) if isinstance(node, _DECIDING)}
    return any(map(_sends_back, calls)) or any(_names_it(node) and id(node) not in given for node in ast.walk(tree))


def _parts_given(call: ast.Call) -> list[ast.AST]:
    """What says in a call whether a graph is wanted."""
    asked = [each for each in call.keywords if each.arg == "create_graph"]
    return [part for each in asked for part in (each, *ast.walk(each.value))]


def _sends_back(call: ast.Call) -> bool:
    name = called_name(call)
    if not name.endswith("backward") or name == "save_for_backward":
        return False
    return len(call.args) > _BEFORE_CREATE_GRAPH or any(isinstance(arg, ast.Starred) for arg in call.args)


def _names_it(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="create_graph", value=value):
            return not (isinstance(value, ast.Constant) and value.value is False)
        case ast.Name(id="create_graph") | ast.Attribute(attr="create_graph") | ast.Constant(value="create_graph"):
            return True
    return False


def called_name(call: ast.Call) -> str:
    """The last name of what is called; empty if it has none."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
