"""Many calls of one function, merged to what it always gives."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from torch_facts import Result
from torch_facts.execution import Known, Leaf, Node, Seen

SPLIT = {"new", "quantile", "nanquantile"}
"""Functions whose cases are kept apart though each gives a tensor."""


def _shape(tree: Any) -> str:
    """The structure of a tree, without what its tensors are like."""
    if isinstance(tree, Leaf):
        return "tensor"
    if isinstance(tree, Node):
        return f"{tree.kind}{len(tree.items) if tree.names else ''}"
    return "number" if tree in {"bool", "int", "float", "number"} else str(tree)


def _fingerprint(tree: Any) -> str:
    """The structure with lengths, and which tensors require grad."""
    if isinstance(tree, Node):
        return f"{_shape(tree)}({','.join(map(_fingerprint, tree.items))})"
    return _shape(tree) + ("*" if isinstance(tree, Leaf) and tree.requires_grad else "")


def merge_calls(seen: Sequence[Seen], known: Known) -> Result:
    """One result for all calls of a function; an overload if what comes back depends on the arguments."""
    relevant = _relevant_flags(seen)
    groups: dict[str, list[Seen]] = collections.defaultdict(list)
    for one in seen:
        flags = ",".join(sorted(one.flags & relevant))
        groups[f"flag:{flags}" if flags else one.case].append(one)
    shapes = {frozenset(_shape(one.tree) for one in group) - {"none"} for group in groups.values()}
    if len(shapes) == 1 and not relevant and known.name not in SPLIT:
        return merge(seen, known)
    plain = [case for case in groups if not case.startswith("flag:")] or list(groups)
    base = "no_args" if "no_args" in groups else max(plain, key=lambda case: len(groups[case]))
    results = {case: merge(group, known) for case, group in sorted(groups.items())}
    others = {case: result for case, result in results.items() if result != results[base] and case != base}
    if not others:
        return results[base]
    return {"k": "overload", "cases": {"no_args": results[base], **others}, **_at(relevant, known)}


def _relevant_flags(seen: Sequence[Seen]) -> frozenset[str]:
    """Arguments that, literally true, change the structure of the result or whether it requires grad."""
    found = set()
    for flag in {flag for one in seen for flag in one.flags}:
        on = {(one.case, _fingerprint(one.tree)) for one in seen if one.flags == {flag}}
        off = {(one.case, _fingerprint(one.tree)) for one in seen if not one.flags}
        both = {case for case, _ in on} & {case for case, _ in off}
        if any({print_ for c, print_ in on if c == case}.isdisjoint(p for c, p in off if c == case) for case in both):
            found.add(flag)
    return frozenset(found)


def merge(seen: Sequence[Seen], known: Known) -> Result:
    """One result for calls whose structure is the same; ``any`` if it is not."""
    real = [one for one in seen if one.tree != "none"]
    trees = [one.tree for one in real]
    if not trees:
        return "none" if seen else "any"
    if all(isinstance(tree, Leaf) for tree in trees):
        result = merge_leaves(real, known)
    elif all(isinstance(tree, Node) for tree in trees):
        result = _merge_nodes(real, known)
    elif all(isinstance(tree, str) for tree in trees):
        kinds = set(trees)
        result = trees[0] if len(kinds) == 1 else "number" if kinds <= {"bool", "int", "float", "number"} else "any"
    else:
        result = "any"
    if len(real) < len(seen):
        return {**result, "optional": True} if isinstance(result, dict) else "any"
    return result


def _merge_nodes(seen: Sequence[Seen], known: Known) -> Result:
    nodes: list[Node] = [one.tree for one in seen]
    kinds, names, lengths = {n.kind for n in nodes}, {n.names for n in nodes}, {len(n.items) for n in nodes}
    if len(kinds) > 1:
        return "any"
    if kinds == {"tuple"} and len(lengths) == 1 and (names != {()} or not known.any_length):
        columns = [[replace(one, tree=one.tree.items[at]) for one in seen] for at in range(lengths.pop())]
        result = {"k": "tuple", "items": [merge(column, known) for column in columns]}
        return {**result, "names": list(names.pop())} if len(names) == 1 and names != {()} else result
    items = [replace(one, tree=item) for one in seen for item in one.tree.items]
    return {"k": f"{kinds.pop()}_of", "item": merge(items, known)}


def merge_leaves(seen: Sequence[Seen], known: Known) -> Result:
    """One tensor result for many seen tensors."""
    leaves: list[Leaf] = [one.tree for one in seen]
    facts = {"grad": _grad(leaves, known), "dtype": _dtype(seen, known), "ndim": _ndim(seen)}
    result: dict[str, Any] = {"k": "tensor", **{key: value for key, value in facts.items() if value}}
    result |= _positions(result.get("ndim"), known)
    if result.get("ndim") == "more" and _has_ndim_of_first(leaves):
        result["as_first"] = True
    without = [replace(one, unreduced=False) for one in seen if one.unreduced]
    if result.get("ndim") == "loss" and _ndim(without) in {"keep", "broadcast"}:
        result["elementwise"] = True
    kept = [one.tree for one in seen if "keepdim" in one.flags]
    if kept and result.get("ndim") not in {"zero", "keep"} and all(leaf.ndim == leaf.first_ndim for leaf in kept):
        result["keepdim"] = known.only_at("keepdim")
    in_place = re.search(r"[^_]_$", known.name) or any(leaf.changed for leaf in leaves)
    if in_place and all(leaf.is_first for leaf in leaves):
        result["self"] = True
    elif any(leaf.is_first or leaf.shares for leaf in leaves):
        result["alias"] = True
        result |= {"same": True} if any(leaf.is_first for leaf in leaves) else {}
        result |= {"copy": True} if any(leaf.is_new for leaf in leaves) else {}
    return result


def _has_ndim_of_first(leaves: Sequence[Leaf]) -> bool:
    """Whether what comes out has as many dimensions as what goes in; seen with more than one number of them."""
    return all(leaf.ndim == leaf.first_ndim for leaf in leaves) and len({leaf.ndim for leaf in leaves}) > 1


def _positions(ndim: str | None, known: Known) -> dict[str, Any]:
    """Where the arguments are that decide the number of dimensions."""
    match ndim:
        case "reduce" if known.dim_at is not None:
            return {"dim_at": known.dim_at}
        case "size":
            sizes = {"sizes": True} if known.takes_sizes else {}
            return {"size_at": known.size_at, **sizes} if known.size_at else sizes
        case "loss":
            return _at(("reduction", "reduce", "size_average"), known)
    return {}


def _at(names: Iterable[str], known: Known) -> dict[str, Any]:
    """Positions of some arguments."""
    found = {name: at for name in sorted(names) if (at := known.at(name)) is not None}
    return {"at": found} if found else {}


def _grad(leaves: Sequence[Leaf], known: Known) -> str:
    leaves = [leaf for leaf in leaves if leaf.kind == "float"]
    if not leaves:
        return "never"
    if any(leaf.requires_grad for leaf in leaves):
        unasked = any(leaf.inputs_require is False for leaf in leaves)
        return "always" if unasked and all(leaf.requires_grad for leaf in leaves) else ""
    if known.has("requires_grad"):
        return "factory"
    asked = any(leaf.inputs_require for leaf in leaves) or all(leaf.inputs_require is None for leaf in leaves)
    return "never" if asked else ""


def _dtype(seen: Sequence[Seen], known: Known) -> str:
    if any(one.dtype_positional and one.tree.kind not in one.tree.kinds for one in seen):
        return "arg"
    leaves: list[Leaf] = [one.tree for one in seen if not one.dtype_given] or [one.tree for one in seen]
    kinds = {leaf.kind for leaf in leaves}
    from_nothing = {leaf.kind for leaf in leaves if not leaf.kinds}
    if from_nothing:
        factory = from_nothing == {"float"} and known.has("dtype")
        return "arg" if len(from_nothing | kinds) > 1 else "float_factory" if factory else kinds.pop()
    if all(leaf.kind == leaf.kinds[0] for leaf in leaves):
        mixed = any(leaf.kind != leaf.kinds[1] for leaf in leaves)
        return "" if mixed or all(leaf.inputs < 2 for leaf in leaves) else "tensors"
    if all(leaf.kind == leaf.kinds[1] for leaf in leaves):
        return "tensors"
    if all(leaf.kind == ("int" if leaf.kinds[0] == "bool" else leaf.kinds[0]) for leaf in leaves):
        return "count"
    if all(leaf.kind == leaf.kinds[2] for leaf in leaves):
        return "promote"
    if kinds != {"int"} and all(leaf.kind == leaf.second for leaf in leaves):
        return "arg"
    if len(kinds) == 1:
        return kinds.pop()
    return "any" if any(leaf.kinds[1] == "float" and leaf.kind != "float" for leaf in leaves) else "mixed"


def _ndim(seen: Sequence[Seen]) -> str:
    leaves: list[Leaf] = [one.tree for one in seen]
    if all(leaf.ndim == 0 for leaf in leaves):
        return "zero"
    if all(leaf.ndim >= 1 for leaf in leaves):
        return "more"
    if any(one.unreduced for one in seen) and all(one.tree.ndim == 0 for one in seen if not one.unreduced):
        return "loss"
    without = [one.tree for one in seen if not one.has_dim]
    if without and len(without) < len(seen) and all(leaf.ndim == 0 for leaf in without):
        return "reduce"
    if all(leaf.ndim == leaf.first_ndim for leaf in leaves):
        return "keep"
    if all(leaf.shape_is_broadcast for leaf in leaves):
        return "broadcast"
    sized = [leaf for leaf in leaves if leaf.size is not None]
    if sized and all(leaf.ndim == leaf.size for leaf in sized):
        return "size"
    nested = [leaf for leaf in leaves if leaf.depth is not None]
    others = [leaf for leaf in leaves if leaf.depth is None and leaf.first_ndim is not None]
    is_data = nested and all(leaf.ndim == leaf.depth for leaf in nested)
    return "data" if is_data and all(leaf.ndim == leaf.first_ndim for leaf in others) else ""
