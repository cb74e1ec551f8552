"""Measures of a fixed model on samples that took no part in any choice, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.classes import probabilities
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.assess.calibration import calibration_line, reliability
from genesig.selection.assess.clusters import (
    area_interval,
    class_calibration_slope,
    class_sides,
    explained_interval,
    group_numbers,
    mean_class_error,
    mean_interval,
    mean_of_shares_interval,
    order_interval,
    positive_mean_interval,
    share_interval,
    wrong_classes,
)
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    auc,
    balanced_error,
    delong,
    mean_of_shares,
    mean_t,
    misclassification,
    positive_mean_t,
    relative_squared_error,
    squared_error,
    wilson,
    wrong,
)
from genesig.selection.assess.kinds import HeldOutScores, held_out_area
from genesig.selection.assess.survival import (
    brier_losses,
    censoring,
    harrell,
    kaplan_meier,
    log_rank,
)
from genesig.selection.model.kinds import log_hazards, predicted_survival, probability_line
from genesig.selection.model.schema import ModelJson
from genesig.selection.survival import SurvivalPredictions, prediction_tables, time_grid

if TYPE_CHECKING:
    import pandas as pd


MeasureRow = tuple[str, float, Interval, int]
"""Name of a measure, its value, its 95 % interval, number of samples that it is computed from."""


def scores_table(
    rows: Iterable[MeasureRow], group_count: Callable[[str], int] | None = None
) -> pd.DataFrame:
    """Return scores.tsv: every measure with its 95 % interval, empty if undefined.

    The intervals are for this fixed model in further samples of the same kind; intervals of nested
    cross-validation are for the procedure. Groups of samples count as independent; without groups,
    samples do. `group_count` returns the number of groups of a measure, for the column ``groups``.
    The list below is for independent samples; `assess.clusters` has the same for groups.

    ``auc``
        Hull of DeLong's interval and the score interval (`delong`); of several classes the mean
        over them, see `held_out_area`.
    ``balanced_error``
        Mean of the classes' error shares, from their Wilson intervals (`mean_of_shares`).
    ``misclassification``, ``sensitivity``, ``specificity``, ``sensitivity of`` a class
        Wilson. Sensitivity is the share of positive samples called positive; a score of exactly
        the cut is an error for both classes.
    ``r2``
        1 - Σ (y - f)² / Σ (y - ȳ)², ȳ the mean of these samples; t by the jackknife,
        which knows that both sums are of the same samples.
    ``squared_error``, ``mean_difference``
        Means of (y - f)² and of f - y, with t, the first on the scale of its logarithm.
    ``calibration_intercept``, ``calibration_slope``
        See `calibration_line`; of several classes `class_calibration_slope`.
    ``probability_of_called``
        Of several classes the mean probability of the class that each sample is called.

    Of survival see `selection.survival.survival_tables`.
    """
    import pandas as pd

    records = [(name, value, *limits, n) for name, value, limits, n in rows]
    table = pd.DataFrame(records, columns=["measure", "value", "low", "high", "samples"])
    if group_count is None:
        return table
    return table.assign(groups=[group_count(name) for name in table["measure"]])


def measure_two_classes(
    y: Array, f: Array, cut: float, group: Sequence[str] | Array | None = None
) -> Iterator[MeasureRow]:
    """Yield the measures of y = ±1 (n,) and scores, above the cut positive.

    `group` (n,) names the group of each sample, such as its patient.
    """
    group_number = group_numbers(group)
    yield from _class_measures(y, f - cut, group_number)
    yield from _common_measures(y, f, group_number)


def measure_numbers(
    y: Array, f: Array, group: Sequence[str] | Array | None = None
) -> Iterator[MeasureRow]:
    """Yield the measures of numbers y (n,) and predictions f (n,).

    See `measure_two_classes` for groups.
    """
    group_number = group_numbers(group)
    yield from _number_measures(y, f, group_number)
    yield from _common_measures(y, f, group_number)


def measure_several_classes(
    y: Array,
    f: Array,
    classes: Sequence[str],
    p: Array | None = None,
    probability_shares: Sequence[float] | None = None,
    group: Sequence[str] | Array | None = None,
) -> Iterator[MeasureRow]:
    """Yield the measures of numbers of classes y (n,) and a score for each, (n, T).

    With probabilities p (n, T) for classes of the shares `probability_shares` their calibration
    follows. See `measure_two_classes` for groups.
    """
    group_number = group_numbers(group)
    sides = class_sides(y, f)
    area, low, high = held_out_area(as_one_test_set(y, f), sides)
    if group_number is not None:
        low, high = area_interval(y, group_number, sides)
    yield "auc", area, (low, high), len(y)
    losses = wrong_classes(y, f).astype(float)
    hits_by_class = {name: 1 - losses[y == c] for c, name in enumerate(classes)}
    n_by_class = [len(class_hits) for class_hits in hits_by_class.values()]
    shares = [
        float(np.mean(class_hits)) if len(class_hits) else np.nan
        for class_hits in hits_by_class.values()
    ]
    errors = [1 - share for share in shares]
    balanced = mean_class_error(y, f, len(classes))
    interval = _balanced_interval(y, losses, errors, n_by_class, group_number)
    yield "balanced_error", balanced, interval, len(y)
    error = float(np.mean(losses))
    yield "misclassification", error, _share_interval(error, losses, group_number), len(y)
    for c, (name, share) in enumerate(zip(classes, shares, strict=True)):
        member_groups = _groups_of_members(group_number, y == c)
        interval = _share_interval(share, hits_by_class[name], member_groups)
        yield f"sensitivity of {name}", share, interval, n_by_class[c]
    if p is not None and probability_shares is not None:
        slope, limits_of_slope = class_calibration_slope(
            y, p, np.array(probability_shares), group_number
        )
        yield "calibration_slope", slope, limits_of_slope, len(y)
        called_probability = np.take_along_axis(p, f.argmax(axis=1)[:, None], axis=1)
        yield "probability_of_called", float(called_probability.mean()), NO_INTERVAL, len(y)


def _class_measures(y: Array, f: Array, group: Array | None) -> Iterator[MeasureRow]:
    """Yield the measures of two classes y = ±1 that depend on order or sign of the scores f.

    Scores are less their threshold. group (n,) int: group of each sample; None without groups.
    """
    area, low, high = delong(y, f)
    if group is not None:
        low, high = area_interval(y, group, [(y > 0, f)])
    yield "auc", auc(y, f), (low, high) if np.isfinite(area) else NO_INTERVAL, len(y)
    losses = wrong(y, f).astype(float)
    n_by_class = [int((y == class_code).sum()) for class_code in (-1.0, 1.0)]
    errors = [
        misclassification(y[y == class_code], f[y == class_code]) for class_code in (-1.0, 1.0)
    ]
    interval = _balanced_interval(y, losses, errors, n_by_class, group)
    yield "balanced_error", balanced_error(y, f), interval, len(y)
    error = float(np.mean(losses))
    yield "misclassification", error, _share_interval(error, losses, group), len(y)
    for name, class_code, class_error in zip(
        ("specificity", "sensitivity"), (-1.0, 1.0), errors, strict=True
    ):
        hits = 1 - losses[y == class_code]
        member_groups = _groups_of_members(group, y == class_code)
        interval = _share_interval(1 - class_error, hits, member_groups)
        yield name, 1 - class_error, interval, len(hits)


def _share_interval(share: float, hits: Array, group: Array | None) -> Interval:
    """Return the interval of a share, the mean of hits (n,) of 0 and 1; `group` (n,) or None."""
    return wilson(share, len(hits)) if group is None else share_interval(hits, group)


def _groups_of_members(group: Array | None, is_member: Array) -> Array | None:
    """Return the groups of some samples; None without groups."""
    return None if group is None else group[is_member]


def _balanced_interval(
    y: Array, losses: Array, errors: Sequence[float], sizes: Sequence[int], group: Array | None
) -> Interval:
    """Return the interval of the mean of the classes' error shares; NaN if a class is absent."""
    if not min(sizes):
        return NO_INTERVAL
    if group is not None:
        return mean_of_shares_interval(losses, y, group)
    return mean_of_shares(errors, sizes)


