"""The server for editors, spoken with as an editor does: over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.server", reason="the extra `lsp` is not installed")

from lsp import PULLS, ROOT, Client, edited, range_
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from torchlint.server.documents import Documents
from torchlint.server.encoding import Encoding
from torchlint.server.locations import path_of
from torchlint.server.options import read_options, section
from torchlint.server.workspace import Workspace

OLD = """\
import torch
from torch.autograd import Variable


def f(x: torch.Tensor) -> float:
    y = Variable(x)
    return y.sum().data[0]
"""
NEW = """\
import torch


def f(x: torch.Tensor) -> float:
    y = x.detach()
    return y.sum().item()
"""
FOUND = ["1:27-1:35 TL201", "5:8-5:16 TL201", "6:19-6:26 TL203"]


def own_edits(action: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What an action edits, by URI."""
    changes: dict[str, list[dict[str, Any]]] = action["edit"]["changes"]
    return changes


def titled(actions: list[dict[str, Any]], begin: str) -> dict[str, Any]:
    return next(each for each in actions if each["title"].startswith(begin))


# ---------------------------------------------------------------------- a session, by another implementation


def test_a_session_with_a_client_that_others_wrote(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("# not what the editor has\n", encoding="utf-8")
    uri = (tmp_path / "x.py").as_uri()
    published: list[types.PublishDiagnosticsParams] = []

    async def session() -> None:
        client = LanguageClient("test", "1")

        def keep(params: types.PublishDiagnosticsParams) -> None:
            published.append(params)

        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(keep)
        await client.start_io(sys.executable, "-m", "torchlint", "server", env={"PYTHONPATH": str(ROOT)})
        begun = await client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=tmp_path.as_uri())
        )
        assert begun.capabilities.hover_provider
        client.initialized(types.InitializedParams())
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, OLD))
        )
        while not published:
            await asyncio.sleep(0.01)
        document = types.TextDocumentIdentifier(uri)
        everything = types.Range(types.Position(0, 0), types.Position(7, 0))
        context = types.CodeActionContext(published[0].diagnostics, only=[types.CodeActionKind.SourceFixAll])
        actions = await client.text_document_code_action_async(types.CodeActionParams(document, everything, context))
        assert actions is not None
        (action,) = actions
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None
        edits = [
            {"range": range_(*((at.line, at.character) for at in (e.range.start, e.range.end))), "newText": e.new_text}
            for e in action.edit.changes[uri]
        ]
        assert edited(OLD, edits) == NEW
        hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(5, 9)))
        assert hover is not None
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, uri), [types.TextDocumentContentChangeWholeDocument(NEW)]
            )
        )
        while len(published) < 2:
            await asyncio.sleep(0.01)
        await client.shutdown_async(None)
        client.exit(None)

    asyncio.run(asyncio.wait_for(session(), 60))
    assert [each.code for each in published[0].diagnostics] == ["TL201", "TL201", "TL203"]
    assert (list(published[1].diagnostics), published[1].version) == ([], 2)
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == "# not what the editor has\n"


# ---------------------------------------------------------------------- findings


def test_findings_are_asked_for(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD)
        first = client.pull(uri)
        assert client.pull(uri, previousResultId=first["resultId"]) == {
            "kind": "unchanged",
            "resultId": first["resultId"],
        }
        assert client.found(uri) == FOUND
        read = first["items"][2]
        assert read["severity"] == 1
        assert read["source"] == "torchlint"
        assert read["codeDescription"]["href"].endswith("/legacy-scalar-index.md")
        client.edit(uri, 2, ((6, 19), (6, 26), "item()"), ((5, 8), (5, 19), "x.detach()"))
        assert client.found(uri) == ["1:27-1:35 TL201"]
        client.edit(uri, 3, ((6, 0), (6, 0), "  return (\n"))
        assert [each["code"] for each in client.pull(uri)["items"]] == ["TL001"]
        assert not [each for each in client.others if each["method"] == "textDocument/publishDiagnostics"]
        assert client.end() == 0
    assert client.log == b""


