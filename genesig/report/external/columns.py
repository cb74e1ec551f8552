"""The columns of genes and samples of another study, in the words of the kind of response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from genesig.report.external.record import CohortRecord
from genesig.report.page.columns import Column

GENES = {
    "symbol": Column("Symbol", "text"),
    "gene": Column("Gene id", "name"),
    "coef": Column("Weight", "signed", "Weight in the final model"),
    "training_mean": Column("Training mean", "number", "In this study"),
    "training_sd": Column("Training SD", "number", "Standard deviation in this study"),
    "mean": Column("Cohort mean", "number", "In the other study"),
    "shift": Column("Shift", "signed", "Difference of the means in standard deviations of here"),
    "shift_before": Column("Before ComBat", "signed", "The shift as measured"),
    "score_shift": Column("Effect on score", "signed", "Weight times difference of the means"),
    "imputed": Column("Samples imputed", "integer", "Samples that lack the gene"),
}
SAMPLES = {
    "sample": Column("Sample", "name"),
    "given": Column("Label there", "text"),
    "label": Column("Class", "text"),
    "score": Column("Score", "signed"),
    "predicted": Column("Called", "text"),
}
TIMES = {"sample": SAMPLES["sample"], "given": Column("Time and event", "text"),
         "score": SAMPLES["score"], "predicted": Column("Risk group", "text")}  # fmt: skip
NUMBERS = {"sample": SAMPLES["sample"], "given": Column("Observed", "text"),
           "score": Column("Predicted", "number")}  # fmt: skip


def gene_columns(classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of genes, which say how their means are taken."""
    if not classes:
        return GENES
    alike = f", {'both' if len(classes) == 2 else 'all'} classes counting alike"
    means = {key: GENES[key] for key in ("training_mean", "mean")}
    return GENES | {key: replace(one, help=one.help + alike) for key, one in means.items()}


def sample_columns(cohort: CohortRecord, classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of samples: of times that have curves, of numbers, or of classes."""
    if classes:
        return SAMPLES
    return TIMES if "curves" in cohort else NUMBERS
