"""Which gene sets predict, and whether they do it better than single genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import PermutationP, Study, rounded, rounded_row
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import GENESIG_COLOUR, PAPER, RULE
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import (
    NO_INTERVAL,
    Difference,
    at_mu,
    columns_of,
    comparison_words,
    neither_beats_chance,
    packed_table,
)
from genesig.report.page.words import clean, counted, decimal, percent, shorten, significant
from genesig.response.design import SEVERAL
from genesig.response.kinds import ByKind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class SetsSettings(TypedDict):
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


class ListStability(TypedDict):
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
    p: PermutationP
    stability: ListStability
    of_genes: ListStability


class Sets(Study):
    """Record of a study, with its gene sets; null without gene sets."""

    sets: SetsRecord | None


MAX_SETS = 30


def collect_sets(tables: Mapping[str, pd.DataFrame]) -> SetsRecord | None:
    """Return the record of the selection of gene sets; None if it was not run."""
    if "sets" not in tables:
        return None
    selected = tables["sets"]
    splits = tables["sets_scores"]
    error = tables["sets_error"].iloc[0]
    chosen = tables["stability"]
    permutations = int(error["permutations"])
    return {
        "known": int(error["sets"]),
        "sets": [_rounded(row) for row in selected.head(MAX_SETS).to_dict("records")],
        "ever": int((selected["cv_frequency"] > 0).sum()),
        "often": int(selected["in_list"].astype(bool).sum()),
        "final": int((selected["final_share"] > 0).sum()),
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
    numbers: SelectedSet = rounded_row(row, 4, "cv_frequency", "mean_share", "final_share")
    return {
        **numbers,
        "set": str(row["set"]),
        "genes": int(row["genes"]),
        "named": int(row["named"]),
        "in_list": bool(row["in_list"]),
    }


def _agreement(table: pd.DataFrame) -> ListStability:
    half_rows = table[table["source"] == "half_subsamples"].to_dict("records")
    row = half_rows[0] if half_rows else dict.fromkeys(table.columns, float("nan"))
    row["value"] = row["stability"]
    return rounded_row(row, 4, "value", "mean_size")  # type: ignore[no-any-return]


def draw_frequencies(rows: Sequence[SelectedSet], bound: float) -> Figure:
    """Draw how often each set is selected, and its share of the score."""
    names = [shorten(row["set"].replace("_", " "), 46) for row in rows]
    bold = [row["in_list"] for row in rows]
    figure, frequency_axes, share_axes = charts.frequencies(
        names, bold, bound, "share of the score"
    )
    for y, row in enumerate(rows):
        frequency_axes.hlines(y, 0, row["cv_frequency"], color=RULE, lw=2.4)
        frequency_axes.scatter(row["cv_frequency"], y, s=26, color=GENESIG_COLOUR, zorder=4)
        if row["mean_share"] is not None:
            share_axes.hlines(y, 0, row["mean_share"], color=GENESIG_COLOUR, lw=3.2)
        if row["final_share"]:
            share_axes.scatter(
                row["final_share"], y, s=24, facecolor=PAPER, edgecolor=GENESIG_COLOUR, zorder=4
            )
    share_axes.set_xlim(left=0)
    return figure


SETS_TITLE = "Gene sets"
MAX_SETS_IN_TEXT = 3
"""Sets that a sentence names."""


def sets(data: Sets, limits: Limits) -> Section:
    """Return the section of the gene sets; empty without gene sets."""
    record = data["sets"]
    if record is None:
        return Section("sets", SETS_TITLE)
    settings: SetsSettings = data["config"]["structured"]
    words = [
        f"{comparison_sentence(data, record['difference'])}. {_permutation_words(record)}"
        f" {stability_words(record)}",
        _set_list_words(data, record),
        _selection_words(record, settings),
        _sets_caution(record, settings),
    ]
    items: list[Item] = []
    if record["sets"]:
        items.append(_frequency_figure(data, record))
        caption = "Every set that any split, or the final model, selected."
        items.append(
            packed_table(data, "sets", caption, limits.table_rows, search=True, without=("about",))
        )
    if record["final"]:
        caption = (
            "Genes of the sets of the final model, and their weight in the set's part of the score."
        )
        items.append(packed_table(data, "sets_genes", caption, limits.table_rows, search=True))
    return Section(
        "sets", SETS_TITLE, words, items, part="genes", folded=True, files=["sets_scores.tsv"]
    )


def sets_paragraph(data: Sets) -> list[Paragraph]:
    """Return a paragraph for the first screen; nothing without gene sets."""
    record = data["sets"]
    if record is None:
        return []
    return [
        Paragraph(
            "Gene sets.",
            f"{comparison_sentence(data, record['difference'])}."
            f" {_frequent_sets_words(data, record)}",
        )
    ]


def comparison_sentence(data: Study, d: Difference) -> str:
    """Return the sentence on whether sets predict better or worse, by the measured numbers."""
    if d["error"] is None or d["linear"] is None:
        return "Whether gene sets predict as well as single genes could not be measured"
    words = comparison_words(data, d, "the gene signature")
    if d["low"] is None or d["high"] is None:
        return f"Gene sets: their {words}, {NO_INTERVAL}"
    if neither_beats_chance(data, "sets"):
        return f"Neither gene sets nor single genes predict better than chance: the sets' {words}"
    if d["high"] < 0:
        return f"Whole gene sets predict better than single genes on these data: their {words}"
    if d["low"] > 0:
        return f"Whole gene sets predict worse than single genes on these data: their {words}"
    return (
        "Whole gene sets predict as well as single genes, as far as these samples can show: their"
        f" {words}"
    )


def _permutation_words(record: SetsRecord) -> str:
    p = record["p"]
    if p["value"] is None:
        return "Whether chance could do as well was not tested."
    times = counted(p["permutations"], "time")
    value = significant(p["value"], 2)
    return f"With permuted labels, the same was done {times}: p\u00a0=\u00a0{value}."


def stability_words(record: SetsRecord) -> str:
    """Compare the stability of lists of sets with that of lists of genes."""
    of_sets = record["stability"]
    of_genes = record["of_genes"]
    if of_sets["value"] is None:
        return "The stability of the sets was not measured, or is not defined."
    gene_words = (
        f"those of genes by {decimal(of_genes['value'])}"
        if of_genes["value"] is not None
        else ("the stability of those of genes is not defined")
    )
    return (
        f"On disjoint halves of the samples, lists of sets agree by {decimal(of_sets['value'])},"
        f" {gene_words}"
        " (1: always the same; 0: no more than by chance)."
    )


def _frequent_sets_words(data: Study, record: SetsRecord) -> str:
    share = percent(data["config"]["signature"]["cv_frequency"])
    frequent_sets = [set_row for set_row in record["sets"] if set_row["in_list"]]
    n_sets = f"Of {counted(record['known'], 'set')}"
    if not frequent_sets:
        return f"{n_sets}, none is in {share} of the training sets."
    names = ", ".join(clean(set_row["set"]) for set_row in frequent_sets[:MAX_SETS_IN_TEXT])
    and_others = " and others" if record["often"] > MAX_SETS_IN_TEXT else ""
    verb = "is" if record["often"] == 1 else "are"
    return (
        f"{n_sets}, {record['often']} {verb} in at least {share} of the training sets:"
        f" {names}{and_others}."
    )


def _set_list_words(data: Study, record: SetsRecord) -> str:
    low, middle, high = record["sizes"]
    return (
        f"{_frequent_sets_words(data, record)} A training set selects {significant(middle)} of them"
        f" (median; {significant(low)} to {significant(high)}), the final model, of all samples,"
        f" {record['final']}."
    )


def _selection_words(record: SetsRecord, settings: SetsSettings) -> str:
    singletons = (
        "Genes in no set take part one by one."
        if settings["others"] == "singletons"
        else "Genes in no set take no part here."
    )
    weight_words = {
        "permuted": "Set penalties are calibrated on permuted training labels for this number of"
        " sets. By chance, small and large, loose and correlated sets are selected about equally"
        " often: within a factor of two in simulations.",
        "size": "Each set is weighed by the square root of its size, which favours sets whose genes"
        " go together.",
        "equal": "All sets weigh the same, which favours large ones.",
    }[settings["weights"]]
    return (
        f"Sets are {sets_source(settings)}. A set is selected as a whole: all its genes have part"
        f" in the score, or none by way of it. {weight_words} {singletons} Splits, inner folds and"
        " permutations are those of the gene lists."
    )


def sets_source(settings: SetsSettings) -> str:
    """Return the text on the sets in use: those of a file by size, or the values of a column."""
    file = clean(PurePath(settings["sets"] or "").name)
    if settings["column"] is not None:
        return f"the values of the column {clean(settings['column'])} of {file}"
    sizes = f"{settings['smallest']} to {settings['largest']}"
    return f"those of {file} with {sizes} measured genes"


def _sets_caution(record: SetsRecord, settings: SetsSettings) -> str:
    unconverged = (
        f" {counted(record['unfinished'], 'fit')} did not reach the requested accuracy."
        if record["unfinished"]
        else ""
    )
    return (
        "A selected set helps to predict, together with the others; it need not be the cause, and"
        " of sets that share genes or are active together one may stand for the others."
        + unconverged
    )


def _frequency_figure(data: Study, record: SetsRecord) -> Picture:
    set_rows = record["sets"]
    threshold = data["config"]["signature"]["cv_frequency"]
    set_texts = "; ".join(
        f"{set_row['set']} {percent(set_row['cv_frequency'])}" for set_row in set_rows[:10]
    )
    return picture(
        "sets",
        partial(draw_frequencies, set_rows, threshold),
        data=columns_of(set_rows, "set", "cv_frequency", "mean_share", "final_share", "in_list"),
        title="How often gene sets are selected",
        description=f"Selection frequency of {counted(len(set_rows), 'set')} and share of the"
        f" score. {clean(set_texts)}.",
        caption="Left: share of the outer splits that select the set; dashed: what makes a set part"
        " of the list (bold). Right: mean share of the score over the splits that select it; ring:"
        f" in the final model. Shown: {len(set_rows)} of {record['ever']}, those selected most"
        " often.",
    )


WEIGHT_METHODS = {
    "permuted": "a number with which the norm of its covariances with the response is as likely as"
    " that of any other set to come near the largest (96%) over 200 permutations of the training"
    " labels",
    "size": "the square root of its size",
    "equal": "1",
}


LOSS_AND_CRITERION = ByKind(
    {
        "classification": ("least squares", "squared error"),
        "regression": ("least squares", "squared error"),
        SEVERAL: ("least squares on a column for each class", "squared error"),
        "survival": (
            "Cox's partial likelihood",
            "the partial likelihood that left-out samples add to that of the others",
        ),
    }
)
"""What is minimised beside the penalty, and what the inner folds go by, of each kind."""


def sets_sentences(data: Sets) -> list[str]:
    """Return the sentences, none where no sets were named."""
    if data["sets"] is None:
        return []
    settings: SetsSettings = data["config"]["structured"]
    rule = " within one standard error of the smallest" if settings["one_standard_error"] else ""
    mu = ", ".join(map(significant, settings["mu"]))
    task = data["study"]["task"]
    classes = data["study"]["classes"] or ()
    loss, chosen = LOSS_AND_CRITERION[SEVERAL if len(classes) > 2 else task]
    return [
        f"Gene sets ({sets_source(settings)}; {counted(data['sets']['known'], 'set')}) were"
        f" selected on the same splits by {loss} under"
        " the latent group lasso with overlap (Jacob et al. 2009), each set weighed by"
        f" {WEIGHT_METHODS[settings['weights']]}, plus μ times the squared norm of its coefficients"
        f" (μ = {mu} ‖XᵀX‖/n).",
        f"The inner folds chose among {counted(settings['tau_count'], 'value')} of τ down to"
        f" {significant(settings['tau_min'])} τ max by {chosen}{rule}; solutions are certified by"
        " their duality gap over all sets.",
    ]
