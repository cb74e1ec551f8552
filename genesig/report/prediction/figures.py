"""Pictures of held-out predictions: ROC, confusion, samples, rejection, null, controls."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genesig.report.page.measure import measure
from genesig.report.page.model_names import model_name
from genesig.report.page.rows import control_rows, records, same_mu
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
from genesig.report.page.words import decimal, percent, shorten

Data = dict[str, Any]

FEWEST_FOR_BAND = 10
"""Permutations."""


def roc(data: Data) -> Figure:
    """One curve per repeat of the outer splits."""
    figure, ax = sheet(SMALL, 4.2)
    curves = data["held_out"]["roc"]
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for curve in curves:
        ax.plot(curve["x"], curve["y"], color=OWN, lw=1.6, alpha=max(0.35, 1 / len(curves)))
    ax.set_aspect("equal")
    ax.set_xlim(-0.01, 1)
    ax.set_ylim(0, 1.01)
    negative, positive = (shorten(name, 24) for name in data["study"]["classes"])
    ax.set_xlabel(f"share of {negative} called {positive}")
    ax.set_ylabel(f"share of {positive} called {positive}")
    ax.text(0.97, 0.06, auc_text(data), ha="right", fontsize=9)
    return figure


def auc_text(data: Data) -> str:
    """Return the AUC with its interval, as scores give it."""
    rows = [r for r in records(data["tables"]["controls"]) if r["model"] == "genesig"]
    own = same_mu(rows, data["mu"][data["at"]])
    if not own or own[0]["auc"] is None:
        return "AUC not defined"
    text = f"AUC {decimal(own[0]['auc'])}"
    low, high = own[0]["auc_low"], own[0]["auc_high"]
    return text if low is None else f"{text} ({decimal(low)} to {decimal(high)})"


def samples(data: Data) -> Figure:
    """Held-out scores of each sample, one dot per repeat."""
    classes = data["study"]["classes"]
    found = sorted(
        data["held_out"]["samples"], key=lambda s: (classes.index(s["label"]), s["mean"])
    )
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
    _class_names(ax, [classes.index(s["label"]) for s in found], classes)
    ax.set_xlim(-0.8, len(found) - 0.2)
    ax.set_ylabel("score while held out")
    names = [shorten(s["sample"], 14) for s in found] if len(found) <= 60 else []
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    ax.tick_params(axis="x", length=0)
    return figure


def _columns(points: list[tuple[int, float]]) -> Any:
    return np.array(points, dtype=float).reshape(-1, 2).T


def _class_names(ax: Axes, side: list[int], classes: list[str]) -> None:
    for s, name in enumerate(classes):
        places = [x for x, one in enumerate(side) if one == s]
        if places:
            ax.text(float(np.mean(places)), 1.01, f"{shorten(name, 24)} ({'+' if s else '−'})",
                    transform=ax.get_xaxis_transform(), ha="center", va="bottom",
                    color=CLASS_COLOURS[s], fontweight="bold")  # fmt: skip
    if side and 0 < side.count(0) < len(side):
        ax.axvline(side.count(0) - 0.5, color=RULE, lw=1)


def rejection(data: Data) -> Figure:
    """Mean held-out scores; the band holds every error of each predicted class."""
    found, classes = data["held_out"]["samples"], data["study"]["classes"]
    figure, ax = sheet(WIDE, 2.1)
    for side, row in enumerate(data["held_out"]["rejection"]):
        if row["threshold"] is not None:
            edge = row["threshold"] if side else -row["threshold"]
            ax.axvspan(min(edge, 0), max(edge, 0), color=OTHER, alpha=0.25, lw=0)
            note(ax, edge, 1.62, decimal(edge), ha="left" if side else "right", va="top")
    for side, name in enumerate(classes):
        mine = sorted(s["mean"] for s in found if s["label"] == name)
        jitter = np.resize([0.0, 0.14, -0.14, 0.07, -0.07], len(mine))
        ax.scatter(mine, side + jitter, s=30, marker=CLASS_MARKERS[side],
                   color=CLASS_COLOURS[side], edgecolor=PAPER, lw=0.5)  # fmt: skip
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.set_yticks([0, 1], [f"true {shorten(name, 20)}" for name in classes])
    ax.set_ylim(-0.5, 1.7)
    negative, positive = (shorten(name, 20) for name in classes)
    ax.set_xlabel(f"mean score while held out   (← called {negative}, called {positive} →)")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def observed_predicted(data: Data) -> Figure:
    """Held-out prediction against the observed response."""
    found = data["held_out"]["samples"]
    observed, predicted = ([s[key] for s in found] for key in ("label", "mean"))
    figure, ax = sheet(SMALL, 4.2)
    ends = [min(observed + predicted), max(observed + predicted)]
    ax.plot(ends, ends, color=MUTED, lw=0.9, dashes=(4, 3))
    for one in found:
        ax.vlines(one["label"], min(one["scores"]), max(one["scores"]), color=RULE, lw=1)
    ax.scatter(observed, predicted, s=28, color=OWN, edgecolor=PAPER, lw=0.5, zorder=3)
    fit = data["held_out"]["fit"]
    text = f"R² {decimal(fit['r2'])}\nr {decimal(fit['r'])}"
    ax.text(0.97, 0.05, text, ha="right", transform=ax.transAxes)
    ax.set_xlabel(f"observed {shorten(data['study']['label'], 24)}")
    ax.set_ylabel("predicted while held out")
    return figure


def null(data: Data) -> Figure:
    """Errors of the whole procedure with shuffled labels, and the observed one."""
    errors, observed = shown_null(data)
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
    ax.set_xlabel(f"{measure(data).name} with shuffled labels")
    ax.set_ylabel("permutations")
    return figure


def shown_null(data: Data) -> tuple[list[float], float]:
    """Return the measure of the page in the permutations and as observed."""
    *errors, observed = measure(data).values([*data["null"]["errors"], data["null"]["observed"]])
    return errors, observed


def controls(data: Data) -> Figure:
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
        ax.scatter([shown.value(row["error"])], [y], s=52, color=colour, zorder=3)
    ax.set_yticks(range(len(rows)), [model_name(row["model"]) for row in rows])
    ax.get_yticklabels()[[r["model"] for r in rows].index("genesig")].set_fontweight("bold")
    ax.set_ylim(len(rows) - 0.5, -0.7)
    rule(ax, x=shown.chance)
    if shown.better == "smaller":
        ax.set_xlim(left=0)
    ax.set_xlabel(f"{shown.name} on held-out samples ({shown.better} is better)")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    return figure


def _null_band(ax: Axes, errors: list[float]) -> None:
    if len(errors) < FEWEST_FOR_BAND:
        return
    low, high = np.quantile(errors, [0.025, 0.975])
    ax.axvspan(low, high, color=OTHER, alpha=0.22, lw=0)
    ax.text((low + high) / 2, 1.01, "shuffled labels", color=MUTED, fontsize=8, ha="center",
            va="bottom", transform=ax.get_xaxis_transform())  # fmt: skip


def univariate(data: Data) -> Figure:
    """Set the selection frequency against the p-value of the gene by itself."""
    it = data["univariate"]
    figure, ax = sheet(WIDE, 3.3)
    p = -np.log10(np.maximum(np.array(it["p"], dtype=float), 1e-300))
    f, inside = np.array(it["frequency"], dtype=float), np.array(it["inside"], dtype=bool)
    ax.scatter(p[~inside], f[~inside], s=16, color=OTHER, alpha=0.6, lw=0)
    ax.scatter(p[inside], f[inside], s=34, color=OWN, edgecolor=PAPER, lw=0.6)
    for x, y, name in _spaced(p[inside], f[inside], np.array(it["symbols"])[inside]):
        ax.annotate(shorten(name, 20), (x, y), (5, 0), textcoords="offset points", fontsize=7,
                    va="center")  # fmt: skip
    if it["bound"] is not None:
        edge = -np.log10(max(it["bound"], 1e-300))
        rule(ax, x=edge)
        note(ax, edge, 1.07, f" FDR {percent(data['config']['controls']['fdr'])} →", va="bottom")
    ax.set_ylim(-0.04, 1.06)
    ax.set_xlabel("−log₁₀ p of the gene by itself")
    ax.set_ylabel("selection frequency")
    ax.spines["bottom"].set_position(("outward", 3))
    return figure


def _spaced(x: Any, y: Any, names: Any) -> list[tuple[float, float, str]]:
    """Keep the labels with room to their right: no other dot, no label that is kept already."""
    reach = np.ptp(x) * 0.2 + 1e-9 if len(x) else 1.0
    points = list(zip(x, y, names, strict=True))
    kept: list[tuple[float, float, str]] = []
    for one in sorted(points, key=lambda item: -item[0]):
        near = [p for p in points if abs(p[1] - one[1]) < 0.04 and p[:2] != one[:2]]
        clash = [k for k in kept if abs(k[1] - one[1]) < 0.045 and k[0] - one[0] < reach]
        if not clash and not any(0 <= p[0] - one[0] < reach / 2 for p in near):
            kept.append(one)
    return kept[:15]
