"""Pictures of genes and their values: correlation, projections, strips, heat map."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genes.record import Genes
from genesig.report.page.named import GENE, gene_names, name_columns, name_points, name_rows
from genesig.report.page.plane import by_response, plane
from genesig.report.page.record import StudyFacts
from genesig.report.page.sides import codes
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    DIVERGING,
    INK,
    OVER,
    OWN,
    PAPER,
    SMALL,
    WIDE,
    bare,
    colour_bar,
    sheet,
)
from genesig.report.page.words import gene_label, shorten

NAMED = 45  # rows of the correlation image up to which genes have their names


def correlation(data: Genes) -> Figure:
    """Pearson's r in block and layer order; thick lines between blocks, thin between layers."""
    it = data["correlation"]
    count = len(it["genes"])
    named = count <= NAMED
    figure, ax = sheet(WIDE, 5.0 if named else 6.2)
    image = ax.imshow(np.array(it["r"]), cmap=DIVERGING, vmin=-1, vmax=1)
    colour_bar(figure, image, ax, "Pearson's r", shrink=0.6)
    places = list(zip(it["blocks"], it["layers"], strict=True))
    for edge in range(1, count):
        if places[edge] != places[edge - 1]:
            thick = places[edge][0] != places[edge - 1][0]
            for draw in (ax.axhline, ax.axvline):
                draw(edge - 0.5, color=OVER, lw=1.6 if thick else 0.5)
    own = gene_names(it["genes"], it["symbols"])
    name_rows(ax, own)
    name_columns(ax, own, GENE)
    ticks = _apart(_middles(it["blocks"], least=max(1, count // 45)), count / 36)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([x for x, _ in ticks], [str(block) for _, block in ticks])
    ax.set_xlabel("block")
    ax.set_ylabel("block")
    if named:
        names = [gene_label(g, s, 32) for g, s in zip(it["genes"], it["symbols"], strict=True)]
        ax.set_yticks(range(count), names, fontsize=6)
        ax.set_ylabel("")
    ax.tick_params(length=0)
    bare(ax)
    return figure


def _middles(blocks: list[Any], least: int) -> list[tuple[float, Any]]:
    """Return (middle, name) of each run of equal values that is long enough for a label."""
    found, start = [], 0
    for block, run in groupby(blocks):
        length = len(list(run))
        if length >= least:
            found.append((start + (length - 1) / 2, block))
        start += length
    return found


def _apart(ticks: list[tuple[float, Any]], least: float) -> list[tuple[float, Any]]:
    """Leave out the names that would run into the one before."""
    found: list[tuple[float, Any]] = []
    for at, name in ticks:
        if not found or at - found[-1][0] >= least:
            found.append((at, name))
    return found


def components(data: Genes) -> Figure:
    """Place samples on the first principal components of the signature."""
    it = data["components"]
    points, study = np.array(it["points"], dtype=float), data["study"]
    planes = ((0, 1), (0, 2)) if it["explained"][2] else ((0, 1),)
    figure, axes = sheet(WIDE if len(planes) > 1 else SMALL, 3.5, 1, 2 if len(planes) > 1 else 1,
                         squeeze=False)  # fmt: skip
    image = None
    for ax, (a, b) in zip(axes[0], planes, strict=True):
        image = by_response(ax, points[:, a], points[:, b], study["response"]["value"],
                            study["classes"], label=a + b == 1)  # fmt: skip
        plane(ax, it["explained"], a, b, "component")
        name_points(ax, points[:, a], points[:, b], study["response"]["name"])
    if image is not None:
        colour_bar(figure, image, axes, shorten(data["study"]["label"], 30))
    return figure


def strips(data: Genes, top: int) -> Figure:
    """Values of the first genes by class, or against the response."""
    shown = data["strips"][:top]
    columns = min(4, max(len(shown), 2))
    rows = -(-len(shown) // columns)
    figure, axes = sheet(WIDE * columns / 4, 1.75 * rows + 0.3, rows, columns, squeeze=False)
    for ax in axes.ravel()[len(shown) :]:
        ax.set_axis_off()
    for ax, gene in zip(axes.ravel(), shown, strict=False):
        _strip(ax, np.array(gene["values"], dtype=float), data["study"], data["cards"]["events"])
        own = not gene["symbol"] or gene["symbol"] == gene["gene"]
        title = "" if own else shorten(gene["symbol"], 24)
        ax.set_title(f"{title}\n{shorten(gene['gene'], 24)}", fontsize=8)
    figure.supylabel("expression, as analysed", fontsize=9)
    if data["study"]["classes"] is None:
        figure.supxlabel(shorten(data["study"]["label"], 40), fontsize=9)
    return figure


def _strip(ax: Axes, values: Any, study: StudyFacts, events: Sequence[bool] | None) -> None:
    response = np.array(study["response"]["value"], dtype=float)
    if study["classes"] is None:
        full = np.ones(len(values), bool) if events is None else np.array(events, dtype=bool)
        ax.scatter(response[~full], values[~full], s=10, facecolor=PAPER, edgecolor=OWN, lw=0.8)
        ax.scatter(response[full], values[full], s=11, color=OWN, lw=0)
        name_points(ax, response, values, study["response"]["name"])
        return
    every = range(len(study["classes"]))
    for side in every:
        members = np.flatnonzero(response == codes(study["classes"])[side])
        mine = values[members]
        order = np.argsort(np.argsort(mine))
        jitter = ((order * 0.618034) % 1 - 0.5) * 0.5  # even, and the same in every run
        size = 13 if len(values) < 120 else 5
        ax.scatter(side + jitter, mine, s=size, marker=CLASS_MARKERS[side], alpha=0.85,
                   color=CLASS_COLOURS[side], lw=0)  # fmt: skip
        name_points(ax, side + jitter, mine, [study["response"]["name"][k] for k in members])
        if len(mine):
            ax.hlines(mine.mean(), side - 0.36, side + 0.36, color=INK, lw=1.5)
    few = len(every) < 4
    ax.set_xticks(every, [shorten(name, 12 if few else 5) for name in study["classes"]],
                  fontsize=None if few else 7)  # fmt: skip
    ax.set_xlim(-0.6, len(every) - 0.4)
    ax.tick_params(axis="x", length=0)
