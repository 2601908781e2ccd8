"""Notebooks: what is found in their cells, what fixes change, and what stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from notebooks import cell, codes, notebook, prose, version_3

Write = Callable[[dict[str, str | bytes]], None]

IMPORT = "import torch\n"
LEAF = "w = torch.ones(2, requires_grad=True)"
READ = "a = w.data + 1"
FIXED = "a = w.detach() + 1"


def found(torchlint: Torchlint, *arguments: str) -> list[str]:
    """Cell, row, column and code of each finding in ``n.ipynb``."""
    ran = torchlint("check", "--isolated", "--output-format", "concise", "-q", *arguments, "n.ipynb")
    return [
        line.removeprefix("n.ipynb:").partition(" T")[0] + " T" + line.partition(" T")[2][:4]
        for line in ran.out.splitlines()
    ]


# ------------------------------------------------------------------ what is Python, and what is seen

# the cells, and what is found in them with `--select TL1`
SEEN: dict[str, tuple[tuple[object, ...], list[str]]] = {
    "one cell": ((IMPORT + LEAF + "\n" + READ,), ["cell 1:3:7: TL101"]),
    "state goes from cell to cell": ((IMPORT, LEAF, READ), ["cell 3:1:7: TL101"]),
    "cells of all kinds are counted": ((prose("# x"), IMPORT + LEAF, prose("y"), READ), ["cell 4:1:7: TL101"]),
    "an empty cell": ((IMPORT + LEAF, "", READ), ["cell 3:1:7: TL101"]),
    "a later cell gives the name to something else": ((IMPORT + LEAF, "w = frame()", READ), []),
    "a line magic": ((IMPORT + LEAF, "%matplotlib inline\n" + READ), ["cell 2:2:7: TL101"]),
    "a magic inside of a block": ((IMPORT + LEAF, "if x:\n    !pip install y\n" + READ), ["cell 2:3:7: TL101"]),
    "a magic on several lines": ((IMPORT + LEAF, "!pip install \\\n  y \\\n z\n" + READ), ["cell 2:4:7: TL101"]),
    "a magic with quotes": ((IMPORT + LEAF, "!echo \"it's (\n" + READ), ["cell 2:2:7: TL101"]),
    "a magic that gives a value": ((IMPORT + LEAF, "files = !ls *.py\n" + READ), ["cell 2:2:7: TL101"]),
    "a value of which nothing is known": ((IMPORT + LEAF, "w = %env X\n" + READ), []),
    "a magic that runs its line": ((IMPORT + LEAF, "%time " + READ), ["cell 2:1:13: TL101"]),
    "… with options": ((IMPORT + LEAF, "%timeit -n 10 -r3 " + READ), ["cell 2:1:25: TL101"]),
    "… which gives a name to something else": ((IMPORT + LEAF, "%time w = frame()", READ), []),
    "… which is no Python": ((IMPORT + LEAF, "%time -x ?\n%time for x in y: pass\n" + READ), ["cell 2:3:7: TL101"]),
    "a magic for the whole cell": ((IMPORT + LEAF, "%%time\n" + READ), ["cell 2:2:7: TL101"]),
    "two of them": ((IMPORT + LEAF, "\n%%capture out\n%%timeit -n 3\n" + READ), ["cell 2:4:7: TL101"]),
    "a cell of another language": (
        (IMPORT + LEAF, "%%bash\nls w.data", "%%html\n<b>w.data", READ),
        ["cell 4:1:7: TL101"],
    ),
    "a program of its own": ((IMPORT + LEAF, "%%writefile x.py\n" + READ), []),
    "a question": ((IMPORT + LEAF, "torch.ones?\n?torch\nw.data??\n" + READ), ["cell 2:4:7: TL101"]),
    "a magic without its sign": ((IMPORT + LEAF, "pip install x\ncd ..\nls foo\n" + READ), ["cell 2:4:7: TL101"]),
    "a cell that is indented as a whole": (
        (IMPORT + LEAF, "\n  # read\n  if w.sum():\n    " + READ + "\n\n  %time " + READ),
        ["cell 2:4:11: TL101", "cell 2:6:15: TL101"],
    ),
    "a cell that is indented as a whole and does not parse": (
        (IMPORT + LEAF, "  y = (\n  3", READ),
        ["cell 2:1:7: TL001", "cell 3:1:7: TL101"],
    ),
    "a comment that is indented": ((IMPORT + LEAF, " # read\n" + READ), ["cell 2:2:7: TL101"]),
    "no magic": ((IMPORT + LEAF, "b = (7\n % 3)\nc = '''\n%time\n!x\n'''\n" + READ), ["cell 2:7:7: TL101"]),
    "no question": ((IMPORT + LEAF, "b = 'x?' # y?\n" + READ), ["cell 2:2:7: TL101"]),
    "a semicolon at the end": ((IMPORT + LEAF, READ + ";"), ["cell 2:1:7: TL101"]),
    "await at the top": ((IMPORT + LEAF, "await x()\nasync with y: pass\n" + READ), ["cell 2:3:7: TL101"]),
    "a future import in a later cell": (
        (IMPORT + LEAF, "from __future__ import annotations\n" + READ),
        ["cell 2:2:7: TL101"],
    ),
    "one string": ((cell("", source=IMPORT + LEAF + "\n" + READ),), ["cell 1:3:7: TL101"]),
    "lines that are not strings of their own": (
        (cell([IMPORT + LEAF + "\n", "a = w.", "data"]),),
        ["cell 1:3:7: TL101"],
    ),
    "CRLF": (((IMPORT + LEAF + "\n" + READ).replace("\n", "\r\n"),), ["cell 1:3:7: TL101"]),
    "a raw cell": ((IMPORT + LEAF, {**cell(READ), "cell_type": "raw"}), []),
    "a cell in another language, as an editor says": (
        (IMPORT + LEAF, {**cell(READ), "metadata": {"vscode": {"languageId": "julia"}}}),
        [],
    ),
    "a comment silences": ((IMPORT + LEAF, READ + "  # torchlint: ignore[TL101]"), []),
    "a comment for the next line, in the next cell": (
        (IMPORT + LEAF, "x = 1\n# torchlint: ignore[TL101]", READ),
        ["cell 3:1:7: TL101"],
    ),
    "noqa": ((IMPORT + LEAF, READ + "  # noqa: TL101"), []),
    "a comment for the file": ((IMPORT + LEAF, READ, "# torchlint: file-ignore[TL101]"), []),
    "a range over cells": (
        ("# torchlint: disable[TL101]\n" + IMPORT + LEAF, READ, "# torchlint: enable[TL101]", READ),
        ["cell 4:1:7: TL101"],
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen(name: str, torchlint: Torchlint, write: Write) -> None:
    cells, expected = SEEN[name]
    write({"n.ipynb": notebook(*cells)})  # type: ignore[arg-type]
    assert found(torchlint, "--select", "TL1") == expected


def test_version_3(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"n.ipynb": version_3(IMPORT, LEAF, READ)})
    assert found(torchlint) == ["cell 3:1:7: TL101"]
    torchlint("check", "--fix", "n.ipynb")
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == version_3(IMPORT, LEAF, FIXED)


LANGUAGES = {
    "{}": True,
    '{"language_info": {"name": "python"}}': True,
    '{"kernelspec": {"language": "python", "name": "x"}}': True,
    '{"language_info": {"name": "R"}}': False,
    '{"kernelspec": {"language": "julia"}}': False,
    '{"language_info": {"name": "julia"}, "kernelspec": {"language": "python"}}': False,
    '{"language_info": [], "kernelspec": 3}': True,
}


@pytest.mark.parametrize("metadata", LANGUAGES)
def test_the_language_of_a_notebook(metadata: str, torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, READ, metadata=json.loads(metadata))})
    assert bool(found(torchlint)) is LANGUAGES[metadata]
    said = "n.ipynb: no cell of this notebook is Python, so nothing in it is checked"
    assert (said in torchlint("check", "-v").err) is not LANGUAGES[metadata]
    assert said not in torchlint("check").err


# ------------------------------------------------------------------ what a cell shows

SHOWN: dict[str, tuple[str, str | None]] = {
    # the last cell, and what the fix makes of it; None if nothing is found
    "the last value": ("w.data", "w.detach()"),
    "… is not dropped": ("x.add(2)", None),
    "… and is timed": ("%timeit x.add(2)\n1", None),
    "… and is timed by the next line": ("x @ x  # warm\n%timeit x @ x\nx.add(2)\n%timeit x.add(2)\n1", None),
    "… and something else is timed": ("x.add(2)\n%timeit x.add(3)\n1", "x = x.add(2)\n%timeit x.add(3)\n1"),
    "… with a comment": ("x.add(2)  # a; b\n# c", None),
    "a value that is not shown": ("x.add(2);", "x = x.add(2);"),
    "a value in a loop": ("for _ in y:\n    x.add(2)", "for _ in y:\n    x = x.add(2)"),
    "a value before the last": ("x.add(2)\n1", "x = x.add(2)\n1"),
    "a write": ("w.data.zero_()\n1", "with torch.no_grad():\n    w.zero_()\n1"),
    "a write that shows its result": ("w.data.zero_()", "w.data.zero_()"),
    "a method that is forgotten": ("net.eval", "net.eval()"),
    "a method to look at": ("x.cuda", None),
    "a method before the last": ("x.cuda\n1", "x = x.cuda()\n1"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_cell_shows(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    code, fixed = SHOWN[name]
    write({"n.ipynb": notebook(IMPORT + LEAF + "\nx = torch.ones(2)\nnet = torch.nn.Linear(2, 1)", code)})
    assert bool(found(torchlint)) is (fixed is not None)
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8"))[1] == (fixed or code)


# ------------------------------------------------------------------ bytes

FORMS: dict[str, dict[str, Any]] = {
    "as Jupyter writes it": {},
    "indented by four": {"indent": 4},
    "by tabs": {"indent": "\t"},
    "on one line": {"indent": None},
    "without blanks": {"indent": None, "separators": (",", ":")},
    "with escapes": {"ensure_ascii": True},
    "sorted": {"sort_keys": True},
}


@pytest.mark.parametrize("one_string", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n", ""])
@pytest.mark.parametrize("form", FORMS)
def test_only_the_changed_strings_change(
    form: str, newline: str, one_string: bool, torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    rest = 's = "é \\t \U0001f600 </b>"\n'

    def text(line: str) -> bytes:
        code = f"{rest}{line}  # é\n{rest}"
        cells = [cell(IMPORT + LEAF), prose("é"), cell(code, source=code) if one_string else cell(code)]
        made = notebook(*cells, **FORMS[form])
        return (made.rstrip("\n") if not newline else made.replace("\n", newline)).encode()

    write({"n.ipynb": text(READ)})
    assert torchlint("check", "--fix", "--isolated", "n.ipynb").code == 0
    assert (tmp_path / "n.ipynb").read_bytes() == text(FIXED)


def test_escapes_stay_as_they_are(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    line = r'"a = \u0077.data + 1 # \u00e9 é \/ \ud83d\ude00 \u000a"'
    text = notebook(IMPORT + LEAF, "X").replace('"X"', line)
    write({"n.ipynb": text})
    torchlint("check", "--fix", "--isolated", "n.ipynb")
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == text.replace(".data", ".detach()")


# before, after: the strings of the list that holds the code
LISTS = {
    "a line goes": (["from torch.autograd import Variable\n", "x = Variable(torch.ones(1))"], ["x = torch.ones(1)"]),
    "the last line goes": (
        ["x = Variable(torch.ones(1))\n", "from torch.autograd import Variable"],
        ["x = torch.ones(1)"],
    ),
    "a line comes": (
        ["w.data.add_(1)\n", "b = 2"],
        ["with torch.no_grad():\n", "    w.add_(1)\n", "b = 2"],
    ),
    "the last line becomes two": (
        ["b = 2\n", "w.data.add_(1);"],
        ["b = 2\n", "with torch.no_grad():\n", "    w.add_(1);"],
    ),
}


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("name", LISTS)
def test_lines_that_come_and_go(
    name: str, indent: int | None, torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    before, after = LISTS[name]
    write({"n.ipynb": notebook(cell(IMPORT + LEAF), cell(before), "c = 3", indent=indent)})
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    expected = notebook(cell(IMPORT + LEAF), cell(after), "c = 3", indent=indent)
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == expected


# ------------------------------------------------------------------ fixes

# the cells before and after `--fix`
FIXES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "an import whose last use is in another cell": (
        ("from torch.autograd import Variable\nimport torch", "x = Variable(torch.ones(2))", "y = Variable(x)"),
        ("import torch", "x = torch.ones(2)", "y = x"),
    ),
    "an import with an empty line below it": (
        (
            "import torch",
            "from torch.autograd import Variable\n\nx = Variable(torch.ones(2))",
            "y = 1\n\nx.data.size()",
        ),
        ("import torch", "x = torch.ones(2)", "y = 1\n\nx.size()"),
    ),
    "an import that a magic needs": (
        ("from torch.autograd import Variable\nimport torch", "%prun -s x Variable(1)", "y = Variable(torch.ones(1))"),
        ("from torch.autograd import Variable\nimport torch", "%prun -s x Variable(1)", "y = torch.ones(1)"),
    ),
    "a use in a magic that runs its line": (
        ("from torch.autograd import Variable\nimport torch", "%time x = Variable(torch.ones(1))"),
        ("import torch", "%time x = torch.ones(1)"),
    ),
    "an import that a file needs that sees the names of the notebook": (
        ("from torch.autograd import Variable\nimport torch", "%run -n -i train.py", "y = Variable(torch.ones(1))"),
        ("from torch.autograd import Variable\nimport torch", "%run -n -i train.py", "y = torch.ones(1)"),
    ),
    "a file that sees no name of the notebook": (
        ("from torch.autograd import Variable\nimport torch", "%run train.py -i 3", "y = Variable(torch.ones(1))"),
        ("import torch", "%run train.py -i 3", "y = torch.ones(1)"),
    ),
    "a magic for a whole cell that needs one": (
        ("import torch", "%%capture\nfrom torch.autograd import Variable", "y = Variable(torch.ones(1))"),
        ("import torch", "%%capture\nfrom torch.autograd import Variable", "y = torch.ones(1)"),
    ),
    "two lines below such a magic": (
        (
            "import torch\nfrom torch.autograd import Variable as V",
            "x = V(torch.ones(1))",
            "%%time\n# x\nx = V(x)\n\nx = V(x)",
        ),
        ("import torch\nfrom torch.autograd import Variable as V", "x = torch.ones(1)", "%%time\n# x\n\nx = V(x)"),
    ),
    "a magic that is left below such a magic": (
        ("import torch", "%%capture\n!ls\nfrom torch.autograd import Variable", "y = Variable(torch.ones(1))"),
        ("import torch", "%%capture\n!ls", "y = torch.ones(1)"),
    ),
    "a package with the name of a magic's argument": (
        ("!pip install torch\nfrom torch.autograd import Variable\nimport torch", "y = Variable(torch.ones(1))"),
        ("!pip install torch\nimport torch", "y = torch.ones(1)"),
    ),
    "an import that a cell under a magic nobody knows needs": (
        (
            "from torch.autograd import Variable\nimport torch",
            "%%profiled\ny = Variable(x)",
            "x = Variable(torch.ones(1))",
        ),
        ("from torch.autograd import Variable\nimport torch", "%%profiled\ny = Variable(x)", "x = torch.ones(1)"),
    ),
    "a cell that sees nothing of the notebook": (
        (
            "from torch.autograd import Variable\nimport torch",
            "%%time\n%%bash\ngrep Variable *.py",
            "x = Variable(torch.ones(1))",
        ),
        ("import torch", "%%time\n%%bash\ngrep Variable *.py", "x = torch.ones(1)"),
    ),
    "blocks of two cells stay two": (
        (IMPORT + LEAF, "w.data.add_(1);", "w.data.add_(2);"),
        (IMPORT + LEAF, "with torch.no_grad():\n    w.add_(1);", "with torch.no_grad():\n    w.add_(2);"),
    ),
    "a magic between two statements": (
        (IMPORT + LEAF, "w.data.add_(1)\n!ls\nw.data.add_(2);"),
        (IMPORT + LEAF, "with torch.no_grad():\n    w.add_(1)\n!ls\nwith torch.no_grad():\n    w.add_(2);"),
    ),
    "a block cannot stand behind a magic": (
        (IMPORT + LEAF, "%time w.data.add_(1)"),
        (IMPORT + LEAF, "%time w.data.add_(1)"),
    ),
    "a cell that is indented as a whole": (
        (IMPORT + LEAF, "  if w.sum():\n    y = w.data.sum()\n  w.data.add_(1);"),
        (IMPORT + LEAF, "  if w.sum():\n    y = w.detach().sum()\n  w.data.add_(1);"),
    ),
    "an import that is needed": (
        (
            "%%capture\n!pip install x",
            "from torch.nn import Parameter\nfrom torch import ones",
            "p = Parameter(ones(2))",
            "p.data.add_(1)\n1",
        ),
        (
            "%%capture\n!pip install x",
            "import torch\nfrom torch.nn import Parameter\nfrom torch import ones",
            "p = Parameter(ones(2))",
            "with torch.no_grad():\n    p.add_(1)\n1",
        ),
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_fixes(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    before, after = FIXES[name]
    write({"n.ipynb": notebook(*before)})
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8")) == list(after)
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8")) == list(after)


# ------------------------------------------------------------------ cells that are no Python

BAD = {
    "print": ("print w", "cell 2:1:1: TL001"),
    "a bracket": ("x = (1", "cell 2:1:5: TL001"),
    "a string that would go on in the next cell": ('x = 1\ny = """', "cell 2:2:5: TL001"),
    "a backslash at the end": ("x = 1 \\", "cell 2:1:8: TL001"),
    "half a character": ("x = '\ud800'", "cell 2:1:1: TL001"),
    "null": ("x = 1\n\0", "cell 2:2:1: TL001"),
    "a list that the next cell would end": ("x = [1,", "cell 2:1:5: TL001"),
    "brackets": ("(" * 300, "cell 2:1:201: TL001"),
    "except": ("try: x\nexcept: y\nexcept E: z", "cell 2:"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_cell_silences_no_other(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    code, error = BAD[name]
    text = notebook(IMPORT + LEAF, code, READ, '"""', ensure_ascii=True)
    write({"n.ipynb": text})
    first, *rest = found(torchlint)
    assert first.startswith(error)
    assert [line.partition(":")[0] for line in rest] == ["cell 3", "cell 4"]
    ran = torchlint("check", "--fix", "--isolated", "n.ipynb")
    assert ran.code == 1
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == text  # what the cell does is not known
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == text.replace(READ, FIXED)


def test_an_import_that_a_bad_cell_needs_stays(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write(
        {
            "n.ipynb": notebook(
                "from torch.autograd import Variable\nimport torch", "print Variable", "x = Variable(torch.ones(1))"
            )
        }
    )
    torchlint("check", "--fix", "--unsafe-fixes", "--isolated", "n.ipynb")
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8"))[0].startswith("from torch.autograd")


# ------------------------------------------------------------------ files that are no notebooks

GOOD = notebook(IMPORT + LEAF, READ)
HOSTILE: dict[str, tuple[str | bytes, str, int]] = {
    "nothing": ("", "1:1: TL003 this notebook is no JSON: Expecting value", 1),
    "no JSON": ('{"cells": [', "1:12: TL003 this notebook is no JSON: Expecting value", 1),
    "cut short": (GOOD[:200], "TL003 this notebook is no JSON", 1),
    "something behind it": (GOOD + "x", "TL003 this notebook is no JSON: Extra data", 1),
    "another kind of JSON": ("[]", "1:1: TL003 this is no notebook: it is JSON of another kind", 1),
    "a number": ("1", "TL003 this is no notebook: it is JSON of another kind", 1),
    "no cells": ("{}", "1:1: TL003 this is no notebook: it has no list of cells", 1),
    "cells that are none": ('{"cells": 3}', "1:11: TL003 this is no notebook: `[` was expected here", 1),
    "a cell that is none": ('{"cells": [3]}', "1:12: TL003 this is no notebook: `{` was expected here", 1),
    "code that is a number": (
        GOOD.replace('"cells": [', '"cells": [{"cell_type": "code", "source": 3}, '),
        "cell 1:1:1: TL001 the code of this cell is no text",
        1,
    ),
    "code with a number in it": (
        GOOD.replace('"cells": [', '"cells": [{"cell_type": "code", "source": ["", 3]}, '),
        "cell 1:1:1: TL001 the code of this cell is no text",
        1,
    ),
    "a cell without a text among others": (
        GOOD.replace('"cells": [', '"cells": [{"cell_type": "code", "source": null}, '),
        "cell 3:1:7: TL101",
        1,
    ),
    "deep": ('{"x": ' + "[" * 200_000 + "]" * 200_000 + "}", "TL003 this notebook is nested too deeply to be read", 1),
    "UTF-16": ('{"cells": []}'.encode("utf-16"), "1:1: TL003 this file is UTF-16; it has to be UTF-8", 1),
    "no UTF-8": (
        GOOD.replace("READ", "x").encode().replace(b"w.data", b"w.d\xffata"),
        "TL003 cannot decode byte 0xff as utf-8",
        1,
    ),
    "a line break in a string": (
        '{"cells": [{"source": "a\nb"}]}',
        "TL003 this notebook is no JSON: Invalid control character",
        1,
    ),
    "our letters": (notebook("ǂ = 1"), "1:1: TL003 cell 1 has one of the letters ǂ ǃ, which have to be free", 1),
    "a huge number": (GOOD.replace('"nbformat": 4', '"nbformat": ' + "9" * 100_000), "cell 2:1:7: TL101", 0),
    "NaN": (GOOD.replace('"nbformat": 4', '"nbformat": NaN, "x": -Infinity'), "cell 2:1:7: TL101", 0),
    "keys twice": (GOOD.replace('"nbformat"', '"metadata": {}, "nbformat"'), "cell 2:1:7: TL101", 0),
    "a byte order mark": ("\ufeff" + GOOD, "cell 2:1:7: TL101", 0),
    "half a character in an output": (
        GOOD.replace('"nbformat": 4', '"x": "\\udc00", "nbformat": 4'),
        "cell 2:1:7: TL101",
        0,
    ),
    "no cell at all": (notebook(), "", 0),
    "no code": (notebook(prose("w")), "", 0),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    content, said, code = HOSTILE[name]
    data = content if isinstance(content, bytes) else content.encode()
    write({"n.ipynb": data})
    ran = torchlint("check", "--isolated", "-q", "--output-format", "concise", "n.ipynb")
    assert said in ran.out
    assert bool(ran.out) is bool(said)
    ran = torchlint("check", "--fix", "--isolated", "n.ipynb")
    assert (ran.code, ran.err) == (code, "")
    assert (tmp_path / "n.ipynb").read_bytes() == data.replace(b"w.data", b"w.detach()" if not code else b"w.data")


def test_of_two_values_for_a_key_the_last_counts(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    text = GOOD.replace('"cell_type"', '"source": ["w.data"], "cell_type"')
    write({"n.ipynb": text})
    assert found(torchlint) == ["cell 2:1:7: TL101"]
    torchlint("check", "--fix", "--isolated", "n.ipynb")
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == text.replace(READ, FIXED)


# ------------------------------------------------------------------ reports

MACHINES = ("sarif", "github", "gitlab", "junit", "rdjson", "azure", "pylint")


def test_people_are_told_the_cell(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, prose("x"), "b = 1\n" + READ + "\nc = 1", "d = 1")})
    ran = torchlint("check", "--isolated", "n.ipynb")
    assert " --> n.ipynb:cell 3:2:7\n" in ran.out
    assert "why: `w` is a tensor: `torch.ones` returns it (cell 1, line 2)\n" in ran.out
    assert "\n1 | b = 1\n2 - a = w.data + 1\n2 + a = w.detach() + 1\n3 | c = 1\n" in ran.out
    assert "d = 1" not in ran.out
    assert (
        "n.ipynb:\n  cell 3:2:7  info" in torchlint("check", "--isolated", "--output-format", "grouped", "n.ipynb").out
    )
    assert "`n.ipynb:cell 3:2:7`" in torchlint("check", "--isolated", "--output-format", "markdown", "n.ipynb").out


def test_a_fix_in_several_cells_is_shown_with_them(torchlint: Torchlint, write: Write) -> None:
    cells = (
        "from torch.nn import Parameter\nfrom torch import ones",
        "p = Parameter(ones(2))\nf(p)",
        "b = 2\np.data.add_(1)\nc = 3",
    )
    write({"n.ipynb": notebook(*cells)})
    out = torchlint("check", "--isolated", "n.ipynb").out
    assert "1 + import torch\n2 | from torch.nn import Parameter\n... cell 3\n1 | b = 2\n2 - p.data.add_(1)\n" in out


def test_the_last_line_of_a_cell_goes(torchlint: Torchlint, write: Write) -> None:
    write(
        {"n.ipynb": notebook("import torch\nx = torch.ones(1)\nfrom torch.autograd import Variable", "y = Variable(x)")}
    )
    out = torchlint("check", "--isolated", "n.ipynb").out
    assert "help: Remove the import\n  |\n2 | x = torch.ones(1)\n3 - from torch.autograd import Variable\n  |\n" in out


def test_json(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, "b = 1\n" + READ)})
    (entry,) = json.loads(torchlint("check", "--isolated", "--output-format", "json", "n.ipynb").out)
    assert entry["cell"] == 2
    assert entry["location"] == {"row": 2, "column": 7}
    assert entry["end_location"] == {"row": 2, "column": 11}
    assert entry["noqa_row"] == 2
    assert (entry["evidence"]["cell"], entry["evidence"]["row"]) == (1, 2)
    (edit,) = entry["fix"]["edits"]
    assert edit == {
        "cell": 2,
        "content": "detach()",
        "location": {"row": 2, "column": 7},
        "end_location": {"row": 2, "column": 11},
    }


@pytest.mark.parametrize("form", FORMS)
def test_programs_are_told_the_place_in_the_file(form: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["é\n"] * 50}]
    write({"n.ipynb": notebook(IMPORT + LEAF, cell("s = 'é'\n'é'; " + READ, outputs=outputs), "d = 1", **FORMS[form])})
    text = (tmp_path / "n.ipynb").read_text(encoding="utf-8")
    lines = text.split("\n")
    row = next(number for number, line in enumerate(lines, 1) if ".data" in line)
    column = lines[row - 1].index(".data") + 2
    in_bytes = len(lines[row - 1][: column - 1].encode()) + 1
    reports = {name: torchlint("check", "--isolated", "--output-format", name, "n.ipynb").out for name in MACHINES}
    region = {"startLine": row, "startColumn": column, "endLine": row, "endColumn": column + 4}
    (result,) = json.loads(reports["sarif"])["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"] == region
    named = {"name": "cell 2", "fullyQualifiedName": "n.ipynb:cell 2", "kind": "cell"}
    assert location["logicalLocations"] == [named]
    assert (
        f"file=n.ipynb,line={row},endLine={row},col={column},endColumn={column + 4}::n.ipynb:cell 2:2:"
        in reports["github"]
    )
    (issue,) = json.loads(reports["gitlab"])
    assert issue["location"]["positions"]["begin"] == {"line": row, "column": column}
    assert f'(cell 2:2:12)" classname="n.ipynb" file="n.ipynb" line="{row}"' in reports["junit"]
    assert f"linenumber={row};columnnumber={column};" in reports["azure"]
    assert reports["pylint"].startswith(f"n.ipynb:{row}: ")
    (diagnostic,) = json.loads(reports["rdjson"])["diagnostics"]
    assert diagnostic["location"]["range"]["start"] == {"line": row, "column": in_bytes}
    (change,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    deleted = change["deletedRegion"]
    assert deleted["startLine"] == deleted["endLine"]
    line = lines[deleted["startLine"] - 1]
    lines[row - 1] = (
        line[: deleted["startColumn"] - 1] + change["insertedContent"]["text"] + line[deleted["endColumn"] - 1 :]
    )
    torchlint("check", "--fix", "--isolated", "n.ipynb")
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == "\n".join(lines)


def test_a_patch_of_the_file(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, READ)})
    out = torchlint("check", "--isolated", "--diff", "n.ipynb").out
    assert '\n-    "a = w.data + 1"\n+    "a = w.detach() + 1"\n' in out


