"""The heat map of the signature with its trees and the bars that say what samples are."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from genesig.report.genes.record import Genes, Heat, Tree
from genesig.report.page.named import gene_names, name_columns, name_rows
from genesig.report.page.record import StudyFacts
from genesig.report.page.sides import class_of
from genesig.report.page.style import (
    BLOCK_COLOURS,
    CLASS_COLOURS,
    DIVERGING,
    MUTED,
    OTHER,
    RULE,
    SEQUENTIAL,
    WIDE,
    bare,
    sheet,
)
from genesig.report.page.words import gene_label, shorten

Array = np.ndarray[Any, Any]
NAMED = 60
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
    few = it["samples"] if len(it["samples"]) <= NAMED else []
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
