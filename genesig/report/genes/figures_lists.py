"""Pictures of the lists: stability, frequency, nesting, tests of single genes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genes.record import Genes, NestedGene
from genesig.report.page.lists import list_ticks
from genesig.report.page.named import GENE, gene_names, name_points, name_rows
from genesig.report.page.rows import Row, of_chosen, records, same_mu
from genesig.report.page.style import (
    MUTED,
    OTHER,
    OWN,
    PAPER,
    RULE,
    SMALL,
    WIDE,
    mu_ticks,
    note,
    power,
    rule,
    sheet,
)
from genesig.report.page.words import gene_label, percent, shorten


def stability(data: Genes) -> Figure:
    """Stability of each list, on halves and on overlapping splits."""
    rows = records(data["tables"]["stability"])
    figure, ax = sheet(SMALL, 3.0)
    names = {"half_subsamples": ("halves of\nthe samples", OWN, -0.09),
             "outer_splits": ("overlapping\nsplits", OTHER, 0.09)}  # fmt: skip
    ends: list[tuple[float, float, str, str]] = []
    for source, (label, colour, shift) in names.items():
        places = [of_chosen(rows), *(same_mu(rows, mu) for mu in data["mu"])]
        found = [(x, r) for x, place in enumerate(places) for r in place
                 if r["source"] == source and r["stability"] is not None]  # fmt: skip
        for x, row in found:
            ax.scatter([x + shift], [row["stability"]], s=26, color=colour, zorder=3)
            if row["lasso"] is not None:
                ax.scatter([x + shift], [row["lasso"]], s=26, fc=PAPER, ec=colour, zorder=3)
        if found:
            along = [(x, row) for x, row in found if x]
            ax.plot([x + shift for x, _ in along], [r["stability"] for _, r in along],
                    color=colour, lw=1)  # fmt: skip
            x, row = found[-1]
            ends.append((row["stability"], x + shift, label, colour))
    _label_ends(ax, sorted(ends))
    mu_ticks(ax, [None, *data["mu"]])
    ax.axvline(0.5, color=RULE, lw=1)
    ax.set_xlim(-0.5, len(data["mu"]) + 1.25)
    ax.set_xlabel("chosen lists, then the list at each μ")
    ax.set_ylabel("stability of the list")
    values = [r[key] or 0 for r in rows for key in ("stability", "lasso")]
    ax.set_ylim(min([0, *values]) - 0.02, 1.02)
    ax.grid(axis="y")
    return figure


def _label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name lines at their right ends, from the lowest up; two that end together, apart."""
    near = len(ends) > 1 and ends[-1][0] - ends[0][0] < 0.2
    right = max((x for _, x, *_ in ends), default=0.0)
    for (y, _, label, colour), place in zip(ends, ("top", "bottom"), strict=False):
        ax.annotate(label, (right, y), (9, 0), va=place if near else "center", color=colour,
                    textcoords="offset points", fontsize=8)  # fmt: skip


def frequency_curve(data: Genes) -> Figure:
    """Genes selected in at least a share f of the splits, observed and permuted."""
    rows = records(data["tables"]["frequency_curve"])
    shown: Sequence[tuple[float | None, list[Row]]]
    shown = [(mu, found) for mu in data["mu"] if (found := same_mu(rows, mu))][:5]
    chosen = of_chosen(rows)
    shown = [(None, chosen), *shown] if chosen else shown
    width = WIDE if len(shown) > 2 else SMALL
    figure, axes = sheet(width, 2.7, 1, max(len(shown), 1), sharey=True, squeeze=False)
    for ax, (mu, found) in zip(axes[0], shown, strict=False):
        _one_curve(ax, found)
        ax.set_title("chosen lists" if mu is None else f"μ = {power(mu)}")
        rule(ax, x=data["config"]["signature"]["frequency"])
    axes[0][0].set_ylabel("genes selected at least\nthat often")
    axes[0][0].text(0.05, 0.13, "observed", color=OWN, transform=axes[0][0].transAxes, fontsize=8)
    if data["null"]["errors"]:
        axes[0][0].text(0.05, 0.04, "permuted", color=MUTED, transform=axes[0][0].transAxes,
                        fontsize=8)  # fmt: skip
    figure.supxlabel("share of the splits", fontsize=9)
    return figure


def _one_curve(ax: Axes, rows: list[Row]) -> None:
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


def nested(data: Genes) -> Figure:
    """Show the selection frequency of the first genes at each mu, as dots."""
    genes = data["nested"]
    figure, ax = sheet(WIDE, 1.3 + 0.19 * len(genes))
    bound = data["config"]["signature"]["frequency"]
    kept = [True, *(one["size"] is not None for one in data["lists"])]
    x, y, f = (np.array(v) for v in zip(*_dots(genes, kept), strict=True))
    for mine, face, edge in ((f >= bound, OWN, OWN), (f < bound, PAPER, OTHER)):
        ax.scatter(x[mine], y[mine], s=4 + 70 * f[mine], facecolor=face, edgecolor=edge, lw=0.9)
    list_ticks(ax, data)
    name_rows(ax, gene_names([g["gene"] for g in genes], [g["symbol"] for g in genes]))
    ax.set_yticks(range(len(genes)), [gene_label(g["gene"], g["symbol"]) for g in genes])
    ax.set_ylim(len(genes) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0.5, color=RULE, lw=1)
    ax.grid(axis="y", color=RULE, lw=0.5)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return figure


def _dots(genes: list[NestedGene], kept: list[bool]) -> list[tuple[int, int, float]]:
    """Return place of the list, of the gene, and its frequency, of the lists that were kept."""
    return [
        (x, y, f)
        for y, gene in enumerate(genes)
        for x, (f, known) in enumerate(zip(gene["frequency"], kept, strict=True))
        if known
    ]


def univariate(data: Genes) -> Figure:
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
    name_points(ax, p, f, gene_names(it["genes"], it["symbols"]), GENE)
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
