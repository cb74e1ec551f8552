"""Picture of the genes along the genome: contribution and frequency, chromosome by chromosome."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genome.record import Chromosome, GenomeRecord
from genesig.report.page.named import GENE, gene_names, name_points
from genesig.report.page.rows import columns_of
from genesig.report.page.style import MUTED, NEGATIVE, OWN, POSITIVE, RULE, WIDE, rule, sheet
from genesig.report.page.words import percent, shorten

Array = np.ndarray[Any, Any]

NAMED = 4
"""Stretches that are named in the picture."""
BETWEEN = 0.004
"""Share of the width between two chromosomes."""
NARROW = 0.022
"""Share of the width that the name of a chromosome needs."""


def along(it: GenomeRecord, bound: float) -> Figure:
    """Contribution to the final model above, selection frequency below.

    Parameters
    ----------
    it : GenomeRecord
    bound : float
        Frequency of the genes of a list.
    """
    figure, axes = sheet(WIDE, 3.6, 2, 1, sharex=True, height_ratios=[1.4, 1], gap=0.02)
    above, below = axes[:, 0]
    starts, width = laid_out(it["chromosomes"])
    x = np.array([starts[one["chromosome"]] + one["position"] for one in it["places"]])
    size = np.array([one["size"] for one in it["places"]])
    often = np.array([one["frequency"] for one in it["places"]])
    for ax in (above, below):
        _bands(ax, it["chromosomes"], starts)
        ax.set_xlim(-0.01 * width, 1.01 * width)
    for sign, colour in ((size < 0, NEGATIVE), (size > 0, POSITIVE)):
        above.vlines(x[sign], 0, size[sign], color=colour, lw=1.2)
    own = gene_names(*columns_of(it["places"], "gene", "symbol").values())
    name_points(above, x, size, own, GENE)
    name_points(below, x, often, own, GENE)
    above.axhline(0, color=MUTED, lw=0.8)
    above.set_ylabel("contribution")
    above.tick_params(axis="x", length=0)
    _names(above, it, starts, size)
    below.vlines(x, 0, often, color=OWN, lw=1.2)
    rule(below, y=bound)
    below.text(1.005, bound, percent(bound), color=MUTED, fontsize=8, va="center",
               transform=below.get_yaxis_transform())  # fmt: skip
    below.set_ylim(0, 1.04)
    below.set_ylabel("frequency")
    _ticks(below, it["chromosomes"], starts, width)
    return figure


def laid_out(chromosomes: list[Chromosome]) -> tuple[Array, float]:
    """Return where each chromosome begins, and the width of all, one beside the other."""
    ends = np.array([max(one["end"], 1.0) for one in chromosomes])
    room = BETWEEN * ends.sum()
    starts = np.concatenate([[0.0], np.cumsum(ends + room)[:-1]])
    return starts, float(starts[-1] + ends[-1])


def _bands(ax: Axes, chromosomes: list[Chromosome], starts: Array) -> None:
    for k, (start, one) in enumerate(zip(starts, chromosomes, strict=True)):
        if k % 2 == 0:
            ax.axvspan(start, start + one["end"], color=RULE, alpha=0.35, lw=0, zorder=0)


def _ticks(ax: Axes, chromosomes: list[Chromosome], starts: Array, width: float) -> None:
    """Name the chromosomes, but for those that have no room after the name before."""
    places, names, last = [], [], -np.inf
    for start, one in zip(starts, chromosomes, strict=True):
        middle = start + one["end"] / 2
        name = shorten(one["name"].removeprefix("chr"), 6)
        if middle - last > NARROW * width * max(1, len(name) / 2):
            places.append(middle)
            names.append(name)
            last = middle
    ax.set_xticks(places, names)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("chromosome")


def _names(ax: Axes, it: GenomeRecord, starts: Array, size: Array) -> None:
    """Write the first gene of the largest stretches beside them."""
    number = {one["name"]: k for k, one in enumerate(it["chromosomes"])}
    low, high = float(size.min(initial=0)), float(size.max(initial=0))
    room = 0.22 * ((high - low) or 1)
    ax.set_ylim(low - room, high + room)
    taken: list[float] = []
    for one in it["stretches"]:
        if one["chromosome"] not in number or one["start"] is None or len(taken) == NAMED:
            continue
        x = starts[number[one["chromosome"]]] + (one["start"] + (one["end"] or one["start"])) / 2
        if any(abs(x - other) < 0.12 * (starts[-1] or 1) for other in taken):
            continue
        taken.append(x)
        there = [p["size"] for p in it["places"] if _inside(p, one, number)]
        y = max(there, key=abs, default=0.0)
        text = one["first"] if one["genes"] == 1 else f"{one['first']} to {one['last']}"
        ax.annotate(shorten(text, 26), (x, y), (0, 4 if y >= 0 else -4), ha="center", fontsize=8,
                    textcoords="offset points", va="bottom" if y >= 0 else "top")  # fmt: skip


def _inside(place: Any, stretch: Any, number: dict[str, int]) -> bool:
    on = place["chromosome"] == number[stretch["chromosome"]]
    return bool(on and stretch["start"] <= place["position"] <= stretch["end"])
