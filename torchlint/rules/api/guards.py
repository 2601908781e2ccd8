"""Code that runs only under some versions: behind a check of the version, or in a `try` with another way out."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

import libcst as cst

from torchlint.file.tree.nearest import Nearest
from torchlint.model import Model
from torchlint.model.names import HOLDER_NAME
from torchlint.model.syntax import dotted, is_label, parameters
from torchlint.rules.api.version_checks import CHECKED, holds, package_of

_VERSION_NAME = re.compile(
    r"(?-i:(?:\b|_)version|(?:\b|_)VERSION|Version)|_ge\b|_lt\b|_le\b|_gt\b|greater|less_than|at_least|is_torch|"
    r"torch_\d|_?available|(?-i:TORCH_)|TYPE_CHECKING|_20\b|(?-i:PT_?\d\d)|legacy|new_api|old_api",
    re.IGNORECASE,
)
"""What names are called that say something about a version, where nothing says what they stand for."""
_HARDWARE = re.compile(
    r"\w*(?:cuda|cudnn|gpu|mps|xpu|npu|tpu|xla|hip|rocm|distributed|nccl|gloo|mpi)\w*(?:\.\w+)*",
    re.IGNORECASE,
)
"""What says that a device is there: ``torch.cuda.is_available``, ``CUDA_AVAILABLE``. That is no version."""
_PRESENT = re.compile(r"\w*available\w*", re.IGNORECASE)
"""What says that a package is there. Who needs it raises where it is missing, whatever the version of torch."""

_READING_VERSIONS = frozenset(("distutils", "looseversion", "packaging", "pkg_resources", "semver"))
"""Packages of which one takes what reads a version."""
_CAUGHT = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError|TypeError|Exception|RuntimeError|NotImplementedError"
)


def is_guarded(node: cst.CSTNode, model: Model) -> bool:
    """Whether code decides by itself which version it runs with: a check of one, or a `try` with another way out."""
    return model.remember(_guards).of(node) is not None


def _guards(model: Model) -> Nearest:
    """What finds the nearest ancestor that decides about versions."""

    def decides(child: cst.CSTNode, up: cst.CSTNode) -> bool:
        if isinstance(up, cst.Try):
            return child is not up.finalbody and any(_catches(handler, model) for handler in up.handlers)
        return _checks(child, up, model)

    return model.tree.nearest(decides)


def has_other_way(node: cst.CSTNode, model: Model) -> bool:
    """The same, but for a `try` whose handlers do nothing: whatever else goes wrong there, they have no other name."""
    return model.remember(_other_ways).of(node) is not None


def _other_ways(model: Model) -> Nearest:
    def decides(child: cst.CSTNode, up: cst.CSTNode) -> bool:
        if isinstance(up, cst.Try):
            catching = [each for each in up.handlers if _catches(each, model)]
            return child is not up.finalbody and not all(_does_nothing(each) for each in catching)
        return _checks(child, up, model)

    return model.tree.nearest(decides)


def _does_nothing(handler: cst.ExceptHandler) -> bool:
    for line in handler.body.body:
        if isinstance(line, cst.BaseCompoundStatement):
            return False
        small = line.body if isinstance(line, cst.SimpleStatementLine) else [line]
        if not all(isinstance(each, (cst.Pass, cst.Continue)) for each in small):
            return False
    return True


def is_behind_check(node: cst.CSTNode, model: Model) -> bool:
    """Whether code stands behind a check of the version, a `try` left aside."""
    return model.remember(_behind_checks).of(node) is not None


def _behind_checks(model: Model) -> Nearest:
    return model.tree.nearest(lambda child, up: _checks(child, up, model))


def _checks(child: cst.CSTNode, up: cst.CSTNode, model: Model) -> bool:
    """Whether an ancestor checks the version for one of its children."""
    match up:
        case cst.If() | cst.IfExp():
            return child is not up.test and model.remember(_is_version_test, up.test)
        case cst.BooleanOperation():
            return child is up.right and model.remember(_is_version_test, up.left)
        case cst.IndentedBlock() | cst.Module():
            return _leaves_before(up, child, model) or _is_replaced_after(child, model)
    return False


def _is_version_test(model: Model, test: cst.BaseExpression) -> bool:
    return holds(test, model) is not None or any(_VERSION_NAME.search(name) for name in _names(test, model))


def _is_requirement(model: Model, test: cst.BaseExpression) -> bool:
    """Whether what is not tested for is an error because a package is missing, and not because of the version."""
    if holds(test, model) is not None:
        return False
    return not any(_VERSION_NAME.search(_PRESENT.sub("", name)) for name in _names(test, model))


def _decides(model: Model, test: cst.BaseExpression) -> bool:
    """Whether a condition for all that follows asks about the version: not if about that of another package only."""
    if not model.remember(_is_version_test, test):
        return False
    if holds(test, model) is not None:
        return True
    others = {id(node) for node in model.tree.within(test, cst.Name) if model.remember(_is_of_others, node)}
    return any(_VERSION_NAME.search(name) for name in _names(test, model, others))


def _is_of_others(model: Model, node: cst.Name) -> bool:
    """Whether a name stands for a package that is none of torch's and is asked for its version, or reads versions."""
    package = package_of(node, model)
    if not package or package in CHECKED:
        return False
    asked = model.tree.parent(node)
    return package in _READING_VERSIONS or (isinstance(asked, cst.Attribute) and asked.attr.value == "__version__")


