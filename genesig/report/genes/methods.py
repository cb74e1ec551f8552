"""How to read the evidence of a gene, and what the Methods text says of signature and genes."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.measure import speaks_for
from genesig.report.page.record import Evidence
from genesig.report.page.tables import Row, records
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    enumerated,
    percent,
    significant,
)
from genesig.results.splits import PAIRS_OF_ALL_SAMPLES, PAIRS_OF_TRAINING_SET
from genesig.selection.genes.frequency import (
    HALF_SAMPLE_MU,
    LIST_SHARES,
    MAX_GATE_P,
    MAX_LIST_GENES,
    MAX_LIST_SHARE,
    PREDICTIVE_FDR_FACTOR,
)
from genesig.selection.linear.ensemble import LIST_LENGTHS

TESTS = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "anova": "Welch analysis of variance",
    "correlation": "test of the correlation",
    "linear": "linear model (least squares)",
    "score": "score test of Cox's model",
}


def signature(data: Genes) -> list[str]:
    """Say what the signature holds, and how its stability was measured."""
    halves = data["design"]["subsamples"]
    measured = (
        " Stability (agreement beyond chance, after Nogueira et al. 2018) compares the lists of"
        f" the two disjoint halves of the samples in {halves // 2} halvings, each half with"
        " settings of its own choice, and is compared with chance and with lasso lists of the"
        " same length from the same halves."
        if halves
        else ""
    )
    share = percent(data["config"]["signature"]["cv_frequency"])
    what = (
        "The signature is the list of the final model, chosen in the same way on all samples;"
        f" genes selected in at least {share} of the outer training sets are core."
    )
    if data["answer"]["evidence"]:
        what = (
            "The signature is the genes of the final model, chosen in the same way on all samples."
        )
    return [
        f"{what}{measured} Each"
        " gene of the longer lists was assigned to the gene of the minimal list with which it"
        " correlates most, where |r| is at least"
        f" {decimal(data['config']['clusters']['least'])}."
    ]


def one_value(data: Genes) -> str:
    """Say what was averaged before single genes were tested; nothing where samples count alone."""
    it, classes = data["univariate"], data["study"]["classes"]
    if it["group"] is None:
        return ""
    noun = f"{counted(it['values'], 'value')}: one per {clean(it['group'])}"
    if it["test"] == "differences":
        return f" ({noun}, the difference of its class means)"
    if classes:
        return f" ({noun} and class, the mean of its samples)"
    return f" ({noun}, the mean of its samples)"


def in_test(data: Genes) -> str:
    """Say that the batches and the covariates are in the test."""
    batch, fixed = data["univariate"]["batch"], data["univariate"].get("covariates", [])
    words = "" if batch is None else f", with {clean(batch)} as a factor in the model"
    return words + (f", adjusted for {enumerated(fixed)}" if fixed else "")


def tests(data: Genes) -> list[str]:
    """Say how single genes were tested."""
    return [
        f"Single genes were tested by a {TESTS[data['univariate']['test']]} on all"
        f" samples{one_value(data)}{in_test(data)}, at a false discovery rate of"
        f" {percent(data['config']['controls']['fdr'])} (Benjamini and Hochberg 1995)."
    ]


def evidence_words(data: Genes, evidence: Evidence) -> list[str]:
    """Say how to read the two tables of genes."""
    fdr = data["config"]["signature"]["fdr"]
    return [
        "Selection frequency: how often a gene was selected in"
        f" {2 * PAIRS_OF_ALL_SAMPLES * len(LIST_SHARES)} gene lists from random halves"
        " of the samples. q (selection): the share of false positives"
        " expected among genes selected at least this often, from permuted labels. With"
        f" q\u00a0≤\u00a0{significant(fdr, 2)}, expect {percent(fdr)} to be false; q does not say"
        " which.",
        f"{_others(data, evidence)}{speaks_for(data)}{_without_weight(data)}.",
    ]


def _without_weight(data: Genes) -> str:
    """Explain weight 0, if an FDR-selected gene has it."""
    unused = any(
        row["fdr_selected"] and not row["weight"] for row in records(data["tables"]["signature"])
    )
    return "; weight 0 marks an FDR-selected gene that the model does not use" if unused else ""


def _others(data: Genes, evidence: Evidence) -> str:
    """Say how to take the genes that do not pass the FDR, if there are any."""
    if evidence["fdr_selected"] == data["answer"]["size"]:
        return ""
    who = "These genes"
    if evidence["fdr_selected"]:
        who = "FDR-selected genes come first. The others"
    return (
        f"{who} help to predict but may be there by chance or replace a correlated gene. Do not"
        " follow them up without data from another study. "
    )


def standing(row: Row) -> str:
    """Say how often a gene is selected, and how often by chance."""
    passed = "FDR-selected" if row["fdr_selected"] else "not FDR-selected"
    return (
        f"{passed}: in {percent(row['selection_frequency'])} of random halves"
        f" ({percent(row['null_frequency'])} by chance),"
        f" q\u00a0=\u00a0{significant(row['selection_q'], 2)}"
    )


def evidence_sentences(data: Genes) -> list[str]:
    """Say how genes were selected by FDR; nothing if they were not tested."""
    if data["answer"]["evidence"] is None:
        return []
    wanted = data["config"]["signature"]
    permuted, lists = (
        counted(wanted["permutations"], "permutation"),
        2 * PAIRS_OF_ALL_SAMPLES * len(LIST_SHARES),
    )
    return [
        "Genes were selected by stability selection with complementary pairs of random halves"
        " (Meinshausen and Bühlmann 2010; Shah and Samworth 2013). From each of"
        f" {2 * PAIRS_OF_ALL_SAMPLES} halves, two lists were taken on the elastic-net path"
        f" (μ = {significant(HALF_SAMPLE_MU)} ‖XᵀX‖/n): the longest list of at most"
        f" {MAX_LIST_GENES} genes (and {percent(MAX_LIST_SHARE)} of all), and its half with the"
        f" larger weights. F is the number of these {lists} lists that contain"
        " a gene, R(t) the number of genes with F ≥ t. E(t) is that"
        f" number under {permuted} of the labels (one added to the sum and to the number of"
        " permutations). q is the smallest E(t)/R(t) over t ≤ F, the plug-in estimate of the false"
        " discovery rate (Tusher et al. 2001; Storey and Tibshirani 2003).",
        f"Genes with q ≤ {significant(wanted['fdr'], 2)} were FDR-selected if their number"
        " exceeded that with permuted labels, each permutation judged by the E of the others, at"
        f" p ≤ {significant(MAX_GATE_P)}. In each training set {PAIRS_OF_TRAINING_SET} pairs gave"
        " the list in the same way, so that the accuracy with FDR-selected genes only is a"
        " held-out one, too; if"
        f" fewer than {wanted['least']} genes passed, that model took the {wanted['least']} genes"
        " of the largest selection frequency.",
        _predictive(data),
    ]


def _predictive(data: Genes) -> str:
    which, rate = data["config"]["linear"]["list"], data["config"]["signature"]["fdr"]
    said = {
        "best": "The model of each training set has the list with the smaller error over"
        " the inner folds: that of the two-stage protocol, or the genes with"
        f" q ≤ {significant(PREDICTIVE_FDR_FACTOR * rate, 2)}.",
        "fdr": "The model is that of the FDR-selected genes.",
    }.get(which, "The model is that of the two-stage list.")
    if data["config"]["linear"].get("model") == "ensemble":
        said += (
            " It was averaged with two other linear models: one of the genes that random halves of"
            " the training samples select most often, one of those most associated with the"
            " outcome by themselves. Their numbers of genes"
            f" ({LIST_LENGTHS[0]} to {LIST_LENGTHS[-1]}) were chosen by the inner"
            " folds; the mean is again linear, with the genes of all three."
        )
    return f"{said} A ridge refit gives the weights of every list."
