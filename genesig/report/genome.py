"""Positions of selected genes along the genome, and the stretches of the final model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.report.page.record import Study, TopicResults, float_fields
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    GENESIG_COLOUR,
    MUTED,
    NEGATIVE,
    PAGE_WIDTH,
    POSITIVE,
    RULE,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import GENE, Picture, gene_names, name_points
from genesig.report.page.tables import at_mu, columns_of, packed_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import percent, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Chromosome(TypedDict):
    """A chromosome."""

    name: str
    end: float  # position of its last gene
    genes: int  # measured genes


class Place(TypedDict):
    """The place of a gene that any split or the final model selects."""

    gene: str
    symbol: str
    chromosome: int  # index of the chromosome in `GenomeRecord.chromosomes`
    position: float
    cv_frequency: float
    size: float  # weight in the final model times the gene's standard deviation; 0 if not in it


class Stretch(TypedDict):
    """A row of stretches.tsv: neighbouring genes of the final model."""

    chromosome: str | None  # None for a gene without a place, like start and end
    start: float | None
    end: float | None
    genes: int
    first: str  # first gene
    last: str
    contribution: float
    cv_frequency: float


class GenomeRecord(TypedDict):
    """Places of genes along the genome."""

    chromosomes: list[Chromosome]
    places: list[Place]  # at most `MAX_PLACES`, those of the genes selected most often
    total: int  # places of all selected genes
    stretches: list[Stretch]  # the first `MAX_STRETCHES`
    n_stretches: int


class Genome(Study):
    """The keys of report_data.json that this topic reads."""

    genome: GenomeRecord | None  # None if places are not known


MAX_PLACES = 3000
MAX_STRETCHES = 20


def collect_genome(results: TopicResults) -> GenomeRecord | None:
    """Return places and stretches; None if the places of genes are not known."""
    dataset = results.dataset
    tables = results.tables
    if not dataset.placed:
        return None
    chromosome_of_gene, positions = dataset.places()
    # `Dataset.places` gives a gene without a place a chromosome whose name begins with "\0".
    is_placed = np.array([not name.startswith("\0") for name in chromosome_of_gene])
    names = sorted({str(name) for name in chromosome_of_gene[is_placed]}, key=chromosome_order)
    number_of_chromosome = {name: number for number, name in enumerate(names)}
    place_of_gene = {
        gene: (number_of_chromosome[str(chromosome_of_gene[j])], float(positions[j]))
        for j, gene in enumerate(dataset.genes)
        if is_placed[j]
    }
    selected = _selected_genes(tables, place_of_gene.keys())
    symbols = dict(zip(dataset.genes, map(str, dataset.var["symbol"]), strict=True))
    stretches = tables["stretches"]
    chromosomes: list[Chromosome] = []
    for name in names:
        gene_positions = positions[chromosome_of_gene == name]
        end = float(gene_positions.max())
        chromosomes.append({"name": name, "end": end, "genes": len(gene_positions)})
    places: list[Place] = []
    for gene, (cv_frequency, size) in list(selected.items())[:MAX_PLACES]:
        chromosome, position = place_of_gene[gene]
        places.append(
            {
                "gene": gene,
                "symbol": symbols[gene],
                "chromosome": chromosome,
                "position": position,
                "cv_frequency": cv_frequency,
                "size": size,
            }
        )
    return {
        "chromosomes": chromosomes,
        "places": places,
        "total": len(selected),
        "stretches": [_stretch(row) for row in stretches.head(MAX_STRETCHES).to_dict("records")],
        "n_stretches": len(stretches),
    }


def chromosome_order(name: str) -> tuple[int, int, str]:
    """Return the sort key of a chromosome: 1 to 22 by number, then X, Y, M, the others by name."""
    stem = re.sub("^(chr(omosome)?)[ _]?", "", name, flags=re.IGNORECASE).upper()
    if stem.isascii() and stem.isdigit():
        return 0, int(stem), name
    named_chromosomes = ("X", "Y", "M", "MT")
    return (1, named_chromosomes.index(stem), name) if stem in named_chromosomes else (2, 0, name)


def _selected_genes(
    tables: Mapping[str, pd.DataFrame], placed_genes: Collection[str]
) -> dict[str, tuple[float, float]]:
    """Return (cv_frequency, signed size) of the selected genes with a place, most often first."""
    nested = tables["nested_lists"]
    signature = tables["signature"]
    chosen = nested[at_mu(nested, None)]
    frequency = dict(zip(chosen["gene"], chosen["cv_frequency"], strict=True))
    size = dict(
        zip(signature["gene"], np.sign(signature["weight"]) * signature["size"], strict=True)
    )
    genes = [gene for gene in dict.fromkeys([*frequency, *size]) if gene in placed_genes]
    rows = {gene: (float(frequency.get(gene, 0.0)), float(size.get(gene, 0.0))) for gene in genes}
    return dict(sorted(rows.items(), key=lambda row: (-row[1][0], -abs(row[1][1]))))


def _stretch(row: Mapping[Any, Any]) -> Stretch:
    """Return the record of a row of stretches.tsv; the writer turns NaN into null."""
    is_unplaced = not isinstance(row["chromosome"], str) or not row["chromosome"]
    numbers: Stretch = float_fields(row, "contribution", "cv_frequency")
    return {
        **numbers,
        "chromosome": None if is_unplaced else row["chromosome"],
        "start": row["start"],
        "end": row["end"],
        "genes": int(row["genes"]),
        "first": str(row["first"]),
        "last": str(row["last"]),
    }


MAX_STRETCHES_IN_FIGURE = 4  # stretches with a name
CHROMOSOME_GAP = 0.004  # between two chromosomes, as a share of the width
MIN_NAME_ROOM = 0.022  # for a name of one or two letters, as a share of the width


def draw_genome(record: GenomeRecord, frequency_threshold: float) -> Figure:
    """Draw `Place.size` of genes, called contribution, and below the CV frequency with its bound.

    The page names a gene at the pointer, see `name_points`.
    """
    figure, axes = new_figure(PAGE_WIDTH, 3.6, 2, 1, sharex=True, height_ratios=[1.4, 1], gap=0.02)
    contribution_axes, frequency_axes = axes[:, 0]
    starts, width = chromosome_starts(record["chromosomes"])
    x = np.array([starts[place["chromosome"]] + place["position"] for place in record["places"]])
    size = np.array([place["size"] for place in record["places"]])
    frequency = np.array([place["cv_frequency"] for place in record["places"]])
    for ax in (contribution_axes, frequency_axes):
        _shade_chromosomes(ax, record["chromosomes"], starts)
        ax.set_xlim(-0.01 * width, 1.01 * width)
    for members, colour in ((size < 0, NEGATIVE), (size > 0, POSITIVE)):
        contribution_axes.vlines(x[members], 0, size[members], color=colour, lw=1.2)
    names = gene_names(*columns_of(record["places"], "gene", "symbol").values())
    name_points(contribution_axes, x, size, names, GENE)
    name_points(frequency_axes, x, frequency, names, GENE)
    contribution_axes.axhline(0, color=MUTED, lw=0.8)
    contribution_axes.set_ylabel("contribution")
    contribution_axes.tick_params(axis="x", length=0)
    _label_stretches(contribution_axes, record, starts, width)
    frequency_axes.vlines(x, 0, frequency, color=GENESIG_COLOUR, lw=1.2)
    reference_line(frequency_axes, y=frequency_threshold)
    beside_axes = {"va": "center", "transform": frequency_axes.get_yaxis_transform()}
    small_label(
        frequency_axes, 1.005, frequency_threshold, percent(frequency_threshold), **beside_axes
    )
    frequency_axes.set_ylim(0, 1.04)
    frequency_axes.set_ylabel("CV frequency")
    _label_chromosomes(frequency_axes, record["chromosomes"], starts, width)
    return figure


def chromosome_starts(chromosomes: list[Chromosome]) -> tuple[Array, float]:
    """Return the start of each chromosome on the axis of all, and the width of all."""
    ends = np.array([max(chromosome["end"], 1.0) for chromosome in chromosomes])
    room = CHROMOSOME_GAP * ends.sum()
    starts = np.concatenate([[0.0], np.cumsum(ends + room)[:-1]])
    return starts, float(starts[-1] + ends[-1])


def _shade_chromosomes(ax: Axes, chromosomes: list[Chromosome], starts: Array) -> None:
    """Shade every second chromosome."""
    for start, chromosome in zip(starts[::2], chromosomes[::2], strict=True):
        ax.axvspan(start, start + chromosome["end"], color=RULE, alpha=0.35, lw=0, zorder=0)


def _label_chromosomes(
    ax: Axes, chromosomes: list[Chromosome], starts: Array, width: float
) -> None:
    """Name the chromosomes whose name has room after the one before."""
    positions = []
    names = []
    last_middle = -np.inf
    for start, chromosome in zip(starts, chromosomes, strict=True):
        middle = start + chromosome["end"] / 2
        name = shorten(chromosome["name"].removeprefix("chr"), 6)
        if middle - last_middle > MIN_NAME_ROOM * width * max(1, len(name) / 2):
            positions.append(middle)
            names.append(name)
            last_middle = middle
    ax.set_xticks(positions, names)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("chromosome")


def _label_stretches(ax: Axes, record: GenomeRecord, starts: Array, width: float) -> None:
    """Name the first stretches by their first and last genes, if there is room.

    starts, width: see `chromosome_starts`.
    """
    number_of_chromosome = {
        chromosome["name"]: number for number, chromosome in enumerate(record["chromosomes"])
    }
    sizes = [place["size"] for place in record["places"]]
    low = min([0.0, *sizes])
    high = max([0.0, *sizes])
    room = 0.22 * ((high - low) or 1)  # above and below, for names
    ax.set_ylim(low - room, high + room)
    label_positions: list[float] = []
    for stretch in record["stretches"]:
        if (
            stretch["chromosome"] not in number_of_chromosome
            or stretch["start"] is None
            or len(label_positions) == MAX_STRETCHES_IN_FIGURE
        ):
            continue
        chromosome = number_of_chromosome[stretch["chromosome"]]
        end = stretch["end"] or stretch["start"]
        x = starts[chromosome] + (stretch["start"] + end) / 2
        min_distance = 0.12 * (starts[-1] or width)  # a single chromosome starts at 0
        if any(abs(x - position) < min_distance for position in label_positions):
            continue
        label_positions.append(x)
        contributions = [
            place["size"]
            for place in record["places"]
            if place["chromosome"] == chromosome and stretch["start"] <= place["position"] <= end
        ]
        y = max(contributions, key=abs, default=0.0)
        text = stretch["first"]
        if stretch["genes"] > 1:
            text = f"{text} to {stretch['last']}"
        ax.annotate(
            shorten(text, 26),
            (x, y),
            (0, 4 if y >= 0 else -4),
            ha="center",
            fontsize=8,
            textcoords="offset points",
            va="bottom" if y >= 0 else "top",
        )


# sentences: the macros of genome.j2, by name
WORDS = Wording(__file__, MAX_STRETCHES_IN_TEXT=3)  # stretches that a sentence names


def genome_section(data: Genome, limits: Limits) -> Section | None:
    """Return the section about places along the genome; None if places are not known."""
    record = data["genome"]
    if record is None:
        return None
    items: list[Item] = [_genome_figure(data, record)] if record["places"] else []
    if record["n_stretches"]:
        caption = (
            "Stretches of the final model: neighbours among the measured genes of a chromosome."
        )
        items.append(packed_table(data, "stretches", caption, limits.table_rows, search=True))
    return Section(
        "genome",
        "Along the genome",
        WORDS.paragraphs("section", record, data["config"]["linear"]),
        items,
        part="genes",
    )


def _genome_figure(data: Genome, record: GenomeRecord) -> Picture:
    """Return the figure of selected genes along the genome."""
    threshold = data["config"]["signature"]["cv_frequency"]
    return Picture(
        "genome",
        partial(draw_genome, record, threshold),
        data={
            "name": [
                record["chromosomes"][place["chromosome"]]["name"] for place in record["places"]
            ],
            **columns_of(record["places"], "gene", "symbol", "position", "size", "cv_frequency"),
        },
        title="Selected genes along the genome",
        description=WORDS.text("figure_description", record),
        caption=WORDS.text("figure_caption", record),
    )


def stretch_sentences(data: Genome) -> list[str]:
    """Return the sentences of Methods about the penalty of stretches; [] if it was not used."""
    linear = data["config"]["linear"]
    if linear["penalty"] != "fused":
        return []
    return WORDS.paragraphs("methods", linear, data["config"]["data"])
