"""Pictures of what the scores are good for: precision, calibration, decisions, the waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.named import name_columns
from genesig.report.page.record import HeldOutSample
from genesig.report.page.rounding import rounded
from genesig.report.page.style import (
    CLASS_COLOURS,
    INK,
    MUTED,
    OTHER,
    OWN,
    SMALL,
    WIDE,
    note,
    rule,
    sheet,
)
from genesig.report.page.words import decimal, shorten
from genesig.report.prediction.calibrated import Told, precision_recall

Array = np.ndarray[Any, Any]
THRESHOLDS = np.arange(1, 100) / 100


def _arrays(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> tuple[Array, Array]:
    """Return mean scores, and whether samples are of the positive class."""
    score = np.array([one["mean"] for one in tested], dtype=float)
    return score, np.array([one["label"] == classes[1] for one in tested])


def precision(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Figure:
    """Precision against recall of the positive class; dashed: its share of the samples."""
    recall, value, area = precision_recall(*_arrays(tested, classes))
    figure, ax = sheet(SMALL, 3.7)
    ax.plot([0.0, *recall], [value[0], *value], drawstyle="steps-pre", color=OWN, lw=1.8)
    share = float(np.mean([one["label"] == classes[1] for one in tested]))
    rule(ax, y=share)
    note(ax, 1.0, share, "without skill", ha="right", va="bottom")
    ax.text(0.03, 0.05, f"average precision {decimal(area)}", fontsize=9)
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"sensitivity for {shorten(classes[1], 24)}")
    ax.set_ylabel("positive predictive value")
    return figure


def calibration(told: Told, name: str) -> Figure:
    """Share of the positive class in groups of similar probabilities."""
    figure, ax = sheet(SMALL, 3.6)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for one in told.groups():
        ax.vlines(one["expected"], one["low"], one["high"], color=INK, lw=1.4)
        ax.scatter([one["expected"]], [one["share"]], s=46, color=OWN, zorder=3)
        note(ax, one["expected"], 1.04, str(one["samples"]), ha="center")
    for side, (mine, foot) in enumerate(((~told.positive, -0.1), (told.positive, -0.06))):
        ax.plot(told.probability[mine], np.full(int(mine.sum()), foot), "|",
                color=CLASS_COLOURS[side], ms=5)  # fmt: skip
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.14, 1.12)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel(f"predicted probability of {shorten(name, 24)}")
    ax.set_ylabel(f"share of {shorten(name, 24)}")
    return figure


def decisions(told: Told, name: str) -> Figure:
    """Net benefit of deciding by the model, beside treating all and none."""
    figure, ax = sheet(SMALL, 3.6)
    top = max(told.share, 0.05)
    ax.plot(THRESHOLDS, told.of_everyone(THRESHOLDS), color=MUTED, lw=1.2)
    ax.axhline(0, color=MUTED, lw=1.2, dashes=(4, 3))
    ax.plot(THRESHOLDS, told.net_benefit(THRESHOLDS), color=OWN, lw=2)
    ax.set_ylim(-0.25 * top, 1.15 * top)
    ax.set_xlim(0, 1)
    note(ax, 0.02, -0.02 * top, f"none treated as {shorten(name, 18)}", va="top")
    note(ax, 0.02, top * 1.03, f"all treated as {shorten(name, 18)}")
    ax.set_xlabel("threshold probability")
    ax.set_ylabel("net benefit")
    return figure


def benefits(told: Told) -> dict[str, list[float]]:
    """Return the net benefit of the model and of treating all, at each threshold."""
    return {"threshold": rounded(THRESHOLDS, 3),
            "model": rounded(told.net_benefit(THRESHOLDS), 5),
            "all": rounded(told.of_everyone(THRESHOLDS), 5)}  # fmt: skip


def waterfall(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Figure:
    """Mean held-out scores of all samples in their order, coloured by the true class."""
    found = sorted(tested, key=lambda one: one["mean"])
    figure, ax = sheet(WIDE, 2.7)
    width = float(np.clip(330 / len(found), 0.6, 9))
    for side, name in enumerate(classes):
        _bars(ax, [(x, one["mean"]) for x, one in enumerate(found) if one["label"] == name],
              CLASS_COLOURS[side], width)  # fmt: skip
        # Above the bars that are on the other side.
        ax.text(0.02 + 0.96 * side, 0.96 - 0.86 * side, shorten(name, 24), va="center",
                ha="right" if side else "left", color=CLASS_COLOURS[side], fontweight="bold",
                transform=ax.transAxes)  # fmt: skip
    ax.axhline(0, color=OTHER, lw=0.9)
    name_columns(ax, [one["sample"] for one in found])
    names = [shorten(one["sample"], 14) for one in found] if len(found) <= 60 else []
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.8, len(found) - 0.2)
    ax.set_ylabel("mean score while held out")
    return figure


def _bars(ax: Axes, points: Sequence[tuple[int, float]], colour: str, width: float) -> None:
    """Draw bars from zero as one path: a page of a thousand samples stays small."""
    x, y = np.array(points, dtype=float).reshape(-1, 2).T
    level = np.column_stack([np.zeros_like(y), y, np.full_like(y, np.nan)]).ravel()
    ax.plot(np.repeat(x, 3), level, color=colour, lw=width, solid_capstyle="butt")
