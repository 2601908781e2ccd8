"""Code in reStructuredText, in files and in docstrings: found and fixed in place, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Torchlint
from test_cli import Write
from test_docs_blocks import checked, fixed, places, shown

# before, after
RST = {
    "a block": (
        "x\n=\n\n.. code-block:: python\n\n   import torch\n   x = torch.ones(2).sum().data[0]\n\nprose\n",
        "x\n=\n\n.. code-block:: python\n\n   import torch\n   x = torch.ones(2).sum().item()\n\nprose\n",
    ),
    "options": (
        ".. code-block:: python\n   :linenos:\n   :caption: It's x\n\n   x = torch.ones(2).sum().data[0]\n",
        ".. code-block:: python\n   :linenos:\n   :caption: It's x\n\n   x = torch.ones(2).sum().item()\n",
    ),
    "other names of it": (
        ".. code:: python3\n\n    x = torch.ones(2)\n\n.. sourcecode:: py\n\n    y = x.sum().data[0]\n\n.. testcode::\n\n    z = x.sum().data[0]\n",
        ".. code:: python3\n\n    x = torch.ones(2)\n\n.. sourcecode:: py\n\n    y = x.sum().item()\n\n.. testcode::\n\n    z = x.sum().item()\n",
    ),
    "examples anywhere": (
        "Say::\n\n    >>> x = torch.ones(2)\n    >>> x.sum().data[0]\n    2.0\n\n>>> def f():\n...     return x.sum().data[0]\n...\n",
        "Say::\n\n    >>> x = torch.ones(2)\n    >>> x.sum().item()\n    2.0\n\n>>> def f():\n...     return x.sum().item()\n...\n",
    ),
    "examples in a directive": (
        ".. doctest::\n\n   >>> x = torch.ones(2).sum().data[0]\n\n.. code-block:: pycon\n\n   >>> torch.ones(2).sum().data[0]\n   2.0\n",
        ".. doctest::\n\n   >>> x = torch.ones(2).sum().item()\n\n.. code-block:: pycon\n\n   >>> torch.ones(2).sum().item()\n   2.0\n",
    ),
    "inside of a note, with an empty line in it": (
        ".. note::\n\n   So:\n\n   .. code-block:: python\n\n      x = torch.ones(2)\n\n      x.sum().data[0]\n\n   And on.\n",
        ".. note::\n\n   So:\n\n   .. code-block:: python\n\n      x = torch.ones(2)\n\n      x.sum().item()\n\n   And on.\n",
    ),
    "examples and blocks are one program in their order": (
        ">>> x = torch.ones(2)\n\n.. code-block:: python\n\n   y = x.sum()\n\n>>> y.data[0]\n",
        ">>> x = torch.ones(2)\n\n.. code-block:: python\n\n   y = x.sum()\n\n>>> y.item()\n",
    ),
    "new lines are as far in": (
        ".. code-block:: python\n\n   from torch.autograd import Variable\n   def f(x):\n       return isinstance(x, Variable)\n",
        ".. code-block:: python\n\n   import torch\n   def f(x):\n       return isinstance(x, torch.Tensor)\n",
    ),
    "a byte order mark and the newlines of Windows": (
        "\ufeffö\r\n\r\n.. code-block:: python\r\n\r\n\timport torch\r\n\t'😀'; x = torch.ones(2).sum().data[0]\r\n",
        "\ufeffö\r\n\r\n.. code-block:: python\r\n\r\n\timport torch\r\n\t'😀'; x = torch.ones(2).sum().item()\r\n",
    ),
}

RST_AS_IT_IS = {
    "another language": ".. code-block:: text\n\n   torch.ones(2).sum().data[0]\n",
    "examples of another language": ".. code-block:: console\n\n   >>> torch.ones(2).sum().data[0]\n",
    "no language": ".. code-block::\n\n   torch.ones(2).sum().data[0]\n",
    "a literal block": "Say::\n\n   torch.ones(2).sum().data[0]\n",
    "what is printed": ".. testoutput::\n\n   >>> torch.ones(2).sum().data[0]\n",
    "another directive": ".. math:: python\n\n   torch.ones(2).sum().data[0]\n",
    "a block inside of another": ".. code-block:: rst\n\n   .. code-block:: python\n\n      torch.ones(2).sum().data[0]\n",
    "what is no further in": ".. code-block:: python\n\ntorch.ones(2).sum().data[0]\n",
    "no Python": ".. code-block:: python\n\n   torch.ones(2).sum().data[0]\n   and so on\n",
    "empty": ".. code-block:: python\n\n.. code-block:: python\n",
    "Markdown": "```python\ntorch.ones(2).sum().data[0]\n```\n",
    "silenced": ".. code-block:: python\n\n   torch.ones(2).sum().data[0]  # torchlint: ignore[TL203]\n",
}


@pytest.mark.parametrize(("before", "after"), RST.values(), ids=RST)
def test_rst(before: str, after: str) -> None:
    assert fixed(before, "x.rst") == after
    result = checked(before, "x.rst")
    assert result.diagnostics
    for each in result.diagnostics:
        assert shown(result, each), "it is shown where it stands in the file"
    assert fixed(after, "x.rst") == after


@pytest.mark.parametrize("text", RST_AS_IT_IS.values(), ids=RST_AS_IT_IS)
def test_rst_as_it_is(text: str) -> None:
    assert places(checked(text, "x.rst")) == []
    assert fixed(text, "x.rst") == text


def test_places_are_those_of_the_file() -> None:
    before, _ = RST["inside of a note, with an empty line in it"]
    assert places(checked(before, "x.rst")) == ["9:15 TL203"]


def test_a_directive_in_a_docstring() -> None:
    text = (
        'import torch\n\n\ndef f(x):\n    """Do.\n\n    .. code-block:: python\n\n'
        '        y = f(torch.ones(2)).sum()\n        torch.ones(2).sum().data[0]"""\n'
    )
    assert places(checked(text, "x.py")) == ["10:29 TL203"]
    assert fixed(text, "x.py") == text.replace("data[0]", "item()")
    assert places(checked(text, "x.py", docs=False)) == []


def test_which_files_are_looked_at(write: Write, torchlint: Torchlint) -> None:
    text = RST["a block"][0]
    write({"docs/x.rst": text, "y.py": ""})
    assert torchlint("check").out == "No findings in 1 file.\n"
    place = f"{Path('docs', 'x.rst')}:7:28: TL203 "
    assert torchlint("check", "--docs", "--output-format", "concise").out.startswith(place)
    assert torchlint("check", "docs/x.rst", "--output-format", "concise").out.startswith(place)
    torchlint("check", "--docs", "--fix")
    assert Path("docs", "x.rst").read_bytes().decode() == RST["a block"][1]