def test_a_terminal_shows_what_changes_in_cells() -> None:
    from torchlint.cli.report import Style
    from torchlint.cli.report.patch import for_terminal

    before, after = (notebook("b = 1", prose("é"), f"é = 1\n{line}").encode() for line in (READ, FIXED))
    assert list(for_terminal("x/n.ipynb", before, after, Style())) == [
        "--- a/x/n.ipynb:cell 3\t",
        "+++ b/x/n.ipynb:cell 3\t",
        "@@ -1,2 +1,2 @@",
        " é = 1",
        f"-{READ}",
        f"+{FIXED}",
    ]


# ------------------------------------------------------------------ the rest of the program


def test_standard_input(torchlint: Torchlint) -> None:
    text = notebook(IMPORT + LEAF, READ)
    ran = torchlint("check", "--isolated", "--fix", "--stdin-filename", "x/n.ipynb", "-", stdin=text.encode())
    assert ran.out == text.replace(READ, FIXED)


def test_the_cache(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, "print 1", READ), "torchlint.toml": ""})
    first = torchlint("check", "n.ipynb")
    again = torchlint("check", "-v", "n.ipynb")
    assert "1 known from the cache" in again.err
    assert again.out == first.out


def test_a_baseline(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, READ), "torchlint.toml": ""})
    torchlint("baseline", "write", "n.ipynb")
    assert torchlint("check", "n.ipynb").code == 0
    write({"n.ipynb": notebook("x = 1", IMPORT + LEAF, "y = 1\n" + READ, READ.replace("a", "b", 1))})
    assert found(torchlint, "--baseline", ".torchlint-baseline.json") == ["cell 4:1:7: TL101"]


