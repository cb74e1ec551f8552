"""Which gene sets predict, and whether they do it better than single genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import P, Study, rounded, rounded_row
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import OWN, PAPER, RULE
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import (
    NO_INTERVAL,
    Difference,
    against,
    at_mu,
    columns_of,
    neither,
    packed_table,
)
from genesig.report.page.words import clean, counted, decimal, percent, shorten, significant
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Settings(TypedDict):
    """What the page reads of the config's section ``structured``."""

    sets: str | None
    column: str | None
    weights: str
    others: str
    smallest: int
    largest: int
    mu: list[float]
    tau_min: float
    tau_count: int
    one_standard_error: bool


class SelectedSet(TypedDict):
    """How often a set is selected, and its share of the score, mean and in the final model."""

    set: str
    genes: int
    named: int
    cv_frequency: float
    mean_share: float | None
    final_share: float
    in_list: bool


class Agreement(TypedDict):
    """Stability of a kind of list on pairs of halves; null where it was not measured."""

    value: float | None
    mean_size: float | None


class SetsRecord(TypedDict):
    """The selection of gene sets, summed up.

    ``known`` sets took part; ``sets`` are at most 30 of the ``ever`` that any split selected,
    ``often`` the number of those in a list, ``final`` that of the final model. ``sizes`` are
    smallest, median and largest number of sets over the splits, ``unfinished`` fits that did not
    converge.
    """

    known: int
    sets: list[SelectedSet]
    ever: int
    often: int
    final: int
    sizes: list[float]
    unfinished: int
    difference: Difference
    p: P
    stability: Agreement
    of_genes: Agreement


class Sets(Study):
    """What this topic reads; null where no sets were named."""

    sets: SetsRecord | None


TABLES = ("sets", "sets_scores", "sets_predictions", "sets_stability", "sets_error", "sets_genes")
SHOWN = ("sets", "sets_genes")
TEXT = ("set", "about")

MOST_SETS = 30


