"""The benchmarks of speed: what they make of made-up figures and tiny folders. No time is asserted."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from torchlint.file.check import check_text
from torchlint.rules import catalogue

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"


def script(name: str) -> Any:
    """A script of the benchmarks as a module. They import each other as programs do: from their own folder."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


measure, results, report, speed = script("measure"), script("results"), script("report"), script("speed")
scaling, stages, synthetic = script("scaling"), script("stages"), script("synthetic")


# --- one command


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_exit_code(tmp_path: Path) -> None:
    output, errors = tmp_path / "out", tmp_path / "err"
    code = "import sys; print('here'); print('there', file=sys.stderr); sys.exit(5)"
    cost = measure.measure(python(code), str(output), str(errors))
    assert (cost.code, output.read_text(), errors.read_text()) == (5, "here\n", "there\n")


def test_a_run_that_a_signal_ends() -> None:
    assert measure.measure(python("import os; os.kill(os.getpid(), 9)")).code == -9


def test_peak_is_of_the_largest_process_of_the_tree() -> None:
    child = "b = bytearray(150_000_000)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    assert 150e6 < measure.measure(python(code)).peak < 220e6


def test_our_own_memory_is_not_taken_for_that_of_a_command() -> None:
    ballast = bytearray(os.urandom(1 << 20)) * 150
    assert measure.measure(python("pass")).peak < 60e6 < len(ballast)


def test_time_of_children_counts() -> None:
    child = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    assert measure.measure(python(code)).processor >= 0.3


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux tells")
def test_time_of_others_is_told() -> None:
    busy = python("import time\nwhile time.process_time() < 60: pass")
    other = subprocess.Popen(busy)
    try:
        cost = measure.measure(python("import time\nwhile time.process_time() < 1: pass"))
    finally:
        other.kill()
        other.wait()
    assert cost.others > 0.1


