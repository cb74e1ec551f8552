"""Pictures of held-out predictions: ROC, confusion, samples, rejection, null, controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genesig.report.page.measure import measure
from genesig.report.page.named import name_columns, name_points
from genesig.report.page.predictors import predictor_axes
from genesig.report.page.record import Curve, Fit, HeldOutSample, Rejection
from genesig.report.page.roc import roc_axes
from genesig.report.page.rows import control_rows
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    MUTED,
    OTHER,
    OWN,
    PAPER,
    RULE,
    SMALL,
    WIDE,
    note,
    rule,
    sheet,
)
from genesig.report.page.words import decimal, shorten
from genesig.report.prediction.record import Prediction

FEWEST_FOR_BAND = 10
"""Permutations."""


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


def rejection(
    found: Sequence[HeldOutSample], refused: Sequence[Rejection], classes: Sequence[str]
) -> Figure:
    """Mean held-out scores; the band holds every error of each predicted class."""
    figure, ax = sheet(WIDE, 2.1)
    for side, row in enumerate(refused):
        if row["threshold"] is not None:
            edge = row["threshold"] if side else -row["threshold"]
            ax.axvspan(min(edge, 0), max(edge, 0), color=OTHER, alpha=0.25, lw=0)
            note(ax, edge, 1.62, decimal(edge), ha="left" if side else "right", va="top")
    for side, name in enumerate(classes):
        own = sorted((s["mean"], s["sample"]) for s in found if s["label"] == name)
        mine = [mean for mean, _ in own]
        jitter = np.resize([0.0, 0.14, -0.14, 0.07, -0.07], len(mine))
        ax.scatter(mine, side + jitter, s=30, marker=CLASS_MARKERS[side],
                   color=CLASS_COLOURS[side], edgecolor=PAPER, lw=0.5)  # fmt: skip
        name_points(ax, mine, side + jitter, [sample for _, sample in own])
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.set_yticks([0, 1], [f"true {shorten(name, 20)}" for name in classes])
    ax.set_ylim(-0.5, 1.7)
    negative, positive = (shorten(name, 20) for name in classes)
    ax.set_xlabel(f"mean score while held out   (← called {negative}, called {positive} →)")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def observed_predicted(found: Sequence[HeldOutSample], fit: Fit, label: str) -> Figure:
    """Held-out prediction against the observed response."""
    observed, predicted = [s["label"] for s in found], [s["mean"] for s in found]
    figure, ax = sheet(SMALL, 4.2)
    ends = [min(observed + predicted), max(observed + predicted)]
    ax.plot(ends, ends, color=MUTED, lw=0.9, dashes=(4, 3))
    for one in found:
        ax.vlines(one["label"], min(one["scores"]), max(one["scores"]), color=RULE, lw=1)
    ax.scatter(observed, predicted, s=28, color=OWN, edgecolor=PAPER, lw=0.5, zorder=3)
    name_points(ax, observed, predicted, [s["sample"] for s in found])
    text = f"R² {decimal(fit['r2'])}\nr {decimal(fit['r'])}"
    ax.text(0.97, 0.05, text, ha="right", transform=ax.transAxes)
    ax.set_xlabel(f"observed {shorten(label, 24)}")
    ax.set_ylabel("predicted while held out")
    return figure


def null(errors: Sequence[float], observed: float, name: str) -> Figure:
    """Errors of the whole procedure with permuted labels, and the observed one."""
    figure, ax = sheet(SMALL, 2.9)
    low, high = min([*errors, observed]), max([*errors, observed])
    bins = np.linspace(low, high + 1e-9, min(25, max(8, len(errors) // 4)) + 1)
    ax.hist(errors, bins=bins, color=OTHER, alpha=0.75, edgecolor=PAPER, lw=0.6)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    top = ax.get_ylim()[1] * 1.18
    ax.set_ylim(0, top)
    ax.vlines(observed, 0, top * 0.86, color=OWN, lw=2.2)
    left = observed < (low + high) / 2
    ax.text(observed, top * 0.88, f"observed {decimal(observed)}", color=OWN, va="bottom",
            ha="left" if left else "right", fontweight="bold")  # fmt: skip
    ax.set_xlabel(f"{name} with permuted labels")
    ax.set_ylabel("permutations")
    return figure


def controls(data: Prediction) -> Figure:
    """Every predictor on the same splits, with its interval."""
    rows = control_rows(data)
    figure, ax = sheet(WIDE, 1.0 + 0.33 * len(rows))
    shown = measure(data)
    _null_band(ax, shown.values(data["null"]["errors"]))
    limits = [shown.interval(row) for row in rows]
    for y, row in enumerate(rows):
        own = row["model"] == "genesig"
        colour = OWN if own else INK
        if None not in limits[y]:
            ax.hlines(y, *limits[y], color=colour, lw=2.2 if own else 1.4)
        ax.scatter([shown.value(row["error"])], [y], s=52, color=colour, zorder=3, clip_on=False)
    predictor_axes(ax, rows, shown, ["genesig"])
    return figure


def _null_band(ax: Axes, errors: list[float]) -> None:
    if len(errors) < FEWEST_FOR_BAND:
        return
    low, high = np.quantile(errors, [0.025, 0.975])
    ax.axvspan(low, high, color=OTHER, alpha=0.22, lw=0)
    ax.text((low + high) / 2, 1.01, "labels shuffled", color=MUTED, fontsize=8, ha="center",
            va="bottom", transform=ax.get_xaxis_transform())  # fmt: skip
