from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint import cache, run
from torchlint.cache import Cache, clean
from torchlint.diagnostic import (
    Applicability,
    Diagnostic,
    LocatedEvidence,
    LocatedFix,
    Position,
    TextEdit,
)

Write = Callable[[dict[str, Any]], None]

CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
PLAIN = Diagnostic("TL101", "data-read", "old", Position(1, 2), Position(1, 4), (1, 1), severity="error")
RICH = Diagnostic(
    "TL201",
    "variable-wrapper",
    "é",
    Position(1, 2),
    Position(3, 4),
    (1, 3),
    LocatedFix("m", Applicability.UNSAFE, (TextEdit(0, 1, "a"), TextEdit(2, 2, "b")), deferred=True),
    LocatedEvidence("use", "so", None),
)


def entries(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*.json"))


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    store = Cache(str(tmp_path / "c"))
    assert store.get(store.key(b"x", ["TL101"])) is None
    store.put(store.key(b"x", ["TL101"]), (PLAIN, RICH), 3, {})
    assert Cache(str(tmp_path / "c")).get(store.key(b"x", ["TL101"])) == ((PLAIN, RICH), 3)


def test_the_key_is_all_that_findings_follow_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        Cache(str(tmp_path)).key(b"x", ["TL101", "TL102"], "2.6"),
        Cache(str(tmp_path)).key(b"y", ["TL101", "TL102"], "2.6"),
        Cache(str(tmp_path)).key(b"x", ["TL101"], "2.6"),
        Cache(str(tmp_path)).key(b"x", ["TL101", "TL102"], "2.7"),
        Cache(str(tmp_path)).key(b"x", ["TL101", "TL102"], None),
    }
    assert len(keys) == 5
    assert Cache(str(tmp_path)).key(b"x", ["TL102", "TL101"], "2.6") in keys
    monkeypatch.setattr(cache, "_program", lambda: "another")
    assert Cache(str(tmp_path)).key(b"x", ["TL101", "TL102"], "2.6") not in keys


def test_the_program_is_part_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "torchlint"
    (package / "rules").mkdir(parents=True)
    (package / "cache.py").write_text("", encoding="utf-8")
    (package / "rules" / "tl101_x.py").write_text("a", encoding="utf-8")
    monkeypatch.setattr(cache, "__file__", str(package / "cache.py"))
    before = cache._program()
    assert cache._program() == before
    (package / "rules" / "tl101_x.py").write_text("b", encoding="utf-8")
    assert cache._program() != before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"diagnostics": [{}], "suppressed": 0}', b"[" * 100_000, b'"x"']
)
def test_a_damaged_entry_counts_as_absent(content: bytes, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    (entry,) = entries(tmp_path)
    entry.write_bytes(content)
    assert torchlint("check") == first
    assert json.loads(entry.read_bytes())  # and is mended


def test_is_used(torchlint: Torchlint, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": CODE, "y.py": "import torch\nx = torch.ones(3).data  # noqa\n"})
    first = torchlint("check")
    assert "1 suppressed" in first.out

    def check_text(*arguments: object) -> None:
        raise AssertionError("not looked up")

    monkeypatch.setattr(run, "check_text", check_text)
    assert torchlint("check") == first
    assert torchlint("check", "--no-cache").code == 3


def test_fixing_looks_at_what_can_be_fixed_only(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE, "y.py": CODE.replace("data)", "data)  # noqa")})
    torchlint("check")
    ran = torchlint("check", "--fix", "-v")
    assert "1 checked, 1 known from the cache" in ran.err
    assert ".detach()" in (tmp_path / "x.py").read_text(encoding="utf-8")
    assert "0 checked, 2 known from the cache" in torchlint("check", "-v").err


def test_where_it_is(torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": CODE, "pyproject.toml": "[tool.torchlint]", "sub/y.py": CODE + "\n"})
    torchlint("check", "--no-cache")
    assert not (tmp_path / cache.NAME).exists()
    torchlint("check", "--cache-dir", str(tmp_path / "elsewhere"), "x.py")
    assert len(entries(tmp_path / "elsewhere")) == 1
    monkeypatch.chdir(tmp_path / "sub")
    torchlint("check")
    assert not (tmp_path / "sub" / cache.NAME).exists()
    assert len(entries(tmp_path / cache.NAME)) == 1
    assert (
        (tmp_path / cache.NAME / "CACHEDIR.TAG").read_text(encoding="utf-8").startswith("Signature: 8a477f597d28d172")
    )
    assert (tmp_path / cache.NAME / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_where_it_cannot_be_it_is_done_without(torchlint: Torchlint, write: Write) -> None:
    write({"x.py": CODE, cache.NAME: "a file"})
    ran = torchlint("check")
    assert (ran.code, ran.err) == (1, "")


def test_clean(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    torchlint("check")
    assert torchlint("clean").err == f"Removed {tmp_path / cache.NAME}\n"
    assert not (tmp_path / cache.NAME).exists()
    assert torchlint("clean").code == 0


def test_clean_removes_caches_only(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "CACHEDIR.TAG").write_text("another program's", encoding="utf-8")
    assert not clean(str(tmp_path / "mine"))
    assert not clean(str(tmp_path / "nothing"))
    assert (tmp_path / "mine").exists()
