"""Pictures of effects and of what lists share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genesig.report.genes.record import Genes, Overlap
from genesig.report.page.gene_links import short_symbol
from genesig.report.page.measure import measure
from genesig.report.page.named import GENE, gene_names, name_points
from genesig.report.page.style import (
    INK,
    MUTED,
    NEGATIVE,
    OTHER,
    OWN,
    PAPER,
    RULE,
    WIDE,
    note,
    rule,
    sheet,
)
from genesig.report.page.words import percent, shorten

Array = np.ndarray[Any, Any]

FEWEST_PATTERNS = 6
"""Patterns that would fill the picture; a bar of fewer is no wider."""
NAMED = 14
"""Genes of the signature whose names stand in the volcano."""


def effect_name(data: Genes) -> str:
    """Return what the x axis of the volcano is."""
    classes = data["study"]["classes"]
    if not classes:
        return measure(data).words.effect.format(shorten(data["study"]["label"], 24))
    what = scale_name(data)
    if len(classes) > 2:
        return f"{what}, largest of the class means less the smallest"
    return f"{what}, {shorten(classes[1], 18)} less {shorten(classes[0], 18)}"


def scale_name(data: Genes) -> str:
    """Return what a difference of two class means is."""
    return "log₂ fold change" if data["volcano"]["logarithm"] else "difference of the means"


def volcano(data: Genes) -> Figure:
    """Effect of each gene against its p, the lists marked."""
    it = data["volcano"]
    figure, ax = sheet(WIDE, 3.9)
    x = np.array(it["effect"], dtype=float)
    y = -np.log10(np.maximum(np.array(it["p"], dtype=float), 1e-300))
    mine, passes = np.array(it["signature"]), np.array(it["passes"])
    other = np.array(it["nonlinear"] if it["nonlinear"] is not None else np.zeros(len(x), bool))
    for rows, colour, size in ((~passes & ~mine, RULE, 9), (passes & ~mine, OTHER, 11)):
        ax.scatter(x[rows], y[rows], s=size, color=colour, lw=0)
    ax.scatter(x[mine], y[mine], s=34, color=OWN, edgecolor=PAPER, lw=0.6)
    ax.scatter(x[other], y[other], s=70, marker="D", facecolor="none", edgecolor=NEGATIVE, lw=1.2)
    name_points(ax, x, y, gene_names(it["genes"], it["symbols"]), GENE)
    if data["univariate"]["bound"] is not None:
        edge = -np.log10(max(data["univariate"]["bound"], 1e-300))
        rule(ax, y=edge)
        fdr = percent(data["config"]["controls"]["fdr"])
        note(ax, 0.01, edge, f"FDR {fdr} ↑", va="bottom",
             transform=ax.get_yaxis_transform())  # fmt: skip
    rule(ax, x=0)
    first = sorted(np.flatnonzero(mine), key=lambda k: -y[k])[:NAMED]
    names = {int(k): short_symbol(it["symbols"][k]) or shorten(it["symbols"][k], 18) for k in first}
    _name_beside(ax, x, y, np.flatnonzero(mine | other), names)
    ax.set_xlabel(effect_name(data))
    ax.set_ylabel("−log₁₀ p of the gene by itself")
    return figure


def _name_beside(ax: Axes, x: Array, y: Array, marked: Array, names: Mapping[int, str]) -> None:
    """Name points at the right or at the left, where no marked point and no name is in the way."""
    if not names:
        return
    wide, high = 1.1 * np.ptp(x), np.ptp(y)
    taken: list[tuple[float, float, float]] = []
    for k, name in names.items():
        for side in (-1, 1) if x[k] > 0.7 * x.max() else (1, -1):
            end = x[k] + side * wide * (0.02 + 0.009 * len(name))
            left, right = sorted((x[k], end))
            points = marked[(marked != k) & (np.abs(y[marked] - y[k]) < 0.03 * high)]
            met = bool(np.any((x[points] > left) & (x[points] < right)))
            met |= any(abs(at - y[k]) < 0.04 * high and low < right and left < top
                       for low, top, at in taken)  # fmt: skip
            if not met and x.min() - 0.05 * wide < end < x.max() + 0.05 * wide:
                taken.append((left, right, y[k]))
                ax.annotate(name, (x[k], y[k]), (8 * side, 0), fontsize=7, va="center",
                            ha="left" if side > 0 else "right",
                            textcoords="offset points")  # fmt: skip
                break


def overlap(it: Overlap) -> Figure:
    """Sizes of the patterns above, the lists of each pattern below, sizes of the lists beside."""
    patterns, count = it["patterns"], len(it["lists"])
    figure, ((none, top), (sizes, grid)) = sheet(
        WIDE, 2.0 + 0.28 * count, 2, 2, sharex="col", sharey="row", width_ratios=[0.28, 1],
        height_ratios=[1.5, 0.28 * count], gap=0.02,
    )  # fmt: skip
    none.set_axis_off()
    heights = [one["count"] for one in patterns]
    top.bar(range(len(patterns)), heights, width=0.62, color=OWN)
    for place, height in zip(range(len(patterns)), heights, strict=True):
        note(top, place, height, str(height), ha="center", va="bottom", color=INK)
    top.set_ylim(0, max(heights, default=1) * 1.18)
    top.set_xlim(-0.7, max(len(heights), FEWEST_PATTERNS) - 0.3)
    top.set_ylabel("genes", fontsize=8)
    top.tick_params(labelleft=True)
    top.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    top.tick_params(axis="x", length=0)
    for place, one in enumerate(patterns):
        inside = [row for row, here in enumerate(one["lists"]) if here]
        outside = [row for row in range(count) if row not in inside]
        grid.scatter([place] * len(outside), outside, s=22, color=RULE, lw=0)
        grid.vlines(place, min(inside), max(inside), color=INK, lw=1.6)
        grid.scatter([place] * len(inside), inside, s=34, color=INK, lw=0, zorder=3)
    grid.set_xticks([])
    grid.set_ylim(count - 0.5, -0.5)
    grid.tick_params(axis="y", length=0)
    sizes.barh(range(count), it["sizes"], height=0.55, color=OTHER)
    sizes.set_yticks(range(count), [f"{name} ({size})" for name, size in
                                    zip(it["lists"], it["sizes"], strict=True)])  # fmt: skip
    sizes.invert_xaxis()
    sizes.set_xticks([])
    sizes.tick_params(axis="y", length=0, colors=MUTED)
    for ax in (sizes, grid):
        for spine in ax.spines.values():
            spine.set_visible(False)
    return figure