def test_comments_are_added(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, "print 1", f"%time {READ}\n{READ}")})
    torchlint("check", "--isolated", "--add-ignore=why", "n.ipynb")
    line = f"{READ}  # torchlint: ignore[TL101] why"
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8"))[2] == f"%time {line}\n{line}"
    assert found(torchlint) == ["cell 2:1:1: TL001"]


def test_settings_for_files(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, READ), "torchlint.toml": 'per-file-ignores = {"*.ipynb" = ["TL101"]}'})
    assert torchlint("check", ".").code == 0
    write({"torchlint.toml": 'extend-exclude = ["*.ipynb"]'})
    assert "no Python files found" in torchlint("check", ".").err


def test_outputs_do_not_count(torchlint: Torchlint, write: Write) -> None:
    outputs = [{"data": {"image/png": "A" * 3_000}, "metadata": {}, "output_type": "display_data"}]
    text = notebook(cell(IMPORT + LEAF, outputs=outputs), READ)
    write({"n.ipynb": text})
    assert torchlint("check", "--isolated", "--max-file-size", "1K", "n.ipynb").code == 1
    ran = torchlint("check", "--isolated", "--max-file-size", "50", "n.ipynb")
    assert (ran.code, ran.err) == (
        3,
        "error: n.ipynb: not checked: it has more bytes than `max-file-size` allows (50)\n",
    )
    ran = torchlint(
        "check", "--isolated", "--max-file-size", "50", "--stdin-filename", "n.ipynb", "-", stdin=text.encode()
    )
    assert ran.code == 3


