"""The plot for the README. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from report import bars, remark, seconds
from results import OURS, Run

OURS_COLOR, OTHERS_COLOR = "#d65f2e", "#9aa5b1"

# The same figures give the same files.
mpl.rcParams["svg.hashsalt"] = "torchlint"
mpl.rcParams["svg.fonttype"] = "none"


def draw(run: Run, target: Path) -> list[Path]:
    """Wall times as bars, on a logarithmic axis, in ``target`` with the endings of PNG and SVG."""
    found = bars(run)
    figure = Figure(figsize=(8, 0.8 + 0.42 * len(found)), layout="constrained")
    axes = figure.subplots()
    names, values, over = zip(*found, strict=True)
    colors = [OURS_COLOR if name.startswith(OURS) else OTHERS_COLOR for name in names]
    drawn = axes.barh(names, values, color=colors, log=True)
    axes.bar_label(
        drawn,
        [f"{'> ' if more else ''}{seconds(value)} s" for value, more in zip(values, over, strict=True)],
        padding=4,
    )
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter("{x:g} s")
    axes.set_xlim(min(values) / 3, max(values) * 4)
    axes.spines[["top", "right"]].set_visible(False)
    title = f"{run.subject.replace('==', ' ')}: {run.files} files, {run.megabytes:.0f} MB; wall time, logarithmic"
    axes.set_title("   ".join(filter(None, (title, remark(run)))), fontsize=10, loc="left")
    paths = [target.with_suffix(".png"), target.with_suffix(".svg")]
    figure.savefig(paths[0], dpi=150, metadata={"Software": None})
    figure.savefig(paths[1], metadata={"Date": None})
    return paths