def test_findings_are_sent_to_those_who_do_not_ask(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD)
        assert client.published(uri) == FOUND
        for version, end in enumerate(range(1, len(NEW) + 1), start=2):
            client.replace(uri, NEW[:end], version)
        assert client.published(uri) == []
        client.replace(uri, OLD, 1000)
        assert client.published(uri) == FOUND
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert client.published(uri) == []


def test_evidence_is_at_its_line(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, "import torch\n\n\ndef f(x):\n    y = torch.ones(3)\n    z = y + 1\n    return z.data\n")
        (found,) = client.pull(uri)["items"]
        (because,) = found["relatedInformation"]
        assert because["location"]["range"]["start"]["line"] in (4, 5)


@pytest.mark.parametrize(
    ("encoding", "columns"), [("utf-16", (20, 24)), ("utf-8", (22, 26)), ("utf-32", (19, 23)), (None, (20, 24))]
)
def test_columns_are_those_of_the_client(encoding: str | None, columns: tuple[int, int], tmp_path: Path) -> None:
    general = {"general": {"positionEncodings": [encoding]}} if encoding is not None else {}
    text = "import torch\n'😀'; torch.ones(2).data; 'ö😀'\n"
    with Client() as client:
        client.begin(tmp_path, **PULLS, **general)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, text)
        start, end = columns
        assert client.found(uri) == [f"1:{start}-1:{end} TL101"]
        client.edit(uri, 2, ((1, start), (1, end), "T"))
        assert client.found(uri) == []
        client.edit(uri, 3, ((1, start), (1, start + 1), "data"), ((1, 0), (1, 0), "torch.ones(1).data; "))
        assert client.found(uri) == ["1:14-1:18 TL101", f"1:{start + 20}-1:{end + 20} TL101"]


def test_lines_end_where_python_ends_them(tmp_path: Path) -> None:
    text = "import torch\r\n\x0c\r\nx = '\u2028 \x0b'\r\ny = torch.ones(2).data\r\n"
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, text)
        assert client.found(uri) == ["3:18-3:22 TL101"]
        client.edit(uri, 2, ((3, 18), (3, 22), "detach()"))
        assert client.found(uri) == []
        client.edit(uri, 3, ((2, 0), (3, 0), ""), ((2, 18), (2, 26), "data"))
        assert client.found(uri) == ["2:18-2:22 TL101"]
        (fix, ignore, *_) = client.actions(uri, 2, 18)
        assert own_edits(ignore)[uri][0]["newText"] == "  # torchlint: ignore[TL101]"
        assert own_edits(fix)[uri] == [{"range": range_((2, 17), (2, 22)), "newText": ""}]


def test_what_is_saved_beside_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("def made():\n    return 1\n", encoding="utf-8")
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, "import torch\nfrom other import made\n\nprint(made().data)\n")
        assert client.found(uri) == []
        other.write_text("import torch\n\n\ndef made():\n    return torch.ones(2)\n", encoding="utf-8")
        client.notify("textDocument/didSave", {"textDocument": {"uri": other.as_uri()}})
        assert client.found(uri) == ["3:13-3:17 TL101"]
        other.unlink()
        change = {"changes": [{"uri": other.as_uri(), "type": 3}]}
        client.notify("workspace/didChangeWatchedFiles", change)
        assert client.found(uri) == []


def test_who_can_be_asked_again_is(tmp_path: Path) -> None:
    watching = {"didChangeWatchedFiles": {"dynamicRegistration": True}, "diagnostics": {"refreshSupport": True}}
    with Client() as client:
        client.begin(tmp_path, **PULLS, workspace=watching)
        registered = client.next("client/registerCapability")["registrations"][0]
        patterns = [each["globPattern"] for each in registered["registerOptions"]["watchers"]]
        assert {"**/*.py", "**/pyproject.toml", "**/torchlint.toml", "**/requirements.txt"} <= {*patterns}
        client.notify("workspace/didChangeWatchedFiles", {"changes": []})
        client.next("workspace/diagnostic/refresh")


