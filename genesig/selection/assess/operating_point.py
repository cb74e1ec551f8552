"""The operating point: the threshold of two-class scores for the purpose that ``decision`` states.

It is found from cross-fitted scores: each training sample is scored by models that left it out. The
held-out samples of the outer splits, each called at the threshold of its own split, show what such
thresholds achieve.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.response.decision import (
    COST,
    SENSITIVITY,
    SPECIFICITY,
    YOUDEN,
    decision_rules_in,
)
from genesig.results import Dataset, Fits, Splits
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.intervals import (
    ratio_by_split,
    share_limits,
    standard_error_over_splits,
)
from genesig.selection.assess.kinds import HeldOutScores

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DecisionRule:
    """How the threshold of two classes is found, and for which prevalence it is judged."""

    name: str  # one of `DECISION_RULES`
    target: float | None  # of sensitivity or specificity, 0 to 1
    false_positive_cost: float
    false_negative_cost: float
    prevalence: float  # share of the positive class among the patients to be tested

    @classmethod
    def from_config(cls, decision: Mapping[str, Any], y: Array) -> DecisionRule | None:
        """Return the rule of the section ``decision`` for classes y (n,) of -1 and 1; or None."""
        rules = decision_rules_in(decision)
        if not rules:
            return None
        (name,) = rules
        false_positive_cost, false_negative_cost = decision.get(COST) or (1.0, 1.0)
        prevalence = decision.get("prevalence")
        return cls(
            name,
            decision[name] if name in (SENSITIVITY, SPECIFICITY) else None,
            float(false_positive_cost),
            float(false_negative_cost),
            float(np.mean(y > 0)) if prevalence is None else float(prevalence),
        )

    def describe(self) -> str:
        """Return the rule as in the config: ``sensitivity 0.95``, ``cost 1:5``, ``youden``."""
        if self.name == COST:
            return f"{COST} {self.false_positive_cost:g}:{self.false_negative_cost:g}"
        return self.name if self.target is None else f"{self.name} {self.target:g}"

    def threshold(self, scores: Array, y: Array, groups: Array | None = None) -> float:
        """Return the threshold above which a score means the positive class.

        scores (n,) float: cross-fitted scores; NaN for samples outside the training set.
        y (n,) float: classes, -1 and 1. groups (n,): of the samples, None if each is its own.

        Raises GenesigError: a class has no score.
        """
        is_scored = ~np.isnan(scores)
        is_positive = is_scored & (y > 0)
        is_negative = is_scored & (y < 0)
        positive = scores[is_positive]
        negative = scores[is_negative]
        if not len(positive) or not len(negative):
            raise GenesigError("decision: a class has no cross-fitted score in a training set")
        if self.name == SENSITIVITY and self.target is not None:
            positive_groups = None if groups is None else groups[is_positive]
            return threshold_for_sensitivity(positive, self.target, positive_groups)
        if self.name == SPECIFICITY and self.target is not None:
            negative_groups = None if groups is None else groups[is_negative]
            return -threshold_for_sensitivity(-negative, self.target, negative_groups)
        if self.name == YOUDEN:
            return threshold_of_least_loss(positive, negative, 1.0, 1.0)
        return threshold_of_least_loss(
            positive,
            negative,
            self.false_negative_cost * self.prevalence,
            self.false_positive_cost * (1 - self.prevalence),
        )


N_DRAWS = 1000
"""Draws of one sample of each group, over which a threshold is averaged."""
N_RESAMPLES = 200
"""Resampled training samples, over which the error of a rate by its threshold is measured."""


def threshold_for_sensitivity(
    positive: Array, sensitivity: float, groups: Array | None = None
) -> float:
    """Return the threshold that a new positive sample exceeds with this probability.

    Below the j-th smallest of n positive scores lies a new one with probability j/(n + 1), so that
    the threshold is the score of rank (1 - sensitivity)(n + 1). It is interpolated linearly between
    two ranks: training sets of all sizes then have approximately the same expected sensitivity.
    Below rank 1 it is the smallest score, with a sensitivity of n/(n + 1), less than was asked for.

    Samples of one group are not independent, but one sample of each group is exchangeable with
    one of a new group. The threshold is the mean of those of such draws, and n counts groups.

    groups (n,): of the samples, None if each is its own.

    References
    ----------
    Wilks 1941, Ann Math Stat 12:91; interpolation: Hyndman and Fan 1996, Am Stat 50:361, type 6.
    Where scores of different models are taken as exchangeable this is cross-conformal prediction
    of one class (Vovk 2015, Ann Math Artif Intell 74:9). Draws: Hoffman, Sen and Weinberg 2001,
    Biometrika 88:1121.
    """
    draws = positive[None] if groups is None else _draw_from_groups(positive, groups)
    n = draws.shape[1]
    # Rounded, so that 0.05 * 20 is rank 1. `interp` keeps to the first and the last score.
    rank = round((1 - sensitivity) * (n + 1), 9)
    ranks = np.arange(1, n + 1)
    boundary = np.mean([np.interp(rank, ranks, scores) for scores in np.sort(draws, axis=1)])
    # Only scores above the threshold are called positive: those equal to the boundary are, too.
    return float(np.nextafter(boundary, -np.inf))


def _draw_from_groups(scores: Array, groups: Array) -> Array:
    """Return draws (n_draws, n_groups) of one score of each group; one draw if groups are single.

    Groups and their scores are sorted by score, so that names and order of samples do not matter.
    """
    members = [np.sort(scores[groups == group]) for group in np.unique(groups)]
    if len(members) == len(scores):
        return scores[None]
    members.sort(key=lambda group_scores: tuple(group_scores.tolist()))
    rng = np.random.default_rng(0)
    return np.stack([rng.choice(group_scores, N_DRAWS) for group_scores in members], axis=1)


def threshold_of_least_loss(
    positive: Array, negative: Array, false_negative_weight: float, false_positive_weight: float
) -> float:
    """Return the threshold with the smallest weighted sum of both error rates.

    Thresholds lie halfway between neighbouring scores, and outside of all; ties go to the threshold
    nearest to 0, which is halfway between the classes.
    """
    scores = np.unique(np.concatenate([positive, negative]))
    thresholds = np.concatenate(
        [[np.nextafter(scores[0], -np.inf)], (scores[1:] + scores[:-1]) / 2, scores[-1:]]
    )
    false_negative_rate = np.mean(positive[:, None] <= thresholds, axis=0)
    false_positive_rate = np.mean(negative[:, None] > thresholds, axis=0)
    loss = (
        false_negative_weight * false_negative_rate + false_positive_weight * false_positive_rate
    ).round(12)
    best = np.flatnonzero(loss == loss.min())
    return float(thresholds[best[np.argmin(np.abs(thresholds[best]))]])


def predictive_values(
    sensitivity: float, specificity: float, prevalence: float
) -> tuple[float, float]:
    """Return the positive and the negative predictive value at a prevalence; NaN without calls."""
    true_positive = sensitivity * prevalence
    false_positive = (1 - specificity) * (1 - prevalence)
    true_negative = specificity * (1 - prevalence)
    false_negative = (1 - sensitivity) * prevalence
    called_positive = true_positive + false_positive
    called_negative = true_negative + false_negative
    return (
        true_positive / called_positive if called_positive else np.nan,
        true_negative / called_negative if called_negative else np.nan,
    )


def operating_point_table(
    dataset: Dataset, splits: Splits, observed: Fits, final: Fits, rule: DecisionRule
) -> pd.DataFrame:
    """Return decision.tsv: the threshold, and what held-out samples show of such thresholds.

    Rows: threshold of the final model, with the smallest and the largest of the outer splits as
    limits; sensitivity and specificity of held-out samples, each called at the threshold of its
    split, with 95 % intervals for models and thresholds found this way; prevalence; predictive
    values at the prevalence, whose limits are those at both limits of sensitivity and specificity,
    so that the intervals are wider than needed.

    observed, final: of all outer splits in their order, and of all samples, both with their chosen
        list.
    """
    import pandas as pd

    if observed.crossfitted is None or final.crossfitted is None:
        raise GenesigError("decision: the fits have no cross-fitted scores; run them again")
    y = dataset.response()
    groups = dataset.groups()
    thresholds = np.array([rule.threshold(scores, y, groups) for scores in observed.crossfitted])
    held_out = collect_held_out(dataset, splits, observed).column(-1)
    is_called = held_out.scores[:, 0] > thresholds[held_out.split]
    resampled_thresholds = _resample_thresholds(rule, observed.crossfitted, y, groups)
    rates = {}
    for name, in_class in ((SENSITIVITY, held_out.y > 0), (SPECIFICITY, held_out.y < 0)):
        # The rank of the threshold holds the rate asked for, whatever the scores are.
        threshold_error = (
            0.0 if name == rule.name else _threshold_error(held_out, in_class, resampled_thresholds)
        )
        is_correct = is_called == (name == SENSITIVITY)
        rates[name] = _rate_with_limits(held_out, in_class, is_correct, threshold_error)
    values = [
        predictive_values(sensitivity, specificity, rule.prevalence)
        for sensitivity, specificity in zip(*rates.values(), strict=True)
    ]
    rows = {
        "threshold": (
            rule.threshold(final.crossfitted[0], y, groups),
            float(thresholds.min()),
            float(thresholds.max()),
        ),
        **rates,
        "prevalence": (rule.prevalence, np.nan, np.nan),
        "positive predictive value": tuple(value for value, _ in values),
        "negative predictive value": tuple(value for _, value in values),
    }
    return pd.DataFrame(
        [(name, *numbers) for name, numbers in rows.items()],
        columns=["measure", "value", "low", "high"],
    )


def _resample_thresholds(
    rule: DecisionRule, crossfitted: Array, y: Array, groups: Array | None
) -> Array:
    """Return the thresholds of the outer splits for resampled training samples (n_resamples, J).

    Bootstrap: the groups of each class are drawn with replacement, alike in all splits, because
    training sets share most samples. A draw that leaves a split without scores of a class is left
    out. Groups are numbered by their mean score, so that their names and order do not matter.
    """
    n_scored = np.maximum((~np.isnan(crossfitted)).sum(axis=0), 1)
    order = np.argsort(np.nansum(crossfitted, axis=0) / n_scored, kind="stable")
    units = np.arange(len(y)) if groups is None else groups
    rows_of_classes = []
    for in_class in (y > 0, y < 0):
        class_rows = order[in_class[order]]
        unit_rows: dict[Any, list[int]] = {}
        for row in class_rows.tolist():
            unit_rows.setdefault(units[row], []).append(row)
        rows_of_classes.append([np.array(rows) for rows in unit_rows.values()])
    rng = np.random.default_rng(0)
    resamples = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate(
            [
                unit_rows[number]
                for unit_rows in rows_of_classes
                for number in rng.integers(len(unit_rows), size=len(unit_rows))
            ]
        )
        with suppress(GenesigError):
            resamples.append([rule.threshold(scores[rows], y[rows]) for scores in crossfitted])
    return np.array(resamples).reshape(-1, len(crossfitted))


def _threshold_error(held_out: HeldOutScores, in_class: Array, thresholds: Array) -> float:
    """Return the standard deviation of a rate over resampled thresholds (n_resamples, J)."""
    scores = held_out.scores[in_class, 0]
    split = held_out.split[in_class]
    rates = [np.mean(scores > row[split]) for row in thresholds]
    return float(np.std(rates, ddof=1)) if len(rates) > 1 else 0.0


def _rate_with_limits(
    held_out: HeldOutScores, in_class: Array, is_correct: Array, threshold_error: float
) -> tuple[float, float, float]:
    """Return the share of correct calls in a class with its 95 % interval.

    `threshold_error` is the standard error of the share by the threshold alone: the samples that
    set it are shared by the training sets, so that it hardly shows between the splits.
    """
    numerator = np.bincount(held_out.split, weights=in_class * is_correct)
    denominator = np.bincount(held_out.split, weights=in_class)
    rate = float(numerator.sum() / denominator.sum())
    influence = held_out.sum_by_group(in_class * (is_correct - rate)) / denominator.sum()
    error = standard_error_over_splits(
        ratio_by_split(numerator, denominator, rate), held_out.ratio, influence
    )
    n_units = len(np.unique(held_out.groups[in_class]))
    return rate, *share_limits(rate, float(np.hypot(error, threshold_error)), n_units)