def test_a_name_in_a_notebook_is_imported_by_nobody(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write(
        {
            "n.ipynb": notebook("from torch.autograd import Variable\nimport torch", "x = Variable(torch.ones(1))"),
            "y.py": "from n import Variable\n",
            "pyproject.toml": "",
        }
    )
    torchlint("check", "--fix", "n.ipynb")
    assert codes((tmp_path / "n.ipynb").read_text(encoding="utf-8")) == ["import torch", "x = torch.ones(1)"]


def test_modules_beside_a_notebook_are_known(torchlint: Torchlint, write: Write) -> None:
    net = "class Net(Base):\n    def forward(self, x):\n        y = x.data\n        return y"
    base = "from torch import nn\nclass Base(nn.Module):\n    pass\n"
    write({"n.ipynb": notebook("import torch\nfrom y import Base", net), "y.py": base, "pyproject.toml": ""})
    assert found(torchlint) == ["cell 2:3:15: TL101"]
    write({"y.py": "class Base:\n    pass\n"})
    assert found(torchlint) == []


def test_infer(torchlint: Torchlint, write: Write) -> None:
    write({"n.ipynb": notebook(IMPORT + LEAF, "%matplotlib inline\na = w")})
    ran = torchlint("infer", "n.ipynb:cell 2:2:5")
    assert ran.out.startswith("n.ipynb:cell 2:2:5: w: tensor grad=yes")
    assert "(`torch.ones` returns it, cell 1 line 2)" in ran.out
    (entry,) = json.loads(torchlint("infer", "n.ipynb:cell 2:2:5", "--output-format", "json").out)
    assert (entry["cell"], entry["location"]) == (2, {"row": 2, "column": 5})
    assert (entry["value"]["evidence"]["cell"], entry["value"]["evidence"]["line"]) == (1, 2)


def test_jupytext(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    text = f"# %% [markdown]\n# # Title\n\n# %%\n# %matplotlib inline\n{IMPORT}{LEAF}\n\n# %%\n# !ls\n"
    write({"n.py": text + READ + "\n"})
    assert torchlint("check", "--fix", "--isolated", "n.py").code == 0
    assert (tmp_path / "n.py").read_text(encoding="utf-8") == text + FIXED + "\n"
