"""Python programs in processes of their own, that start with torchlint imported.

To begin an interpreter and to import libcst and the rules takes longer than most runs of the command line that tests
start. Here one process does that once, and each program is run by a fork of it: with its own directory, environment,
input and output, as by ``subprocess.run``. Tests of how a program begins start an interpreter.
"""

from __future__ import annotations

import array
import atexit
import functools
import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

_SERVER = """
import array, importlib, os, pickle, pkgutil, runpy, signal, socket, sys
import torchlint.cli, torchlint.file, torchlint.model, torchlint.rules, torchlint.session

for package in (torchlint.cli, torchlint.file, torchlint.model, torchlint.rules, torchlint.session):
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(each.name)

asked = socket.socket(fileno=int(sys.argv[1]))
paths = [path for path in sys.path if path not in ("", os.environ["PYTHONPATH"])]
while True:
    size, parts, _, _ = asked.recvmsg(4, socket.CMSG_SPACE(12))
    if not size:
        sys.exit()
    arguments, folder, environment, seconds = pickle.loads(asked.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
    streams = array.array("i", parts[0][2])
    child = os.fork()
    if not child:
        break
    for stream in streams:
        os.close(stream)
    asked.sendall((os.waitpid(child, 0)[1]).to_bytes(4, "big"))

asked.close()
for place, stream in enumerate(streams):
    os.dup2(stream, place)
    os.close(stream)
for name, mode, old in (("stdin", "r", sys.stdin), ("stdout", "w", sys.stdout), ("stderr", "w", sys.stderr)):
    setattr(sys, name, open(old.fileno(), mode, encoding=old.encoding, errors=old.errors))
os.chdir(folder)
os.environb.clear()
os.environb.update(environment)
signal.alarm(seconds)
kind, what, *sys.argv[1:] = map(os.fsdecode, arguments)
sys.argv[0] = kind
sys.path[:] = ["" if kind == "-c" else os.getcwd(), *os.environ["PYTHONPATH"].split(os.pathsep), *paths]
if kind == "-m":
    runpy.run_module(what, run_name="__main__", alter_sys=True)
else:
    exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
"""
_ENCODINGS = ("PYTHONUTF8", "PYTHONCOERCECLOCALE", "LC_ALL")
"""What an interpreter reads of its environment as it begins: for each of their values there is one."""


@functools.cache
def _server(encodings: tuple[str | None, ...]) -> socket.socket:
    ours, theirs = socket.socketpair()
    read = {name: value for name, value in zip(_ENCODINGS, encodings, strict=True) if value is not None}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **read}
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(theirs.fileno())], env=environment, pass_fds=[theirs.fileno()]
    )
    theirs.close()

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def python(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], said: str = "", seconds: int = 120
) -> subprocess.CompletedProcess[str]:
    """What ``python -c TEXT …`` or ``python -m MODULE …`` does, which is ended after some seconds.

    The environment has a ``PYTHONPATH``.
    """
    if not hasattr(os, "fork"):
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, input=said, capture_output=True, text=True, timeout=seconds, check=False
        )
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(said.encode())
        given.seek(0)
        variables = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        program = pickle.dumps(([os.fsencode(each) for each in arguments], os.fsencode(cwd), variables, seconds))
        streams = array.array("i", [each.fileno() for each in (given, out, err)])
        server = _server(tuple(environment.get(name) for name in _ENCODINGS))
        server.sendmsg([len(program).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        server.sendall(program)
        code = os.waitstatus_to_exitcode(int.from_bytes(server.recv(4, socket.MSG_WAITALL), "big"))
        printed = [os.fsdecode(os.pread(each.fileno(), 1 << 30, 0)) for each in (out, err)]
        return subprocess.CompletedProcess(list(arguments), code, *printed)