def _names(test: cst.BaseExpression, model: Model, but: Container[int] = ()) -> Iterator[str]:
    """What a condition asks about by name, but for devices, settings of the program and what a function is given."""
    for node in model.tree.within(test, cst.Name):
        if id(node) in but:
            continue
        path: cst.CSTNode = node
        while isinstance(up := model.tree.parent(path), cst.Attribute) and up.value is path:
            path = up
        name = dotted(path) or node.value
        is_own = path is not node and (node.value == "self" or HOLDER_NAME.search(node.value) is not None)
        if not is_label(model.tree, node) and not is_own and not model.remember(_is_given, node):
            yield _HARDWARE.sub("", name)


def _is_given(model: Model, name: cst.Name) -> bool:
    scope = model.scopes.scope_of(name)
    return isinstance(scope, cst.FunctionDef) and any(each.name.value == name.value for each in parameters(scope))


def _catches(handler: cst.ExceptHandler, model: Model) -> bool:
    if is_raised(handler.body):
        return False  # it says what is wrong, and knows no other way
    return handler.type is None or _CAUGHT.search(model.tree.code(handler.type)) is not None


def _leaves_before(block: cst.IndentedBlock | cst.Module, statement: cst.CSTNode, model: Model) -> bool:
    """Whether an earlier statement of a block leaves it for some versions."""
    return model.remember(_first_leaving, block) < model.tree.siblings(statement)[1]


def _first_leaving(model: Model, block: cst.IndentedBlock | cst.Module) -> int:
    """Which statement of a block is the first to leave it for some versions; one behind the last if none does."""
    for index, statement in enumerate(block.body):
        match statement:
            case cst.If(test=test, body=body) if is_left(body) and model.remember(_decides, test):
                if not (is_raised(body) and model.remember(_is_requirement, test)):
                    return index
            case cst.SimpleStatementLine(body=[cst.Assert(test=test)]) if model.remember(_decides, test):
                if not model.remember(_is_requirement, test):
                    return index
    return len(block.body)


def is_raised(body: cst.BaseSuite) -> bool:
    """Whether a block ends in ``raise``."""
    match body:
        case (
            cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[*_, end])])
            | cst.SimpleStatementSuite(body=[*_, end])
        ):
            return isinstance(end, cst.Raise)
    return False


def is_left(node: cst.CSTNode) -> bool:
    """Whether what stands behind a statement, or a block, is not reached from it."""
    match node:
        case cst.IndentedBlock(body=[*_, end]) | cst.SimpleStatementLine(body=[*_, end]):
            return is_left(end)
        case cst.Return() | cst.Raise() | cst.Continue():
            return True
        case cst.With(body=body) | cst.Else(body=body):
            return is_left(body)
        case cst.If(body=body, orelse=other) if other is not None:
            return is_left(body) and is_left(other)
        case cst.Try(body=body, handlers=handlers, orelse=None):
            return is_left(body) and all(is_left(handler.body) for handler in handlers)
    return False


def _is_replaced_after(statement: cst.CSTNode, model: Model) -> bool:
    """Whether what a statement assigns is assigned again right behind it, for some versions."""
    body, index = model.tree.siblings(statement)
    match (statement, *body[index + 1 : index + 2]):
        case (
            cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)])]),
            cst.If(test=test, body=inner),
        ) if model.remember(_is_version_test, test):
            assigned = (each for assign in model.tree.within(inner, cst.Assign) for each in assign.targets)
            name = model.tree.code(target)
            return any(model.tree.code(each.target) == name for each in assigned)
    return False
