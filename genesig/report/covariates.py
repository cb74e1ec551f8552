"""Covariates that every model contains, and the added value of gene expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.study.pool.record import WEIGHT_COLUMN
from genesig.report.page.record import Study, rounded
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

    Of several classes each has a row. Of a spline each segment from knot to knot has a row, whose
    weight is the gain of the score over the segment.
    """

    name: str  # of several classes with the class
    reference: str | None  # level with which a categorical covariate is compared
    weight: float  # per unit, in the final model
    per_sd: float | None  # per standard deviation; null for splines
    mean: float  # mean weight per unit over the outer splits
    low: float  # smallest weight over the outer splits
    high: float  # largest weight over the outer splits
    sign: float  # share of the outer splits whose weight has the sign of the mean


class CovariatesRecord(TypedDict):
    """Covariates of a study and the added value of expression."""

    columns: list[str]
    curved: list[str]  # covariates with a spline
    missing: int  # samples with an imputed value
    weights: list[CovariateWeight]
    alone: Difference  # error of the covariates alone against models with selected genes
    whole: Difference  # the same against ridge on all genes
    p: float | None  # permutation p of the added value of the selected genes
    p_whole: float | None  # permutation p of the global test of all genes


class Covariates(Study):
    """Record of a study, with its covariates if it has any."""

    covariates: NotRequired[CovariatesRecord]


def collect_covariates(
    dataset: Dataset, observed: Fits, final: Fits, controls: pd.DataFrame
) -> dict[str, CovariatesRecord]:
    """Return the record of the covariates under its key; empty without covariates."""
    columns = dataset.design.covariates
    answer = final.with_chosen()
    answers = observed.with_chosen()
    if answer.covariates is None or answers.covariates is None:
        return {}
    classes = dataset.design.classes or ()
    rows = [
        _weight_row(step, name, weight, splits)
        for step in _covariate_steps(dataset, final)
        for name, weight, splits in _weights_by_class(
            _score_gain(answer, step), _score_gain(answers, step), classes
        )
    ]
    genesig_row, ridge = (
        _control_row(controls, name) for name in ("genesig", COVARIATES_AND_RIDGE)
    )
    alone = _control_row(controls, COVARIATES)
    return {
        "covariates": {
            "columns": [c.column for c in columns],
            "curved": [c.column for c in columns if c.knots],
            "missing": _count_missing(dataset.covariates()),
            "weights": rows,
            "alone": _difference(genesig_row, alone),
            "whole": _difference(ridge, alone),
            "p": rounded(genesig_row["p_value"], 5),
            "p_whole": rounded(ridge["p_value"], 5),
        }
    }


class _Step(NamedTuple):
    """Two values of a covariate between which the gain of the score is measured."""

    name: str
    reference: str | None
    low: Array  # (r,) encoded covariates, NaN except one column
    high: Array  # (r,) likewise
    sd: float  # standard deviation of the column; NaN for a spline


def _covariate_steps(dataset: Dataset, final: Fits) -> Iterator[_Step]:
    """Yield a step for each level and straight line, and one from knot to knot of each spline."""
    covariate_values = dataset.covariates()
    column = 0
    for covariate in dataset.design.covariates:
        reference_level = covariate.levels[0] if covariate.levels else None
        for name in covariate.names if covariate.levels is not None else (covariate.column,):
            sd = float(np.nanstd(covariate_values[:, column]))
            knots = np.array([0.0, 1.0])
            if covariate.knots and final.covariates is not None:
                sd = np.nan
                knots = final.covariates.knots[0, column, : covariate.knots]
            for low, high in pairwise(knots.tolist()):
                ends = np.full((2, covariate_values.shape[1]), np.nan)
                ends[:, column] = low, high
                span = f" {significant(low)} to {significant(high)}" if covariate.knots else ""
                yield _Step(name + span, reference_level, ends[0], ends[1], sd)
            column += 1


def _score_gain(fits: Fits, step: _Step) -> Array:
    """Return what the score of each fit's last list gains over a step, (m,) or (m, T)."""
    ends = np.stack([step.low, step.high])
    score_pairs = [np.asarray(fits.covariate_scores(fit, ends)) for fit in range(len(fits))]
    return np.stack([scores[1, -1] - scores[0, -1] for scores in score_pairs])


