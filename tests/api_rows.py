"""Runs the examples of the table of torch's API in processes forked from one that has torch.

Reads jobs (``{"setup": …, "code": …}``) as JSON from standard input and writes what became of each. As many as ``share``
says share a process: a fork of torch costs more than an example does.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
import types
import warnings
from typing import Any

import torch
import torch._dynamo  # what many examples import on first use, here once for all the processes


def main() -> None:
    torch.set_num_threads(1)
    asked = json.load(sys.stdin)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(asked["prelude"], space)
    jobs, share = asked["jobs"], asked["share"]
    count = -(-len(jobs) // share)
    results: list[dict[str, Any]] = [{} for _ in jobs]
    for at in range(count):  # neighbours, which may warn only once, go into different processes
        for place, result in zip(range(at, len(jobs), count), forked(space, jobs[at::count]), strict=True):
            results[place] = result
    json.dump(results, sys.stdout)


def forked(space: dict[str, Any], jobs: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What running pieces of code does: the error each raises or the value it gives, and how it warns."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        with os.fdopen(writer, "w") as pipe:
            for job in jobs:
                pipe.write(json.dumps(safely(space, job)) + "\n")
                pipe.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        results: list[dict[str, Any]] = [json.loads(line) for line in pipe]
    os.waitpid(child, 0)
    return results + [{"setup": "it died"}] * (len(jobs) - len(results))


def safely(space: dict[str, Any], job: dict[str, str]) -> dict[str, Any]:
    try:
        return ran(copy.deepcopy({key: value for key, value in space.items() if not _is_shared(value)}), space, job)
    except BaseException as error:
        return {"setup": f"{type(error).__name__}: {error}"}
    finally:
        torch.set_default_dtype(torch.float32)


def _is_shared(value: object) -> bool:
    """Whether a variable of the prelude need not be copied for each example: modules, functions, classes, gradients."""
    return not isinstance(value, torch.Tensor) or not value.is_leaf


def ran(own: dict[str, Any], shared: dict[str, Any], job: dict[str, str]) -> dict[str, Any]:
    space = {**shared, **own}
    space["loss"] = (space["w"] ** 2).mean()
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(job["setup"], space)
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        error = value = None
        try:
            value = evaluated(job["code"], space)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    messages = [f"{each.category.__name__}: {each.message}" for each in told]
    return {"error": error, "warnings": messages, "value": described(value)}


def evaluated(code: str, space: dict[str, Any]) -> object:
    """The value of an expression; of statements what they leave in ``result``."""
    try:
        return eval(compile(code, "row", "eval"), space)
    except SyntaxError:
        exec(compile(code, "row", "exec"), space)
        return space.get("result")


def described(value: Any) -> Any:
    """A value as something that can be compared."""
    if isinstance(value, torch.Tensor):
        dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
        values = repr(dense.dequantize().tolist() if dense.is_quantized else dense.tolist())
        return ["tensor", values, str(value.dtype), list(value.shape), value.requires_grad, str(value.device)]
    if isinstance(value, (list, tuple)):
        return ["list", [described(each) for each in value]]
    if isinstance(value, dict):
        return ["dict", [[str(key), described(each)] for key, each in value.items()]]
    if isinstance(value, (int, float, str, bool, type(None), torch.dtype, torch.device)):
        return repr(value)
    if isinstance(value, types.ModuleType):
        return ["module"]
    try:
        return [type(value).__name__, len(pickle.dumps(value))] if isinstance(value, bytes) else [type(value).__name__]
    except TypeError:
        return [type(value).__name__]


if __name__ == "__main__":
    main()
