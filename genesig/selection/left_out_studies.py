"""Performance in each study of models trained without it, and the interval of a further study."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.assess.clusters import (
    area_interval,
    class_sides,
    group_numbers,
    order_interval,
)
from genesig.selection.assess.intervals import CONFIDENCE_LEVEL, NORMAL_QUANTILE, delong, newcombe
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.assess.survival import harrell
from genesig.selection.meta_analysis import next_study, random_effects, study_names

if TYPE_CHECKING:
    import pandas as pd

STUDY_ROW = "study"
MEAN_ROW = "mean"
NEXT_STUDY_ROW = "next study"


class StudyMeasure(NamedTuple):
    """A measure in one study, with its 95 % interval."""

    value: float
    low: float
    high: float
    # number of pairs of samples of which an AUC or C is a share; samples for a correlation
    pairs: float


def studies_table(dataset: Dataset, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return studies.tsv: the measure of each study by models that had seen none of its samples.

    Each study has a row, then comes the random-effects ``mean`` over them, and the interval in
    which the measure of the ``next study`` lies (see `meta_analysis.next_study`). They come from
    the scale of `STUDY_MEASURES`, on which tau stays. Columns: row, study, samples,
    measure, value, low, high; error, the balanced error if there are classes; ``measured``,
    ``genes`` and ``lost``, the columns of the study's matrix, the genes that they measure, and
    those of them that another study lacks; ``apart``, 1 if the value is outside the interval that
    the other studies predict for a study of this size; i2 and tau of the row ``mean``. Scores of
    repeats are averaged. The next study has no value.

    dataset: of several studies. predictions: predictions.tsv.
    """
    import pandas as pd

    studies = study_names(dataset)
    name, measure, to_scale, from_scale = STUDY_MEASURES[dataset.design.kind]
    # by study; empty for a data set that was not joined from files of studies
    gene_counts = {
        study_record["name"]: study_record for study_record in dataset.provenance.get("studies", ())
    }
    rows = []
    effects = []
    for study in studies:
        held_out = _held_out_study(dataset, predictions, study)
        result = measure(held_out.y, held_out.scores, held_out.group)
        effects.append(to_scale(result))
        counts = gene_counts.get(study, {})
        rows.append(
            {
                "row": STUDY_ROW,
                "study": study,
                "samples": len(held_out.y),
                "measure": name,
                "value": result.value,
                "low": result.low,
                "high": result.high,
                "error": held_out.error,
                **{key: counts.get(key) for key in ("measured", "genes", "lost")},
            }
        )
    value, variance = np.array(effects).T[:, :, None]  # (n_studies, 1), as of a single gene
    for row, is_outlying in zip(rows, _outlying_studies(value[:, 0], variance[:, 0]), strict=True):
        row["apart"] = int(is_outlying)
    summary = random_effects(value, variance)
    mean_columns = {"measure": name, "samples": len(dataset.samples)}
    mean, low, high = (
        from_scale(float(bound[0])) for bound in (summary.mean, summary.low, summary.high)
    )
    rows.append(
        {
            "row": MEAN_ROW,
            **mean_columns,
            "value": mean,
            "low": low,
            "high": high,
            "i2": float(summary.i2[0]),
            "tau": float(np.sqrt(summary.tau2[0])),
        }
    )
    low, high = map(from_scale, next_study(value[:, 0], variance[:, 0]))
    rows.append({"row": NEXT_STUDY_ROW, "measure": name, "low": low, "high": high})
    return pd.DataFrame(rows).astype({key: "Int64" for key in INTEGER_COLUMNS})


def _outlying_studies(value: Array, variance: Array) -> Array:
    """Return which studies are outside the interval that the others predict for a study, (K,).

    If K studies do not differ, there is one by chance in 5 % of cases (Bonferroni). The variance
    between the others is taken as known, so if all differ the share is larger (3 to 8 studies,
    variances of .1 to .3 on the logit scale: 9 to 11 % at tau .3, 28 to 48 % at tau 1).
    """
    from scipy.special import ndtri

    is_outlying = np.zeros(len(value), dtype=bool)
    critical_value = -ndtri((1 - CONFIDENCE_LEVEL) / 2 / len(value))
    for study in range(len(value)):
        is_other = np.arange(len(value)) != study
        other_studies = random_effects(value[is_other, None], variance[is_other, None])
        spread = other_studies.tau2[0] + other_studies.error[0] ** 2 + variance[study]
        is_outlying[study] = is_other.sum() > 1 and np.abs(
            value[study] - other_studies.mean[0]
        ) > critical_value * np.sqrt(spread)
    return is_outlying


INTEGER_COLUMNS = ("apart", "samples", "measured", "genes", "lost")


class _HeldOutStudy(NamedTuple):
    """The n held-out samples of a study."""

    y: Array  # (n,) responses
    scores: Array  # (n,) or (n, T) mean scores over the repeats
    error: float  # balanced error; NaN without classes
    group: Array | None  # (n,) int; None if every sample is a group by itself