# ---------------------------------------------------------------------- what can be done about them


def test_quick_fixes(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD)
        actions = client.actions(uri, 6, 19)
        fix = titled(actions, "torchlint (TL203)")
        assert (fix["kind"], fix["isPreferred"]) == ("quickfix", True)
        assert fix["diagnostics"] == [client.pull(uri)["items"][2]]
        assert edited(OLD, own_edits(fix)[uri]) == OLD.replace("data[0]", "item()")
        ignore = titled(actions, "torchlint: ignore TL203")
        assert edited(OLD, own_edits(ignore)[uri]) == OLD.replace("data[0]", "data[0]  # torchlint: ignore[TL203]")
        assert client.actions(uri, 0) == client.actions(uri, 3, only=["source.fixAll"])
        assert [each["kind"] for each in client.actions(uri, 6, 19, only=["quickfix"])] == ["quickfix"] * 2
        assert client.actions(uri, 6, 19, only=["refactor"]) == []
        everything = titled(client.actions(uri, 0, only=["source"]), "torchlint: apply all fixes")
        assert edited(OLD, own_edits(everything)[uri]) == NEW


def test_alternatives_are_offered(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        text = "import torch\n\n\ndef f(x: torch.Tensor):\n    x.add(1)\n    return x\n"
        client.open(uri, text)
        actions = client.actions(uri, 4, 8, only=["quickfix"])
        bodies = [
            edited(text, own_edits(each)[uri]).partition(":\n")[2].rpartition("    return")[0][:-1] for each in actions
        ]
        assert bodies == [
            "    x = x.add(1)",
            "",
            "    x.add(1)  # torchlint: ignore[TL403]",
        ]
        assert not [each for each in actions if each.get("isPreferred")], "which is meant nobody can know"


def test_edits_are_of_a_version_and_come_when_wanted(tmp_path: Path) -> None:
    edits = {"workspaceEdit": {"documentChanges": True}}
    resolving = {"codeAction": {"resolveSupport": {"properties": ["edit"]}}, **PULLS["textDocument"]}
    with Client() as client:
        client.begin(tmp_path, textDocument=resolving, workspace=edits)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD, version=7)
        (action,) = client.actions(uri, 0, only=["source.fixAll.torchlint"])
        assert "edit" not in action
        (changes,) = client.request("codeAction/resolve", action)["edit"]["documentChanges"]
        assert changes["textDocument"] == {"uri": uri, "version": 7}
        assert edited(OLD, changes["edits"]) == NEW


@pytest.mark.parametrize("is_closed", [False, True])
def test_no_edits_of_what_was_changed_meanwhile(is_closed: bool, tmp_path: Path) -> None:
    """They would be applied to another text by clients that take no versions."""
    body = "".join(f"def f{number}(x: torch.Tensor):\n    return x.data + 1\n" for number in range(150))
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, f"import torch\n{body}")
        whole = client.ask("codeAction/resolve", {"title": "", "kind": "source.fixAll.torchlint", "data": uri})
        place = {"textDocument": {"uri": uri}, "range": range_((2, 0), (2, 9))}
        single = client.ask("textDocument/codeAction", {**place, "context": {"diagnostics": []}})
        client.hover("file:///not/open.py", 0, 0)  # by when those have begun
        if is_closed:
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        else:
            client.edit(uri, 2, ((0, 0), (0, 0), "\n\n\n"))
        late = [client.answer(single), client.answer(whole)]
        assert not late[0].get("result")
        assert late[1]["result"].get("edit") is None
        assert len(client.found(uri)) == (0 if is_closed else 150)


