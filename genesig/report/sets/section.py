"""The section about gene sets: which predict, how surely, and beside lists of genes."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath

from genesig.report.page.compared import NO_INTERVAL, Difference, against, neither
from genesig.report.page.record import Study
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import clean, counted, decimal, percent, shorten, significant
from genesig.report.sets import figures
from genesig.report.sets.record import Sets, SetsRecord, Settings

TITLE = "Gene sets"
NAMED = 3
"""Sets that a sentence names."""


def sets(data: Sets, limits: Limits) -> Section:
    """Show gene sets beside the lists of genes; nothing where none were named."""
    it = data["sets"]
    if it is None:
        return Section("sets", TITLE)
    settings: Settings = data["config"]["structured"]
    words = [
        f"{compared(data, it['difference'])}. {_chance(it)} {stable(it)}",
        _list(data, it),
        _how(it, settings),
        _caution(it, settings),
    ]
    items: list[Item] = []
    if it["sets"]:
        items.append(_frequencies(data, it))
        caption = "Every set that any split, or the final model, selected."
        items.append(
            packed_table(data, "sets", caption, limits.table_rows, search=True, without=("about",))
        )
    if it["final"]:
        caption = (
            "Genes of the sets of the final model, and their weight in the set's part of the score."
        )
        items.append(packed_table(data, "sets_genes", caption, limits.table_rows, search=True))
    caption = "Every outer split: what was chosen, how many sets, and how they predict."
    items.append(
        packed_table(data, "sets_scores", caption, limits.table_rows, without=("message",))
    )
    return Section("sets", TITLE, words, items, part="stability", folded=True)


def in_sets(data: Sets) -> list[str]:
    """Return one sentence for the first screen, or nothing."""
    it = data["sets"]
    if it is None:
        return []
    return [f"{compared(data, it['difference'])}. {_often(data, it)}"]


def compared(data: Study, d: Difference) -> str:
    """Say whether sets predict better, worse or as well, from the measured numbers alone."""
    if d["error"] is None or d["linear"] is None:
        return "Whether gene sets predict as well as single genes could not be measured"
    words = against(data, d, "the gene signature")
    if d["low"] is None or d["high"] is None:
        return f"Gene sets: their {words}, {NO_INTERVAL}"
    if neither(data, "sets"):
        return f"Neither gene sets nor single genes predict better than chance: the sets' {words}"
    if d["high"] < 0:
        return f"Whole gene sets predict better than single genes on these data: their {words}"
    if d["low"] > 0:
        return f"Whole gene sets predict worse than single genes on these data: their {words}"
    return (
        "Whole gene sets predict as well as single genes, as far as these samples can show: their"
        f" {words}"
    )


def _chance(it: SetsRecord) -> str:
    p = it["p"]
    if p["value"] is None:
        return "Whether chance could do as well was not tested."
    times, value = counted(p["permutations"], "time"), significant(p["value"], 2)
    return f"With permuted labels, the same was done {times}: p\u00a0=\u00a0{value}."


def stable(it: SetsRecord) -> str:
    """Hold the stability of the lists of sets against that of the lists of genes."""
    ours, theirs = it["stability"], it["of_genes"]
    if ours["value"] is None:
        return "The stability of the sets was not measured, or is not defined."
    beside = f"those of genes by {decimal(theirs['value'])}" if theirs["value"] is not None else (
        "the stability of those of genes is not defined"
    )  # fmt: skip
    return (
        f"On disjoint halves of the samples, lists of sets agree by {decimal(ours['value'])},"
        f" {beside}"
        " (1: always the same; 0: no more than by chance)."
    )


def _often(data: Study, it: SetsRecord) -> str:
    share = percent(data["config"]["signature"]["frequency"])
    often = [one for one in it["sets"] if one["in_list"]]
    of = f"Of {counted(it['known'], 'set')}"
    if not often:
        return f"{of}, none is in {share} of the training sets."
    names = ", ".join(shorten(one["set"], 60) for one in often[:NAMED])
    more = " and others" if it["often"] > NAMED else ""
    verb = "is" if it["often"] == 1 else "are"
    return f"{of}, {it['often']} {verb} in at least {share} of the training sets: {names}{more}."


def _list(data: Study, it: SetsRecord) -> str:
    low, middle, high = it["sizes"]
    return (
        f"{_often(data, it)} A training set selects {significant(middle)} of them (median;"
        f" {significant(low)} to {significant(high)}), the final model, of all samples,"
        f" {it['final']}."
    )


def _how(it: SetsRecord, settings: Settings) -> str:
    others = (
        "Genes in no set take part one by one."
        if settings["others"] == "singletons"
        else "Genes in no set take no part here."
    )
    weigh = {
        "permuted": "Set penalties are calibrated on permuted training labels, so that large or"
        " tightly correlated sets have no advantage.",
        "size": "Each set is weighed by the square root of its size, which favours sets whose genes"
        " go together.",
        "equal": "All sets weigh the same, which favours large ones.",
    }[settings["weights"]]
    return (
        f"Sets are {which(settings)}. A set is selected as a whole: all its genes have part in the"
        f" score, or none by way of it. {weigh} {others} Splits, inner folds and"
        " permutations are those of the gene lists."
    )


def which(settings: Settings) -> str:
    """Say which sets take part: those of a file by their size, or the values of a column."""
    file = clean(PurePath(settings["sets"] or "").name)
    if settings["column"] is not None:
        return f"the values of the column {clean(settings['column'])} of {file}"
    sizes = f"{settings['smallest']} to {settings['largest']}"
    return f"those of {file} with {sizes} measured genes"


def _caution(it: SetsRecord, settings: Settings) -> str:
    trouble = (
        f" {counted(it['unfinished'], 'fit')} did not reach the requested accuracy."
        if it["unfinished"]
        else ""
    )
    return (
        "A selected set helps to predict, together with the others; it need not be the cause, and"
        " of sets that share genes or are active together one may stand for the others." + trouble
    )


def _frequencies(data: Study, it: SetsRecord) -> Picture:
    shown = it["sets"]
    bound = data["config"]["signature"]["frequency"]
    named = "; ".join(f"{one['set']} {percent(one['frequency'])}" for one in shown[:10])
    return picture(
        "sets",
        partial(figures.frequencies, shown, bound),
        data=columns_of(shown, "set", "frequency", "mean_share", "final_share", "in_list"),
        title="How often gene sets are selected",
        description=f"Selection frequency of {counted(len(shown), 'set')} and share of the score."
        f" {clean(named)}.",
        caption="Left: share of the outer splits that select the set; dashed: what makes a set part"
        " of the list (bold). Right: mean share of the score over the splits that select it; ring:"
        f" in the final model. Shown: {len(shown)} of {it['ever']}, those selected most often.",
    )
