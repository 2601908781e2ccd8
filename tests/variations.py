"""Other ways to write a program: in brackets, over several lines, by other names, in a function, and line by line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator

import libcst as cst

BREAK = cst.SimpleWhitespace(" \\\n    ")
IN_BRACKETS = cst.ParenthesizedWhitespace(
    cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment("# (")), indent=True
)
CHAINED = (cst.Call, cst.Attribute, cst.Subscript)


class _NotInStrings(cst.CSTTransformer):
    """Leaves f-strings alone: before Python 3.12 they may not be broken, nor quotes in them."""

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False

    def visit_Annotation(self, node: cst.Annotation) -> bool:
        return False

    def visit_Decorator(self, node: cst.Decorator) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        return False


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


class Bracketed(_NotInStrings):
    """``x.to(d).detach()`` is ``(x.to(d)).detach()``, and ``f(x)`` is ``f((x))``."""

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return updated_node.with_changes(value=_bracketed(updated_node.value))

    def leave_Subscript(self, original_node: cst.Subscript, updated_node: cst.Subscript) -> cst.BaseExpression:
        return updated_node.with_changes(value=_bracketed(updated_node.value))

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        if isinstance(updated_node.value, cst.GeneratorExp):
            return updated_node
        return updated_node.with_changes(value=_bracketed(updated_node.value))

    def leave_BinaryOperation(
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BaseExpression:
        left, right = _bracketed(updated_node.left), _bracketed(updated_node.right)
        return updated_node.with_changes(left=left, right=right)


class Called(_NotInStrings):
    """``x.detach()`` is ``(x.detach)()``."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if isinstance(updated_node.func, cst.Name) and updated_node.func.value in ("super", "print"):
            return updated_node
        return updated_node.with_changes(func=_bracketed(updated_node.func))


class Broken(_NotInStrings):
    """Every dot, operator and ``=`` stands on a line of its own, with spaces around it."""

    def leave_Dot(self, original_node: cst.Dot, updated_node: cst.Dot) -> cst.Dot:
        return cst.Dot(BREAK, cst.SimpleWhitespace("  "))

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        if updated_node.keyword is None:
            return updated_node
        return updated_node.with_changes(equal=cst.AssignEqual(BREAK, BREAK))

    def leave_AssignTarget(self, original_node: cst.AssignTarget, updated_node: cst.AssignTarget) -> cst.AssignTarget:
        return cst.AssignTarget(updated_node.target, BREAK, BREAK)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        return updated_node.with_changes(whitespace_after_func=BREAK)

    def leave_Subtract(self, original_node: cst.Subtract, updated_node: cst.Subtract) -> cst.BaseBinaryOp:
        return cst.Subtract(BREAK, BREAK)

    def leave_AddAssign(self, original_node: cst.AddAssign, updated_node: cst.AddAssign) -> cst.BaseAugOp:
        return cst.AddAssign(BREAK, BREAK)

    def leave_Add(self, original_node: cst.Add, updated_node: cst.Add) -> cst.BaseBinaryOp:
        return cst.Add(BREAK, BREAK)

    def leave_Divide(self, original_node: cst.Divide, updated_node: cst.Divide) -> cst.BaseBinaryOp:
        return cst.Divide(BREAK, BREAK)

    def leave_Subscript(self, original_node: cst.Subscript, updated_node: cst.Subscript) -> cst.BaseExpression:
        bracket = cst.LeftSquareBracket(cst.SimpleWhitespace("  "))
        return updated_node.with_changes(whitespace_after_value=BREAK, lbracket=bracket)


class Commented(_NotInStrings):
    """Comments stand between the arguments of a call."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        return updated_node.with_changes(whitespace_before_args=IN_BRACKETS)


class Tight(_NotInStrings):
    """No spaces around operators."""

    def leave_Subtract(self, original_node: cst.Subtract, updated_node: cst.Subtract) -> cst.BaseBinaryOp:
        return cst.Subtract(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

    def leave_Divide(self, original_node: cst.Divide, updated_node: cst.Divide) -> cst.BaseBinaryOp:
        return cst.Divide(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

    def leave_AddAssign(self, original_node: cst.AddAssign, updated_node: cst.AddAssign) -> cst.BaseAugOp:
        return cst.AddAssign(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

    def leave_AssignTarget(self, original_node: cst.AssignTarget, updated_node: cst.AssignTarget) -> cst.AssignTarget:
        nothing = cst.SimpleWhitespace("")
        return cst.AssignTarget(updated_node.target, nothing, nothing)


class Renamed(cst.CSTTransformer):
    """What imports bind at the top has another name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def leave_ImportAlias(self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias) -> cst.ImportAlias:
        bound = updated_node.asname.name if updated_node.asname is not None else updated_node.name
        if not isinstance(bound, cst.Name):
            return updated_node
        new = f"{bound.value[0]}_{len(self.names)}"
        self.names[bound.value] = new
        return updated_node.with_changes(
            asname=cst.AsName(cst.Name(new), cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        )

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return node.module is not None and cst.Module([]).code_for_node(node.module) != "__future__"

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        self.names["."] = "."

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return updated_node.with_changes(value=self.names.get(updated_node.value, updated_node.value))


WAYS: dict[str, Callable[[], cst.CSTTransformer]] = {
    "in brackets": Bracketed,
    "called in brackets": Called,
    "over several lines": Broken,
    "with comments": Commented,
    "without spaces": Tight,
    "by other names": Renamed,
}


def forms(text: str, rows: Collection[int]) -> Iterator[tuple[range | None, str]]:
    """A text as it is and in other ways: whole, and with one of the statements at its top that stand on some lines.

    With each comes which lines that one has, and None with the whole. Not each of them has to be Python.
    """
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return
    whole = _parts(module)
    ends = list(itertools.accumulate((part.count("\n") for part in whole), initial=0))
    lines = [range(start + 1, end + 1) for start, end in itertools.pairwise(ends)]
    flagged = [number for number, its in enumerate(lines) if any(row in its for row in rows)]
    for way in (whole, *(_parts(module.visit(way())) for way in WAYS.values())):
        yield None, "".join(way)
        for kept in flagged if len(flagged) > 1 else ():
            yield (
                lines[kept],
                "".join(part for number, part in enumerate(way) if number == kept or number not in flagged),
            )


def _parts(module: cst.Module) -> list[str]:
    """What stands before the statements of a module, and each of these."""
    return ["".join(map(module.code_for_node, module.header)), *map(module.code_for_node, module.body)]


def in_a_function(text: str, *, is_called: bool) -> str | None:
    """A text with all but its imports in a function, which nobody calls or the module does; None if that cannot be."""
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return None
    heads = [each for each in module.body if _is_import(each)]
    rest = [each for each in module.body if not _is_import(each)]
    if not rest:
        return None
    body = cst.IndentedBlock([*rest, cst.parse_statement("return\n")])
    made = cst.FunctionDef(cst.Name("whole"), cst.Parameters(), body)
    calls = [cst.parse_statement("whole()\n")] if is_called else []
    code = module.with_changes(body=[*heads, made, *calls]).code
    try:
        compile(code, "x.py", "exec")
    except SyntaxError:
        return None
    return code


def _is_import(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(isinstance(each, (cst.Import, cst.ImportFrom)) for each in statement.body)