def _held_out_study(dataset: Dataset, predictions: pd.DataFrame, study: str) -> _HeldOutStudy:
    """Return the held-out samples of a study, with their mean scores by the predictive model."""
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    study_of_sample = dataset.batches()
    assert study_of_sample is not None
    in_study = np.array(dataset.samples, dtype=object)[study_of_sample == study]
    is_predictive = predictions["mu"].isna()
    study_predictions = predictions[
        is_predictive & predictions["sample"].astype(str).isin(in_study)
    ]
    rows = dataset.rows([str(name) for name in study_predictions["sample"]])
    scores = kind.read_scores(study_predictions, dataset.design.classes)
    distinct_rows, row_number = np.unique(rows, return_inverse=True)
    n_predictions = np.bincount(row_number)
    columns = scores if scores.ndim > 1 else scores[:, None]
    means = np.stack(
        [np.bincount(row_number, weights=column) / n_predictions for column in columns.T], axis=1
    )
    mean_scores = means if scores.ndim > 1 else means[:, 0]
    y = dataset.response()[distinct_rows]
    errors = dict(zip(kind.errors, kind.measure_split(y, mean_scores), strict=True))
    groups = dataset.groups()
    group = None if groups is None else group_numbers(groups[distinct_rows])
    return _HeldOutStudy(y, mean_scores, errors.get("balanced_error", np.nan), group)


def _area(y: Array, f: Array, group: Array | None) -> StudyMeasure:
    """Return the AUC of a study, weighted by its pairs."""
    value, low, high = delong(y, f)
    if group is not None:
        low, high = area_interval(y, group, [(y > 0, f)])
    return StudyMeasure(value, low, high, float((y > 0).sum() * (y < 0).sum()))


def _areas(y: Array, f: Array, group: Array | None) -> StudyMeasure:
    """Return the mean AUC of each class against the others.

    Its interval is the score interval of as many samples as the smallest class has against the
    others; if samples come in groups, it is over groups.
    """
    areas = [delong(np.where(y == label, 1.0, -1.0), column) for label, column in enumerate(f.T)]
    value = float(np.mean([area[0] for area in areas]))
    sizes = [int((y == label).sum()) for label in range(f.shape[1])]
    pairs = float(min(sizes) * (len(y) - min(sizes)))
    if group is not None:
        return StudyMeasure(value, *area_interval(y, group, class_sides(y, f)), pairs)
    score_interval = newcombe(value, min(sizes), len(y) - min(sizes))
    return StudyMeasure(value, *score_interval, pairs)


def _concordance(y: Array, f: Array, group: Array | None) -> StudyMeasure:
    """Return the concordance C in one study; the interval is over groups if there are any."""
    concordance = harrell(y["time"], y["event"], f)
    limits = concordance.interval
    if group is not None:
        n_event_groups = len(np.unique(group[y["event"]]))
        limits = order_interval(concordance.value, concordance.influence, group, n_event_groups)
    return StudyMeasure(concordance.value, *limits, float(concordance.pairs.sum() / 2))


def _correlation(y: Array, f: Array, group: Array | None) -> StudyMeasure:
    """Return the correlation over the samples, or over the means of the groups, by Fisher's z.

    NaN with fewer than 4 of them, or if responses or scores are equal.
    """
    if group is not None:
        group_sizes = np.bincount(group)
        y, f = (np.bincount(group, weights=values) / group_sizes for values in (y, f))
    n = len(y)
    if n < 4 or np.ptp(f) == 0 or np.ptp(y) == 0:
        return StudyMeasure(np.nan, np.nan, np.nan, n)
    fisher_z = np.arctanh(np.clip(np.corrcoef(y, f)[0, 1], -1 + 1e-12, 1 - 1e-12))
    half_width = NORMAL_QUANTILE / np.sqrt(n - 3)
    value, low, high = (
        float(np.tanh(transformed))
        for transformed in (fisher_z, fisher_z - half_width, fisher_z + half_width)
    )
    return StudyMeasure(value, low, high, n)


def _to_logit(result: StudyMeasure) -> tuple[float, float]:
    """Return log(A/(1-A)) and its variance, by the limit of the interval that is nearer to 1/2.

    The other limit may be 0 or 1. A share of 0 or 1 counts as half a pair more or less.
    """
    area = (result.value * result.pairs + 0.5) / (result.pairs + 1)
    logit = _log_odds(area)
    inner_limit = result.low if area > 0.5 else result.high
    standard_error = (
        abs(logit - _log_odds(inner_limit)) / NORMAL_QUANTILE if 0 < inner_limit < 1 else np.nan
    )
    return logit, standard_error**2 if standard_error > 0 else np.nan


def _log_odds(share: float) -> float:
    """Return log(p / (1 - p))."""
    return float(np.log(share / (1 - share)))


def _to_fisher_z(result: StudyMeasure) -> tuple[float, float]:
    """Return Fisher's z of a correlation, and its variance."""
    return float(np.arctanh(result.value)), 1.0 / (result.pairs - 3)


def _from_logit(logit: float) -> float:
    """Return 1 / (1 + exp(-x))."""
    return float(1 / (1 + np.exp(-logit)))


class MeasureOfKind(NamedTuple):
    """The measure of each study for one kind of response."""

    name: str
    # y (n,), scores (n,) or (n, T), group numbers (n,) or None -> measure of one study
    measure: Callable[[Array, Array, Array | None], StudyMeasure]
    # measure -> effect on the scale of the meta-analysis, and its variance
    to_scale: Callable[[StudyMeasure], tuple[float, float]]
    from_scale: Callable[[float], float]  # effect -> value of the measure


STUDY_MEASURES: dict[str, MeasureOfKind] = ByKind(
    {
        "classification": MeasureOfKind("AUC", _area, _to_logit, _from_logit),
        "several_classes": MeasureOfKind("AUC", _areas, _to_logit, _from_logit),
        "survival": MeasureOfKind("C", _concordance, _to_logit, _from_logit),
        "regression": MeasureOfKind(
            "correlation", _correlation, _to_fisher_z, lambda z: float(np.tanh(z))
        ),
    }
)