def _number_measures(y: Array, f: Array, group: Array | None) -> Iterator[MeasureRow]:
    """Yield R² of numbers y (n,) and predictions f (n,); without groups by the jackknife."""
    error = relative_squared_error(y, f)
    n = len(y)
    if group is not None:
        yield "r2", 1 - error, explained_interval(y, f, group), n
        return
    loss = np.square(y - f)
    deviation = np.square(y - y.mean())
    # Sum of squares of the other samples around their mean, without each sample in turn.
    deviation_of_others = deviation.sum() - n / max(n - 1, 1) * deviation
    low, high = NO_INTERVAL
    if (deviation_of_others > 0).all():
        error_without = (loss.sum() - loss) / deviation_of_others
        low, high = mean_t(error + (n - 1) * (error_without.mean() - error_without))
    yield "r2", 1 - error, (1 - high, float(np.minimum(1.0, 1 - low))), n


def _common_measures(y: Array, f: Array, group: Array | None) -> Iterator[MeasureRow]:
    """Yield the measures of scores as estimates of y: squared error, difference, calibration."""
    losses = np.square(y - f)
    if group is None:
        intervals = positive_mean_t(losses), mean_t(f - y)
    else:
        intervals = positive_mean_interval(losses, group), mean_interval(f - y, group)
    yield "squared_error", squared_error(y, f), intervals[0], len(y)
    yield "mean_difference", float(np.mean(f - y)), intervals[1], len(y)
    line = calibration_line(y, f, group)
    yield "calibration_intercept", line.intercept, line.intercept_interval, len(y)
    yield "calibration_slope", line.slope, line.slope_interval, len(y)


