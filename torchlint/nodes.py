"""libcst's nodes: which of their fields are syntax, in the order of the text, and how to have them parsed quickly."""

from __future__ import annotations

import dataclasses
import functools

import libcst as cst

_TRIVIA = (
    "whitespace",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "leading_lines",
    "lines_after",
    "header",
    "footer",
    "trailing",
    "semicolon",
    "comma",
    "dot",
    "colon",
    "equal",
    "indent",
)


def is_trivia(field: str) -> bool:
    """Whether fields of that name hold white space, comments, brackets or commas."""
    return "whitespace" in field or field.startswith("_") or field.startswith(_TRIVIA)


_SCALARS = {
    "value": (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.FormattedStringText, cst.NotEqual),
    "start": (cst.FormattedString,),
    "end": (cst.FormattedString,),
    "conversion": (cst.FormattedStringExpression,),
    "star": (cst.Index,),
}
"""Fields that hold no nodes, of classes that there are many of; of others that is seen when they are looked at."""


@functools.cache
def syntax_fields(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    """Names of the fields of ``cls`` that can hold syntax nodes, in document order."""
    fields = (f.name for f in dataclasses.fields(cls) if not is_trivia(f.name))
    names = tuple(name for name in fields if cls not in _SCALARS.get(name, ()))
    # libcst lists some fields in another order than they stand in the text
    if cls is cst.IfExp:
        names = ("body", "test", "orelse")
    elif cls is cst.FunctionDef:
        names = ("decorators", "asynchronous", "name", "type_parameters", "params", "returns", "body")
    elif cls is cst.ClassDef:
        names = ("decorators", "name", "type_parameters", "bases", "keywords", "body")
    elif cls is cst.CompFor:
        names = ("asynchronous", "target", "iter", "ifs", "inner_for_in")
    elif cls in (cst.ListComp, cst.SetComp, cst.GeneratorExp):
        names = ("elt", "for_in")
    elif cls is cst.DictComp:
        names = ("key", "value", "for_in")
    elif cls is cst.Parameters:
        names = ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg")
    elif cls is cst.Param:
        names = ("name", "annotation", "default")
    elif cls is cst.ExceptHandler or cls is cst.ExceptStarHandler:
        names = ("type", "name", "body")
    elif cls is cst.ImportFrom:
        names = ("module", "names")
    elif cls is cst.Slice:
        names = ("lower", "upper", "step")
    elif cls is cst.For:
        names = ("asynchronous", "target", "iter", "body", "orelse")
    elif cls is cst.With:
        names = ("asynchronous", "items", "body")
    elif cls is cst.Arg:
        names = ("keyword", "value")
    return names


def parse_module(text: str) -> cst.Module:
    """The tree that libcst makes of a text, without validating its nodes one by one, which takes a third of the time.

    The parser made them; for the little that its grammar lets pass and Python does not there is
    :func:`torchlint.tree.is_refused`.

    Raises:
        cst.ParserSyntaxError: it is no Python.
    """
    validate = cst.CSTNode.__post_init__
    setattr(cst.CSTNode, "__post_init__", _accept)  # noqa: B010
    try:
        return cst.parse_module(text)
    finally:
        setattr(cst.CSTNode, "__post_init__", validate)  # noqa: B010


def _accept(node: cst.CSTNode) -> None:
    pass
