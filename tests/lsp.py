"""A client of the language server protocol that says what it is told to say, sense or nonsense."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

PATIENCE = 60
"""Seconds after which an answer is not going to come."""

PULLS: dict[str, Any] = {"textDocument": {"diagnostic": {}}}


class Client:
    """A server of our own, and what it says."""

    def __init__(self, *arguments: str, cwd: Path | None = None, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torchlint", "server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.others: list[dict[str, Any]] = []
        """What came while something else was waited for."""
        self.log = b""
        self._number = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._read_log)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self.messages.put(json.loads(stream.read(length)))
        self.messages.put(None)

    # ------------------------------------------------------------------ what is sent

    def raw(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        """Send a message as it is."""
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: object) -> Any:
        """The result of a request."""
        answer = self.answer(self.ask(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def refused(self, method: str, params: object) -> dict[str, Any]:
        """The error that a request is answered by."""
        answer = self.answer(self.ask(method, params))
        error: dict[str, Any] = answer["error"]
        return error

    def ask(self, method: str, params: object) -> int:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    # ------------------------------------------------------------------ what comes

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; what comes before it is kept, and questions of the server are answered."""
        for early in self.others:
            if early.get("id") == number and "method" not in early:
                self.others.remove(early)
                return early
        while True:
            message = self.messages.get(timeout=PATIENCE)
            assert message is not None, self.log.decode()
            if message.get("id") == number and "method" not in message:
                return message
            self._keep(message)

    def _keep(self, message: dict[str, Any]) -> None:
        if "id" in message and "method" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        self.others.append(message)

    def next(self, method: str) -> Any:
        """The parameters of the next message of a kind."""
        while True:
            for message in self.others:
                if message.get("method") == method:
                    self.others.remove(message)
                    return message.get("params")
            message_ = self.messages.get(timeout=PATIENCE)
            assert message_ is not None, self.log.decode()
            self._keep(message_)

    # ------------------------------------------------------------------ what editors do

    def begin(self, *folders: Path, options: object = None, **capabilities: Any) -> Any:
        """Introduce ourselves; what the server says of itself."""
        result = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folders[0].as_uri() if folders else None,
                "capabilities": capabilities,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "python", version: int = 1) -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def replace(self, uri: str, text: str, version: int) -> None:
        """Change all of a text."""
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]},
        )

    def edit(self, uri: str, version: int, *changes: tuple[tuple[int, int], tuple[int, int], str]) -> None:
        """Change parts of a text, one after the other."""
        parts = [{"range": range_(start, end), "text": text} for start, end, text in changes]
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": parts}
        )

    def pull(self, uri: str, **more: str) -> Any:
        return self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}, **more})

    def found(self, uri: str) -> list[str]:
        """What is found in a text, in short."""
        return [short(each) for each in self.pull(uri)["items"]]

    def published(self, uri: str) -> list[str]:
        """What is sent next of what is found in a text, in short."""
        while True:
            params = self.next("textDocument/publishDiagnostics")
            if params["uri"] == uri:
                return [short(each) for each in params["diagnostics"]]

    def actions(self, uri: str, line: int, character: int = 0, end: int | None = None, **context: object) -> Any:
        last = (line, character if end is None else end)
        return self.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": range_((line, character), last),
                "context": {"diagnostics": [], **context},
            },
        )

    def hover(self, uri: str, line: int, character: int) -> str:
        """What is shown of a place; nothing if nothing is."""
        place = {"line": line, "character": character}
        found = self.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
        return "" if found is None else str(found["contents"]["value"])

    def end(self) -> int:
        """Say goodbye; the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(PATIENCE)


def range_(start: tuple[int, int], end: tuple[int, int]) -> dict[str, dict[str, int]]:
    return {
        name: {"line": line, "character": character} for name, (line, character) in (("start", start), ("end", end))
    }


def short(diagnostic: dict[str, Any]) -> str:
    """``3:4-3:10 TL101``, counted from 0 as the protocol does."""
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    what = diagnostic.get("code", diagnostic["message"])
    return f"{start['line']}:{start['character']}-{end['line']}:{end['character']} {what}"


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits, whose columns count UTF-16."""
    lines = text.splitlines(keepends=True)  # of a text without form feeds and their like
    starts = [sum(map(len, lines[:row])) for row in range(len(lines) + 1)]

    def offset(at: dict[str, int]) -> int:
        line = lines[at["line"]] if at["line"] < len(lines) else ""
        return starts[at["line"]] + len(line.encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le"))

    for each in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        text = text[: offset(each["range"]["start"])] + each["newText"] + text[offset(each["range"]["end"]) :]
    return text
