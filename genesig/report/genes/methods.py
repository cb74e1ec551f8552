"""Sentences about the signature and about tests of genes, for Methods and for the sections."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.measure import weight_direction
from genesig.report.page.record import Evidence
from genesig.report.page.tables import TableRow, table_rows
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
from genesig.selection.linear.training_sets import LIST_LENGTHS

TEST_NAMES = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "anova": "Welch analysis of variance",
    "correlation": "test of the correlation",
    "linear": "linear model (least squares)",
    "score": "score test of Cox's model",
}


def signature_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about the signature and its stability."""
    halves = data["design"]["subsamples"]
    stability_sentence = (
        " Stability (agreement beyond chance, after Nogueira et al. 2018) compares the lists of"
        f" the two disjoint halves of the samples in {halves // 2} halvings, each half with"
        " settings of its own choice, and is compared with chance and with lasso lists of the"
        " same length from the same halves."
        if halves
        else ""
    )
    core_share = percent(data["config"]["signature"]["cv_frequency"])
    definition = (
        "The signature is the list of the final model, chosen in the same way on all samples;"
        f" genes selected in at least {core_share} of the outer training sets are core."
    )
    if data["answer"]["evidence"]:
        definition = (
            "The signature is the genes of the final model, chosen in the same way on all samples."
        )
    return [
        f"{definition}{stability_sentence} Each"
        " gene of the longer lists was assigned to the gene of the minimal list with which it"
        " correlates most, where |r| is at least"
        f" {decimal(data['config']['clusters']['least'])}."
    ]


def averaging_note(data: Genes) -> str:
    """Return the note on the values per gene; "" if each sample counts alone."""
    tests = data["univariate"]
    classes = data["study"]["classes"]
    if tests["group"] is None:
        return ""
    value_count = f"{counted(tests['values'], 'value')}: one per {clean(tests['group'])}"
    if tests["test"] == "differences":
        return f" ({value_count}, the difference of its class means)"
    if classes:
        return f" ({value_count} and class, the mean of its samples)"
    return f" ({value_count}, the mean of its samples)"


def adjustment_note(data: Genes) -> str:
    """Return the note on the batches and covariates in the test."""
    batch = data["univariate"]["batch"]
    covariates = data["univariate"].get("covariates", [])
    note = "" if batch is None else f", with {clean(batch)} as a factor in the model"
    return note + (f", adjusted for {enumerated(covariates)}" if covariates else "")


def single_gene_sentences(data: Genes) -> list[str]:
    """Return the sentence of Methods about the tests of single genes."""
    return [
        f"Single genes were tested by a {TEST_NAMES[data['univariate']['test']]} on all"
        f" samples{averaging_note(data)}{adjustment_note(data)}, at a false discovery rate of"
        f" {percent(data['config']['controls']['fdr'])} (Benjamini and Hochberg 1995)."
    ]


def evidence_paragraphs(data: Genes, evidence: Evidence) -> list[str]:
    """Return the paragraphs on how to read the two tables of genes."""
    fdr = data["config"]["signature"]["fdr"]
    return [
        f"Of the genes with q (selection)\u00a0≤\u00a0{significant(fdr, 2)}, expect {percent(fdr)}"
        " to be false; which ones is not known.",
        f"{_unselected_sentence(data, evidence)}{weight_direction(data)}{_zero_weight_note(data)}.",
    ]


def _zero_weight_note(data: Genes) -> str:
    """Return the explanation of weight 0, if an FDR-selected gene has it."""
    unused = any(
        row["fdr_selected"] and not row["weight"] for row in table_rows(data["tables"]["signature"])
    )
    return "; weight 0 marks an FDR-selected gene that the model does not use" if unused else ""


def _unselected_sentence(data: Genes, evidence: Evidence) -> str:
    """Return how to read the genes that were not FDR-selected; "" without any."""
    if evidence["fdr_selected"] == data["answer"]["size"]:
        return ""
    subject = "These genes"
    if evidence["fdr_selected"]:
        subject = "FDR-selected genes come first. The others"
    return (
        f"{subject} may be there by chance or replace a correlated gene: do not follow them up"
        " without data from another study. "
    )


def selection_text(row: TableRow) -> str:
    """Return how often a gene is selected, and how often by chance."""
    passed = "FDR-selected" if row["fdr_selected"] else "not FDR-selected"
    return (
        f"{passed}: {percent(row['selection_frequency'])} of random halves"
        f" (chance {percent(row['null_frequency'])}),"
        f" q (selection) {significant(row['selection_q'], 2)}"
    )


def evidence_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about selection by FDR; none without it."""
    if data["answer"]["evidence"] is None:
        return []
    signature_settings = data["config"]["signature"]
    permuted = counted(signature_settings["permutations"], "permutation")
    lists = 2 * PAIRS_OF_ALL_SAMPLES * len(LIST_SHARES)
    return [
        "Genes were selected by stability selection with complementary pairs of random halves"
        " (Meinshausen and Bühlmann 2010; Shah and Samworth 2013). Two lists came from each of"
        f" {2 * PAIRS_OF_ALL_SAMPLES} halves, on the elastic-net path"
        f" (μ = {significant(HALF_SAMPLE_MU)} ‖XᵀX‖/n): the longest list of at most"
        f" {MAX_LIST_GENES} genes (and {percent(MAX_LIST_SHARE)} of all), and its half with the"
        f" larger weights. F is the number of these {lists} lists that contain"
        " a gene, R(t) the number of genes with F ≥ t. E(t) is that"
        f" number under {permuted} of the labels (one added to the sum and to the number of"
        " permutations). q (selection) is the smallest E(t)/R(t) over t ≤ F, the plug-in estimate"
        " of the false discovery rate (Tusher et al. 2001; Storey and Tibshirani 2003).",
        f"Genes with q (selection) ≤ {significant(signature_settings['fdr'], 2)} were FDR-selected"
        " if their number exceeded that with permuted labels, each permutation judged by the E of"
        f" the others, at p ≤ {significant(MAX_GATE_P)}. {PAIRS_OF_TRAINING_SET} pairs of each"
        " training set gave the list of its model of FDR-selected genes; if fewer than"
        f" {signature_settings['least']} genes passed, that model used the"
        f" {signature_settings['least']} genes of the largest selection frequency.",
        _model_list_sentence(data),
    ]


def _model_list_sentence(data: Genes) -> str:
    """Return the sentence of Methods about the gene list of the model."""
    list_setting = data["config"]["linear"]["list"]
    fdr = data["config"]["signature"]["fdr"]
    sentence = {
        "best": "The model of each training set has the list with the smaller error over"
        " the inner folds: that of the two-stage protocol, or the genes with"
        f" q (selection) ≤ {significant(PREDICTIVE_FDR_FACTOR * fdr, 2)}.",
        "fdr": "The model is that of the FDR-selected genes.",
    }.get(list_setting, "The model is that of the two-stage list.")
    if data["config"]["linear"].get("model") == "ensemble":
        sentence += (
            " It was averaged with two other linear models: one of the genes that random halves of"
            " the training samples select most often, one of those most associated with the"
            " outcome by themselves. Their numbers of genes"
            f" ({LIST_LENGTHS[0]} to {LIST_LENGTHS[-1]}) were chosen by the inner"
            " folds; the mean is again linear, with the genes of all three."
        )
    return f"{sentence}"
