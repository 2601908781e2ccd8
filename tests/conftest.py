"""The command line as a function."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from torchlint.cli import main
from torchlint.file.dispatch import dispatch
from torchlint.system.crash import traceback_of


@dataclass(frozen=True)
class Ran:
    """What one call of the program did."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode(errors="surrogateescape")


Torchlint = Callable[..., Ran]

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported; its threads cost more than such small tensors
gc.set_threshold(100_000)  # trees, torch and thousands of tests stay: to look through them a hundred times less often


@pytest.fixture(autouse=True, scope="session")
def _no_keys_in_the_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What programs keep for the user, they keep among the files of the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def _no_rule_raises(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A rule that raises fails a test, whatever else that looks at; those of what becomes of it are marked."""
    raised: list[str] = []

    def noted(error: BaseException) -> str:
        raised.append(traceback_of(error))
        return raised[-1]

    monkeypatch.setattr(dispatch, "traceback_of", noted)
    yield
    if raised and request.node.get_closest_marker("raising_rules") is None:
        pytest.fail(f"a rule raised:\n{raised[0]}")


@pytest.fixture
def torchlint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Torchlint:
    """Run ``torchlint`` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "argv", ["torchlint", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        code = main.run()
        out, err = capsysbinary.readouterr()
        return Ran(code, out, err.decode(errors="backslashreplace"))

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, str | bytes]], None]:
    """Write files below the test's directory."""

    def write_all(files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = tmp_path / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write_all
