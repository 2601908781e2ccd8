r"""A module keeps layers before the constructor of `nn.Module` has run, which raises.

`nn.Module.__init__` makes what layers and parameters are registered in. Before it has run, assigning one to `self` is
an `AttributeError`.

```diff run-after
 import torch
 from torch import nn

 class Net(nn.Module):
-    def __init__(self):
-        'Makes a layer.'
-        self.fc = nn.Linear(2, 1)
+    def __init__(self):
+        'Makes a layer.'
+        super().__init__()
+        self.fc = nn.Linear(2, 1)

     def forward(self, x):
         return self.fc(x)

 torch.manual_seed(0)
 y = Net()(torch.ones(1, 2)).detach()
```

Too early is as bad. Then there is no fix, for what comes before may be needed:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self, size):
         self.size = size
!        self.weight = nn.Parameter(torch.zeros(size))
         super().__init__()
```

`super()` alone does not call it, and arguments that are annotated as modules are layers, too:

```diff
 from torch import nn

 class Wrapper(nn.Module):
!    def __init__(self, inner: nn.Module):
         super()
         self.inner = inner
```

The constructor of a base in any form, a method that runs it, modules that keep no layers, and classes that are none:

```diff
 from torch import nn

 class Old(nn.Module):
     def __init__(self):
         nn.Module.__init__(self)
         self.fc = nn.Linear(2, 1)

 class Later(nn.Module):
     def __init__(self):
         self.begin()
         self.fc = nn.Linear(2, 1)

     def begin(self):
         super().__init__()

 class Empty(nn.Module):
     def __init__(self, size):
         self.size = size

 class Plain:
     def __init__(self):
         self.fc = nn.Linear(2, 1)
```

`super().__init__` without `()` runs nothing, and `super(nn.Module, self)` steps over the constructor that is needed:

```diff
 from torch import nn

 class Uncalled(nn.Module):
!    def __init__(self):
         super().__init__
         self.fc = nn.Linear(2, 1)

 class Over(nn.Module):
!    def __init__(self):
         super(nn.Module, self).__init__()
         self.fc = nn.Linear(2, 1)

 class Base(nn.Module):
     def __init_subclass__(cls):
         begin(cls)

 class Begun(Base):
     def __init__(self):
         self.fc = nn.Linear(2, 1)
```

Nothing is said where a subclass, a decorator or a function of the project may have run the constructor of `nn.Module`
before: run again, it would drop what has been registered since.

```diff
 from torch import nn

 class Heads(nn.Module):
     def __init__(self):
         self.head = nn.Linear(2, 1)

 class Net(Heads):
     def __init__(self):
         nn.Module.__init__(self)
         self.body = nn.Linear(2, 2)
         Heads.__init__(self)
```

## When the fix is unsafe

Never. There is none where the base's constructor takes arguments, or `super()` stands there already.

`nn.Module`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html>.
"""

from __future__ import annotations

from pathlib import PurePath

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Strength
from torchlint.model.classes import find_method
from torchlint.model.codebase.exports import is_mentioned_elsewhere
from torchlint.model.context import Context
from torchlint.model.lineage import lineage_of
from torchlint.model.overriding import has_many_heirs, heirs
from torchlint.model.syntax import call_of, last_name, parameters, root
from torchlint.rule import Finding, Fix, Group, Severity, any_of, on, pattern

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_HOOKS = ("__new__", "__init_subclass__", "__setattr__", "__getattr__")
"""What a class may define so that assigning to its objects is something else."""
_GENERATED_FROM = "modular_"
"""How files of transformers are called whose classes a generator completes with what their bases have."""


@on(
    cst.FunctionDef,
    trigger=any_of(
        pattern(
            r"\bdef\s+__init__\b(?:(?!__init__)[\s\S])*?"
            r"\. \w+ (?::[^=\n]{0,500})?= (?:\w+ \. )*\w+ \("
        ),
        pattern(
            r"\bdef\s+__init__ \([^()]{0,1000}: [\w.]*Module\b"
            r"(?:(?!__init__)[\s\S])*?\. \w+ = \w"
        ),
    ),
)
def check(node: cst.FunctionDef, model: Model) -> Finding | None:
    """Report layers that are kept before the constructor of the base has run."""
    if node.name.value != "__init__" or node.decorators:
        return None
    cls = model.class_of(node)
    if cls is None or not cls.bases or cls.keywords or _is_generated_from(model):
        return None
    early = _first_kept(node, model)
    if early is None or not _is_plain_module(cls, model) or _may_have_begun(cls, model):
        return None
    if any(_runs_constructor(each, model) for each in model.tree.walk(node.body)):
        return Finding(early, "this raises: the constructor of the base has to run before layers are kept")
    said = "this raises: the constructor of `nn.Module` has to run before layers are kept"
    return Finding(node.name, said, _fix(node, cls, model))


