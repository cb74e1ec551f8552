"""Gene sets of which the lists, or all genes, hold more than under permuted labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, TypedDict

from genesig.report.page.measure import measure
from genesig.report.page.record import Study, rounded
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import MUTED, NEGATIVE, POSITIVE, RULE, WIDE, sheet
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import columns_of, packed_table
from genesig.report.page.words import clean, counted, shorten, significant
from genesig.selection.enrichment import N_SHUFFLES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


LEVEL = 0.05
"""Share of the studies without an effect in which some set may be called."""


class Settings(TypedDict):
    """What the page reads of the config's section ``enrichment``."""

    sets: str | None
    smallest: int
    largest: int


class Over(TypedDict):
    """A set of which the chosen lists hold some genes; p is that over all sets."""

    set: str
    shared: float
    expected: float
    p: float


class Ranked(TypedDict):
    """A set among all genes: its side, standard deviations above chance, p over all sets."""

    set: str
    higher: bool
    normalised: float
    p: float


class EnrichmentRecord(TypedDict):
    """Enrichment, summed up.

    ``known`` sets took part. ``chosen`` are the first sets of the chosen lists, of mean length
    ``size``, against those of so many ``permutations``, ``found`` the number with p at most
    `LEVEL`. ``ranked`` are the first sets of the order of all genes, ``passing`` the number with p
    at most `LEVEL`.
    """

    known: int
    permutations: int
    size: float
    chosen: list[Over]
    found: int
    ranked: list[Ranked]
    passing: int


class Enrichment(Study):
    """What this topic reads; null where no sets were named."""

    enrichment: EnrichmentRecord | None


TABLES = ("enrichment", "enrichment_ranking")
SHOWN = ("enrichment_ranking",)
TEXT = ("list", "reference", "set", "about", "names", "leading")

LONG = ("names", "leading")
"""Columns of which the page shows the beginning; the tables have all of it."""

MOST_LETTERS = 100
MOST_OVER = 5
MOST_RANKED = 20


def collect_enrichment(
    tables: Mapping[str, pd.DataFrame], permutations: int
) -> EnrichmentRecord | None:
    """Sum enrichment up; None where no sets were named."""
    if "enrichment_ranking" not in tables:
        return None
    lists, ranking = tables["enrichment"], tables["enrichment_ranking"]
    chosen = lists[lists["list"] == "chosen lists"]
    return {
        "known": len(ranking),
        "permutations": permutations,
        "size": rounded(chosen["size"].iloc[0], 4) if len(chosen) else 0.0,
        "chosen": _over(chosen),
        "found": int((chosen["family_p"] <= LEVEL).sum()),
        "ranked": _first_ranked(ranking),
        "passing": int((ranking["family_p"] <= LEVEL).sum()),
    }


def in_brief(table: pd.DataFrame) -> pd.DataFrame:
    """Cut lists of genes, of which a set may have hundreds; other tables stay as they are."""
    for name in [name for name in LONG if name in table.columns]:
        cut = table[name].map(lambda one: shorten(one, MOST_LETTERS), na_action="ignore")
        table = table.assign(**{name: cut})
    return table


def _over(rows: pd.DataFrame) -> list[Over]:
    return [
        {
            "set": str(row["set"]),
            "shared": rounded(row["shared"], 4),
            "expected": rounded(row["expected"], 4),
            "p": rounded(row["family_p"], 4),
        }
        for row in rows.head(MOST_OVER).to_dict("records")
    ]


def _first_ranked(ranking: pd.DataFrame) -> list[Ranked]:
    return [
        {
            "set": str(row["set"]),
            "higher": bool(row["score"] > 0),
            "normalised": rounded(row["normalised"], 4),
            "p": rounded(row["family_p"], 4),
        }
        for row in ranking.head(MOST_RANKED).to_dict("records")
    ]


def draw_order(rows: Sequence[Ranked]) -> Figure:
    """Draw standard deviations above chance, to the side of the set; filled where it is called."""
    figure, ax = sheet(WIDE, 1.1 + 0.2 * len(rows))
    for y, row in enumerate(rows):
        side, colour = (1, POSITIVE) if row["higher"] else (-1, NEGATIVE)
        score = side * max(row["normalised"], 0.0)
        ax.hlines(y, 0, score, color=colour, lw=2.4)
        face = colour if row["p"] <= LEVEL else "none"
        ax.scatter(score, y, s=26, facecolor=face, edgecolor=colour, zorder=4)
        ax.text(1.01, y, f"p {significant(row['p'], 2)}", color=MUTED, fontsize=8, va="center",
                transform=ax.get_yaxis_transform())  # fmt: skip
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_yticks(range(len(rows)), [shorten(row["set"].replace("_", " "), 46) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.7)
    ax.set_xlabel("standard deviations above chance")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=RULE, lw=0.5)
    ax.spines["left"].set_visible(False)
    return figure


TITLE = "Enrichment"
NAMED = 3
"""Sets that a sentence names."""
OVER = "p\u00a0over all sets"