def test_the_halves_of_a_statement_are_fixed_together(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(p: torch.Tensor, q: torch.Tensor):\n    p.data.copy_(q.data * p.data)\n"
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, text)
        fixes = [each for each in client.actions(uri, 4, 0, 40, only=["quickfix"]) if "ignore" not in each["title"]]
        for fix in fixes:
            after = edited(text, own_edits(fix)[uri]).splitlines()[-1]
            assert ("p.data.copy_" in after) == ("q.data" in after), after


def test_scripts_with_magics_and_docstrings(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("docs = true\n", encoding="utf-8")
    texts = {
        "cells.py": "# %%\r\n!ls\r\nimport torch\r\nx = torch.ones(2).sum().data[0]\r\n",
        "documented.py": '"""\n>>> x = torch.ones(2)\n>>> x = x.sum().data[0]\n"""\nimport torch\n',
    }
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        for name, text in texts.items():
            uri = (tmp_path / name).as_uri()
            client.open(uri, text)
            (found,) = client.pull(uri)["items"]
            start = found["range"]["start"]
            assert found["code"] == "TL203"
            (fix, everything) = client.actions(uri, start["line"], start["character"])
            assert edited(text, own_edits(fix)[uri]) == text.replace("data[0]", "item()")
            assert edited(text, own_edits(everything)[uri]) == text.replace("data[0]", "item()")
            assert "**[TL203 " in client.hover(uri, start["line"], start["character"])


def test_hover(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD + "\n\ng = torch.ones(2)  # torchlint: ignore[TL101, unsafe-load]\nh = 3\n")
        said = client.hover(uri, 6, 11)
        assert "y: tensor" in said
        assert "line 6" in said
        said = client.hover(uri, 6, 21)
        assert "**[TL203 " in said
        assert "```diff\n" in said
        assert client.hover(uri, 9, 43).startswith("**[TL101 ")
        assert client.hover(uri, 10, 4) == ""
        assert client.hover(uri, 8, 0) == ""
        assert client.hover(uri, 999, 999) == ""
        client.notify("workspace/didChangeConfiguration", {"settings": {"torchlint": {"hover": False}}})
        assert client.hover(uri, 6, 12) == ""


# ---------------------------------------------------------------------- settings


def test_settings_of_the_project(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text("[tool.torchlint]\nignore = ['TL201']\nextend-exclude = ['old']\n", encoding="utf-8")
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri, excluded = ((tmp_path / name).as_uri() for name in ("x.py", "old/x.py"))
        client.open(uri, OLD)
        client.open(excluded, OLD)
        assert client.found(uri) == FOUND[2:]
        assert client.found(excluded) == []
        settings.write_text("[tool.torchlint]\nselekt = []\n", encoding="utf-8")
        client.notify("textDocument/didSave", {"textDocument": {"uri": settings.as_uri()}})
        assert client.found(uri) == []
        assert "selekt" in client.next("window/showMessage")["message"]
        settings.write_text("[tool.torchlint.severity]\nTL201 = 'error'\n", encoding="utf-8")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 2}]})
        assert [each["severity"] for each in client.pull(uri)["items"]] == [1, 1, 1]


def test_a_baseline_is_heeded(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\n", encoding="utf-8")
    (tmp_path / "x.py").write_text(OLD, encoding="utf-8")
    command = [sys.executable, "-m", "torchlint", "baseline", "write", "--select", "TL201"]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, f"# a line more\n{OLD}")
        assert client.found(uri) == ["7:19-7:26 TL203"]


