"""Pictures of held-out predictions and of model selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page import charts
from genesig.report.page.charts import roc_axes
from genesig.report.page.measure import measure, model_name
from genesig.report.page.record import Curve, Fit, HeldOutSample
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    OVER,
    OVER_PAPER,
    OWN,
    RULE,
    SEQUENTIAL,
    WIDE,
    colour_bar,
    rule,
    sheet,
)
from genesig.report.page.svg import Columns, name_columns
from genesig.report.page.tables import control_rows, transposed
from genesig.report.page.words import decimal, power, shorten, significant
from genesig.report.prediction.collect import Prediction, Surface


def roc(curves: Sequence[Curve], classes: Sequence[str], text: str) -> Figure:
    """One curve per repeat of the outer splits."""
    figure, ax = roc_axes(classes)
    for curve in curves:
        ax.plot(curve["x"], curve["y"], color=OWN, lw=1.6, alpha=max(0.35, 1 / len(curves)))
    ax.text(0.97, 0.06, text, ha="right", fontsize=9)
    return figure


def samples(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Figure:
    """Held-out scores of each sample, one dot per repeat."""
    found = sorted(tested, key=lambda s: (classes.index(s["label"]), s["mean"]))
    found = found[:: max(1, len(found) // 200)]
    figure, ax = sheet(WIDE, 3.4)
    for side, name in enumerate(classes):
        mine = [(x, one) for x, one in enumerate(found) if one["label"] == name]
        dots = [(x, score) for x, one in mine for score in one["scores"]]
        bars = [(x, one["mean"]) for x, one in mine if one["tested"] > 1]
        ax.scatter(*_columns(dots), s=16, marker=CLASS_MARKERS[side], color=CLASS_COLOURS[side],
                   alpha=0.75, lw=0)  # fmt: skip
        x, mean = _columns(bars)
        ax.hlines(mean, x - 0.35, x + 0.35, color=INK, lw=1.3)
    rule(ax, y=0)
    name_columns(ax, [one["sample"] for one in found])
    _class_names(ax, [classes.index(s["label"]) for s in found], classes)
    ax.set_xlim(-0.8, len(found) - 0.2)
    ax.set_ylabel("score while held out")
    names = [shorten(s["sample"], 14) for s in found] if len(found) <= 60 else []
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    ax.tick_params(axis="x", length=0)
    return figure


def _columns(points: list[tuple[int, float]]) -> Any:
    return np.array(points, dtype=float).reshape(-1, 2).T


def _class_names(ax: Axes, side: list[int], classes: Sequence[str]) -> None:
    for s, name in enumerate(classes):
        places = [x for x, one in enumerate(side) if one == s]
        if places:
            sign = f" ({'+' if s else '−'})" if len(classes) == 2 else ""
            ax.text(float(np.mean(places)), 1.01, f"{shorten(name, 24)}{sign}",
                    transform=ax.get_xaxis_transform(), ha="center", va="bottom",
                    color=CLASS_COLOURS[s], fontweight="bold")  # fmt: skip
    for start in np.flatnonzero(np.diff(side)):
        ax.axvline(start + 0.5, color=RULE, lw=1)


def observed_predicted(found: Sequence[HeldOutSample], fit: Fit, label: str) -> Figure:
    """Held-out prediction against the observed response; thin lines span the repeats."""
    figure, ax = charts.observed_predicted(
        [s["label"] for s in found], [s["mean"] for s in found], [s["sample"] for s in found],
        (f"observed {shorten(label, 24)}", "predicted while held out"),
        f"R² {decimal(fit['r2'])}\nr {decimal(fit['r'])}",
    )  # fmt: skip
    for one in found:
        ax.vlines(one["label"], min(one["scores"]), max(one["scores"]), color=RULE, lw=1)
    return figure


def controls(data: Prediction) -> Figure:
    """Every predictor on the same splits, with its interval."""
    shown = measure(data)
    lines = [
        charts.Line(model_name(row["model"]), shown.value(row["error"]), shown.interval(row),
                    OWN if row["model"] == "genesig" else INK, bold=row["model"] == "genesig")
        for row in control_rows(data)
    ]  # fmt: skip
    label = f"{shown.name} on held-out samples"
    band = shown.values(data["null"]["errors"])
    return charts.forest(lines, label, at=shown.chance, band=band)[0]


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