def as_one_test_set(y: Array, f: Array) -> HeldOutScores:
    """Return held-out scores f (n,) or (n, T) of one model as a record with a single test set."""
    zeros = np.zeros(len(y), dtype=np.int64)
    return HeldOutScores(
        y=y,
        row=np.arange(len(y)),
        split=zeros,
        repeat=zeros,
        permutation=zeros,
        scores=f,
        test_train_ratio=0.0,
    )


class ScoredCohort(NamedTuple):
    """An external cohort, scored by one of the models of model.json."""

    dataset: Dataset  # the study of the model
    model: ModelJson  # content of model.json
    model_number: int  # number of the model that scores among ``models`` of model.json
    y: Array  # (n,) responses of the cohort
    f: Array  # (n,) scores, or (n, T) with several classes
    group: Array | None = None  # (n,) int: group of each sample; None without groups


ExternalTest = tuple[Iterable[MeasureRow], dict[str, Any]]
"""Rows of scores.tsv, and further results of the report as JSON has them."""


def _test_classes(cohort: ScoredCohort) -> ExternalTest:
    """Return the measures of two classes, and the bins of their reliability."""
    rows = measure_two_classes(cohort.y, cohort.f, cohort.model["threshold"], cohort.group)
    return rows, {"reliability": list(reliability(cohort.y, cohort.f, group=cohort.group))}


def _test_several_classes(cohort: ScoredCohort) -> ExternalTest:
    """Return the measures of several classes."""
    model = cohort.model
    line = probability_line(model, cohort.model_number)
    p = None if line is None else probabilities(cohort.f, line)
    shares = model.get("shares")
    return measure_several_classes(
        cohort.y, cohort.f, model["classes"], p, shares, cohort.group
    ), {}


def _test_survival(cohort: ScoredCohort) -> ExternalTest:
    """Compare predicted with observed survival; the censoring is that of the study."""
    training = cohort.dataset.response()
    horizon = cohort.model["survival"]["horizon"]
    threshold = cohort.model["threshold"]
    y = cohort.y
    n = len(y)
    times = time_grid(training, horizon)
    S = predicted_survival(cohort.model, cohort.model_number, cohort.f, times)
    training_censoring = censoring(training["time"], training["event"])
    # (1, m): the same curve for every sample
    training_curve = kaplan_meier(training["time"], training["event"]).at(times)[None]
    losses, reference = (
        brier_losses(y["time"], y["event"], survival, times, training_censoring)
        for survival in (S, training_curve)
    )
    test_set = SurvivalPredictions(
        rows=np.arange(n),
        repeat=0,
        y=y,
        f=cohort.f - threshold,
        log_hazard=log_hazards(cohort.model, cohort.model_number, cohort.f),
        S=S,
        losses=losses,
        reference=reference,
        censoring_curve=training_censoring,
    )
    concordance = harrell(y["time"], y["event"], cohort.f)
    limits = concordance.interval
    if cohort.group is not None:
        n_events = len(np.unique(cohort.group[y["event"]]))
        limits = order_interval(concordance.value, concordance.influence, cohort.group, n_events)
    tables = prediction_tables(
        [test_set], y, times, (concordance.value, limits), group=cohort.group
    )
    rows = [
        (str(row["measure"]), row["value"], (row["low"], row["high"]), n)
        for row in tables["survival"].to_dict("records")
    ]
    risk = np.where(cohort.f > threshold, "high", "low")
    p = log_rank(y["time"], y["event"], risk, cohort.group).p
    plotted = {name: tables[f"survival_{name}"].astype(object) for name in ("curves", "risk")}
    return [*rows, ("log_rank_p", p, NO_INTERVAL, n)], {
        "events": int(y["event"].sum()),
        "horizon": horizon,
        **{
            name: table.where(table.notna(), None).to_dict("records")
            for name, table in plotted.items()
        },
    }


EXTERNAL_TESTS: ByKind[Callable[[ScoredCohort], ExternalTest]] = ByKind(
    {
        "classification": _test_classes,
        SEVERAL_CLASSES: _test_several_classes,
        "regression": lambda cohort: (measure_numbers(cohort.y, cohort.f, cohort.group), {}),
        "survival": _test_survival,
    }
)
"""Test of a scored cohort by kind of response."""
