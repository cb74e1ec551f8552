"""Pictures of genes and their values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from genesig.arrays import Array
from genesig.report.genes.record import Genes, Heat, Tree
from genesig.report.page.measure import class_of, measure
from genesig.report.page.record import StudyFacts
from genesig.report.page.style import (
    BLOCK_COLOURS,
    CLASS_COLOURS,
    MUTED,
    NEGATIVE,
    OTHER,
    OVER,
    OWN,
    PAPER,
    RULE,
    SEQUENTIAL,
    WIDE,
    bare,
    colour_bar,
    diverging,
    note,
    rule,
    sheet,
)
from genesig.report.page.svg import GENE, gene_names, name_columns, name_points, name_rows
from genesig.report.page.words import gene_label, percent, short_symbol, shorten

NAMED_ROWS = 45  # rows of the correlation image up to which genes have their names


def correlation(data: Genes) -> Figure:
    """Pearson's r in block and layer order; thick lines between blocks, thin between layers."""
    it = data["correlation"]
    count = len(it["genes"])
    named = count <= NAMED_ROWS
    figure, ax = sheet(WIDE, 5.0 if named else 6.2)
    image = ax.imshow(np.array(it["r"]), cmap=diverging(), vmin=-1, vmax=1)
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


NAMED_POINTS = 14
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
        near = x[np.abs(y - edge) < 0.08 * y.max()]
        left = not near.size or near.min() > x.min() + 0.12 * np.ptp(x)
        note(ax, 0.01 if left else 0.99, edge, f"FDR {fdr} ↑", va="bottom",
             ha="left" if left else "right", transform=ax.get_yaxis_transform())  # fmt: skip
    rule(ax, x=0)
    first = sorted(np.flatnonzero(mine), key=lambda k: -y[k])[:NAMED_POINTS]
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


NAMED_SAMPLES = 60
"""Samples up to which each has its name."""
FOR_NAMES, PER_SAMPLE, PER_GENE, BAR = 3.4, 2 / 96, 0.14, 0.17
"""Inches: names and the genes' tree; two points of a screen a sample; a gene; a bar."""


def heat(data: Genes) -> Figure:
    """Standardised expression of the signature, clustered, under bars of what samples are."""
    it, bars = data["heat"], list(_bars(data))
    count, width = len(it["genes"]), len(it["samples"])
    heights = [0.55, BAR * len(bars), PER_GENE * max(count, 3)]
    figure, axes = sheet(
        max(WIDE, FOR_NAMES + PER_SAMPLE * width), 1.15 + sum(heights), 3, 2,
        width_ratios=[0.09, 1], height_ratios=heights, gap=0.005,
    )  # fmt: skip
    (corner, top), (none, band), (side, body) = axes
    image = body.imshow(np.array(it["z"], dtype=float), cmap=diverging(), vmin=-3, vmax=3,
                        aspect="auto")  # fmt: skip
    _key(corner, image)
    none.set_axis_off()
    _branches(top, it["sample_tree"], width)
    _branches(side, it["gene_tree"], count, upright=False)
    band.imshow(np.array([colours for _, colours in bars]), aspect="auto")
    band.set_yticks(range(len(bars)), [name for name, _ in bars], fontsize=7)
    _names(body, it)
    name_rows(body, gene_names(it["genes"], it["symbols"]))
    for ax in (band, body):
        name_columns(ax, it["samples"])
        ax.yaxis.tick_right()
        ax.tick_params(length=0)
        bare(ax)
    band.set_xticks([])
    _legend(figure, data)
    return figure


def _names(ax: Axes, it: Heat) -> None:
    pairs = zip(it["genes"], it["symbols"], strict=True)
    ax.set_yticks(range(len(it["genes"])), [gene_label(g, s, 34) for g, s in pairs], fontsize=7)
    few = it["samples"] if len(it["samples"]) <= NAMED_SAMPLES else []
    ax.set_xticks(range(len(few)), [shorten(s, 14) for s in few], rotation=90, fontsize=6.5)


def _branches(ax: Axes, tree: Tree, count: int, *, upright: bool = True) -> None:
    """Draw the joints of a tree as one path, its leaves at the side of the image."""
    along, height = [], []
    for left, right, low, other, level in tree:
        along += [left, left, right, right, np.nan]
        height += [low, level, level, other, np.nan]
    x, y = (along, height) if upright else (height, along)
    ax.plot(x, y, color=MUTED, lw=0.7)
    if upright:
        ax.set_xlim(-0.5, count - 0.5)
        ax.set_ylim(bottom=0)
    else:
        ax.set_ylim(count - 0.5, -0.5)
        ax.set_xlim(max([1e-9, *(joint[-1] for joint in tree)]) * 1.02, 0)
    ax.set_axis_off()


def _key(ax: Axes, image: Any) -> None:
    """Put the colours of the values into the corner."""
    ax.set_axis_off()
    inner = ax.inset_axes((0.0, 0.45, 0.9, 0.22))
    bar = ax.figure.colorbar(image, cax=inner, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.set_ticks([-3, 0, 3], labels=["−3", "0", "3"])
    inner.tick_params(length=1.5, labelsize=6)


def _bars(data: Genes) -> Any:
    """Yield (name, colours of the samples) of each bar."""
    it, study = data["heat"], data["study"]
    yield shorten(study["label"], 24), _response(it["response"], study)
    if it["batches"] is not None and data["batch"] is not None:
        colour = _by_name(it["batches"])
        yield shorten(data["batch"]["column"], 24), [to_rgba(colour[b]) for b in it["batches"]]
    score = np.array([np.nan if s is None else s for s in it["score"]], dtype=float)
    if not study["classes"]:
        yield "held-out prediction", _scaled(score)
        return
    most = max(float(np.nanmax(np.abs(score), initial=0.0)), 1e-12)
    shade = diverging()(np.nan_to_num(score / most) / 2 + 0.5)
    shade[np.isnan(score)] = to_rgba(RULE)
    yield "held-out score", shade.tolist()


def _response(response: list[float], study: StudyFacts) -> Any:
    if not study["classes"]:
        return _scaled(np.array(response, dtype=float))
    return [to_rgba(CLASS_COLOURS[class_of(value, study["classes"])]) for value in response]


def _scaled(values: Array) -> Any:
    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return mpl.colormaps[SEQUENTIAL](np.nan_to_num(share)).tolist()


def _by_name(names: list[str]) -> dict[str, str]:
    """Give the first batches the colours that are no class's; others are grey."""
    colours = BLOCK_COLOURS[2:]
    return {
        name: colours[k] if k < len(colours) else OTHER for k, name in enumerate(sorted(set(names)))
    }


def _legend(figure: Figure, data: Genes) -> None:
    pairs = list(zip(data["study"]["classes"] or [], CLASS_COLOURS, strict=False))
    if data["heat"]["batches"] is not None:
        pairs += list(_by_name(data["heat"]["batches"]).items())[: len(BLOCK_COLOURS) - 1]
    if pairs:
        marks = [Rectangle((0, 0), 1, 1, color=colour, lw=0) for _, colour in pairs]
        figure.legend(marks, [shorten(name, 20) for name, _ in pairs], loc="outside upper center",
                      ncols=min(len(pairs), 6), fontsize=8, handlelength=1.0, handletextpad=0.4,
                      columnspacing=1.2)  # fmt: skip
