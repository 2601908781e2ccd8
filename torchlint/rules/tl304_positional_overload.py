r"""Numbers in front of the tensors: an order of arguments from before PyTorch 0.4.

`x.add_(-lr, grad)`, `torch.addcmul(x, value, a, b)` and the like warn since 1.5 and will go. The number is a keyword
argument now, after the tensors.

```diff run
 import torch

 x, y = torch.rand(3), torch.rand(3)
-x.add_(-0.1, y)
+x.add_(y, alpha=-0.1)
-z = torch.add(x, 2, y)
+z = torch.add(x, y, alpha=2)
-x.addcmul_(0.5, y, y)
+x.addcmul_(y, y, value=0.5)
-x.addcdiv_(-0.1, y, y + 1)
+x.addcdiv_(y, y + 1, value=-0.1)
 m, a = torch.zeros(2, 2), torch.eye(2)
-x.addcmul_(1, y, y)
+x.addcmul_(y, y)
-m.addmm_(0.5, 2, a, a)
+m.addmm_(a, a, beta=0.5, alpha=2)
-n = torch.addmm(0.5, m, 2, a, a)
+n = torch.addmm(m, a, a, beta=0.5, alpha=2)
-keys = torch.nn.Linear(1, 1).state_dict({}, "p.")
+keys = torch.nn.Linear(1, 1).state_dict(destination={}, prefix="p.")
 x.add_(y, alpha=2)
```

```diff
 import torch

 seen = set()
 seen.add((1, 2))

 def update(bag, *args):
     bag.add(1, 2)
     torch.add(*args)
```

## When the fix is unsafe

The fix is safe: it calls the same kernel. Comments between the arguments would be lost, so it is unsafe where there are
any, or where arguments do something in another order. There is none where a number binds a name.

```diff
 import torch

 x, y = torch.ones(3), torch.ones(3)
~x.add_(2,  # twice
~       y)
+x.add_(y, alpha=2)
```

```diff
 import torch

 x, y = torch.ones(3), torch.ones(3)
!x.add_((n := 2), y)
```

`torch.add`: <https://docs.pytorch.org/docs/stable/generated/torch.add.html>.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import keyword, last_name
from torchlint.rule import Anchor, Edit, Finding, Fix, Group, listed, on
from torchlint.rules.api import calls, findings, names, table
from torchlint.rules.api.table import Row

GROUP = Group.DEPRECATED

_ONE = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}
"""Functions that took one number, and the keyword that it is now."""
_TENSORS = {"add": 1, "sub": 1}
"""How many tensors follow the first one, where that is not two."""


@on(cst.Module, trigger=listed("TL304"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls with numbers in front of tensors, and others in an order that has changed."""
    rows = table.of_kinds("TL304", ("positional",), model.target)
    for call, func, args in calls.candidates(model, rows):
        if any(arg.star for arg in args) or not args or args is not call.args:
            continue
        plain = [arg for arg in args if arg.keyword is None]
        for row in rows.get(last_name(func), ()):
            found = _scalars(row, plain) if row.fix == "positional-scalars" else _others(row, plain)
            if found and _is_called(row, func, model):
                yield _finding(row, call, plain, found, model)
                break


def _is_called(row: Row, func: cst.BaseExpression, model: Model) -> bool:
    if not row.name.startswith(("torch.Tensor.", "torch.nn.Module.")):
        return calls.callee(func, (row,), model) is not None
    if not isinstance(func, cst.Attribute) or names.resolve(func, model) is not None:
        return False
    if row.last.endswith("_"):  # nothing but a tensor has it
        return bool(model.value(func.value).kind & (Kind.TENSOR | Kind.UNKNOWN))
    return calls.callee(func, (row,), model) is not None


def _scalars(row: Row, plain: Sequence[cst.Arg]) -> dict[str, cst.Arg]:
    """The numbers in front of the tensors, by their keywords."""
    is_method = row.name.startswith("torch.Tensor.")
    name = row.last.rstrip("_")
    tensors = _TENSORS.get(name, 2)
    extra = len(plain) - tensors - (0 if is_method else 1)
    if name in _ONE:
        at = 0 if is_method else 1
        return {_ONE[name]: plain[at]} if extra == 1 else {}
    if extra == 1:
        return {"beta": plain[0]}
    return {"beta": plain[0], "alpha": plain[1 if is_method else 2]} if extra == 2 else {}


