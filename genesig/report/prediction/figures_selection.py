"""Pictures of model selection and of the error: surface, splits, lists."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.measure import measure
from genesig.report.page.rows import Row, of_chosen, records, transposed
from genesig.report.page.style import (
    INK,
    OVER,
    OVER_PAPER,
    OWN,
    PAPER,
    SEQUENTIAL,
    SMALL,
    WIDE,
    colour_bar,
    power,
    sheet,
)
from genesig.report.page.svg import Columns
from genesig.report.page.words import clean, significant
from genesig.report.prediction.record import Prediction, Surface


def surface(data: Prediction) -> Figure:
    """Show the validation error over tau and mu, the chosen points, and the number of genes."""
    it = data["surface"]
    rows = it["rows"]
    figure, ((top,), (low,)) = sheet(
        WIDE, 1.7 + 0.42 * len(rows) + 1.0, 2, 1, sharex=True,
        height_ratios=[max(len(rows), 3) * 0.42, 1.3],
    )  # fmt: skip
    error = np.array(it["error"], dtype=float)
    image = top.imshow(error, cmap=SEQUENTIAL, aspect="auto", origin="lower")
    colour_bar(figure, image, top, "validation error")
    most = max((count for *_, count in it["chosen"]), default=1)
    for x, y, count in it["chosen"]:
        top.scatter([x], [y], s=60 + 200 * count / most, color=OVER_PAPER, edgecolor=OVER, lw=1)
        top.text(x, y, str(count), ha="center", va="center", fontsize=8, color=OVER)
    x, y = it["final"]
    top.scatter([x], [y], marker="D", s=330, facecolor="none", edgecolor=OVER, lw=3.2)
    top.scatter([x], [y], marker="D", s=330, facecolor="none", edgecolor=OVER_PAPER, lw=1.4)
    top.set_yticks(range(len(rows)), [power(v) for v in rows])
    top.set_ylabel("μ" if it["along"] == "mu" else "λ (ridge refit)")
    top.tick_params(length=0)
    _sizes(low, it)
    return figure


def surface_data(it: Surface) -> Columns:
    """Return the error at each point of the grid, and the splits that chose it."""
    chosen = {(tau, row): count for tau, row, count in it["chosen"]}
    return transposed(
        ("tau", it["along"], "error", "splits"),
        [(tau, value, it["error"][row][k], chosen.get((k, row), 0))
         for row, value in enumerate(it["rows"]) for k, tau in enumerate(it["tau"])],
    )  # fmt: skip


def _sizes(ax: Axes, it: Surface) -> None:
    """Show the number of genes along tau, a line for each mu that was searched."""
    tau = it["tau"]
    for row, size in enumerate(np.array(it["size"], dtype=float)):
        ax.plot(range(len(tau)), size, color=OWN, marker="o", markersize=3)
        known = np.flatnonzero(~np.isnan(size))
        if len(it["size"]) > 1 and len(known):
            ax.annotate(f"μ = {power(it['rows'][row])}", (known[-1], size[known[-1]]), (5, 0),
                        textcoords="offset points", fontsize=7, va="center")  # fmt: skip
    ax.set_ylim(bottom=0)
    ax.set_ylabel("genes")
    ax.set_xlabel("τ / τ max  (fewer genes on the left, more on the right)")
    step = max(1, len(tau) // 10)
    ax.set_xticks(range(0, len(tau), step), [significant(t, 2) for t in tau[::step]])
    ax.grid(axis="y")


def per_split(data: Prediction) -> Figure:
    """Error and number of genes of each outer split, by repeat."""
    rows = of_chosen(records(data["tables"]["scores"]))
    key, name = split_error(data)
    figure, axes = sheet(SMALL, 3.6, 2, 1, sharex=True)
    for ax, column, label in zip(
        axes[:, 0], (key, "n_genes"), (name, "genes selected"), strict=True
    ):
        _dots_by_repeat(ax, rows, column)
        ax.set_ylabel(label)
        top = max(r[column] or 0 for r in rows) * 1.08 + 0.01
        ax.set_ylim(0, max(top, 0.1) if data["study"]["classes"] else top)
    axes[1, 0].set_xlabel("repeat")
    return figure


def split_error(data: Prediction) -> tuple[str, str]:
    """Return the column of scores.tsv that is shown for single splits, and its name."""
    if measure(data).split[0]:
        return measure(data).split
    rows = of_chosen(records(data["tables"]["scores"]))
    if any(row["balanced_error"] is None for row in rows):
        return "misclassification", "share misclassified"
    return "balanced_error", "class-balanced error"


def _dots_by_repeat(ax: Axes, rows: list[Row], column: str) -> None:
    repeats = sorted({row["repeat"] for row in rows})
    for place, repeat in enumerate(repeats):
        values = [r[column] for r in rows if r["repeat"] == repeat and r[column] is not None]
        if values:
            x = place + 0.22 * np.linspace(-1, 1, len(values)) * (len(values) > 1)
            ax.scatter(x, values, s=26, color=OWN, edgecolor=PAPER, lw=0.6, clip_on=False, zorder=3)
            ax.hlines(np.mean(values), place - 0.34, place + 0.34, color=INK, lw=1.6)
    ax.set_xticks(range(len(repeats)), [clean(r) for r in repeats])
    ax.set_xlim(-0.6, len(repeats) - 0.4)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y")
