"""Covariates that every model contains, and the added value of gene expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.study.pool.record import WEIGHT_COLUMN
from genesig.report.page.measure import measure
from genesig.report.page.record import Study, rounded
from genesig.report.page.section import Limits, Paragraph, Section
from genesig.report.page.tables import Column, Difference, difference, filled_table
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.words import clean, counted, enumerated, p_value, significant
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
    score_pairs = [np.asarray(fits.of_covariates(fit, ends)) for fit in range(len(fits))]
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
    alone = data["covariates"]["alone"]
    names = enumerated(data["covariates"]["columns"])
    lead = f"Beyond {names}."
    if not _is_measured(alone):
        return [Paragraph(lead, "The added value of expression could not be measured.")]
    text = _added_words(data, names)
    if (alone["error"] or 0.0) > data["answer"]["error"]["chance"]:
        text += f" With {names} alone, predictions were worse than chance, which inflates the gain."
    return [Paragraph(lead, text)]


def _added_words(data: Covariates, names: str) -> str:
    """Return the text on errors without and with expression, and whether it adds to covariates."""
    alone = data["covariates"]["alone"]
    all_genes = data["covariates"]["whole"]
    reached = (
        f"{_without_and_with(data, alone, names)}."
        f" {_gain_words(data, alone)}{_association(data, names)}"
    )
    if not _shows_ridge(data):
        return reached
    ridge = _ridge_words(data, all_genes, names)
    if grade_within_study(data) is Grade.HERE:
        return f"{reached} All genes together add to {names}: {ridge}"
    return f"{reached} {ridge}"


def _is_measured(alone: Difference) -> bool:
    return None not in (alone["error"], alone["linear"], alone["low"], alone["high"])


def _shows_ridge(data: Covariates) -> bool:
    """Tell whether the text compares ridge on all genes, as a second look where genes add less."""
    verdict = data["verdict"]
    if not _is_measured(data["covariates"]["alone"]):
        return False
    if grade_within_study(data) is Grade.HERE:
        return verdict["by"] == "all genes"
    return not verdict["excludes"]


def _without_and_with(data: Study, alone: Difference, names: str) -> str:
    """Return ``"C was 0.58 with age alone and 0.62 with gene expression"``."""
    metric = measure(data)
    without, with_genes = (metric.write(metric.value(alone[key])) for key in ("error", "linear"))
    return f"{metric.title} was {without} with {names} alone and {with_genes} with gene expression"


def _gain_words(data: Study, gain: Difference) -> str:
    """Return the difference with its interval, and whether that includes 0."""
    values = [gain[key] for key in ("difference", "low", "high")]
    value, low, high = ("" if v is None else difference(data, v) for v in values)
    points = " points" if measure(data).share else ""
    may_be = ", may be zero" if (gain["low"] or 0) <= 0 <= (gain["high"] or 0) else ""
    if may_be:
        return f"The difference, {value}{points} (95% CI {low} to {high}){may_be}."
    direction = " in favour of the covariates alone" if (gain["high"] or 0) < 0 else ""
    return f"The difference is {value}{points} (95% CI {low} to {high}){direction}."


def _association(data: Covariates, names: str) -> str:
    """Return the text on what the permutation test of the added value shows."""
    p = data["covariates"]["p"]
    if p is None or data["verdict"]["small"] is None:  # too few permutations tell nothing
        return ""
    test = f"(permutation test of the added value, {p_value(p)})"
    if data["verdict"]["small"]:
        settled = grade_within_study(data) is Grade.HERE and data["verdict"]["by"] == "genes"
        uncertainty = "" if settled else " How much it improves prediction is not established."
        return f" Expression is associated with the outcome beyond {names} {test}.{uncertainty}"
    return f" No association of expression beyond {names} was shown {test}."


def _ridge_words(data: Study, all_genes: Difference, names: str) -> str:
    """Return what ridge on all genes beside the covariates reached."""
    if all_genes["linear"] is None:
        return f"Ridge on all genes beside {names} could not be measured."
    metric = measure(data)
    reached = metric.write(metric.value(all_genes["linear"]))
    return f"Ridge on all genes beside {names} reached {reached}. {_gain_words(data, all_genes)}"


def covariates(data: Covariates, limits: Limits) -> Section:
    """Return the section of the covariates; empty without covariates."""
    if "covariates" not in data:
        return Section("covariates", COVARIATES_TITLE)
    record = data["covariates"]
    names = enumerated(record["columns"])
    imputation = (
        f" {counted(record['missing'], 'sample')} lacked a value, imputed with the mean of the"
        " training samples."
        if record["missing"]
        else ""
    )
    pronoun = "it is" if len(record["columns"]) == 1 else "they are"
    tested = "" if record["p_whole"] is None else "; its p is that of the global test of all genes"
    comparison_texts = [paragraph.text for paragraph in added_value(data)]
    ridge = f" Ridge uses all genes, so that what it adds is no matter of one list{tested}."
    words = [
        *comparison_texts,
        f"Models are adjusted for {names}: {pronoun} in every model without a penalty. Genes are"
        f" selected"
        f" for what they add; a gene that only follows {names} adds"
        f" nothing.{_spline_words(record)}{imputation} The comparison uses the same splits, and its"
        " interval the differences of samples and of"
        f" repeats.{ridge if _shows_ridge(data) else ''}",
    ]
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
    caption = (
        "Weight of each covariate in the final model, in its own units and per standard deviation,"
        " and over the outer splits. Categories are compared with the reference in column 2; where"
        " two values stand, the weight is what the score gains from the first to the second."
        + (" Each class has weights of its own." if len(data["study"]["classes"] or ()) > 2 else "")
    )
    return Section(
        "covariates",
        COVARIATES_TITLE,
        words,
        [filled_table("covariates", caption, WEIGHT_COLUMNS, rows, limits.table_rows)],
        part="prediction",
    )


def _spline_words(record: CovariatesRecord) -> str:
    if not record["curved"]:
        return ""
    verb = "enters as a smooth curve" if len(record["curved"]) == 1 else "enter as smooth curves"
    return f" {enumerated(record['curved'])} {verb} (restricted cubic splines)."


def covariate_sentences(data: Covariates) -> list[str]:
    """Return the sentences of Methods about covariates and weights of samples."""
    texts = []
    if "covariates" in data:
        names = enumerated(data["covariates"]["columns"])
        imputation = (
            " Missing values were imputed with the mean of the training samples."
            if data["covariates"]["missing"]
            else ""
        )
        texts.append(
            f"All models, from the selection of genes to the final score, contain {names} without a"
            f" penalty ({_numeric_covariate_words(data)}, words as indicators), fitted together"
            " with the genes"
            " within each training set." + imputation
        )
        texts.append(
            f"The added value of expression is the difference of the error to that of {names} alone"
            " on the same held-out samples, for the selected genes and for ridge regression on all"
            " genes; its interval has the variance over samples and over repeats. In the"
            f" permutations label and {names} kept their place, and of the expression the residuals"
            f" of a regression on {names} (splines with 7 knots, and products) were exchanged (ter"
            " Braak 1992), so that the null hypothesis is that expression adds nothing to"
            f" {names}. All genes together were tested by the global test (Goeman et al. 2004)"
            " under the same permutations. Expression is said to add something where the interval"
            " excludes 0 and p ≤ 0.05."
        )
    weights = data["config"]["data"]["weights"]
    if weights == "balanced":
        class_words = "both" if len(data["study"]["classes"] or ()) == 2 else "all"
        sentence = (
            f"In every fit the samples were weighted so that {class_words} classes count alike."
        )
        texts.append(sentence)
    elif weights not in (None, WEIGHT_COLUMN):  # of studies that weigh alike their topic says
        texts.append(f"In every fit the samples were weighted by {clean(weights)}.")
    return texts


def _numeric_covariate_words(data: Covariates) -> str:
    if not data["covariates"]["curved"]:
        return "numbers as straight lines"
    return (
        "numbers as restricted cubic splines, with knots at fixed quantiles of the training"
        " samples (Harrell 2015)"
    )
