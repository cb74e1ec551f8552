"""Sentences about the signature and about tests of genes, for Methods and for the sections."""

from __future__ import annotations

from genesig.report.genes.record import Genes
from genesig.report.page.record import Evidence
from genesig.report.page.tables import TableRow, table_rows
from genesig.report.page.wording import Wording
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


WORDS = Wording(
    __file__,  # sentences: the macros of methods.j2, by name
    HALF_SAMPLE_MU=HALF_SAMPLE_MU,
    LIST_LENGTHS=LIST_LENGTHS,
    LIST_SHARES=LIST_SHARES,
    MAX_GATE_P=MAX_GATE_P,
    MAX_LIST_GENES=MAX_LIST_GENES,
    MAX_LIST_SHARE=MAX_LIST_SHARE,
    PAIRS_OF_ALL_SAMPLES=PAIRS_OF_ALL_SAMPLES,
    PAIRS_OF_TRAINING_SET=PAIRS_OF_TRAINING_SET,
    PREDICTIVE_FDR_FACTOR=PREDICTIVE_FDR_FACTOR,
    TEST_NAMES=TEST_NAMES,
)


def signature_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about the signature and its stability."""
    return WORDS.paragraphs("signature", data)


def single_gene_sentences(data: Genes) -> list[str]:
    """Return the sentence of Methods about the tests of single genes."""
    return WORDS.paragraphs("single_genes", data)


def evidence_paragraphs(data: Genes, evidence: Evidence) -> list[str]:
    """Return the paragraphs on how to read the two tables of genes."""
    has_unused_genes = any(
        row["fdr_selected"] and not row["weight"] for row in table_rows(data["tables"]["signature"])
    )
    return WORDS.paragraphs("evidence", data, evidence, has_unused_genes)


def selection_text(row: TableRow) -> str:
    """Return how often a gene is selected, and how often by chance."""
    return WORDS.text("selection", row)


def evidence_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about selection by FDR; none without it."""
    if data["answer"]["evidence"] is None:
        return []
    return WORDS.paragraphs("evidence_methods", data)