def enrichment(data: Enrichment, limits: Limits) -> Section:
    """Show which sets differ from permuted labels; nothing where no sets were named."""
    it = data["enrichment"]
    if it is None:
        return Section("enrichment", TITLE)
    items: list[Item] = [_order(data, it)] if it["ranked"] else []
    caption = "Every set among all genes, the furthest from chance first."
    items.append(packed_table(data, "enrichment_ranking", caption, limits.table_rows, search=True,
                              without=("about",)))  # fmt: skip
    words = [_chosen(it), _ranked(data, it), _caution(data)]
    return Section("enrichment", TITLE, [text for text in words if text], items, part="genes",
                   folded=True, files=["enrichment.tsv"])  # fmt: skip


def _chosen(it: EnrichmentRecord) -> str:
    """Say first what the lists hold, against permuted labels."""
    count, of = it["permutations"], counted(it["known"], "set")
    if not count:
        return "Whether the lists hold more of a set than under permuted labels was not tested."
    if 1 / (count + 1) > LEVEL:
        return (
            f"With {counted(count, 'permutation')} of the labels no set can be shown to have more"
            " genes in the lists than by chance; 19 are the fewest that can."
        )
    lists = f"the lists of the splits ({significant(it['size'], 2)} genes on average)"
    if not it["found"]:
        nearest = f"; the smallest p over all sets is {_p(it['chosen'])}" if it["chosen"] else ""
        return (
            "Against lists selected under permuted labels, which keep correlated genes together,"
            f" none of {of} is enriched in {lists}{nearest}."
        )
    verb, more = "has" if it["found"] == 1 else "have", " and others" * (it["found"] > NAMED)
    named = ", ".join(
        f"{shorten(one['set'], 60)} ({significant(one['shared'], 2)} genes,"
        f" {significant(one['expected'], 2)} expected, {OVER} {_p([one])})"
        for one in it["chosen"][: min(NAMED, it["found"])]
    )
    return (
        f"Against lists selected under permuted labels, which keep correlated genes together,"
        f" {it['found']} of {of} {verb} more genes in {lists}: {named}{more}."
    )


def _p(rows: Sequence[Over | Ranked]) -> str:
    return significant(rows[0]["p"], 2)


def _ranked(data: Enrichment, it: EnrichmentRecord) -> str:
    high, low = _sides(data)
    first = it["ranked"][: min(NAMED, it["passing"])] or it["ranked"][:1]
    named = ", ".join(
        f"{shorten(one['set'], 60)} ({high if one['higher'] else low}, {OVER} {_p([one])})"
        for one in first
    )
    text = f"Among all genes, {it['passing'] or 'none'} of {counted(it['known'], 'set')} "
    text += "stand out" if it["passing"] > 1 else "stands out"
    text += f", {high} or {low}, more than under permuted labels"
    if not it["passing"]:
        return f"{text}{f'; nearest to it: {named}' if named else ''}."
    return f"{text}: {named}{' and others' * (it['passing'] > NAMED)}."


def _sides(data: Enrichment) -> tuple[str, str]:
    classes = data["study"]["classes"]
    if classes is None:
        more = measure(data).words.higher.format(clean(data["study"]["label"]))
        return f"higher with {more}", f"lower with {more}"
    return f"higher in {clean(classes[1])}", f"higher in {clean(classes[0])}"


def _caution(data: Enrichment) -> str:
    own: Settings = data["config"]["enrichment"]
    settings: Settings = own if own["sets"] else data["config"]["structured"]
    file = settings["sets"] or ""
    return (
        f"Sets are those of {clean(PurePath(file).name)} with {settings['smallest']} to"
        f" {settings['largest']} measured genes, several probes of a gene counted once. p over all"
        " sets is the share of permuted labels under which any set is as far from chance: where"
        " nothing is to be found, either test names a set in at most 5% of studies. A set so"
        " named need not predict, nor be the cause."
    )


def _order(data: Enrichment, it: EnrichmentRecord) -> Picture:
    high, low = _sides(data)
    shown = it["ranked"]
    named = "; ".join(f"{one['set']} {significant(one['normalised'])}" for one in shown[:10])
    return picture(
        "enrichment",
        partial(draw_order, shown),
        data=columns_of(shown, "set", "higher", "normalised", "p"),
        title="Gene sets among all genes",
        description=f"Standard deviations above chance of {counted(len(shown), 'set')}."
        f" {clean(named)}.",
        caption="How much more a set stands out among all genes than under permuted labels, in"
        f" standard deviations: to the right {high}, to the left {low}. Filled: p over all sets"
        f" at most {significant(LEVEL)}. Shown: {len(shown)} of {it['known']}.",
    )


def enrichment_sentences(data: Enrichment) -> list[str]:
    """Return the sentences, none where no sets were named."""
    it = data["enrichment"]
    if it is None:
        return []
    said = [
        f"Of {counted(it['known'], 'gene set')}, the mean t of the genes that rise or of those that"
        " fall, whichever stands out more among all genes (Efron and Tibshirani 2007), was"
        f" standardised by {counted(N_SHUFFLES, 'permutation')} of the labels; p-values over"
        " all sets are from the largest of each permutation (Westfall and Young 1993)."
    ]
    if it["permutations"]:
        said.append(
            "Likewise the number of a set's genes in the chosen lists of all splits, standardised"
            " by that in a draw of as many genes, was held against the largest of all sets in the"
            f" lists of {counted(it['permutations'], 'permutation')}."
        )
    return said