def _others(row: Row, plain: Sequence[cst.Arg]) -> dict[str, cst.Arg]:
    """The positional arguments that are to be keywords, or to go elsewhere."""
    names = [parameter.name for parameter in calls.parameters(row.signature)]
    if names:
        return dict(zip(names, plain, strict=False)) if len(plain) <= len(names) else {}
    return {"": plain[1]} if len(plain) > 1 else {}


def _acting(args: Iterable[cst.Arg], model: Model) -> list[int]:
    """Those of some arguments of which it matters when they are evaluated, in this order."""
    return [id(arg) for arg in args if _has_effects(arg.value, model)]


def _has_effects(node: cst.BaseExpression, model: Model) -> bool:
    """Whether it can matter when an argument is evaluated."""
    effects = (cst.Call, cst.Await, cst.Yield, cst.NamedExpr)
    computed = model.remember(_decorated)
    return any(
        isinstance(part, effects) or (isinstance(part, cst.Attribute) and part.attr.value in computed)
        for part in model.tree.walk(node)
    )


def _decorated(model: Model) -> frozenset[str]:
    """The names of functions with decorators, which may be properties."""
    return frozenset(each.name.value for each in model.tree.all(cst.FunctionDef) if each.decorators)


def _binds(args: Iterable[cst.Arg], model: Model) -> bool:
    """Whether any of some arguments binds a name, which those behind it may read."""
    return any(model.tree.within(arg, cst.NamedExpr) for arg in args)


def _value(node: cst.BaseExpression, model: Model) -> str:
    """An expression as the value of a keyword: ``(k := 3)``."""
    code = model.tree.code(node)
    return f"({code})" if isinstance(node, cst.NamedExpr) and not node.lpar else code


def _is_one(node: cst.BaseExpression) -> bool:
    """Whether a number is the one that the keyword has anyway."""
    return isinstance(node, cst.Integer) and node.evaluated_value == 1


def _finding(row: Row, call: cst.Call, plain: Sequence[cst.Arg], found: dict[str, cst.Arg], model: Model) -> Finding:
    at = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    which = " and ".join(f"`{name}`" for name in found if name) or "arguments"
    what = f"positional {which} of `{findings.short(row.name)}`"
    fix = None
    if row.is_fixable(model.target):
        if row.fix == "positional-scalars" and not any(keyword(call.args, name) for name in found):
            first = [arg for arg in plain if all(arg is not each for each in found.values())]
            rest = [model.tree.code(arg.value) for arg in first]
            rest += [f"{name}={_value(arg.value, model)}" for name, arg in found.items() if not _is_one(arg.value)]
            change = Edit(Anchor(plain[0], False), Anchor(plain[-1].value, True), ", ".join(rest))
            in_order = _acting(plain, model) == _acting([*first, *found.values()], model)
            if not _binds(found.values(), model):
                fix = Fix("Give the number by keyword", (change,), row.applicability)
                fix = fix if in_order else fix.doubted(calls.REORDERED)
        elif row.fix == "keywords":
            fix = _by_keyword(call, list(found), row)
    receiver = call.func.value if isinstance(call.func, cst.Attribute) and "Tensor." in row.name else None
    said = findings.message(row, model, what).replace(
        " is deprecated", " are deprecated" if len(found) > 1 else " is deprecated"
    )
    return Finding(at, said, calls.judged(fix, call, row, model), receiver=receiver)


def _by_keyword(call: cst.Call, names: Sequence[str], row: Row) -> Fix | None:
    """Give positional arguments by keyword."""
    found = []
    for arg, name in zip(call.args, names, strict=False):
        if arg.star or arg.keyword is not None:
            break
        needs_brackets = isinstance(arg.value, cst.NamedExpr) and not arg.value.lpar
        found.append(edit.insert_before(arg.value, f"{name}=(" if needs_brackets else f"{name}="))
        found += [edit.insert_after(arg.value, ")")] if needs_brackets else []
    return Fix("Give them by keyword", tuple(found), row.applicability) if found else None
