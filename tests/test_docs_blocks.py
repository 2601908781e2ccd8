"""Code in Markdown, in docstrings, and in scripts of cells: found and fixed in place, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.diagnostic import Diagnostic, Fixing
from torchlint.project.discovery import File
from torchlint.project.project import Project
from torchlint.session.scheduler import FileResult, Run, RunOptions

ROOT = Path(__file__).parents[1]


def checked(text: str, name: str, fixing: Fixing = Fixing.NONE, *, docs: bool = True) -> FileResult:
    project = Project(isolated=True, docs=docs)
    return Run(project, RunOptions(fixing)).text(File(name, f"/nowhere/{name}"), text.encode())


def fixed(text: str, name: str) -> str:
    result = checked(text, name, Fixing.UNSAFE)
    assert result.problems == ()
    return text if result.after is None else result.after.decode()


def places(result: FileResult) -> list[str]:
    return [f"{each.start.row}:{each.start.column} {each.code}" for each in result.diagnostics]


def shown(result: FileResult, found: Diagnostic) -> str:
    return result.text.splitlines()[found.start.row - 1][found.start.column - 1 : found.end.column - 1]


# before, after
MARKDOWN = {
    "a block": (
        "# x\n\n```python\nimport torch\nx = torch.ones(2).sum().data[0]\n```\n",
        "# x\n\n```python\nimport torch\nx = torch.ones(2).sum().item()\n```\n",
    ),
    "one goes on from another": (
        "```py\nimport torch\nfrom torch.autograd import Variable\nv = Variable(torch.ones(2))\n```\ntext\n~~~ python3\ny = v.sum().data[0]\n~~~\n",
        "```py\nimport torch\nv = torch.ones(2)\n```\ntext\n~~~ python3\ny = v.sum().item()\n~~~\n",
    ),
    "an import that a block which is no Python needs": (
        "```python\nimport torch\nfrom torch.autograd import Variable\nv = Variable(torch.ones(2))\n```\n```python\ny = Variable(\n```\n",
        "```python\nimport torch\nfrom torch.autograd import Variable\nv = torch.ones(2)\n```\n```python\ny = Variable(\n```\n",
    ),
    "nobody writes the import": (
        "```python\nx = torch.ones(2).sum().data[0]\n```\n",
        "```python\nx = torch.ones(2).sum().item()\n```\n",
    ),
    "in a list": (
        "- a\n\n    ```{python}\n    if True:\n        torch.ones(2).sum().data[0]\n\n    ```\n",
        "- a\n\n    ```{python}\n    if True:\n        torch.ones(2).sum().item()\n\n    ```\n",
    ),
    "prompts": (
        "```pycon\n>>> x = torch.ones(2)\n>>> x.sum().data[0]\n2.0\n>>> def f():\n...     return x.sum().data[0]\n...\n```\n",
        "```pycon\n>>> x = torch.ones(2)\n>>> x.sum().item()\n2.0\n>>> def f():\n...     return x.sum().item()\n...\n```\n",
    ),
    "new lines are as far in": (
        "1. a\n\n   ```python\n   from torch.autograd import Variable\n   from torch import nn\n   def f(x):\n       return isinstance(x, Variable)\n   ```\n",
        "1. a\n\n   ```python\n   import torch\n   from torch import nn\n   def f(x):\n       return isinstance(x, torch.Tensor)\n   ```\n",
    ),
    "magics": (
        "```python\n!pip install torch\n%matplotlib inline\nx = torch.ones(2).sum().data[0]\n```\n",
        "```python\n!pip install torch\n%matplotlib inline\nx = torch.ones(2).sum().item()\n```\n",
    ),
    "a byte order mark and the newlines of Windows": (
        "\ufeffö\r\n```python\r\nimport torch\r\nfrom torch.autograd import Variable\r\n'😀'; x = Variable(torch.ones(2)).sum().data[0]\r\n```\r\n",
        "\ufeffö\r\n```python\r\nimport torch\r\n'😀'; x = torch.ones(2).sum().item()\r\n```\r\n",
    ),
}

MARKDOWN_AS_IT_IS = {
    "another language": "```text\nimport torch\ntorch.ones(2).sum().data[0]\n```\n",
    "no language": "```\nimport torch\ntorch.ones(2).sum().data[0]\n```\n",
    "a language that begins like it": "```python-repl\ntorch.ones(2).sum().data[0]\n```\n```pyret\ntorch.ones(2).sum().data[0]\n```\n",
    "no end": "```python\ntorch.ones(2).sum().data[0]\n",
    "inside of another": "````\n```python\ntorch.ones(2).sum().data[0]\n```\n````\n",
    "no Python": "```python\ntorch.ones(2).sum().data[0]\nand so on\n```\n",
    "a shell": "```python\n%%bash\ntorch.ones(2).sum().data[0]\n```\n",
    "empty": "```python\n```\n\n```python\n\n```\n",
    "prose": "torch.ones(2).sum().data[0]\n",
    "silenced": "```python\ntorch.ones(2).sum().data[0]  # torchlint: ignore[TL203]\n```\n",
    "the value is shown": "```python\nx = torch.ones(2)\nx.add(1)\n```\n",
}


@pytest.mark.parametrize(("before", "after"), MARKDOWN.values(), ids=MARKDOWN)
def test_markdown(before: str, after: str) -> None:
    assert fixed(before, "x.md") == after
    result = checked(before, "x.md")
    assert result.diagnostics
    for each in result.diagnostics:
        assert shown(result, each), "it is shown where it stands in the file"
    assert fixed(after, "x.markdown") == after


@pytest.mark.parametrize("text", MARKDOWN_AS_IT_IS.values(), ids=MARKDOWN_AS_IT_IS)
def test_markdown_as_it_is(text: str) -> None:
    assert places(checked(text, "x.md")) == []
    assert fixed(text, "x.md") == text


DOCSTRINGS = {
    "examples": (
        'import torch\n\n\ndef f(x):\n    """Do.\n\n    Example::\n\n        >>> x = torch.ones(2)\n        >>> x.sum().data[0]\n        2.0\n    """\n',
        'import torch\n\n\ndef f(x):\n    """Do.\n\n    Example::\n\n        >>> x = torch.ones(2)\n        >>> x.sum().item()\n        2.0\n    """\n',
    ),
    "a block with fences, and the import that it needs": (
        'import torch\nfrom torch.autograd import Variable\n\n\nclass A:\n    r"""Do.\n\n    ```python\n    x = Variable(torch.ones(2)).sum().data[0]\n    ```\n    """\n',
        'import torch\n\n\nclass A:\n    r"""Do.\n\n    ```python\n    x = torch.ones(2).sum().item()\n    ```\n    """\n',
    ),
    "beside the code": (
        '""">>> x = torch.ones(2)\n>>> x.sum().data[0]"""\nimport torch\n\ny = torch.ones(2).sum().data[0]\n',
        '""">>> x = torch.ones(2)\n>>> x.sum().item()"""\nimport torch\n\ny = torch.ones(2).sum().item()\n',
    ),
}

DOCSTRINGS_AS_THEY_ARE = {
    "escapes": 'import torch\n\n\ndef f():\n    """\n    >>> torch.ones(2).sum().data[0], "\\n"\n    """\n',
    "strings that are none": 'import torch\n\nx = """\n>>> torch.ones(2).sum().data[0]\n"""\n',
    "several literals": 'import torch\n\n\ndef f():\n    """>>> torch.ones(2).sum().data[0]""" """>>> torch.ones(2)"""\n',
    "no Python": 'import torch\n\n\ndef f():\n    """\n    >>> torch.ones(2).sum().data[0] and\n    """\n',
    "no torch": '"""\n>>> torch = 3\n>>> torch.ones(2).sum().data[0]\n"""\n',
}


@pytest.mark.parametrize(("before", "after"), DOCSTRINGS.values(), ids=DOCSTRINGS)
def test_docstrings(before: str, after: str) -> None:
    assert fixed(before, "x.py") == after
    assert fixed(before.replace("\n", "\r\n"), "x.py") == after.replace("\n", "\r\n")
    assert len(places(checked(before, "x.py"))) > len(places(checked(before, "x.py", docs=False)))


@pytest.mark.parametrize("text", DOCSTRINGS_AS_THEY_ARE.values(), ids=DOCSTRINGS_AS_THEY_ARE)
def test_docstrings_as_they_are(text: str) -> None:
    assert places(checked(text, "x.py")) == []
    assert fixed(text, "x.py") == text


def test_a_statement_behind_a_prompt_keeps_its_lines() -> None:
    text = '"""\n>>> from torch.autograd import Variable\n>>> isinstance(3, Variable)\n"""\nimport torch\n'
    result = checked(text, "x.py", Fixing.UNSAFE)
    assert result.after is None or result.after.decode().count("\n>>> ") == 2
    assert places(checked(text, "x.py"))


def test_findings_of_code_and_docstrings_are_in_order() -> None:
    code = "torch.ones(2).sum().data[0]"
    text = f'import torch\n\nx = {code}\n\n\ndef f():\n    """\n    >>> {code}\n    """\n    return {code}\n'
    assert places(checked(text, "x.py")) == ["3:25 TL203", "8:29 TL203", "10:32 TL203"]


def test_what_is_not_looked_at_without_docstrings_is_not_looked_at_with_them() -> None:
    assert places(checked('print "no Python of today"\n', "x.py")) == []
    text = '"""\n>>> import torch\n>>> torch.ones(2).sum().data[0]\n"""\n'
    assert places(checked(text, "x.py")) == ["3:25 TL203"], "though the module has nothing to do with torch"


def test_without_being_asked_docstrings_are_left_alone() -> None:
    text = 'import torch\n\n\ndef f():\n    """\n    >>> torch.ones(2).sum().data[0]\n    """\n'
    assert places(checked(text, "x.py", docs=False)) == []


# ---------------------------------------------------------------------- scripts of cells

SCRIPTS = {
    "magics as comments": (
        "# %%\n# %matplotlib inline\nimport torch\n\n# %% [markdown]\n# text\n\n# %%\nx = torch.ones(2).sum().data[0]\n",
        "# %%\n# %matplotlib inline\nimport torch\n\n# %% [markdown]\n# text\n\n# %%\nx = torch.ones(2).sum().item()\n",
    ),
    "magics": (
        "# %%\n%matplotlib inline\n!ls\nimport torch\nfrom torch.autograd import Variable\n#%%\n%time x = Variable(torch.ones(2)).sum().data[0]\n",
        "# %%\n%matplotlib inline\n!ls\nimport torch\n#%%\n%time x = torch.ones(2).sum().item()\n",
    ),
    "of nbconvert": (
        "# In[1]:\n\n\n!ls\nimport torch\nx = torch.ones(2).sum().data[0]\n",
        "# In[1]:\n\n\n!ls\nimport torch\nx = torch.ones(2).sum().item()\n",
    ),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), SCRIPTS.values(), ids=SCRIPTS)
def test_scripts(before: str, after: str, newline: str) -> None:
    before, after = before.replace("\n", newline), after.replace("\n", newline)
    assert fixed(before, "x.py") == after
    result = checked(before, "x.py")
    assert [each.code for each in result.diagnostics if each.code == "TL203"] == ["TL203"]
    at = next(each for each in result.diagnostics if each.code == "TL203")
    assert result.text.splitlines()[at.start.row - 1][at.start.column - 1 :].startswith("data[0]")


@pytest.mark.parametrize(
    "text",
    [
        "# %%\nimport torch\n%matplotlib inline\nx = = 1\n",
        "import torch\n%matplotlib inline\n",
        "# %%\nimport torch\nx = (\n%time\n",
    ],
)
def test_what_is_no_python_either_way_is_told(text: str) -> None:
    assert [each.code for each in checked(text + "y.data\n", "x.py").diagnostics] == ["TL001"]


# ---------------------------------------------------------------------- on the command line


def run(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "check", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_option_and_the_setting(tmp_path: Path) -> None:
    text = "```python\nx = torch.ones(2).sum().data[0]\n```\n\n```python\n... no\n```\n"
    (tmp_path / "x.md").write_text(text, encoding="utf-8")
    (tmp_path / "x.py").write_text(f'"""\n{text}"""\nimport torch\n', encoding="utf-8")
    (tmp_path / "y.py").write_text('"""torch.ones(2)"""\nimport torch\n', encoding="utf-8")
    assert run("--no-cache", cwd=tmp_path)[0] == 0
    expected = "x.md:2:25: TL203 [*] indexing a 0-dim tensor raises since PyTorch 0.4; use `.item()`\n"
    code, out, err = run("--docs", "--output-format", "concise", "-v", cwd=tmp_path)
    assert (code, out.startswith(expected), "x.py:3:25: TL203" in out) == (1, True, True)
    assert "x.md:6: this block is no Python, so it is not checked" in err
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\ndocs = true\n", encoding="utf-8")
    again = run("--output-format", "concise", cwd=tmp_path)  # some of it from the cache
    assert run("--output-format", "concise", cwd=tmp_path) == again == (1, out, "")
    assert run("--no-docs", cwd=tmp_path)[0] == 0
    assert run("--no-docs", "--output-format", "concise", "x.md", cwd=tmp_path)[1].startswith(expected)
    code, out, _ = run("--fix", cwd=tmp_path)
    assert (code, "2 fixed" in out) == (0, True)
    assert (tmp_path / "x.md").read_text(encoding="utf-8") == text.replace("data[0]", "item()")
    assert re.search(r"sum\(\)\.item\(\)", (tmp_path / "x.py").read_text(encoding="utf-8"))


def test_no_comments_are_written_into_documentation(tmp_path: Path) -> None:
    text = "```python\nx = torch.ones(2).sum().data[0]\n```\n"
    (tmp_path / "x.md").write_text(text, encoding="utf-8")
    (tmp_path / "x.py").write_text(f'"""\n{text}"""\nimport torch\n', encoding="utf-8")
    code, out, _ = run("--docs", "--add-ignore", ".", cwd=tmp_path)
    assert (code, "2 findings cannot be silenced by a comment." in out) == (1, True)
    assert (tmp_path / "x.md").read_text(encoding="utf-8") == text


def test_a_baseline_has_what_is_in_documentation(tmp_path: Path) -> None:
    text = "```python\nx = torch.ones(2).sum().data[0]\n```\n"
    settings = "[tool.torchlint]\ndocs = true\n"
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    (tmp_path / "x.md").write_text(text, encoding="utf-8")
    (tmp_path / "x.py").write_text(f'"""\n{text}"""\nimport torch\n', encoding="utf-8")
    command = [sys.executable, "-m", "torchlint", "baseline", "write"]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    assert run("--fix", cwd=tmp_path)[0] == 0
    (tmp_path / "x.py").write_text(f'"""\n{text}"""\nimport torch\n\n{text.splitlines()[1]}\n', encoding="utf-8")
    assert run("--output-format", "concise", cwd=tmp_path)[1].startswith("x.py:8:25: TL203")
