"""Comments that silence findings have to say why, where that is wanted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Torchlint

Write = Callable[[dict[str, Any]], None]

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"
TAIL = "print(w.data)"

# lines behind the head, whether something is missing
COMMENTS = {
    "brackets alone": (f"{TAIL}  # torchlint: ignore[TL101]", True),
    "a reason": (f"{TAIL}  # torchlint: ignore[TL101] read only", False),
    "behind a dash": (f"{TAIL}  # torchlint: ignore[TL101] -- read only", False),
    "a dash alone": (f"{TAIL}  # torchlint: ignore[TL101] --", True),
    "everything": (f"{TAIL}  # torchlint: ignore", True),
    "everything with a reason": (f"{TAIL}  # torchlint: ignore for now", False),
    "a second comment": (f"{TAIL}  # torchlint: ignore[TL101]  # read only", False),
    "a number": (f"{TAIL}  # torchlint: ignore[TL101]  #123", False),
    "a comment before it": (f"{TAIL}  # read only  # torchlint: ignore[TL101]", True),
    "another tool's": (f"{TAIL}  # torchlint: ignore[TL101]  # type: ignore[attr-defined]", True),
    "another tool's and a reason": (f"{TAIL}  # torchlint: ignore[TL101]  # noqa: E501  # it is long", False),
    "types are a reason": (f"{TAIL}  # torchlint: ignore[TL101] type of the old code", False),
    "a line of its own": (f"# torchlint: ignore[TL101]\n{TAIL}", True),
    "a line of its own with a reason": (f"# torchlint: ignore[TL101] why\n{TAIL}", False),
    "a file": (f"# torchlint: file-ignore[TL1]\n{TAIL}", True),
    "a file with a reason": (f"# torchlint: file-ignore[TL1] generated\n{TAIL}", False),
    "a range": (f"# torchlint: disable[TL101]\n{TAIL}\n# torchlint: enable[TL101] why", True),
    "a range with a reason": (f"# torchlint: disable[TL101] why\n{TAIL}\n# torchlint: enable[TL101]", False),
    "noqa": (f"{TAIL}  # noqa: TL101", True),
    "noqa with a reason": (f"{TAIL}  # noqa: TL101 read only", False),
    "noqa of others too": (f"{TAIL}  # noqa: E501, TL101", True),
    "noqa of others": (f"{TAIL}  # noqa: E501", False),
    "noqa of all": (f"{TAIL}  # noqa", False),
    "not used": ("x = 1  # torchlint: ignore[TL101]", True),
    "none": (TAIL, False),
    "in a string": ("x = '# torchlint: ignore[TL101]'", False),
}


@pytest.mark.parametrize(("lines", "is_missing"), COMMENTS.values(), ids=COMMENTS)
def test_reasons(lines: str, is_missing: bool, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"{HEAD}{lines}\n", "torchlint.toml": "require-reason = true\n"})
    for _ in range(2):  # the second time from the cache
        found = json.loads(torchlint("check", "--output-format", "json").out)
        assert [each["code"] for each in found if each["code"] != "TL101"] == ["TL005"] * is_missing


def test_reasons_are_not_asked_for_by_default(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"{HEAD}{TAIL}  # torchlint: ignore[TL101]\n"})
    assert torchlint("check", "--select", "ALL").code == 0
    assert torchlint("check", "--extend-select", "missing-reason").code == 1
    assert torchlint("check", "--config", "require-reason=true").code == 1
    assert torchlint("check", "--config", "require-reason=true", "--ignore", "TL005").code == 0
    write({"torchlint.toml": 'select = ["TL1"]\nrequire-reason = true\nper-file-ignores = { "x.py" = ["TL005"] }'})
    assert torchlint("check").code == 0


def test_comments_are_not_written_without_a_reason(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"{HEAD}{TAIL}\n", "torchlint.toml": "require-reason = true\n"})
    ran = torchlint("check", "--add-ignore")
    assert (ran.code, ran.out) == (2, "")
    assert "--add-ignore=REASON" in ran.err
    assert torchlint("check", "--add-ignore=read only").code == 0
    assert torchlint("check").code == 0


def test_unused_ranges_are_removed_at_both_ends(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"{HEAD}# torchlint: disable[TL101, TL2] why\n{TAIL}\n# torchlint: enable[TL101, TL2]\n"})
    assert torchlint("check", "--extend-select", "TL002", "--fix").code == 0
    with open("x.py", encoding="utf-8") as opened:
        assert opened.read() == f"{HEAD}# torchlint: disable[TL101] why\n{TAIL}\n# torchlint: enable[TL101]\n"


def test_comments_are_left_aside(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"{HEAD}# torchlint: disable[TL101]\n{TAIL}\n# torchlint: enable\nprint(w.data)  # noqa\n"})
    ran = torchlint("check", "--no-suppressions", "--output-format", "concise", "--quiet")
    assert [line.split(": ")[0] for line in ran.out.splitlines()] == ["x.py:4:9", "x.py:6:9"]