def collect_sets(tables: Mapping[str, pd.DataFrame]) -> SetsRecord | None:
    """Sum the selection of gene sets up; None where it was not run."""
    if "sets" not in tables:
        return None
    found, splits, error = tables["sets"], tables["sets_scores"], tables["sets_error"].iloc[0]
    chosen = tables["stability"]
    permutations = int(error["permutations"])
    return {
        "known": int(error["sets"]),
        "sets": [_rounded(row) for row in found.head(MOST_SETS).to_dict("records")],
        "ever": int((found["cv_frequency"] > 0).sum()),
        "often": int(found["in_list"].astype(bool).sum()),
        "final": int((found["final_share"] > 0).sum()),
        "sizes": rounded(splits["n_selected"].quantile([0, 0.5, 1]).to_numpy(), 4),
        "unfinished": int(splits["message"].notna().sum()),
        "difference": {
            "error": rounded(error["error"], 5),
            "linear": rounded(error["gene_error"], 5),
            "difference": rounded(error["difference"], 5),
            "low": rounded(error["difference_low"], 5),
            "high": rounded(error["difference_high"], 5),
        },
        "p": {
            "value": rounded(error["p_value"], 5),
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "stability": _agreement(tables["sets_stability"]),
        "of_genes": _agreement(chosen[at_mu(chosen, None)]),
    }


def _rounded(row: Mapping[Any, Any]) -> SelectedSet:
    found: SelectedSet = rounded_row(row, 4, "cv_frequency", "mean_share", "final_share")
    return {**found, "set": str(row["set"]), "genes": int(row["genes"]),
            "named": int(row["named"]), "in_list": bool(row["in_list"])}  # fmt: skip


def _agreement(table: pd.DataFrame) -> Agreement:
    known = table[table["source"] == "half_subsamples"].to_dict("records")
    row = known[0] if known else dict.fromkeys(table.columns, float("nan"))
    row["value"] = row["stability"]
    return rounded_row(row, 4, "value", "mean_size")  # type: ignore[no-any-return]


def draw_frequencies(rows: Sequence[SelectedSet], bound: float) -> Figure:
    """How often each set is selected, and its share of the score."""
    names = [shorten(row["set"].replace("_", " "), 46) for row in rows]
    bold = [row["in_list"] for row in rows]
    figure, left, right = charts.frequencies(names, bold, bound, "share of the score")
    for y, row in enumerate(rows):
        left.hlines(y, 0, row["cv_frequency"], color=RULE, lw=2.4)
        left.scatter(row["cv_frequency"], y, s=26, color=OWN, zorder=4)
        if row["mean_share"] is not None:
            right.hlines(y, 0, row["mean_share"], color=OWN, lw=3.2)
        if row["final_share"]:
            right.scatter(row["final_share"], y, s=24, facecolor=PAPER, edgecolor=OWN, zorder=4)
    right.set_xlim(left=0)
    return figure


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
    return Section("sets", TITLE, words, items, part="genes", folded=True,
                   files=["sets_scores.tsv"])  # fmt: skip


def in_sets(data: Sets) -> list[Paragraph]:
    """Return a paragraph for the first screen; nothing without gene sets."""
    it = data["sets"]
    if it is None:
        return []
    return [Paragraph("Gene sets.", f"{compared(data, it['difference'])}. {_often(data, it)}")]


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
    share = percent(data["config"]["signature"]["cv_frequency"])
    often = [one for one in it["sets"] if one["in_list"]]
    of = f"Of {counted(it['known'], 'set')}"
    if not often:
        return f"{of}, none is in {share} of the training sets."
    names = ", ".join(clean(one["set"]) for one in often[:NAMED])
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
        "permuted": "Set penalties are calibrated on permuted training labels for this number of"
        " sets. By chance, small and large, loose and correlated sets are selected about equally"
        " often: within a factor of two in simulations.",
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
    bound = data["config"]["signature"]["cv_frequency"]
    named = "; ".join(f"{one['set']} {percent(one['cv_frequency'])}" for one in shown[:10])
    return picture(
        "sets",
        partial(draw_frequencies, shown, bound),
        data=columns_of(shown, "set", "cv_frequency", "mean_share", "final_share", "in_list"),
        title="How often gene sets are selected",
        description=f"Selection frequency of {counted(len(shown), 'set')} and share of the score."
        f" {clean(named)}.",
        caption="Left: share of the outer splits that select the set; dashed: what makes a set part"
        " of the list (bold). Right: mean share of the score over the splits that select it; ring:"
        f" in the final model. Shown: {len(shown)} of {it['ever']}, those selected most often.",
    )


WEIGHTS = {
    "permuted": "a number with which the norm of its covariances with the response is as likely as"
    " that of any other set to come near the largest (96%) over 200 permutations of the training"
    " labels",
    "size": "the square root of its size",
    "equal": "1",
}


PROBLEMS = ByKind({
    "classification": ("least squares", "squared error"),
    "regression": ("least squares", "squared error"),
    SEVERAL: ("least squares on a column for each class", "squared error"),
    "survival": (
        "Cox's partial likelihood", "the partial likelihood that left-out samples add to that of"
        " the others",
    ),
})  # fmt: skip
"""What is minimised beside the penalty, and what the inner folds go by, of each kind."""


def sets_sentences(data: Sets) -> list[str]:
    """Return the sentences, none where no sets were named."""
    if data["sets"] is None:
        return []
    it: Settings = data["config"]["structured"]
    rule = " within one standard error of the smallest" if it["one_standard_error"] else ""
    mu = ", ".join(map(significant, it["mu"]))
    task, classes = data["study"]["task"], data["study"]["classes"] or ()
    how, chosen = PROBLEMS[SEVERAL if len(classes) > 2 else task]
    return [
        f"Gene sets ({which(it)}; {counted(data['sets']['known'], 'set')}) were selected on the"
        f" same splits by {how} under"
        " the latent group lasso with overlap (Jacob et al. 2009), each set weighed by"
        f" {WEIGHTS[it['weights']]}, plus μ times the squared norm of its coefficients"
        f" (μ = {mu} ‖XᵀX‖/n).",
        f"The inner folds chose among {counted(it['tau_count'], 'value')} of τ down to"
        f" {significant(it['tau_min'])} τ max by {chosen}{rule}; solutions are certified by"
        " their duality gap over all sets.",
    ]
