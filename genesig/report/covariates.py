"""Covariates that every model contains, and the added value of gene expression.

The weights are those of the models of the chosen lists: the gene lists that inner folds chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.study.pool_record import WEIGHT_COLUMN
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Paragraph, Section
from genesig.report.page.tables import Column, Difference, difference, filled_table
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.wording import Wording
from genesig.report.page.words import enumerated, significant
from genesig.selection.assess.covariates import COVARIATES, COVARIATES_AND_RIDGE

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits


class CovariateWeight(TypedDict):
    """Weight of a covariate in the final model.

    Each of several classes has a row. Each segment of a spline, from knot to knot, has a row; its
    weight is the gain of the score over the segment.
    """

    name: str  # with the class, if there are several
    reference: str | None  # level with which a categorical covariate is compared
    weight: float  # per unit, in the final model
    per_sd: float | None  # per standard deviation; of a spline NaN, then None in report_data.json
    mean: float  # mean weight per unit over the outer splits
    low: float  # smallest weight over the outer splits
    high: float  # largest weight over the outer splits
    sign: float  # share of the outer splits whose weight has the sign of the mean


class CovariatesRecord(TypedDict):
    """Covariates of a study, and the added value of expression."""

    columns: list[str]
    curved: list[str]  # covariates with a spline
    missing: int  # samples with an imputed value
    weights: list[CovariateWeight]
    alone: Difference  # error of the covariates alone against models with selected genes
    whole: Difference  # the same against ridge on all genes
    p: float | None  # permutation p of the added value of the selected genes
    p_whole: float | None  # permutation p of the global test of all genes


class Covariates(Study):
    """The keys of report_data.json that this topic reads."""

    covariates: NotRequired[CovariatesRecord]  # absent without covariates


def collect_covariates(
    dataset: Dataset, observed: Fits, final: Fits, controls: pd.DataFrame
) -> dict[str, CovariatesRecord]:
    """Return {"covariates": record}; {} without covariates."""
    design_covariates = dataset.design.covariates
    final_chosen = final.with_chosen()
    split_chosen = observed.with_chosen()
    if final_chosen.covariates is None or split_chosen.covariates is None:
        return {}
    classes = dataset.design.classes or ()
    rows = [
        _weight_row(step, class_suffix, final_weight, split_weights)
        for step in _covariate_steps(dataset, final)
        for class_suffix, final_weight, split_weights in _weights_by_class(
            _score_gains(final_chosen, step), _score_gains(split_chosen, step), classes
        )
    ]
    genesig_row, ridge = (
        _control_row(controls, name) for name in ("genesig", COVARIATES_AND_RIDGE)
    )
    alone = _control_row(controls, COVARIATES)
    return {
        "covariates": {
            "columns": [covariate.column for covariate in design_covariates],
            "curved": [covariate.column for covariate in design_covariates if covariate.knots],
            "missing": int(np.isnan(dataset.covariates()).any(axis=1).sum()),
            "weights": rows,
            "alone": _difference(genesig_row, alone),
            "whole": _difference(ridge, alone),
            "p": genesig_row["p_value"],
            "p_whole": ridge["p_value"],
        }
    }


class _Step(NamedTuple):
    """Two values of a covariate between which the gain of the score is measured."""

    name: str
    reference: str | None  # level with which a categorical covariate is compared
    # (n_columns,) encoded covariates: NaN, which counts as the training mean, except one column
    low: Array
    high: Array  # (n_columns,) likewise
    sd: float  # standard deviation of the column; NaN for a spline


def _covariate_steps(dataset: Dataset, final: Fits) -> Iterator[_Step]:
    """Yield a step from 0 to 1 for each level and straight line, from knot to knot of a spline."""
    covariate_values = dataset.covariates()
    column = 0
    for covariate in dataset.design.covariates:
        # A categorical covariate has a column for each level but the first, the reference.
        reference_level = covariate.levels[0] if covariate.levels else None
        for name in covariate.names if covariate.levels is not None else (covariate.column,):
            sd = float(np.nanstd(covariate_values[:, column]))
            knots = np.array([0.0, 1.0])
            if covariate.knots and final.covariates is not None:
                sd = np.nan
                knots = final.covariates.knots[0, column, : covariate.knots]  # of the only fit
            for low, high in pairwise(knots.tolist()):
                ends = np.full((2, covariate_values.shape[1]), np.nan)
                ends[:, column] = low, high
                span = f" {significant(low)} to {significant(high)}" if covariate.knots else ""
                yield _Step(name + span, reference_level, ends[0], ends[1], sd)
            column += 1


def _score_gains(chosen_fits: Fits, step: _Step) -> Array:
    """Return the gain of the score over a step by the chosen list of each fit.

    (n_fits,), or (n_fits, n_classes) if each of several classes has a score.
    """
    ends = np.stack([step.low, step.high])
    # (2 ends, lists, ...) of each fit; the chosen list is the last one
    scores = [
        np.asarray(chosen_fits.covariate_scores(fit, ends)) for fit in range(len(chosen_fits))
    ]
    return np.stack([fit_scores[1, -1] - fit_scores[0, -1] for fit_scores in scores])


def _weights_by_class(
    final_gains: Array, split_gains: Array, classes: Sequence[str]
) -> Iterator[tuple[str, float, Array]]:
    """Yield (suffix of the name, final weight, weights of splits), for each of several classes.

    Gains are those of `_score_gains`, of the only final fit and of the fit of each split.
    """
    if final_gains.ndim == 1:  # one score for all classes
        yield "", float(final_gains[0]), split_gains
        return
    for class_index, name in enumerate(classes):
        yield f" ({name})", float(final_gains[0, class_index]), split_gains[:, class_index]


def _weight_row(
    step: _Step, class_suffix: str, final_weight: float, split_weights: Array
) -> CovariateWeight:
    """Return the record of a weight; a step without a standard deviation gives `per_sd` NaN."""
    return {
        "name": step.name + class_suffix,
        "reference": step.reference,
        "weight": final_weight,
        "per_sd": final_weight * step.sd,
        "mean": split_weights.mean(),
        "low": split_weights.min(),
        "high": split_weights.max(),
        "sign": np.mean(np.sign(split_weights) == np.sign(split_weights.mean())),
    }


def _control_row(controls: pd.DataFrame, name: str) -> pd.Series[float]:
    """Return the row of a method with its chosen lists."""
    return controls[(controls["model"] == name) & controls["mu"].isna()].iloc[0]


def _difference(model: pd.Series[float], alone: pd.Series[float]) -> Difference:
    """Return the errors of a model and of the covariates alone, with the gain of the model.

    The key `linear` holds the error of the model also if that is ridge on all genes.
    """
    return {
        "error": alone["error"],
        "linear": model["error"],
        "difference": alone["error"] - model["error"],
        "low": model["added_low"],
        "high": model["added_high"],
    }


# columns of the table of weights, by fields of `CovariateWeight`
WEIGHT_COLUMNS = {
    "name": Column("Covariate", "text"),
    "reference": Column("Against", "text"),
    "weight": Column("Weight", "signed"),
    "per_sd": Column("Weight per SD", "signed"),
    "mean": Column("Mean over splits", "signed"),
    "low": Column("Smallest", "signed"),
    "high": Column("Largest", "signed"),
    "sign": Column("Same sign", "share"),
}


def added_value(data: Covariates) -> list[Paragraph]:
    """Return the paragraph of the first screen about the added value; [] without covariates."""
    if "covariates" not in data:
        return []
    record = data["covariates"]
    text = WORDS.text("added", data, record, _shows_ridge(data), in_section=False)
    return [Paragraph(f"Beyond {enumerated(record['columns'])}.", text)]


def _is_measured(alone: Difference) -> bool:
    """Return whether errors and interval are defined."""
    return None not in (alone["error"], alone["linear"], alone["low"], alone["high"])


def _shows_ridge(data: Covariates) -> bool:
    """Return whether the text also reports ridge on all genes: if selected genes add less."""
    verdict = data["verdict"]
    if not _is_measured(data["covariates"]["alone"]):
        return False
    if grade_within_study(data) is Grade.HERE:
        return verdict["basis"] == "all genes"
    return not verdict["interval_excludes_chance"]


WORDS = Wording(
    __file__,  # sentences: the macros of covariates.j2, by name
    measured=_is_measured,
    grade_here=lambda data: grade_within_study(data) is Grade.HERE,
    genes_add=lambda data: (
        grade_within_study(data) is Grade.HERE and data["verdict"]["basis"] == "genes"
    ),
    gain_value=lambda data, value: "" if value is None else difference(data, value),
)


def covariates_section(data: Covariates, limits: Limits) -> Section | None:
    """Return the section about covariates; None without covariates."""
    if "covariates" not in data:
        return None
    record = data["covariates"]
    columns = list(WEIGHT_COLUMNS.values())
    rows = [[weight[key] for key in WEIGHT_COLUMNS] for weight in record["weights"]]  # type: ignore[literal-required]
    several_classes = len(data["study"]["classes"] or ()) > 2
    caption = WORDS.text("weights_caption", several_classes=several_classes)
    words = WORDS.paragraphs("section", data, record, _shows_ridge(data))
    return Section(
        "covariates",
        "Covariates",
        words,
        [filled_table("covariates", caption, columns, rows, limits.table_rows)],
        part="prediction",
    )


def covariate_sentences(data: Covariates) -> list[str]:
    """Return the sentences of Methods about covariates and weights of samples, if any."""
    texts = WORDS.paragraphs("methods", data["covariates"]) if "covariates" in data else []
    weights = data["config"]["data"]["weights"]
    if weights not in (None, WEIGHT_COLUMN):  # WEIGHT_COLUMN: the topic of studies writes this
        texts += WORDS.paragraphs("sample_weights", weights, data["study"]["classes"] or ())
    return texts
