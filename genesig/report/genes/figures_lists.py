"""Pictures of model selection and of the lists: surface, splits, mu, stability, frequency."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.measure import measure
from genesig.report.page.rows import records, same_mu
from genesig.report.page.style import (
    INK,
    MUTED,
    OTHER,
    OVER,
    OVER_PAPER,
    OWN,
    PAPER,
    RULE,
    SEQUENTIAL,
    SMALL,
    WIDE,
    colour_bar,
    mu_ticks,
    note,
    power,
    rule,
    sheet,
)
from genesig.report.page.words import clean, counted, gene_label, significant

Data = dict[str, Any]


def surface(data: Data) -> Figure:
    """Show the validation error over tau and lam, the chosen points, and the number of genes."""
    it = data["surface"]
    tau, lam = it["tau"], it["lam"]
    figure, ((top,), (low,)) = sheet(
        WIDE, 1.7 + 0.3 * len(lam) + 1.0, 2, 1, sharex=True,
        height_ratios=[max(len(lam), 3) * 0.3, 1.1],
    )  # fmt: skip
    error = np.array(it["error"], dtype=float).T
    image = top.imshow(error, cmap=SEQUENTIAL, aspect="auto", origin="lower")
    colour_bar(figure, image, top, "validation error")
    most = max((count for *_, count in it["chosen"]), default=1)
    for x, y, count in it["chosen"]:
        top.scatter([x], [y], s=60 + 200 * count / most, color=OVER_PAPER, edgecolor=OVER, lw=1)
        top.text(x, y, str(count), ha="center", va="center", fontsize=8, color=OVER)
    x, y = it["final"]
    top.scatter([x], [y], marker="D", s=330, facecolor="none", edgecolor=OVER, lw=3.2)
    top.scatter([x], [y], marker="D", s=330, facecolor="none", edgecolor=OVER_PAPER, lw=1.4)
    top.set_yticks(range(len(lam)), [power(v) for v in lam])
    top.set_ylabel("λ (ridge refit)")
    top.tick_params(length=0)
    _sizes(low, tau, it["size"])
    return figure


def _sizes(ax: Axes, tau: list[float], size: list[float]) -> None:
    ax.plot(range(len(tau)), size, color=OWN, marker="o", markersize=3)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("genes")
    ax.set_xlabel("τ / τ max  (fewer genes on the left, more on the right)")
    step = max(1, len(tau) // 10)
    ax.set_xticks(range(0, len(tau), step), [significant(t, 2) for t in tau[::step]])
    ax.grid(axis="y")


def per_split(data: Data) -> Figure:
    """Error and number of genes of each outer split, by repeat."""
    rows = same_mu(records(data["tables"]["scores"]), data["mu"][data["at"]])
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


def split_error(data: Data) -> tuple[str, str]:
    """Return the column of scores.tsv that is shown for single splits, and its name."""
    if data["study"]["task"] == "regression":
        return "squared_error", "mean squared error"
    rows = records(data["tables"]["scores"])
    if any(row["balanced_error"] is None for row in rows):
        return "misclassification", "share misclassified"
    return "balanced_error", "class-balanced error"


def _dots_by_repeat(ax: Axes, rows: list[dict[str, Any]], column: str) -> None:
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


def error_by_mu(data: Data) -> Figure:
    """Double-CV error, or R², with interval for each list."""
    shown = measure(data)
    rows = [r for r in records(data["tables"]["controls"]) if r["model"] == "genesig"]
    figure, ax = sheet(SMALL, 3.6)
    for x, mu in enumerate(data["mu"]):
        for row in same_mu(rows, mu):
            value, limits = shown.value(row["error"]), shown.interval(row)
            _interval(ax, x, value, *limits, OWN, x == data["at"])
    mu_ticks(ax, data["mu"], [counted(one["size"], "gene") for one in data["lists"]])
    ax.set_xlabel("μ, and the length of the list")
    ax.set_ylabel(shown.name)
    rule(ax, y=shown.chance)
    note(ax, len(data["mu"]) - 0.5, shown.chance, "chance ", ha="right", va="bottom")
    if shown.better == "smaller":
        ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    return figure


def _interval(
    ax: Axes,
    x: float,
    y: float | None,
    low: float | None,
    high: float | None,
    colour: str,
    full: bool,
) -> None:
    if y is None:
        return
    if low is not None and high is not None:
        ax.vlines(x, low, high, color=colour, lw=1.8, clip_on=False)
    face = colour if full else PAPER
    ax.scatter([x], [y], s=48, facecolor=face, edgecolor=colour, lw=1.6, zorder=3, clip_on=False)


def stability(data: Data) -> Figure:
    """Nogueira's stability for each list, on halves and on overlapping splits."""
    rows = records(data["tables"]["stability"])
    figure, ax = sheet(SMALL, 3.0)
    names = {"half_subsamples": ("halves of\nthe samples", OWN, -0.09),
             "outer_splits": ("overlapping\nsplits", OTHER, 0.09)}  # fmt: skip
    for source, (label, colour, shift) in names.items():
        found = [(x, r) for x, mu in enumerate(data["mu"]) for r in same_mu(rows, mu)
                 if r["source"] == source and r["stability"] is not None]  # fmt: skip
        for x, row in found:
            _interval(ax, x + shift, row["stability"], row["low"], row["high"], colour, True)
        if found:
            ax.plot([x + shift for x, _ in found], [r["stability"] for _, r in found],
                    color=colour, lw=1)  # fmt: skip
            x, row = found[-1]
            ax.annotate(label, (x + shift, row["stability"]), (9, 0), va="center", color=colour,
                        textcoords="offset points", fontsize=8)  # fmt: skip
    mu_ticks(ax, data["mu"])
    ax.set_xlim(-0.5, len(data["mu"]) + 0.25)
    ax.set_xlabel("μ")
    ax.set_ylabel("stability of the list")
    ax.set_ylim(min(0, *(r["low"] or 0 for r in rows)) if rows else 0, 1.02)
    ax.grid(axis="y")
    return figure