def test_settings_of_the_editor(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path, options={"settings": {"ignore": ["TL201"]}}, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, OLD)
        assert client.found(uri) == FOUND[2:]
        client.notify("workspace/didChangeConfiguration", {"settings": {"torchlint": {"select": ["TL201"]}}})
        assert client.found(uri) == FOUND[:2]
        client.notify("workspace/didChangeConfiguration", {"settings": {"torchlint": {"selekt": ["TL201"]}}})
        assert "did you mean `select`" in client.next("window/showMessage")["message"]
        assert client.found(uri) == FOUND[:2]
        client.notify("workspace/didChangeConfiguration", {"settings": {"torchlint": {"enable": False}}})
        assert client.found(uri) == []


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        (None, None),
        ([], None),
        ({}, None),
        ({"python": {"select": []}}, None),
        ({"torchlint": {"select": []}, "python": {}}, {"select": []}),
        ({"settings": {"select": []}}, {"select": []}),
        ({"settings": {"torchlint": {"hover": False}}}, {"hover": False}),
        ({"settings": {}}, None),
        ({"hover": False}, {"hover": False}),
    ],
)
def test_our_part_of_what_editors_send(given: object, ours: object) -> None:
    assert section(given) == ours


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"select": "TL1"}, "must be a list of texts"),
        ({"select": [1]}, "must be a list of texts"),
        ({"select": ["TL999"]}, "unknown rule `TL999`"),
        ({"hover": "yes"}, "must be true or false"),
        ({"targetTorch": "new"}, "targetTorch"),
        ({"minConfidence": "sure"}, "must be high, medium or low"),
        ({"hovr": True}, "did you mean `hover`"),
    ],
)
def test_settings_of_an_editor_that_make_no_sense(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_options(given)


# ---------------------------------------------------------------------- notebooks


def cell(path: Path, number: int) -> str:
    return f"vscode-notebook-cell:{path.as_posix()}#{number}"


def open_notebook(client: Client, path: Path, *codes: str) -> list[str]:
    """Open a notebook that has a cell of prose first; the URIs of its cells with code."""
    uris = [cell(path, number) for number in range(len(codes) + 1)]
    client.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": path.as_uri(),
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": 1 if uri is uris[0] else 2, "document": uri} for uri in uris],
            },
            "cellTextDocuments": [
                {"uri": uri, "languageId": "python", "version": 1, "text": code}
                for uri, code in zip(uris[1:], codes, strict=True)
            ],
        },
    )
    return uris[1:]


def test_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    with Client() as client:
        begun = client.begin(tmp_path, **PULLS, notebookDocument={"synchronization": {}})
        assert begun["capabilities"]["notebookDocumentSync"]["notebookSelector"]
        codes = (
            "%matplotlib inline\nimport torch\nfrom torch.autograd import Variable",
            "%%bash\nls",
            "x = Variable(torch.ones(3))\n'😀'; x.sum().data[0]",
        )
        first, shell, last = open_notebook(client, path, *codes)
        assert client.published(first) == ["2:27-2:35 TL201"]
        assert client.published(last) == ["0:4-0:12 TL201", "1:14-1:21 TL203"]
        assert client.pull(last)["items"] == []  # what was sent is not shown twice
        fix = titled(client.actions(last, 1, 14), "torchlint (TL203)")
        assert edited(codes[2], own_edits(fix)[last]) == codes[2].replace("data[0]", "item()")
        assert client.actions(last, 0, only=["source.fixAll"]) == []  # which is asked for each cell
        everything = own_edits(client.actions(last, 0, only=["notebook.source.fixAll"])[0])
        assert edited(codes[0], everything[first]) == "%matplotlib inline\nimport torch"
        assert edited(codes[2], everything[last]) == "x = torch.ones(3)\n'😀'; x.sum().item()"
        assert shell not in everything
        assert "x: tensor" in client.hover(last, 1, 6)
        assert client.hover(shell, 1, 0) == ""
        content = {"document": {"uri": last, "version": 2}, "changes": [{"text": "x = 1"}]}
        change = {"cells": {"textContent": [content]}}
        client.notify(
            "notebookDocument/didChange",
            {"notebookDocument": {"uri": path.as_uri(), "version": 2}, "change": change},
        )
        assert client.published(last) == []
        structure = {"array": {"start": 1, "deleteCount": 1}, "didClose": [{"uri": first}]}
        client.notify(
            "notebookDocument/didChange",
            {"notebookDocument": {"uri": path.as_uri(), "version": 3}, "change": {"cells": {"structure": structure}}},
        )
        assert client.published(first) == []
    assert not path.exists()