def _is_plain_module(cls: cst.ClassDef, model: Model) -> bool:
    """Whether a class is a module with known bases, and none of them changes how its objects are made."""
    lineage = lineage_of(model.context, cls)
    if lineage.kind != "module" or lineage.has_unknown or any(each.keywords for _, each in lineage.classes()):
        return False
    return all(model.find_method(cls, name) is None for name in _HOOKS)


def _may_have_begun(cls: cst.ClassDef, model: Model) -> bool:
    """Whether others may run the constructor of `nn.Module` before that of a class, which must not run it again.

    A second run empties the module: what was registered before is lost.
    """
    name = cls.name.value
    if any(_runs_constructors(each.decorator, model) for each in cls.decorators) or model.remember(_is_given, name):
        return True
    if name in model.remember(_named_constructors) or model.ask(has_many_heirs, cls):
        return True
    if model.ask(is_mentioned_elsewhere, rf"\b{name}\.__init__\b"):
        return True
    return any(_begins_it(home, heir, cls) for home, heir in model.ask(heirs, cls))


def _is_given(model: Model, name: str) -> bool:
    """Whether a class of the file is given to what runs constructors: ``wrap(Net)``."""
    args = (model.tree.parent(use) for use in model.tree.names(name))
    calls = (model.tree.parent(arg) for arg in args if isinstance(arg, cst.Arg))
    return any(isinstance(call, cst.Call) and _runs_constructors(call.func, model) for call in calls)


def _named_constructors(model: Model) -> frozenset[str]:
    """The classes whose constructors the file names: ``Net.__init__``."""
    return frozenset(last_name(each.value) for each in model.tree.attributes("__init__"))


def _runs_constructors(decorator: cst.BaseExpression, model: Model) -> bool:
    """Whether a decorator, or what is called, is a function of the project that names a constructor."""
    node = model.value(decorator.func if isinstance(decorator, cst.Call) else decorator).node
    if not isinstance(node, cst.FunctionDef):
        return False
    return any(each.value == "__init__" for each in model.home(node).tree.within(node.body, cst.Name))


def _begins_it(home: Context, heir: cst.ClassDef, base: cst.ClassDef) -> bool:
    """Whether a subclass runs another constructor than that of its base, or makes its objects in another way."""
    lineage = lineage_of(home, heir)
    if lineage.has_unknown or any(find_method(home, heir, name) is not None for name in _HOOKS):
        return True
    own = [(at, each) for at, each in lineage.classes() if each is not base]
    return any(
        each.decorators
        or each.keywords
        or any(not _is_of_base(call, each) for call in at.tree.attributes("__init__", each))
        for at, each in own
    )


def _is_of_base(constructor: cst.Attribute, cls: cst.ClassDef) -> bool:
    """Whether it is `super().__init__`, or `super(Net, self).__init__` in the class `Net`."""
    match constructor.value:
        case cst.Call(func=cst.Name("super"), args=args):
            return not args or last_name(args[0].value) == cls.name.value
    return False


def _is_generated_from(model: Model) -> bool:
    return PurePath(model.context.path or "").name.startswith(_GENERATED_FROM)


def _first_kept(method: cst.FunctionDef, model: Model) -> cst.Assign | cst.AnnAssign | None:
    """Where a module or parameter is first assigned to `self`, with nothing before that may run a constructor."""
    own = next((each.name.value for each in parameters(method)), None)
    if own is None or not isinstance(method.body, cst.IndentedBlock):
        return None
    for node in model.tree.walk(method.body):
        if _runs_constructor(node, model) or isinstance(node, (cst.Return, cst.Raise)):
            return None
        if isinstance(node, cst.Call) and _may_construct(node, own, model):
            return None
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and _keeps(node, own, model):
            is_other = model.tree.enclosing(node, cst.FunctionDef) is not method
            calls = model.tree.within(node, cst.Call)
            return None if is_other or any(_may_construct(call, own, model) for call in calls) else node
    return None


