"""Pictures of the lists: stability, frequency, nesting, tests of single genes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from genesig.report.genes.record import Genes, NestedGene
from genesig.report.page.lists import list_ticks
from genesig.report.page.named import GENE, gene_names, name_points, name_rows
from genesig.report.page.style import (
    OTHER,
    OWN,
    PAPER,
    RULE,
    WIDE,
    note,
    rule,
    sheet,
)
from genesig.report.page.words import gene_label, percent, shorten


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
