"""The section about enrichment: gene sets in the signature, its blocks, the order of genes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import PurePath

from genesig.report.enrichment import figures
from genesig.report.enrichment.record import Enrichment, EnrichmentRecord, Over, Settings
from genesig.report.page.measure import measure
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import clean, counted, percent, shorten, significant

TITLE = "Enrichment"
NAMED = 3
"""Sets that a sentence names."""
DIFFERENCE = (
    "A draw takes genes as independent of each other, while lists selected under permuted labels"
    " hold correlated genes together, as those of a pathway are: only what exceeds the latter"
    " speaks of the label."
)


def enrichment(data: Enrichment, limits: Limits) -> Section:
    """Show which sets the lists hold more of than chance; nothing where no sets were named."""
    it = data["enrichment"]
    if it is None:
        return Section("enrichment", TITLE)
    items: list[Item] = [_order(data, it)] if it["ranked"] else []
    caption = (
        f"The signature, its {'named' if data['answer']['evidence'] else 'core'} genes, the lists"
        " along μ, each block of three genes or more, and the chosen lists of all splits, each"
        " against every set with which it shares a gene."
    )
    items.append(packed_table(data, "enrichment", caption, limits.table_rows, search=True,
                              without=("about",)))  # fmt: skip
    caption = "Every set in the order of all genes by t; leading genes come before the peak."
    items.append(packed_table(data, "enrichment_ranking", caption, limits.table_rows, search=True,
                              without=("about",)))  # fmt: skip
    words = [_signature(it), _chosen(it), _ranked(data, it), _caution(data)]
    return Section("enrichment", TITLE, [text for text in words if text], items, part="signature")


def _signature(it: EnrichmentRecord) -> str:
    of = f"Of {counted(it['known'], 'set')}"
    rate = f"at a false discovery rate of {percent(it['fdr'])}"
    if not it["found"]:
        return (
            f"{of}, none has more of the {counted(it['size'], 'gene')} of the signature than a draw"
            f" from all measured genes would, {rate}."
        )
    verb = "has" if it["found"] == 1 else "have"
    return (
        f"{of}, {it['found']} {verb} more of the {counted(it['size'], 'gene')} of the signature"
        f" than a draw from all measured genes would, {rate}: {_named(it['signature'])}."
    )


def _named(rows: Sequence[Over]) -> str:
    return ", ".join(
        f"{shorten(one['set'], 60)} ({significant(one['shared'])} genes,"
        f" {significant(one['expected'], 2)} expected)"
        for one in rows[:NAMED]
    )


def _chosen(it: EnrichmentRecord) -> str:
    if it["chosen"] is None:
        return ""
    if not it["steady"]:
        return f"{DIFFERENCE} Held against them, no set has more."
    verb = "has" if it["steady"] == 1 else "have"
    return f"{DIFFERENCE} Held against them, {it['steady']} {verb} more: {_named(it['chosen'])}."


def _ranked(data: Enrichment, it: EnrichmentRecord) -> str:
    high, low = _sides(data)
    first = [one for one in it["ranked"] if one["q"] <= it["fdr"]]
    text = f"In the order of all genes by t, {it['passing']} of {counted(it['known'], 'set')} "
    text += f"stand {high} or {low} more than under permuted labels"
    named = [
        (f"{shorten(one['set'], 60)} ({high if (one['normalised'] or 0) > 0 else low}", one["q"])
        for one in (first or it["ranked"])[:NAMED]
    ]
    if not first:
        nearest = ", ".join(f"{name}, q\u00a0{significant(q, 2)})" for name, q in named)
        return f"{text}{f'; nearest to it: {nearest}' if named else ''}."
    others = " and others" if it["passing"] > NAMED else ""
    return f"{text}: {', '.join(f'{name})' for name, _ in named)}{others}."


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
        f" {settings['largest']} measured genes; the background are all measured genes, several"
        " probes of a gene counted once. A set that is over-represented describes the list; it need"
        " not predict, nor be the cause."
    )


def _order(data: Enrichment, it: EnrichmentRecord) -> Picture:
    high, low = _sides(data)
    shown = it["ranked"]
    named = "; ".join(
        f"{one['set']} {significant(one['normalised'])}" for one in shown[:10]
    )  # fmt: skip
    return picture(
        "enrichment",
        partial(figures.order, shown, it["fdr"]),
        data=columns_of(shown, "set", "normalised", "q"),
        title="Gene sets in the order of all genes",
        description=f"Normalised enrichment score of {counted(len(shown), 'set')}. {clean(named)}.",
        caption="Normalised enrichment score of the sets with the smallest p, over the mean score"
        f" under permuted labels: above 0 {high}, below {low}. Filled: q at most"
        f" {significant(it['fdr'])}. Shown: {len(shown)} of {it['known']}.",
    )