def _runs_constructor(node: cst.CSTNode, model: Model) -> bool:
    """Whether a name may stand for the constructor of a base."""
    if not isinstance(node, cst.Name) or node.value not in ("super", "__init__"):
        return False
    call: cst.CSTNode | None = call_of(node, model.tree)
    match model.tree.parent(node):
        case cst.Attribute(value=cst.Call(func=cst.Name("super")) as of_base):
            call = of_base
    return not _is_idle(call, model)


def _is_idle(call: cst.CSTNode | None, model: Model) -> bool:
    """Whether `super()` or its uncalled `__init__` stands alone, or is that of `nn.Module`'s own base."""
    if not isinstance(call, cst.Call):
        return False
    if call.args and model.qualified(call.args[0].value) == "torch.nn.Module":
        return True
    around = model.tree.parent(call)
    around = model.tree.parent(around) if isinstance(around, cst.Attribute) else around
    return isinstance(around, cst.Expr)


def _may_construct(call: cst.Call, own: str, model: Model) -> bool:
    """Whether a method of the object is called, or a function is given it, that may run a constructor."""
    if isinstance(call.func, cst.Name) and call.func.value == "super":
        return not _is_idle(call, model)
    if any(isinstance(arg.value, cst.Name) and arg.value.value == own for arg in call.args):
        return True
    if not isinstance(call.func, cst.Attribute) or root(call.func) != own:
        return False
    method = model.value(call.func).node
    if not isinstance(method, cst.FunctionDef):
        return True
    return any(_runs_constructor(each, model.home(method)) for each in model.home(method).tree.walk(method.body))


def _keeps(node: cst.Assign | cst.AnnAssign, own: str, model: Model) -> bool:
    """Whether a module or a parameter is assigned to an attribute of the object."""
    targets = [node.target] if isinstance(node, cst.AnnAssign) else [each.target for each in node.targets]
    for target in targets:
        match target, node.value:
            case cst.Tuple(elements=places), cst.Tuple(elements=values) if len(places) == len(values):
                pairs = [(place.value, each.value) for place, each in zip(places, values, strict=True)]
            case _, value:
                pairs = [(target, value)] if value is not None else []
        if any(_is_own(place, own) and _is_registered(value, model) for place, value in pairs):
            return True
    return False


def _is_registered(value: cst.BaseExpression, model: Model) -> bool:
    """Whether assigning something to an attribute registers it: what a call makes, or an annotated argument."""
    if not isinstance(value, (cst.Call, cst.Name)):
        return False
    cls = model.tree.enclosing(value, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef) or model.class_kind(cls) != "module":
        return False
    known = model.value(value)
    if isinstance(value, cst.Name) and (known.strength or Strength.NAME) < Strength.ANNOTATION:
        return False
    return known.kind == Kind.MODULE or known.is_parameter


def _is_own(target: cst.BaseExpression, own: str) -> bool:
    return isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == own


def _fix(method: cst.FunctionDef, cls: cst.ClassDef, model: Model) -> Fix | None:
    """`super().__init__()` at the beginning, behind a docstring; none where `super()` stands there already."""
    if len(cls.bases) != 1 or not _takes_nothing(cls.bases[0].value, model):
        return None
    if any(isinstance(each, cst.Name) and each.value == "super" for each in model.tree.walk(method.body)):
        return None
    body = list(method.body.body)
    if len(body) > 1 and _is_docstring(body[0]):
        del body[0]
    first = body[0]
    if not isinstance(first, cst.SimpleStatementLine):
        return None
    text = f"super().__init__(){model.tree.source.newline}{model.tree.indentation(first)}"
    return Fix("Run the constructor of the base", (edit.insert_before(first.body[0], text),))


def _is_docstring(node: cst.CSTNode) -> bool:
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False


def _takes_nothing(base: cst.BaseExpression, model: Model) -> bool:
    """Whether the constructor of a base class can be called without arguments."""
    if model.qualified(base) == "torch.nn.Module":
        return True
    cls = model.value(base).node
    method = model.find_method(cls, "__init__") if isinstance(cls, cst.ClassDef) else None
    return method is not None and all(each.default is not None or each.star for each in parameters(method)[1:])