def _weights_by_class(
    weight: Array, splits: Array, classes: Sequence[str]
) -> Iterator[tuple[str, float, Array]]:
    """Yield (class suffix, final weight, weights of splits); one item unless several classes."""
    if weight.ndim == 1:
        yield "", float(weight[0]), splits
        return
    for t, name in enumerate(classes):
        yield f" ({name})", float(weight[0, t]), splits[:, t]


def _weight_row(
    step: _Step, class_suffix: str, final_weight: float, split_weights: Array
) -> CovariateWeight:
    return {
        "name": step.name + class_suffix,
        "reference": step.reference,
        "weight": rounded(final_weight, 5),
        "per_sd": rounded(final_weight * step.sd, 5),
        "mean": rounded(split_weights.mean(), 5),
        "low": rounded(split_weights.min(), 5),
        "high": rounded(split_weights.max(), 5),
        "sign": rounded(np.mean(np.sign(split_weights) == np.sign(split_weights.mean())), 4),
    }


def _count_missing(C: Any) -> int:
    return int(np.isnan(C).any(axis=1).sum())


def _control_row(controls: pd.DataFrame, name: str) -> pd.Series[float]:
    return controls[(controls["model"] == name) & controls["mu"].isna()].iloc[0]


def _difference(model: pd.Series[float], alone: pd.Series[float]) -> Difference:
    return {
        "error": rounded(alone["error"], 5),
        "linear": rounded(model["error"], 5),
        "difference": rounded(alone["error"] - model["error"], 5),
        "low": rounded(model["added_low"], 5),
        "high": rounded(model["added_high"], 5),
    }


COVARIATES_TITLE = "Covariates"
WEIGHT_COLUMNS = (
    Column("Covariate", "text"),
    Column("Against", "text"),
    Column("Weight", "signed"),
    Column("Weight per SD", "signed"),
    Column("Mean over splits", "signed"),
    Column("Smallest", "signed"),
    Column("Largest", "signed"),
    Column("Same sign", "share"),
)


def added_value(data: Covariates) -> list[Paragraph]:
    """Return the paragraph of the first screen about the added value; empty without covariates."""
    if "covariates" not in data:
        return []
    record = data["covariates"]
    text = WORDS.text("added", data, record, _shows_ridge(data))
    return [Paragraph(f"Beyond {enumerated(record['columns'])}.", text)]


def _is_measured(alone: Difference) -> bool:
    return None not in (alone["error"], alone["linear"], alone["low"], alone["high"])


def _shows_ridge(data: Covariates) -> bool:
    """Tell whether the text compares ridge on all genes, as a second look where genes add less."""
    verdict = data["verdict"]
    if not _is_measured(data["covariates"]["alone"]):
        return False
    if grade_within_study(data) is Grade.HERE:
        return verdict["basis"] == "all genes"
    return not verdict["interval_excludes_chance"]


WORDS = Wording(
    __file__,
    measured=_is_measured,
    grade_here=lambda data: grade_within_study(data) is Grade.HERE,
    gain_value=lambda data, value: "" if value is None else difference(data, value),
)


def covariates(data: Covariates, limits: Limits) -> Section:
    """Return the section of the covariates; empty without covariates."""
    if "covariates" not in data:
        return Section("covariates", COVARIATES_TITLE)
    record = data["covariates"]
    rows = [
        [
            weight["name"],
            weight["reference"],
            weight["weight"],
            weight["per_sd"],
            weight["mean"],
            weight["low"],
            weight["high"],
            weight["sign"],
        ]
        for weight in record["weights"]
    ]
    caption = WORDS.text("weights_caption", len(data["study"]["classes"] or ()) > 2)
    words = WORDS.paragraphs("section", data, record, _shows_ridge(data))
    return Section(
        "covariates",
        COVARIATES_TITLE,
        words,
        [filled_table("covariates", caption, WEIGHT_COLUMNS, rows, limits.table_rows)],
        part="prediction",
    )


def covariate_sentences(data: Covariates) -> list[str]:
    """Return the sentences of Methods about covariates and weights of samples."""
    texts = WORDS.paragraphs("methods", data["covariates"]) if "covariates" in data else []
    weights = data["config"]["data"]["weights"]
    if weights not in (None, WEIGHT_COLUMN):  # of studies that weigh alike their topic says
        texts += WORDS.paragraphs("sample_weights", weights, data["study"]["classes"] or ())
    return texts
