"""Pictures of genes and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from genesig.report.genes.record import Genes, Heat, NestedGene, Overlap, Tree
from genesig.report.page.charts import by_response, list_ticks, plane
from genesig.report.page.gene_links import short_symbol
from genesig.report.page.measure import class_of, codes, measure
from genesig.report.page.record import StudyFacts
from genesig.report.page.style import (
    BLOCK_COLOURS,
    CLASS_COLOURS,
    CLASS_MARKERS,
    DIVERGING,
    INK,
    MUTED,
    NEGATIVE,
    OTHER,
    OVER,
    OWN,
    PAPER,
    RULE,
    SEQUENTIAL,
    SMALL,
    WIDE,
    bare,
    colour_bar,
    note,
    rule,
    sheet,
)
from genesig.report.page.svg import GENE, gene_names, name_columns, name_points, name_rows
from genesig.report.page.words import gene_label, percent, shorten

NAMED_ROWS = 45  # rows of the correlation image up to which genes have their names


def correlation(data: Genes) -> Figure:
    """Pearson's r in block and layer order; thick lines between blocks, thin between layers."""
    it = data["correlation"]
    count = len(it["genes"])
    named = count <= NAMED_ROWS
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


Array = np.ndarray[Any, Any]

FEWEST_PATTERNS = 6
"""Patterns that would fill the picture; a bar of fewer is no wider."""
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
        note(ax, 0.01, edge, f"FDR {fdr} ↑", va="bottom",
             transform=ax.get_yaxis_transform())  # fmt: skip
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
    image = body.imshow(np.array(it["z"], dtype=float), cmap=DIVERGING, vmin=-3, vmax=3,
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
    shade = DIVERGING(np.nan_to_num(score / most) / 2 + 0.5)
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