def frequency_curve(data: Data) -> Figure:
    """Genes selected in at least a share f of the splits, observed and permuted."""
    rows = records(data["tables"]["frequency_curve"])
    shown = [mu for mu in data["mu"] if same_mu(rows, mu)][:6]
    width = WIDE if len(shown) > 2 else SMALL
    figure, axes = sheet(width, 2.7, 1, max(len(shown), 1), sharey=True, squeeze=False)
    for ax, mu in zip(axes[0], shown, strict=False):
        _one_curve(ax, same_mu(rows, mu))
        ax.set_title(f"μ = {power(mu)}")
        rule(ax, x=data["config"]["signature"]["frequency"])
    axes[0][0].set_ylabel("genes selected at least\nthat often")
    axes[0][0].text(0.05, 0.13, "observed", color=OWN, transform=axes[0][0].transAxes, fontsize=8)
    if data["null"]["errors"]:
        axes[0][0].text(0.05, 0.04, "shuffled", color=MUTED, transform=axes[0][0].transAxes,
                        fontsize=8)  # fmt: skip
    figure.supxlabel("share of the splits", fontsize=9)
    return figure


def _one_curve(ax: Axes, rows: list[dict[str, Any]]) -> None:
    rows = sorted(rows, key=lambda row: row["frequency"])
    f = [row["frequency"] for row in rows]
    if rows[0]["permuted_median"] is not None:
        low, high = ([row[key] for row in rows] for key in ("permuted_low", "permuted_high"))
        ax.fill_between(f, low, high, step="mid", color=OTHER, alpha=0.3, lw=0)
        ax.plot(f, [row["permuted_median"] for row in rows], drawstyle="steps-mid", color=OTHER)
    ax.plot(f, [row["observed"] for row in rows], drawstyle="steps-mid", color=OWN, lw=1.8)
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    ax.set_yticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"], minor=False)
    ax.set_yticks([], minor=True)
    most = max(r[key] or 0 for r in rows for key in ("observed", "permuted_high"))
    ax.set_ylim(0, max(10, most) * 1.4)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.grid(axis="y")


def nested(data: Data) -> Figure:
    """Show the selection frequency of the first genes at each mu, as dots."""
    genes = data["nested"]
    figure, ax = sheet(WIDE, 1.3 + 0.19 * len(genes))
    bound = data["config"]["signature"]["frequency"]
    x, y, f = (np.array(v) for v in zip(*_dots(genes), strict=True))
    for mine, face, edge in ((f >= bound, OWN, OWN), (f < bound, PAPER, OTHER)):
        ax.scatter(x[mine], y[mine], s=4 + 70 * f[mine], facecolor=face, edgecolor=edge, lw=0.9)
    mu_ticks(ax, data["mu"], [counted(one["size"], "gene") for one in data["lists"]])
    ax.set_yticks(range(len(genes)), [gene_label(g["gene"], g["symbol"]) for g in genes])
    ax.set_ylim(len(genes) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("μ, and the length of the list")
    ax.grid(axis="y", color=RULE, lw=0.5)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return figure


def _dots(genes: list[Data]) -> list[tuple[int, int, float]]:
    return [(x, y, f) for y, gene in enumerate(genes) for x, f in enumerate(gene["frequency"])]
