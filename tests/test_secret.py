"""A cache counts only if a run of the same user on the same machine has written it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.session.secret import is_signed, place, sign
from torchlint.system.reading import NotOwn

Write = Callable[[dict[str, Any]], None]

CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's programs keep what they need, with nothing in it."""
    folder = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


def known(torchlint: Torchlint) -> bool:
    return "0 checked, 1 known from the cache" in torchlint("check", "-v").err


def test_a_key_is_made_once_for_the_user_alone(state: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sign(b"x")
    signature = sign(b"x", make=True)
    assert sign(b"x") == sign(b"x", make=True) == signature
    assert is_signed(b"x", signature)
    assert not is_signed(b"y", signature)
    assert not is_signed(b"x", b"")
    (file,) = (path for path in state.rglob("*") if path.is_file())
    assert file == Path(place())
    assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600


def test_another_run_may_be_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = os.urandom

    def urandom(size: int) -> bytes:  # called when there is no key
        monkeypatch.setattr(os, "urandom", usual)
        sign(b"", make=True)
        return usual(size)

    monkeypatch.setattr(os, "urandom", urandom)
    assert sign(b"x", make=True) == sign(b"x")


def test_an_edited_cache_is_not_believed(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    assert known(torchlint)
    (file,) = tmp_path.rglob("*.json")
    sound = file.read_bytes()
    assert b"TL101" in sound
    for old, new in ((b"TL101", b"TL102"), (b"behind", b"before")):
        file.write_bytes(sound.replace(old, new))
        assert torchlint("check") == first
        assert known(torchlint)  # it was written anew


def test_a_cache_of_another_machine_is_not_believed(
    torchlint: Torchlint, write: Write, tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    assert known(torchlint)
    monkeypatch.setenv("XDG_STATE_HOME", str(state / "another"))
    assert not known(torchlint)
    assert torchlint("check") == first
    assert known(torchlint)


def test_a_cache_goes_with_its_key(
    torchlint: Torchlint, write: Write, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE})
    torchlint("check")
    shutil.copytree(state, state.parent / "restored")
    monkeypatch.setenv("XDG_STATE_HOME", str(state.parent / "restored"))
    assert known(torchlint)


def test_no_home(torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": CODE})
    expected = torchlint("check", "--no-cache")
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("LOCALAPPDATA", "")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for _ in range(2):
        assert torchlint("check") == expected
    assert "could not be written: there is no home directory" in torchlint("check", "-v").err
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.skipif(os.name == "nt", reason="there are no modes")
@pytest.mark.parametrize("spoil", ["open to others", "short", "a link", "another user's"])
def test_a_key_that_others_may_know(
    spoil: str, torchlint: Torchlint, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    assert known(torchlint)
    path = Path(place())
    if spoil == "open to others":
        path.chmod(0o640)
    elif spoil == "short":
        path.write_bytes(b"x")
    elif spoil == "a link":
        path.rename(path.with_name("other"))
        path.symlink_to("other")
    else:
        other = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: other)
    assert torchlint("check").out == first.out
    assert not known(torchlint)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners")
def test_no_key_is_made_in_the_home_of_somebody_else(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(NotOwn):
        sign(b"x", make=True)
    assert list(state.iterdir()) == []
