"""The dimensions in which something is known of a value, each a set of what is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast


class Possibilities:
    """A set of possibilities; those of different dimensions cannot be mixed.

    That is for who checks types. When the program runs they are plain integers: ``enum.IntFlag`` made the model half as
    fast.
    """

    if TYPE_CHECKING:

        def __or__(self: Some, other: Some) -> Some:
            """Either is possible."""

        def __and__(self: Some, other: Some) -> Some:
            """Both say that it is possible."""

        def __invert__(self: Some) -> Some:
            """All else is possible."""

        def __bool__(self) -> bool:
            """Whether anything is possible."""


Some = TypeVar("Some", bound=Possibilities)


class Kind(Possibilities):
    """What an object can be. UNKNOWN is a possibility like the others: nothing is known on some path."""

    UNKNOWN = cast("Kind", 1)
    TENSOR = cast("Kind", 2)
    NUMBER = cast("Kind", 4)
    STRING = cast("Kind", 8)
    NONE = cast("Kind", 16)
    NDARRAY = cast("Kind", 32)
    MODULE = cast("Kind", 64)
    """An instance of ``nn.Module``."""
    OPTIMIZER = cast("Kind", 128)
    LOADER = cast("Kind", 256)
    CONTAINER = cast("Kind", 512)
    PACKED = cast("Kind", 1024)
    FUNCTION = cast("Kind", 2048)
    """A function, method or class of the project; ``node`` says which, or what call has made it."""
    REFERENCE = cast("Kind", 4096)
    """Something imported: a module, function or class, by its qualified name (``ref``)."""
    OBJECT = cast("Kind", 8192)
    """Known, and none of the above: an instance of a class of the project, a file, a parsed command line."""


class Tri(Possibilities):
    """Yes, no, or both possible; NEITHER where the question makes no sense."""

    NEITHER = cast("Tri", 0)
    NO = cast("Tri", 1)
    YES = cast("Tri", 2)
    MAYBE = cast("Tri", 3)


class Dtype(Possibilities):
    """Class of a tensor's dtype. Only FLOAT (complex included) can require grad."""

    NEITHER = cast("Dtype", 0)
    FLOAT = cast("Dtype", 1)
    INT = cast("Dtype", 2)
    BOOL = cast("Dtype", 4)
    ANY = cast("Dtype", 7)


class Ndim(Possibilities):
    """Number of dimensions: none (0-dim, a scalar tensor), one, two, or many, which is three or more."""

    NEITHER = cast("Ndim", 0)
    ZERO = cast("Ndim", 1)
    ONE = cast("Ndim", 2)
    TWO = cast("Ndim", 4)
    MANY = cast("Ndim", 8)
    SEVERAL = cast("Ndim", 12)
    """At least two."""
    MORE = cast("Ndim", 14)
    """At least one."""
    ANY = cast("Ndim", 15)


class Role(Possibilities):
    """What a tensor is for its module or for autograd."""

    NEITHER = cast("Role", 0)
    PLAIN = cast("Role", 1)
    PARAMETER = cast("Role", 2)
    BUFFER = cast("Role", 4)
    GRADIENT = cast("Role", 8)
    """The ``.grad`` of another tensor."""