def test_a_limit_ends_the_whole_tree(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    child = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(measure.TookTooLong):
        measure.measure(python(code), limit=3)
    pid = int(mark.read_text())
    with pytest.raises(OSError, match="No such process"):
        wait_for_end(pid)


def wait_for_end(pid: int) -> None:
    """Raises OSError once it is gone; a process whose parent has gone is reaped a moment later."""
    import time

    for _ in range(100):
        os.kill(pid, 0)
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            raise OSError("No such process: not reaped yet")
        time.sleep(0.05)


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(OSError, match="cannot run"):
        measure.measure(["no-such-command-anywhere"])


# --- results


def row(tool: str, state: str = "cold", wall: Sequence[float] = (), **more: Any) -> Any:
    given = {"version": f"{tool} 1", "command": f"{tool} FILES", "measured": "2024-05-06", **more}
    return results.Row(tool, state, wall=list(wall), processor=[2 * each for each in wall], **given)


def run(*rows: Any, subject: str = "thing==1.0", **more: Any) -> Any:
    given = {"files": 3, "megabytes": 1.5, "measured": "2024-05-06", "commit": "abc", **more}
    return results.Run(subject, rows=list(rows), **{"machine": results.machine(), **given})


MADE_UP = (
    row("torchlint", wall=[3.3, 3.0, 3.6], peak=140.4, findings=12),
    row("torchlint", "warm", [0.4, 0.5], peak=30.0, findings=12),
    row("ruff", wall=[1.0, 1.2], peak=50.0, findings=900),
    row("ruff", "warm", [0.5], peak=50.0, findings=900),
    row("flake8", wall=[200.0], peak=600.0, findings=1, reused=True),
    row("pylint", over=900.0),
    row("fixit", note="failed: exit code 9: no"),
)


def test_a_run_is_kept(tmp_path: Path) -> None:
    results.save(run(*MADE_UP), tmp_path / "deeper" / "thing.json")
    assert results.load(tmp_path / "deeper" / "thing.json") == run(*MADE_UP)


def test_no_result_names_the_machine() -> None:
    for path in sorted(results.RESULTS.glob("*.json")):
        text = path.read_text()
        assert os.uname().nodename not in text
        assert str(Path.home()) not in text
        assert "/tmp" not in text


def test_figures_of_before_are_used_again() -> None:
    old = row("flake8", wall=[200.0])
    earlier = run(old)
    assert results.reusable(earlier, "thing==1.0", row("flake8")) == replace(old, reused=True)


@pytest.mark.parametrize(
    ("earlier", "subject", "now"),
    [
        (run(row("flake8", wall=[9.0])), "thing==1.1", row("flake8")),
        (run(row("flake8", wall=[9.0])), "thing==1.0", row("flake8", version="flake8 2")),
        (run(row("flake8", wall=[9.0])), "thing==1.0", row("flake8", command="flake8 -j9 FILES")),
        (run(row("flake8", wall=[9.0])), "thing==1.0", row("pylint")),
        (run(row("flake8", wall=[9.0]), machine={"cores": 0}), "thing==1.0", row("flake8")),
        (run(row("flake8", note="failed")), "thing==1.0", row("flake8")),
        (run(row("flake8", wall=[9.0], others=0.3)), "thing==1.0", row("flake8")),
        (run(row("flake8", over=9.0), row("ruff", wall=[1.0], others=0.3)), "thing==1.0", row("flake8")),
    ],
    ids=[
        "other files",
        "other version",
        "other command",
        "other tool",
        "other machine",
        "no figures",
        "busy",
        "busy and stopped",
    ],
)
def test_figures_of_before_that_are_of_something_else(earlier: Any, subject: str, now: Any) -> None:
    assert results.reusable(earlier, subject, now) is None


# --- tables


def test_table() -> None:
    assert report.table(run(*MADE_UP))[1:] == [
        ["torchlint, cold", "3.00", "3.30", "6.00", "140", "12", "3.00", "3.00"],
        ["torchlint, warm", "0.40", "0.45", "0.80", "30", "12", "0.40", "0.40"],
        ["ruff, cold", "1.00", "1.10", "2.00", "50", "900", "1.00", "1.00"],
        ["ruff, warm", "0.50", "0.50", "1.00", "50", "900", "0.50", "0.50"],
        ["flake8 with TorchFix (measured 2024-05-06)", "200", "200", "400", "600", "1", "200", "200"],
        ["pylint, errors only", ">900", "–", "–", "–", "–", ">900", "–"],
        ["Fixit", "failed: exit code 9: no", "–", "–", "–", "–", "–", "–"],
    ]


def test_table_without_ruff() -> None:
    assert report.table(run(MADE_UP[0]))[1] == ["torchlint, cold", "3.00", "3.30", "6.00", "140", "12", "–", "–"]


def test_verdicts() -> None:
    assert list(report.verdicts(run(*MADE_UP))) == [
        "wall time without a cache ÷ ruff's: 3.00 (aim: at most 3; met)",
        "wall time with a cache ÷ ruff's: 0.80 (aim: at most 1; met)",
        "processor time without a cache ÷ that of flake8 with TorchFix: 0.0150 (aim: at most 0.01; missed)",
        "peak memory of a process, in MB: 140 (aim: at most 300; met)",
    ]


def test_a_busy_machine_is_mentioned() -> None:
    assert "took up to 40% of it meanwhile" in report.title(run(row("ruff", others=0.4), row("pylint", others=0.1)))
    assert "meanwhile" not in report.title(run(row("ruff", others=0.04)))


def test_share_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert speed.share_of_others(measure.Cost(2.0, 1.0, 9, 0, others=4.0)) == 0.5
    assert speed.share_of_others(measure.Cost(0.1, 0.1, 9, 0, others=0.4)) == 0.0


def test_no_verdict_without_figures() -> None:
    assert list(report.verdicts(run(row("torchlint"), row("ruff", over=9.0)))) == []


def test_starting() -> None:
    commands = [("python", "python -c 'import click'", 0.05), ("torchlint", "torchlint --version", 0.1)]
    commands.append(("torchlint", "torchlint check LARGE", 1.2))
    made_up = run(*(row(tool, wall=[wall], command=c) for tool, c, wall in commands), subject="start")
    assert report.table(made_up)[2] == ["`torchlint --version`", "0.10", "0.10", "0.20", "0"]
    assert list(report.verdicts(made_up)) == [
        "`torchlint --version` ÷ Python that imports click: 2.00 (aim: at most 1.5; missed)",
        "seconds for a file of 5,000 lines without a cache: 1.20 (aim: at most 1.5; met)",
    ]


def test_terminal_and_page_have_the_same_figures(tmp_path: Path) -> None:
    results.save(run(*MADE_UP), tmp_path / "thing.json")
    text, page = report.text(run(*MADE_UP)), report.page(tmp_path)
    for cells in report.table(run(*MADE_UP)):
        assert "| " + " | ".join(cells) + " |" in page
        assert all(cell in text for cell in cells)
    assert "### thing==1.0" in page
    assert "`flake8 FILES`" in page


def test_the_largest_wheel_is_the_one_told_of(tmp_path: Path) -> None:
    results.save(run(*MADE_UP), tmp_path / "thing.json")
    results.save(run(*MADE_UP, subject="big==2", megabytes=9.5), tmp_path / "big.json")
    told = report.sentence(tmp_path)
    assert told.startswith("All of big 2 (3 files, 9.5 MB of Python) on ")
    assert "torchlint, cold: 3.00 s; torchlint, warm: 0.40 s; ruff, cold: 1.00 s" in told
    assert "pylint, errors only: over 900 s" in told
    assert "flake8 with TorchFix†: 200 s" in told
    assert told.endswith(". († measured earlier)")
    assert "Fixit" not in told


def test_markers() -> None:
    page = "a\n<!-- speed:start -->\nold \\1\n<!-- speed:end -->\nb\n"
    assert report.between(page, "speed", "new \\2") == "a\n<!-- speed:start -->\nnew \\2\n<!-- speed:end -->\nb\n"
    with pytest.raises(ValueError, match="no markers"):
        report.between("a\n", "speed", "new")


@pytest.mark.parametrize("path", [report.SPEED, report.README], ids=lambda path: path.name)
def test_the_documentation_has_what_is_kept(path: Path) -> None:
    assert dict(report.pages(results.RESULTS))[path] == path.read_text(encoding="utf-8")


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chart = script("chart")
    png, svg = chart.draw(run(*MADE_UP), tmp_path / "plot")
    assert png.read_bytes().startswith(b"\x89PNG")
    drawn = svg.read_text()
    for text in (
        "torchlint, warm",
        "0.40 s",
        "ruff, cold",
        "1.00 s",
        "pylint, errors only",
        "&gt; 900 s",
        "thing 1.0",
        "† measured",
    ):
        assert text in drawn, text
    assert "Fixit" not in drawn
    again = chart.draw(run(*MADE_UP), tmp_path / "again")
    assert [path.read_bytes() for path in again] == [png.read_bytes(), svg.read_bytes()]


def test_bars_are_in_order_and_without_variants() -> None:
    bars = report.bars(run(row("ruff", "few rules, cold", [0.1]), *MADE_UP))
    assert [bar[1] for bar in bars] == [0.4, 0.5, 1.0, 3.0, 200.0, 900.0]
    assert [bar[2] for bar in bars] == [False] * 5 + [True]


# --- running the tools


@pytest.mark.parametrize(
    "output",
    [
        "a/b.py:3:7: F401 [*] `os` imported but unused\n",
        "/x y/b.py:12:1: TL302 [*] `torch.qr` is deprecated\nFound 1 finding in 1 file.\n[*] 1 fixable with `--fix`.\n",
        "s/bad.py:5:24: TOR101 Use of deprecated function torch.qr\n",
        "************* Module bad\ns/bad.py:2:0: E0401: Unable to import 'torch' (import-error)\n",
        "s/a.py@152:30 UseFstring: Do not use printf style\nor .format(). (has autofix)\n",
    ],
    ids=["ruff", "torchlint", "flake8", "pylint", "fixit"],
)
def test_findings_are_counted(output: str) -> None:
    assert len(speed.FINDING.findall(output)) == 1
    assert len(speed.FINDING.findall(3 * output)) == 3


def test_every_tool_can_be_installed_and_has_a_name() -> None:
    names = {tool.name for tool in speed.TOOLS}
    assert names - {"torchlint"} == set(speed.PINS)
    assert names == set(report.NAMES)
    assert all("==" in pin for pins in speed.PINS.values() for pin in pins)
    assert all("==" in wheel for wheel in speed.WHEELS)
    assert len({(tool.name, tool.state) for tool in speed.TOOLS}) == len(speed.TOOLS)


def test_a_wheel_is_unpacked(tmp_path: Path) -> None:
    archives = tmp_path / "wheels" / "some-thing"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "some_thing-1.2-py3-none-any.whl", "w") as archive:
        archive.writestr("some_thing/__init__.py", "x = 1\n")
        archive.writestr("some_thing/data.json", "{}")
    subject, files = speed.fetch("some-thing", tmp_path)
    assert subject == "some_thing==1.2"
    assert [path.relative_to(files).as_posix() for path in files.rglob("*.[pj]*")] == ["some_thing/__init__.py"]