@pytest.mark.parametrize("language", ["json", "python"])
@pytest.mark.parametrize("text_first", [True, False])
def test_a_notebook_that_is_open_as_text_too(language: str, text_first: bool, tmp_path: Path) -> None:
    path, old = tmp_path / "x.ipynb", "import torch\nx = torch.ones(1)\nx.sum().data[0]"
    text = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    found = ["2:8-2:15 TL203"]
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        if text_first:
            client.open(path.as_uri(), text, language=language)
        (only,) = open_notebook(client, path, old)
        assert client.published(only) == found
        if not text_first:
            client.open(path.as_uri(), text, language=language)
        client.edit(path.as_uri(), 2, ((0, 0), (0, 0), " "))
        assert client.found(path.as_uri()) == []
        content = {"document": {"uri": only, "version": 2}, "changes": [{"text": f"\n{old}"}]}
        client.notify(
            "notebookDocument/didChange",
            {
                "notebookDocument": {"uri": path.as_uri(), "version": 2},
                "change": {"cells": {"textContent": [content]}},
            },
        )
        while client.published(only) != ["3:8-3:15 TL203"]:  # the text is looked at, too, and changes nothing
            pass
        client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
        assert client.actions(only, 3, 8)
        cells = [{"uri": only}]
        client.notify(
            "notebookDocument/didClose",
            {"notebookDocument": {"uri": path.as_uri()}, "cellTextDocuments": cells},
        )
        assert client.published(only) == []


# ---------------------------------------------------------------------- whatever comes


def test_documents_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with Client() as client:
        client.begin(tmp_path / "in", **PULLS)
        named = ("out.py", "gone/x.py", "a b;c#d%.py", "übung.py")
        for uri in ((tmp_path / name).as_uri() for name in named):
            client.open(uri, OLD)
            assert client.found(uri) == FOUND, uri
        client.open("untitled:Untitled-1", OLD)
        assert client.found("untitled:Untitled-1") == FOUND
        client.open((tmp_path / "x.md").as_uri(), OLD, language="markdown")
        assert client.found((tmp_path / "x.md").as_uri()) == []
        client.open("git:/x.py?ref=HEAD", OLD)
        assert client.found("git:/x.py?ref=HEAD") == []
        assert client.found((tmp_path / "never-opened.py").as_uri()) == []
        assert client.actions((tmp_path / "never-opened.py").as_uri(), 0) == []
        client.open((tmp_path / "latin.py").as_uri(), f"# coding: latin-1\nx = 'ö'\n{OLD}")
        assert len(client.found((tmp_path / "latin.py").as_uri())) == 3
        client.open((tmp_path / "lone.py").as_uri(), f"x = '\ud800'\n{OLD}")
        assert client.found((tmp_path / "lone.py").as_uri()) == ["0:5-0:6 TL003"]
        client.open((tmp_path / "large.py").as_uri(), f"{OLD}# {'x' * 6_000_000}\n")
        said = client.found((tmp_path / "large.py").as_uri())
        assert said == ["0:0-0:12 not checked: it has more bytes than `max-file-size` allows (2M)"]
        client.open((tmp_path / "code.ipynb").as_uri(), OLD)  # what an editor shows that turns notebooks into scripts
        assert client.found((tmp_path / "code.ipynb").as_uri()) == FOUND
    assert b"max-file-size" in client.log
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("# coding: latin-1 '€'", ["0:19-0:20 TL003"]),
        ("# coding: cp1252 '😀'", ["0:18-0:20 TL003"]),
        ("# coding: idna 'ẞ'", ["0:0-0:1 TL003"]),
        ("# coding: cp1252 '€'", ["2:27-2:35 TL201", "6:8-6:16 TL201", "7:19-7:26 TL203"]),
        ("\ufeff", []),
    ],
)
def test_characters_that_the_declared_encoding_has_not(first: str, found: list[str], tmp_path: Path) -> None:
    """Read in that encoding, what UTF-8 writes for them is others: places would be wrong, and fixes write those."""
    with Client() as client:
        client.begin(tmp_path, **PULLS)
        uri = (tmp_path / "x.py").as_uri()
        client.open(uri, text := f"{first}\n{OLD}")
        assert client.found(uri) == found
        for action in client.actions(uri, 2, 0, 30):
            assert first in edited(text, own_edits(action)[uri])
        assert bool(client.actions(uri, 2, 0, 30)) == (len(found) > 1)


