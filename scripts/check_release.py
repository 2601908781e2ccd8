"""Whether what is released can be installed and does what it should, with the oldest and the newest dependencies.

python scripts/check_release.py [PYTHON...]

Builds a source distribution and a wheel from what is committed, has twine look at both, and for each Python installs
the wheel into empty environments: one with the lowest versions of the dependencies that the metadata allow, one with
the newest. In each the example project is checked, and fixed: all have to find and write the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path = ROOT, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints; ends the program if it fails."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(list(map(str, command)), cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    if ran.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def build(folder: Path) -> Path:
    """The wheel, made by way of the source distribution from what is committed."""
    source = folder / "source"
    source.mkdir()
    archive = folder / "source.tar"
    run("git", "archive", "--output", archive, "HEAD")
    run("tar", "xf", archive, cwd=source)
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source)
    files = sorted((folder / "dist").iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    (wheel,) = (file for file in files if file.suffix == ".whl")
    return wheel


def lowest(wheel: Path) -> list[str]:
    """The dependencies of a wheel in the lowest versions that it allows."""
    with ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith("/METADATA"))
        metadata = message_from_string(opened.read(name).decode())
    required = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    return [re.sub(r">=([0-9.]+)", r"==\1.*", each) for each in required]


def outcome(python: str, wheel: Path, pinned: list[str], folder: Path) -> str:
    """What an installation finds in the example project, and what the project is when it has been fixed."""
    folder.mkdir()
    run(python, "-m", "venv", folder / "venv")
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel, *pinned)
    project = folder / "project"
    shutil.copytree(ROOT / "examples" / "legacy", project)
    torchlint = programs / "torchlint"
    run(torchlint, "--version", cwd=project)
    run(torchlint, "rule", "--all", cwd=project)
    found = json.loads(run(torchlint, "check", "--output-format", "json", cwd=project, codes=(1,)))
    for entry in found:
        entry["filename"] = Path(entry["filename"]).name
    run(torchlint, "check", "--fix", "--unsafe-fixes", cwd=project, codes=(0, 1))
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(project.glob("*.*")) if path.is_file()}
    return json.dumps([found, texts])


def main() -> int:
    """Build, install, compare."""
    pythons = sys.argv[1:] or [sys.executable]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = build(folder)
        pins = {"lowest": lowest(wheel), "newest": []}
        outcomes = {}
        for number, python in enumerate(pythons):
            for name, pinned in pins.items():
                outcomes[python, name] = outcome(python, wheel, pinned, folder / f"{number}-{name}")
                print(f"{python}, {name} dependencies: installed, and runs")
    if len(set(outcomes.values())) > 1:
        print("but they do not all find and fix the same")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
