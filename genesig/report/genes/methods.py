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
from genesig.results.splits import FINAL, TRAINING
from genesig.selection.genes.frequency import LEVEL, LONGEST, LOOSE, MU, NESTED, SHARE
from genesig.selection.linear.ensemble import LENGTHS

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
        " settings of its own choice, and is held against chance and against lasso lists of the"
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
            "The signature is the genes of the predictive model, chosen in the same way on all"
            " samples, and the named ones."
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


def evidence_words(data: Genes, it: Evidence) -> list[str]:
    """Say how to read the two tables of genes."""
    fdr = significant(data["config"]["signature"]["fdr"], 2)
    return [
        "Selection frequency: the share of the half-sample lists that contain the gene. Each half"
        " of the samples makes two lists: all its genes, and those of the larger weights."
        " q (selection): of the genes with at least this selection frequency, the share expected"
        " by chance, estimated with permuted labels; it says how many genes are false, not which."
        f" A gene is FDR-selected if its q is at most {fdr} and permuted labels give fewer such"
        " genes.",
        f"{_others(data, it)}{speaks_for(data)}{_without(data)}.",
    ]


def _without(data: Genes) -> str:
    """Explain weight 0, where an FDR-selected gene has it."""
    idle = any(
        row["fdr_selected"] and not row["weight"] for row in records(data["tables"]["signature"])
    )
    return "; weight 0 marks an FDR-selected gene that the model does without" if idle else ""


def _others(data: Genes, it: Evidence) -> str:
    """Say what genes without evidence are, where there are any."""
    if it["fdr_selected"] == data["answer"]["size"]:
        return ""
    who = "FDR-selected genes stand first. The other genes" if it["fdr_selected"] else "The genes"
    return (
        f"{who} of the predictive model have no evidence of their own: each may stand in for a"
        " correlated gene, or be there by chance: look for them in another study first. "
    )


def standing(row: Row) -> str:
    """Say what evidence a gene has."""
    said = (
        f"in {percent(row['selection_frequency'])} of the half-sample lists"
        f" (chance {percent(row['null_frequency'])}), q\u00a0{significant(row['selection_q'])}"
    )
    return f"named: {said}" if row["fdr_selected"] else f"none of its own: {said}"


def evidence_sentences(data: Genes) -> list[str]:
    """Say how genes came to be named; nothing where no evidence was looked for."""
    if data["answer"]["evidence"] is None:
        return []
    wanted = data["config"]["signature"]
    permuted, lists = counted(wanted["permutations"], "permutation"), 2 * FINAL * len(NESTED)
    return [
        "Which genes can be named was asked of complementary pairs of halves of the samples"
        " (Meinshausen and Bühlmann 2010; Shah and Samworth 2013):"
        f" {FINAL} pairs, {lists} lists: of each half the last list of at most {LONGEST} genes (and"
        f" {percent(SHARE)} of all) on the path of the elastic net at"
        f" μ = {significant(MU)} ‖XᵀX‖/n, and the half of it of the larger weights. With F the"
        " number of lists that hold a gene, E(t) is the"
        f" number of genes with F ≥ t under {permuted} of the labels (one added to the sum and to"
        " the number of permutations), and R(t) that under the labels observed; q is the smallest"
        " E(t)/R(t) over t ≤ F, the plug-in estimate of the false discovery rate (Tusher et al."
        " 2001; Storey"
        " and Tibshirani 2003).",
        f"Genes with q ≤ {significant(wanted['fdr'], 2)} were named if their number exceeded that"
        " of permuted labels, each permutation judged by the E of the others, at"
        f" p ≤ {significant(LEVEL)}. In each training set {TRAINING} pairs gave the list in"
        " the same way, so that the error of models of FDR-selected genes is a held-out one, too;"
        f" if fewer than {wanted['least']} genes passed, that model took {wanted['least']} genes"
        " of the largest selection frequency.",
        _predictive(data),
    ]


def _predictive(data: Genes) -> str:
    which, rate = data["config"]["linear"]["list"], data["config"]["signature"]["fdr"]
    said = {
        "best": "The predictive model of each training set has the list with the smaller error over"
        " the inner folds: that of the two-stage protocol, or the genes with"
        f" q ≤ {significant(LOOSE * rate, 2)}.",
        "fdr": "The predictive model is that of the FDR-selected genes.",
    }.get(which, "The predictive model is that of the two-stage list.")
    if data["config"]["linear"].get("model") == "ensemble":
        said += (
            " It was averaged with two other linear models: one of the genes that halves of the"
            " training samples list most often, one of those that go with the response most, each"
            f" by itself. Their numbers of genes ({LENGTHS[0]} to {LENGTHS[-1]}) were chosen by the"
            " inner folds; the mean is again linear, and its genes are those of all three."
        )
    return f"{said} A ridge refit gives the weights of every list."
