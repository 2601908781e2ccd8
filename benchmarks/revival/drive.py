"""Run one old training program in a checkout, on made-up data, and print what happened as JSON.

    python drive.py PROGRAM CHECKOUT

PROGRAM names a module in `programs/`. Its script runs as `__main__`; what reaches `backward()` is written down, and the
run ends when there is enough of it. The script itself is not told apart from any other run: its own loops, losses and
evaluations are what runs.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import random
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """What to run, and how to read its losses."""

    script: str
    arguments: str = ""
    paths: Sequence[str] = ()
    "folders of the checkout whose modules were found by their bare names, as Python 2 did inside packages"
    folder: str = "."
    "the working directory, in the checkout"
    steps: int = 40
    "how many calls of `backward()` are enough"
    prepare: Callable[[], None] = lambda: None
    "writes the data, in the working directory"
    pretend_cuda: bool = False
    "`.cuda()` does nothing and CUDA says it is there, for programs that insist on it"
    series: Callable[[list[float]], list[float]] = field(default=lambda losses: losses)
    "makes of the values that reached `backward()` the series that has to fall"


class Enough(BaseException):
    """Ends the program; not an `Exception`, so that no handler of its own takes it for an error."""


def record(steps: int) -> list[float]:
    """The list to which each value that reaches `backward()` is added from now on."""
    import torch

    losses: list[float] = []
    backward = torch.autograd.backward

    def recording(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if len(losses) >= steps:
            raise Enough
        backward(tensors, *args, **kwargs)
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        losses.append(float(sum(root.detach().double().sum() for root in roots)))

    torch.autograd.backward = recording
    return losses


def pretend_cuda() -> None:
    """Let programs that insist on CUDA run without it."""
    import torch

    def same(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        return self

    torch.Tensor.cuda = same  # type: ignore[method-assign]
    torch.nn.Module.cuda = same  # type: ignore[method-assign, assignment]
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.set_device = lambda device: None
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = lambda seed: None
    torch.nn.DataParallel = OneDevice  # type: ignore[misc, assignment]


def OneDevice(module: Any, *args: Any, **kwargs: Any) -> Any:
    """What stands for `DataParallel` on one device: the module, also under the name `module`."""
    object.__setattr__(module, "module", module)
    return module


def where(error: BaseException, tree: Path) -> str:
    """The last line of the checkout's own code that the error passed, as file:line."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if inside(frame.filename, tree)]
    if not frames and isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}"
    return f"{Path(frames[-1].filename).relative_to(tree)}:{frames[-1].lineno}" if frames else ""


def inside(path: str, tree: Path) -> bool:
    """Whether the file is the checkout's."""
    return Path(path).is_absolute() and Path(path).resolve().is_relative_to(tree)


def run(program: Program, tree: Path) -> dict[str, Any]:
    """Run the program and say how it ended."""
    import numpy
    import torch

    folder = tree / program.folder
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    script = tree / program.script
    own = [script.parent, tree, *(tree / path for path in program.paths)]
    sys.path[:0] = [str(path) for path in [*own, HERE / "stand_ins"]]
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    program.prepare()
    if program.pretend_cuda:
        pretend_cuda()
    losses = record(program.steps)
    sys.argv = [program.script, *program.arguments.split()]
    error: BaseException | None = None
    try:
        runpy.run_path(str(script), run_name="__main__")
    except (Enough, SystemExit) as end:
        error = end if isinstance(end, SystemExit) and end.code else None
    except BaseException as end:
        error = end
    result: dict[str, Any] = {"steps": len(losses), "series": program.series(losses)}
    if error is not None:
        first = str(error).strip().splitlines() or [""]
        result |= {"error": f"{type(error).__name__}: {first[0]}"[:200], "where": where(error, tree)}
        traceback.print_exception(error)
    return result


def main() -> None:
    """Run the program named first in the checkout named second."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE / "programs"))
    program = importlib.import_module(sys.argv[1]).PROGRAM
    sys.path.pop(0)
    sys.modules.pop(sys.argv[1])
    print("\n" + json.dumps(run(program, Path(sys.argv[2]).resolve())), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.modules["drive"] = sys.modules["__main__"]
    main()
