"""The sections about enrichment: gene sets in the lists and among all genes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import PurePath

from genesig.report.enrichment import figures
from genesig.report.enrichment.record import (
    LEVEL,
    Enrichment,
    EnrichmentRecord,
    Over,
    Ranked,
    Settings,
)
from genesig.report.page.measure import measure
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import clean, counted, shorten, significant

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
    return Section(
        "enrichment", TITLE, [text for text in words if text], items, part="signature", folded=True
    )


def lists(data: Enrichment, limits: Limits) -> Section:
    """Show each list against each set with which it shares a gene; it calls nothing."""
    title = "Lists and gene sets"
    if data["enrichment"] is None:
        return Section("enrichment-lists", title)
    words = [
        "Chosen lists of all splits stand against permuted labels. For the other lists p is that of"
        " a draw of as many measured genes (hypergeometric), which takes genes as independent: sets"
        " whose genes go together have a small one without any effect."
    ]
    caption = (
        f"The signature, its {'named' if data['answer']['evidence'] else 'core'} genes, the lists"
        " along μ, each block of three genes or more, and the chosen lists of all splits, each"
        " against every set with which it shares a gene."
    )
    table = packed_table(data, "enrichment", caption, limits.table_rows, search=True,
                         without=("about",))  # fmt: skip
    return Section("enrichment-lists", title, words, [table])


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
        " nothing is to be found, either test names a set in at most 5\u00a0% of studies. A set so"
        " named need not predict, nor be the cause."
    )


def _order(data: Enrichment, it: EnrichmentRecord) -> Picture:
    high, low = _sides(data)
    shown = it["ranked"]
    named = "; ".join(f"{one['set']} {significant(one['normalised'])}" for one in shown[:10])
    return picture(
        "enrichment",
        partial(figures.order, shown),
        data=columns_of(shown, "set", "higher", "normalised", "p"),
        title="Gene sets among all genes",
        description=f"Standard deviations above chance of {counted(len(shown), 'set')}."
        f" {clean(named)}.",
        caption="How much more a set stands out among all genes than under permuted labels, in"
        f" standard deviations: to the right {high}, to the left {low}. Filled: p over all sets"
        f" at most {significant(LEVEL)}. Shown: {len(shown)} of {it['known']}.",
    )
