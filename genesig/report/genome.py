"""Where the genes of the signature lie: along the genome, stretch by stretch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.report.page.record import Study, plain, rounded, rounded_row
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import MUTED, NEGATIVE, OWN, POSITIVE, RULE, WIDE, rule, sheet
from genesig.report.page.svg import GENE, Picture, gene_names, name_points, picture
from genesig.report.page.tables import at_mu, columns_of, packed_table
from genesig.report.page.words import clean, counted, percent, shorten, shown_of, significant

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from genesig.results import Dataset


class Chromosome(TypedDict):
    """A chromosome, the position of its last gene, and the number of its genes."""

    name: str
    end: float
    genes: int


class Place(TypedDict):
    """A gene that any split or the final model selects.

    ``chromosome`` is its number in the list, ``size`` the weight in the final model times the
    gene's standard deviation, 0 if it is not in it.
    """

    gene: str
    symbol: str
    chromosome: int
    position: float
    cv_frequency: float
    size: float


class Stretch(TypedDict):
    """A stretch of the final model, as in stretches.tsv."""

    chromosome: str | None
    start: float | None
    end: float | None
    genes: int
    first: str
    last: str
    contribution: float
    cv_frequency: float


class GenomeRecord(TypedDict):
    """``places`` are those of the genes that were selected most often, of ``total``.

    ``stretches`` are the first ones of ``found``.
    """

    chromosomes: list[Chromosome]
    places: list[Place]
    total: int
    stretches: list[Stretch]
    found: int


class Genome(Study):
    """What this topic reads; null where places are not known."""

    genome: GenomeRecord | None


TABLES = SHOWN = ("stretches",)
TEXT = ("chromosome", "first", "last")
MOST_PLACES = 3000
MOST_STRETCHES = 20


def collect_genome(dataset: Dataset, tables: Mapping[str, pd.DataFrame]) -> GenomeRecord | None:
    """Collect places and stretches; None where the study does not know them."""
    if "stretches" not in tables or not dataset.placed:
        return None
    names, places = dataset.places()
    known = np.array([not name.startswith("\0") for name in names])
    ordered = sorted({str(name) for name in names[known]}, key=natural)
    found = _selected(tables, [dataset.genes[j] for j in np.flatnonzero(known)])
    number = {name: k for k, name in enumerate(ordered)}
    at = {gene: (number[str(names[j])], float(places[j])) for j, gene in enumerate(dataset.genes)
          if known[j]}  # fmt: skip
    symbols = dict(zip(dataset.genes, map(str, dataset.var["symbol"]), strict=True))
    stretches = tables["stretches"]
    return {
        "chromosomes": [_chromosome(name, names, places) for name in ordered],
        "places": [_place(gene, symbols[gene], at[gene], row)
                   for gene, row in list(found.items())[:MOST_PLACES]],
        "total": len(found),
        "stretches": [_stretch(row) for row in stretches.head(MOST_STRETCHES).to_dict("records")],
        "found": len(stretches),
    }  # fmt: skip


def natural(name: str) -> tuple[int, int, str]:
    """Order chromosomes as people do: 1 to 22 by number, then X, Y, M, the others."""
    short = re.sub("^(chr(omosome)?)[ _]?", "", name, flags=re.IGNORECASE).upper()
    if short.isascii() and short.isdigit():
        return 0, int(short), name
    known = ("X", "Y", "M", "MT")
    return (1, known.index(short), name) if short in known else (2, 0, name)


def _selected(
    tables: Mapping[str, pd.DataFrame], placed: list[str]
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """Return frequency and signed contribution of each gene that anything selects, by frequency."""
    nested, signature = tables["nested_lists"], tables["signature"]
    chosen, there = nested[at_mu(nested, None)], set(placed)
    often = dict(zip(chosen["gene"], chosen["cv_frequency"], strict=True))
    size = dict(
        zip(signature["gene"], np.sign(signature["weight"]) * signature["size"], strict=True)
    )
    genes = [gene for gene in dict.fromkeys([*often, *size]) if gene in there]
    rows = {gene: (float(often.get(gene, 0.0)), float(size.get(gene, 0.0))) for gene in genes}
    return dict(sorted(rows.items(), key=lambda row: (-row[1][0], -abs(row[1][1]))))


def _chromosome(name: str, names: Array, places: Array) -> Chromosome:
    on = names == name
    return {"name": name, "end": float(places[on].max()), "genes": int(on.sum())}


def _place(gene: str, symbol: str, at: tuple[int, float], row: tuple[float, float]) -> Place:
    return {"gene": gene, "symbol": symbol, "chromosome": at[0], "position": at[1],
            "cv_frequency": rounded(row[0], 4), "size": rounded(row[1], 4)}  # fmt: skip


def _stretch(row: Mapping[Any, Any]) -> Stretch:
    blank = not isinstance(row["chromosome"], str) or not row["chromosome"]
    found: Stretch = rounded_row(row, 4, "contribution", "cv_frequency")
    return {**found, "chromosome": None if blank else row["chromosome"],
            "start": plain(row["start"]), "end": plain(row["end"]), "genes": int(row["genes"]),
            "first": str(row["first"]), "last": str(row["last"])}  # fmt: skip


NAMED_IN_PICTURE = 4
"""Stretches that are named in the picture."""
BETWEEN = 0.004
"""Share of the width between two chromosomes."""
NARROW = 0.022
"""Share of the width that the name of a chromosome needs."""


def draw_along(it: GenomeRecord, bound: float) -> Figure:
    """Contribution to the final model above, selection frequency below."""
    figure, axes = sheet(WIDE, 3.6, 2, 1, sharex=True, height_ratios=[1.4, 1], gap=0.02)
    above, below = axes[:, 0]
    starts, width = laid_out(it["chromosomes"])
    x = np.array([starts[one["chromosome"]] + one["position"] for one in it["places"]])
    size = np.array([one["size"] for one in it["places"]])
    often = np.array([one["cv_frequency"] for one in it["places"]])
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
    below.set_ylabel("CV frequency")
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
        if (
            one["chromosome"] not in number
            or one["start"] is None
            or len(taken) == NAMED_IN_PICTURE
        ):
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


TITLE = "Along the genome"
NAMED = 3
"""Stretches that a sentence names."""


def genome(data: Genome, limits: Limits) -> Section:
    """Show where the genes lie; nothing where that is not known."""
    it = data["genome"]
    if it is None:
        return Section("genome", TITLE)
    items: list[Item] = [] if not it["places"] else [_along(data, it)]
    if it["found"]:
        caption = (
            "Stretches of the final model: neighbours among the measured genes of a chromosome."
        )
        items.append(packed_table(data, "stretches", caption, limits.table_rows, search=True))
    return Section("genome", TITLE, [_found(it), *_how(data)], items, part="genes")


def _found(it: GenomeRecord) -> str:
    if not it["found"]:
        return "The final model has no gene."
    longest = max(one["genes"] for one in it["stretches"])
    named = "; ".join(map(_named, it["stretches"][:NAMED]))
    return (
        f"The final model has {counted(it['found'], 'stretch')} of at most"
        f" {counted(longest, 'gene')}. Those that contribute most: {named}."
    )


def _named(one: Stretch) -> str:
    often = f"selected in {percent(one['cv_frequency'])} of the training sets"
    if one["chromosome"] is None or one["start"] is None:
        return f"{shorten(one['first'], 30)}, without a place ({often})"
    place = f"chromosome {clean(one['chromosome']).removeprefix('chr')}"
    if one["genes"] == 1:
        return f"{shorten(one['first'], 30)} on {place} ({often})"
    where = f"{shorten(one['first'], 30)} to {shorten(one['last'], 30)} on {place}"
    return f"{where}, {counted(one['genes'], 'gene')} ({often}, on average)"


def _how(data: Genome) -> list[str]:
    linear = data["config"]["linear"]
    if linear["penalty"] != "fused":
        return []
    return [
        "Genes were selected as stretches of neighbours: a stretch costs as much as its genes, and"
        f" each of its two ends as much as {significant(linear['jump'])} more. A"
        " gene inside a stretch need not differ by itself."
    ]


def _along(data: Genome, it: GenomeRecord) -> Picture:
    bound = data["config"]["signature"]["cv_frequency"]
    shown = shown_of(len(it["places"]), it["total"], "gene", ", those selected most often")
    named = "; ".join(map(_named, it["stretches"][:NAMED]))
    return picture(
        "genome",
        partial(draw_along, it, bound),
        data={
            "name": [it["chromosomes"][one["chromosome"]]["name"] for one in it["places"]],
            **columns_of(it["places"], "gene", "symbol", "position", "size", "cv_frequency"),
        },
        title="Selected genes along the genome",
        description=f"Contribution to the final model and selection frequency of"
        f" {counted(len(it['places']), 'gene')} on {counted(len(it['chromosomes']), 'chromosome')}."
        f" {named}.",
        caption="Genes at their places, chromosome by chromosome. Above: contribution to the final"
        " model, weight times the gene's standard deviation; orange raises the score, blue lowers"
        " it. Below: share of the outer splits that select the gene; dashed: what makes it part of"
        f" the list.{shown}",
    )


def stretch_sentences(data: Genome) -> list[str]:
    """Say what the penalty of stretches is, where it was used."""
    linear, it = data["config"]["linear"], data["config"]["data"]
    if linear["penalty"] != "fused":
        return []
    return [
        "In the place of ‖β‖₁ stood the norm of the sparse fused lasso (Tibshirani et al. 2005),"
        f" Σ|βⱼ| + {significant(linear['jump'])} Σ|βⱼ₊₁ − βⱼ| along each chromosome, with β = 0"
        f" beyond its ends (columns {clean(it['chromosome'])} and {clean(it['position'])} of the"
        " gene table), so that neighbours are selected together; it was solved by proximal and"
        " Newton steps, certified by the duality gap."
    ]