def fake(path: Path, body: str) -> str:
    """A program that tells its version and, for ``--show-files``, a file; else does as the body says."""
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if '--version' in sys.argv: print('1.2'); sys.exit()\n"
        f"if '--show-files' in sys.argv: print('a.py'); sys.exit()\n{body}\n"
    )
    path.chmod(0o755)
    return str(path)


def tools(*names: str) -> list[Any]:
    return [tool for tool in speed.TOOLS if tool.name in names and not tool.state.startswith(speed.FEW)]


def code(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("import torch\nx = torch.ones(3).data\n")
    return folder


def test_tools_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executables = {
        "ruff": fake(tmp_path / "ruff", "print('a.py:1:1: X1 one')\nprint('a.py:2:1: X1 two')\nsys.exit(1)"),
        "pylint": fake(tmp_path / "pylint", "sys.exit(32)"),
        "fixit": fake(tmp_path / "fixit", "print('no', file=sys.stderr)\nsys.exit(7)"),
        "flake8": fake(tmp_path / "flake8", "import time; time.sleep(60)"),
    }
    bench = speed.Bench(tmp_path, executables, limit=5.0, repeat=2)
    kept = row("pylint", wall=[8.0], version="pylint 1.2", command=tools("pylint")[0].shown)
    measured_again = [row("ruff", wall=[9.0], version="ruff 1.2", command=tools("ruff")[0].shown)]
    earlier = run(kept, *measured_again, subject="thing==1")
    found = speed.compare(bench, "thing==1", code(tmp_path / "files"), tools("torchlint", *executables), earlier)
    assert (found.subject, found.files) == ("thing==1", 1)
    rows = {(row.tool, row.state): row for row in found.rows}
    for state in ("cold", "warm"):
        assert (rows["torchlint", state].findings, len(rows["torchlint", state].wall)) == (1, 2)
        assert (rows["ruff", state].findings, len(rows["ruff", state].wall)) == (2, 2)
    assert rows["torchlint", "cold"].version.startswith("torchlint ")
    assert rows["ruff", "cold"].version == "ruff 1.2"
    assert rows["flake8", "cold"].over == 5.0
    assert rows["fixit", "cold"].note == "failed: exit code 7: no"
    assert rows["pylint", "cold"] == replace(kept, reused=True)
    assert str(tmp_path) not in json.dumps([row.command for row in found.rows])
    assert "looks at" not in capsys.readouterr().out
    report.text(found)


def test_files_that_are_not_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = code(tmp_path / "files")
    code(files / "build")
    bench = speed.Bench(tmp_path, {"ruff": fake(tmp_path / "ruff", "")}, limit=60.0, repeat=1)
    speed.compare(bench, "thing==1", files, tools("ruff"))
    assert "warning: ruff looks at 1 of 2 files" in capsys.readouterr().out


def test_a_tool_that_could_not_look_at_all_files(tmp_path: Path) -> None:
    bench = speed.Bench(tmp_path, {"fixit": fake(tmp_path / "fixit", "sys.exit(2)")}, limit=60.0, repeat=1)
    found = speed.compare(bench, "thing==1", code(tmp_path / "files"), tools("fixit"))
    assert report.table(found)[1][5] == "0 (incomplete)"


# --- stages


@pytest.mark.parametrize("name", sorted({stages.PARSER, *(name for stage in stages.STAGES for name in stage.begins)}))
def test_what_a_stage_begins_with_is_there(name: str) -> None:
    assert stages.functions(name)


@pytest.mark.parametrize(
    "name",
    [
        "torchlint.nowhere:parse",
        "torchlint.file.tree.tree:nothing",
        "torchlint.file.tree.tree:No.thing",
        "torchlint.file.tree.tree:Tree.no",
    ],
)
def test_what_is_not_there(name: str) -> None:
    assert stages.functions(name) == []


class Steps:
    """A clock that only moves when it is told to."""

    now = 0.0

    def work(self, seconds: float) -> None:
        self.now += seconds


def test_time_goes_to_the_innermost_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Steps()
    monkeypatch.setattr(stages.time, "process_time", lambda: clock.now)
    clocks = stages.Clocks()
    inner, outer = stages.Stage("model", ()), stages.Stage("rules", ())
    parse = stages.Stage("parse", (), frozenset({"model"}))

    def numbers() -> Any:
        for number in range(3):
            clock.work(1)
            yield number

    parsing = clocks.wrapped(lambda: clock.work(50), parse)
    values = clocks.wrapped(numbers, inner)

    def asking() -> list[int]:
        clock.work(10)
        found = []
        for number in values():
            clock.work(100)
            found.append(number)
        clocks.wrapped(parsing, inner)()  # part of what asked for it
        parsing()
        return found

    assert clocks.wrapped(asking, outer)() == [0, 1, 2]
    assert {name: spent for name, spent in clocks.seconds.items() if spent} == {"model": 53, "rules": 310, "parse": 50}


def test_time_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Steps()
    monkeypatch.setattr(stages.time, "process_time", lambda: clock.now)
    clocks = stages.Clocks()

    def fail() -> None:
        clock.work(3)
        raise KeyError

    with pytest.raises(KeyError):
        clocks.wrapped(fail, stages.Stage("model", ()))()
    clock.work(4)
    clocks.begin("rules")
    assert (clocks.seconds["model"], clocks.seconds[stages.REST]) == (3, 4)


def test_profile_of_a_folder(tmp_path: Path) -> None:
    files = code(tmp_path / "files")
    (files / "b.py").write_text("from c import ones\n\ny = ones().data\n# torch\n")
    (files / "c.py").write_text("import torch\n\n\ndef ones():\n    return torch.ones(3)\n")
    before = {name: stages.functions(name) for stage in stages.STAGES for name in stage.begins}
    found = stages.profile(files, fix=True)
    assert {name: stages.functions(name) for stage in stages.STAGES for name in stage.begins} == before
    assert (found.files, found.missing) == (3, [])
    with_findings = [(files / name).read_text() for name in ("a.py", "b.py")]
    assert round(found.parsed * 1e6) == sum(map(len, with_findings))
    assert all(found.seconds[stage.name] > 0 for stage in stages.STAGES)
    assert [line[0] for line in found.table()] == ["stage", *found.seconds, "all"]


def test_a_name_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = stages.Stage("report", ("torchlint.cli.check:CheckCommand.no_more",))
    monkeypatch.setattr(stages, "STAGES", (*stages.STAGES[:-1], gone))
    kept = tmp_path / "kept.json"
    stages.main([str(code(tmp_path / "files")), "--out", str(kept)])
    assert "for want of a name: torchlint.cli.check:CheckCommand.no_more" in json.loads(kept.read_text())["title"]
    assert "torchlint.cli.check:CheckCommand.no_more" in report.stages_section(json.loads(kept.read_text()))


# --- growth


def test_exponent() -> None:
    sizes = (0.5, 1.0, 2.0, 8.0)
    assert scaling.exponent([(x, 3 * x) for x in sizes]) == pytest.approx(1)
    assert scaling.exponent([(x, 5 * x**2) for x in sizes]) == pytest.approx(2)
    assert math.isnan(scaling.exponent([(1.0, 1.0)]))
    assert math.isnan(scaling.exponent([(1.0, 1.0), (2.0, 0.0)]))


def test_what_is_noise_says_nothing_about_growth() -> None:
    points = [scaling.Point(n, n, cost, 9.0) for n, cost in ((1, 0.049), (2, 1.0), (4, 2.0))]
    assert scaling.Series("made up", "files", points).exponent == pytest.approx(1)


def test_growth_of_something_tiny(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "deeper" / "scaling.json"
    scaling.main(["--lines", "20", "200", "--files", "2", "3", "--repeat", "1", "--out", str(kept)])
    found = json.loads(kept.read_text())
    assert [series["name"] for series in found["series"]] == ["one file", "many files", "many files, unchanged"]
    assert [[point["size"] for point in series["points"]] for series in found["series"]] == [[20, 200], [2, 3], [2, 3]]
    assert all(point["megabytes"] > 0 and point["peak"] > 5 for series in found["series"] for point in series["points"])
    assert "one file: exponent" in capsys.readouterr().out
    page = report.scaling_section(found)
    assert page.count("| lines |") == 1
    assert page.count("| files |") == 2


def test_growth_of_what_cannot_be_checked(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit code 2"):
        scaling.cost([tmp_path / "nothing.py"], 1)


def test_made_up_code() -> None:
    text = synthetic.module(400, seed=3)
    assert text == synthetic.module(400, seed=3)
    assert text != synthetic.module(400, seed=4)
    assert 400 <= text.count("\n") < 450
    compile(text, "made_up.py", "exec")
    assert check_text(text, "made_up.py", frozenset(catalogue())).diagnostics


def test_made_up_package(tmp_path: Path) -> None:
    synthetic.package(tmp_path / "package", 3, 50)
    files = sorted((tmp_path / "package").glob("part*.py"))
    assert len(files) == 3
    assert "from .part1 import Base1" in files[2].read_text()
    for path in files:
        compile(path.read_text(), path.name, "exec")
