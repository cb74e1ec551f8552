"""Gene sets that are enriched in the selected lists, or in the ranking of all genes.

The chosen list of an outer split is the gene list that its inner folds chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from genesig.report.page.measure import measure
from genesig.report.page.record import Study, TopicResults
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    MUTED,
    NEGATIVE,
    PAGE_WIDTH,
    POSITIVE,
    RULE,
    new_figure,
    small_label,
)
from genesig.report.page.svg import Picture
from genesig.report.page.tables import columns_of, packed_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, shorten, significant
from genesig.selection.enrichment import N_SHUFFLES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


FAMILY_LEVEL = 0.05  # share of the studies without an effect in which any set may be called


class EnrichedSet(TypedDict):
    """A set with genes in the chosen lists."""

    set: str
    shared: float  # its genes in a list, mean over the splits
    expected: float  # the same by chance
    p: float  # over all sets


class RankedSet(TypedDict):
    """A set in the ranking of all genes."""

    set: str
    higher: bool  # whether its genes rise
    normalised: float  # standard deviations above chance
    p: float  # over all sets


class EnrichmentRecord(TypedDict):
    """Summary of the enrichment of gene sets."""

    n_sets: int  # sets that took part
    permutations: int
    size: float  # mean length of the chosen lists
    chosen: list[EnrichedSet]  # first sets of the chosen lists
    n_enriched: int  # sets of the chosen lists with p at most `FAMILY_LEVEL`
    ranked: list[RankedSet]  # first sets of the ranking of all genes
    n_passing: int  # sets of the ranking with p at most `FAMILY_LEVEL`


class Enrichment(Study):
    """The keys of report_data.json that this topic reads."""

    enrichment: EnrichmentRecord | None  # None without gene sets


SHORTENED_COLUMNS = ("names", "leading")  # lists of genes, which the page cuts
MAX_GENES_LETTERS = 100
MAX_ENRICHED_SETS = 5
MAX_RANKED_SETS = 20


def collect_enrichment(results: TopicResults) -> EnrichmentRecord:
    """Return the record of the enrichment."""
    lists = results.tables["enrichment"]
    ranking = results.tables["enrichment_ranking"]
    chosen = lists[lists["list"] == "chosen lists"]
    return {
        "n_sets": len(ranking),
        "permutations": results.config["controls"]["permutations"],
        "size": float(chosen["size"].iloc[0]) if len(chosen) else 0.0,
        "chosen": [
            {
                "set": str(row["set"]),
                "shared": float(row["shared"]),
                "expected": float(row["expected"]),
                "p": float(row["family_p"]),
            }
            for row in chosen.head(MAX_ENRICHED_SETS).to_dict("records")
        ],
        "n_enriched": int((chosen["family_p"] <= FAMILY_LEVEL).sum()),
        "ranked": [
            {
                "set": str(row["set"]),
                "higher": bool(row["score"] > 0),
                "normalised": float(row["normalised"]),
                "p": float(row["family_p"]),
            }
            for row in ranking.head(MAX_RANKED_SETS).to_dict("records")
        ],
        "n_passing": int((ranking["family_p"] <= FAMILY_LEVEL).sum()),
    }


def shorten_gene_lists(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its lists of genes cut: a set may have hundreds of genes."""
    for name in table.columns.intersection(list(SHORTENED_COLUMNS)):
        cut = table[name].map(lambda genes: shorten(genes, MAX_GENES_LETTERS), na_action="ignore")
        table = table.assign(**{name: cut})
    return table


def draw_ranking(rows: Sequence[RankedSet]) -> Figure:
    """Draw standard deviations above chance, to the right if genes rise; filled dots: small p."""
    figure, ax = new_figure(PAGE_WIDTH, 1.1 + 0.2 * len(rows))
    beside_axes = ax.get_yaxis_transform()
    for y, row in enumerate(rows):
        sign, colour = (1, POSITIVE) if row["higher"] else (-1, NEGATIVE)
        score = sign * max(row["normalised"], 0.0)
        ax.hlines(y, 0, score, color=colour, lw=2.4)
        face = colour if row["p"] <= FAMILY_LEVEL else "none"
        ax.scatter(score, y, s=26, facecolor=face, edgecolor=colour, zorder=4)
        p_text = f"p {significant(row['p'], 2)}"
        small_label(ax, 1.01, y, p_text, va="center", transform=beside_axes)
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_yticks(range(len(rows)), [shorten(row["set"].replace("_", " "), 46) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.7)
    ax.set_xlabel("standard deviations above chance")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=RULE, lw=0.5)
    ax.spines["left"].set_visible(False)
    return figure


WORDS = Wording(
    __file__,  # sentences: the macros of enrichment.j2, by name
    MAX_NAMED_SETS=3,  # sets that a sentence names
    FAMILY_LEVEL=FAMILY_LEVEL,
    N_SHUFFLES=N_SHUFFLES,
)


def enrichment_section(data: Enrichment, limits: Limits) -> Section | None:
    """Return the section about sets that differ from permuted labels; None without gene sets."""
    record = data["enrichment"]
    if record is None:
        return None
    items: list[Item] = [_ranking_figure(data, record)] if record["ranked"] else []
    caption = "All sets, furthest from chance first."
    items.append(
        packed_table(
            data, "enrichment_ranking", caption, limits.table_rows, search=True, without=("about",)
        )
    )
    config = data["config"]
    settings = config["enrichment"] if config["enrichment"]["sets"] else config["structured"]
    return Section(
        "enrichment",
        "Enrichment",
        WORDS.paragraphs("section", record, settings, *_direction_words(data)),
        items,
        part="genes",
        folded=True,
        files=["enrichment.tsv"],
    )


def _direction_words(data: Enrichment) -> tuple[str, str]:
    """Return the words for sets whose genes rise, and for sets whose genes fall.

    Of several classes the statistic of a gene has no sign: no set falls, and the latter are empty.
    """
    classes = data["study"]["classes"]
    if classes and len(classes) > 2:
        return "difference between classes", ""
    if classes is None:
        outcome = measure(data).words.higher.format(clean(data["study"]["label"]))
        return f"higher with {outcome}", f"lower with {outcome}"
    return f"higher in {clean(classes[1])}", f"higher in {clean(classes[0])}"


def _ranking_figure(data: Enrichment, record: EnrichmentRecord) -> Picture:
    """Return the figure of the ranking."""
    ranked_sets = record["ranked"]
    set_texts = "; ".join(
        f"{set_row['set']} {significant(set_row['normalised'])}" for set_row in ranked_sets[:10]
    )
    return Picture(
        "enrichment",
        partial(draw_ranking, ranked_sets),
        data=columns_of(ranked_sets, "set", "higher", "normalised", "p"),
        title="Gene sets among all genes",
        description=f"Standard deviations above chance of {counted(len(ranked_sets), 'set')}."
        f" {clean(set_texts)}.",
        caption=WORDS.text("figure_caption", record, *_direction_words(data)),
    )


def enrichment_sentences(data: Enrichment) -> list[str]:
    """Return the sentences of Methods about enrichment; [] without gene sets."""
    record = data["enrichment"]
    return [] if record is None else WORDS.paragraphs("methods", record)