@pytest.mark.parametrize(
    ("host", "path", "is_windows", "expected"),
    [
        ("", "/a/b%20c.py", False, "/a/b c.py"),
        ("localhost", "/a%23;b?.py", False, "/a#;b?.py"),
        ("", "/c%3A/x/y.py", True, "c:\\x\\y.py"),
        ("", "/C:/x.py", True, "C:\\x.py"),
        ("server", "/share/x.py", True, "\\\\server\\share\\x.py"),
        ("", "/%ff.py", False, "/\udcff.py"),
    ],
)
def test_paths(host: str, path: str, is_windows: bool, expected: str) -> None:
    assert path_of(host, path, is_windows=is_windows) == expected


def test_two_folders(tmp_path: Path) -> None:
    for name, ignored in (("one", "TL201"), ("two", "TL203")):
        (tmp_path / name).mkdir()
        text = f"[tool.torchlint]\nignore = ['{ignored}']\n"
        (tmp_path / name / "pyproject.toml").write_text(text, encoding="utf-8")
    with Client() as client:
        client.begin(tmp_path / "one", tmp_path / "two", **PULLS)
        one, two = ((tmp_path / name / "x.py").as_uri() for name in ("one", "two"))
        client.open(one, OLD)
        client.open(two, OLD)
        assert (client.found(one), client.found(two)) == (FOUND[2:], FOUND[:2])


def test_messages_that_make_no_sense(tmp_path: Path) -> None:
    with Client() as client:
        assert client.refused("textDocument/hover", {})["code"] == -32602
        position = {"line": 0, "character": 0}
        place = {"textDocument": {"uri": "file:///x.py"}, "position": position}
        assert client.refused("textDocument/hover", place)["code"] == -32002
        client.begin(tmp_path, **PULLS)
        assert client.refused("initialize", {"capabilities": {}, "processId": None, "rootUri": None})["code"] == -32600
        assert client.refused("textDocument/hover", {"textDocument": 3})["code"] == -32602
        assert client.refused("textDocument/nothing", {})["code"] == -32601
        assert client.refused("workspace/executeCommand", {"command": "rm"})["code"] == -32602
        for body in (b"", b"{", b"[]", b"3", b'"x"', b"null", b"{}", b'{"jsonrpc": "1.0"}', b"\xff\xfe", b"[" * 5000):
            client.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        client.raw(b"nonsense\r\n\r\nContent-Type: x\r\n\r\nContent-Length: -3\r\n\r\n")
        uri = (tmp_path / "x.py").as_uri()
        client.edit(uri, 1, ((0, 0), (0, 0), "x"))  # which is not open
        client.notify("textDocument/didOpen", {"textDocument": {"uri": uri}})
        client.notify("textDocument/didChange", {})
        client.notify("$/cancelRequest", {"id": 999})
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        client.open(uri, OLD)
        client.edit(uri, 1, ((99, 99), (0, 0), "x"), ((6, 99), (999, 999), ""), ((0, 0), (0, 0), ""))
        client.replace(uri, OLD, 1)
        assert client.found(uri) == FOUND
        client.request("shutdown", None)
        assert client.refused("textDocument/hover", place)["code"] == -32600
        client.notify("exit", None)
        assert client.process.wait(60) == 0
        assert not [each for each in client.others if each["method"] == "window/showMessage"]
    assert b"Traceback" not in client.log


@pytest.mark.parametrize(("says_so", "code"), [(True, 0), (False, 1)])
def test_a_client_that_is_gone(says_so: bool, code: int, tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path)
        client.open((tmp_path / "x.py").as_uri(), OLD)
        if says_so:
            client.request("shutdown", None)
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(60) == code


def test_a_message_that_nobody_can_mean_ends_the_conversation(tmp_path: Path) -> None:
    with Client() as client:
        client.begin(tmp_path)
        client.raw(b"Content-Length: 99999999999999999999\r\n\r\n{}")
        assert client.process.wait(60) == 1
    assert client.log == b"a message of 99999999999999999999 bytes is announced: the conversation ends\n"


def test_an_exception_costs_no_more_than_its_answer(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    documents, uri = Documents(), (tmp_path / "x.py").as_uri()
    told: list[str] = []

    async def session() -> None:
        workspace = Workspace(documents, told.append)

        def raises(*_: object) -> Any:
            raise BaseException("a panic")

        documents.open(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, OLD))
        (document,) = documents
        monkeypatch.setattr(workspace.linter, "check", raises)
        found = await workspace.checked(document)
        assert found is not None
        assert found.diagnostics == ()
        monkeypatch.undo()
        workspace.forget()
        found = await workspace.checked(document)
        assert found is not None
        assert len(found.diagnostics) == 3
        workspace.end()

    asyncio.run(session())
    assert told == []
    assert "a panic" in caplog.text


def test_each_version_is_checked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    documents, uri = Documents(), (tmp_path / "x.py").as_uri()

    async def session() -> int:
        workspace = Workspace(documents, lambda message: None)
        check, count, typed = workspace.linter.check, 0, threading.Event()

        def counted(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            assert count == 1 or typed.wait(60)
            return check(*arguments)

        monkeypatch.setattr(workspace.linter, "check", counted)
        documents.open(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, OLD))
        (document,) = documents
        await asyncio.gather(*(workspace.checked(document) for _ in range(5)))
        await workspace.checked(document)
        for version in range(2, 30):
            changes = [types.TextDocumentContentChangeWholeDocument(NEW)]
            documents.change(types.VersionedTextDocumentIdentifier(version, uri), changes)
            task = asyncio.create_task(workspace.checked(document))
            await asyncio.sleep(0)
        for _ in range(10):  # until what is not wanted any more is told so
            await asyncio.sleep(0)
        typed.set()
        await task
        workspace.end()
        return count

    assert asyncio.run(session()) <= 3, "what was typed over before its turn came is not looked at"


@pytest.mark.parametrize("kind", types.PositionEncodingKind)
def test_offsets_and_positions_are_inverse(kind: types.PositionEncodingKind) -> None:
    from torchlint.file.text.lines import Lines

    text = "a😀b\r\n\r\nöé\x0c\u2028x\ry\n"
    lines, encoding = Lines(text), Encoding(kind)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert encoding.offset(lines, encoding.position(lines, lines.position(offset))) == offset


# ---------------------------------------------------------------------- without what it needs


def test_what_is_missing_is_named() -> None:
    code = "import sys; sys.modules['pygls'] = None; sys.argv[1:] = ['server']; from torchlint.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "error: `torchlint server` needs pygls 2: pip install 'torchlint[lsp]'\n"


def test_the_extra_is_tested_with() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert json.loads(text.partition("\nlsp = ")[2].partition("\n")[0])[0] in text.partition("\ntest = [")[2]
