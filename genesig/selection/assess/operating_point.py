"""The operating point: the threshold of two-class scores for the purpose that ``decision`` states.

It is found from cross-fitted scores: each training sample is scored by models that left it out. Its
sensitivity and specificity are measured on the held-out samples of the outer splits: each is called
at the threshold found in the training set of its split.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.response.design import COST, SENSITIVITY, SPECIFICITY, YOUDEN, decision_rules_in
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
    target: float | None  # requested sensitivity or specificity, 0 to 1; None for other rules
    false_positive_cost: float
    false_negative_cost: float
    prevalence: float  # share of the positive class among the patients to be tested

    @classmethod
    def from_config(cls, decision: Mapping[str, Any], y: Array) -> DecisionRule | None:
        """Return the rule of the section ``decision`` for y (n,) of -1 and 1; None if unset."""
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
        y (n,) float: classes, -1 and 1. groups (n,): the group of each sample, such as its patient;
            None if all samples are independent.

        Raises GenesigError: a class has no score.
        """
        is_scored = ~np.isnan(scores)
        is_positive = is_scored & (y > 0)
        is_negative = is_scored & (y < 0)
        positive_scores = scores[is_positive]
        negative_scores = scores[is_negative]
        if not len(positive_scores) or not len(negative_scores):
            raise GenesigError("decision: a class has no cross-fitted score in a training set")
        if self.name == SENSITIVITY and self.target is not None:
            positive_groups = None if groups is None else groups[is_positive]
            return threshold_for_sensitivity(positive_scores, self.target, positive_groups)
        if self.name == SPECIFICITY and self.target is not None:
            # With the sign of the scores changed, specificity is the negative class's sensitivity.
            negative_groups = None if groups is None else groups[is_negative]
            return -threshold_for_sensitivity(-negative_scores, self.target, negative_groups)
        if self.name == YOUDEN:
            return threshold_of_least_loss(positive_scores, negative_scores, 1.0, 1.0)
        return threshold_of_least_loss(
            positive_scores,
            negative_scores,
            self.false_negative_cost * self.prevalence,
            self.false_positive_cost * (1 - self.prevalence),
        )


N_DRAWS = 1000
"""Draws of one sample of each group, over which a threshold is averaged."""
N_RESAMPLES = 200  # bootstrap resamples for the standard error of a threshold


def threshold_for_sensitivity(
    positive_scores: Array, sensitivity: float, groups: Array | None = None
) -> float:
    """Return the threshold that a new positive sample exceeds with probability `sensitivity`.

    A new positive score is below the j-th smallest of n such scores with probability j/(n + 1). So
    the threshold is the score of rank (1 - sensitivity)(n + 1). It is interpolated linearly between
    two ranks: training sets of all sizes then have approximately the same expected sensitivity.
    Below rank 1 it is the smallest score, with a sensitivity of n/(n + 1), less than requested.

    Samples of one group are not independent, but one sample of each group is exchangeable with one
    of a new group. So `N_DRAWS` times one score of each group is drawn; the threshold is the mean
    of the thresholds of all draws, and n is the number of groups.

    positive_scores (n,). groups (n,): the group of each; None if all are independent.

    Source: Wilks 1941, Ann Math Stat 12:91; interpolation: Hyndman and Fan 1996, Am Stat 50:361,
    type 6. Where scores of different models are taken as exchangeable this is cross-conformal
    prediction of one class (Vovk 2015, Ann Math Artif Intell 74:9). Draws: Hoffman, Sen and
    Weinberg 2001, Biometrika 88:1121.
    """
    draws = positive_scores[None] if groups is None else _draw_from_groups(positive_scores, groups)
    n = draws.shape[1]
    # Rounded, so that 0.05 * 20 is rank 1. Below rank 1 `interp` returns the first score.
    rank = round((1 - sensitivity) * (n + 1), 9)
    ranks = np.arange(1, n + 1)
    boundary = np.mean([np.interp(rank, ranks, scores) for scores in np.sort(draws, axis=1)])
    # Only scores above the threshold are called positive: now also those equal to `boundary`.
    return float(np.nextafter(boundary, -np.inf))


def _draw_from_groups(scores: Array, groups: Array) -> Array:
    """Return draws (n_draws, n_groups) of one score of each group; one draw if no group has two.

    Groups and their scores are sorted by score, so that names and order of samples do not matter.
    """
    scores_of_groups = [np.sort(scores[groups == group]) for group in np.unique(groups)]
    if len(scores_of_groups) == len(scores):
        return scores[None]
    scores_of_groups.sort(key=lambda group_scores: tuple(group_scores.tolist()))
    rng = np.random.default_rng(0)
    return np.stack(
        [rng.choice(group_scores, N_DRAWS) for group_scores in scores_of_groups], axis=1
    )


def threshold_of_least_loss(
    positive_scores: Array,
    negative_scores: Array,
    false_negative_weight: float,
    false_positive_weight: float,
) -> float:
    """Return the threshold with the smallest weighted sum of both error rates.

    Candidates: halfway between neighbouring scores, below all scores, and the largest score. Ties
    go to the candidate nearest to 0, which is halfway between the classes.
    """
    scores = np.unique(np.concatenate([positive_scores, negative_scores]))
    thresholds = np.concatenate(
        [[np.nextafter(scores[0], -np.inf)], (scores[1:] + scores[:-1]) / 2, scores[-1:]]
    )
    false_negative_rate = np.mean(positive_scores[:, None] <= thresholds, axis=0)
    false_positive_rate = np.mean(negative_scores[:, None] > thresholds, axis=0)
    loss = (
        false_negative_weight * false_negative_rate + false_positive_weight * false_positive_rate
    ).round(12)  # so that ties do not depend on the processor
    best = np.flatnonzero(loss == loss.min())
    return float(thresholds[best[np.argmin(np.abs(thresholds[best]))]])


def predictive_values(
    sensitivity: float, specificity: float, prevalence: float
) -> tuple[float, float]:
    """Return the positive and negative predictive value at a prevalence; NaN without such calls."""
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
    """Return decision.tsv: the threshold, and the held-out accuracy of thresholds found this way.

    Rows: threshold of the final model, with the smallest and the largest of the outer splits as
    limits; sensitivity and specificity of held-out samples, each called at the threshold of its
    split, with 95 % intervals for models and thresholds found this way; prevalence; predictive
    values at the prevalence. Their low (high) limit is calculated from the low (high) limits of
    both sensitivity and specificity, so that these intervals are wider than needed.

    observed: fits of all outer splits, in the order of the splits. final: the fit of all samples.
        The last column of their scores is that of the chosen list.
    """
    import pandas as pd

    if observed.crossfitted is None or final.crossfitted is None:
        raise GenesigError("decision: the fits have no cross-fitted scores; run them again")
    y = dataset.response()
    groups = dataset.groups()
    thresholds = np.array([rule.threshold(scores, y, groups) for scores in observed.crossfitted])
    held_out = collect_held_out(dataset, splits, observed).column(-1)
    is_called_positive = held_out.scores[:, 0] > thresholds[held_out.split]
    resampled_thresholds = _resample_thresholds(rule, observed.crossfitted, y, groups)
    rates = {}
    for name, in_class in ((SENSITIVITY, held_out.y > 0), (SPECIFICITY, held_out.y < 0)):
        # The rank of the threshold fixes the expected rate of its rule, so no variance is added.
        threshold_error = (
            0.0 if name == rule.name else _threshold_error(held_out, in_class, resampled_thresholds)
        )
        is_correct = is_called_positive == (name == SENSITIVITY)
        rates[name] = _rate_with_limits(held_out, in_class, is_correct, threshold_error)
    predictive_pairs = [
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
        "positive predictive value": tuple(positive for positive, _ in predictive_pairs),
        "negative predictive value": tuple(negative for _, negative in predictive_pairs),
    }
    return pd.DataFrame(
        [(name, *numbers) for name, numbers in rows.items()],
        columns=["measure", "value", "low", "high"],
    )


def _resample_thresholds(
    rule: DecisionRule, crossfitted: Array, y: Array, groups: Array | None
) -> Array:
    """Return the thresholds (n_resamples, J) of J outer splits for resampled training samples.

    Bootstrap: the groups of each class are drawn with replacement. All splits use the same draw,
    because training sets share most samples. A draw that leaves a split without scores of a class
    is left out. Groups are ordered by their scores, so that their names do not matter. A threshold
    of resampled groups is that of their samples: `N_DRAWS` draws of each resample would take long.

    crossfitted (J, n): scores of the samples, NaN outside the training set of a split.
    """
    n_scored = np.maximum((~np.isnan(crossfitted)).sum(axis=0), 1)
    order = np.argsort(np.nansum(crossfitted, axis=0) / n_scored, kind="stable")
    units = np.arange(len(y)) if groups is None else groups
    units_of_classes = []  # of each class: the rows of each independent unit
    for in_class in (y > 0, y < 0):
        class_rows = order[in_class[order]]
        rows_of_unit: dict[Any, list[int]] = {}
        for row in class_rows.tolist():
            rows_of_unit.setdefault(units[row], []).append(row)
        units_of_classes.append([np.array(rows) for rows in rows_of_unit.values()])
    rng = np.random.default_rng(0)
    resamples = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate(
            [
                class_units[number]
                for class_units in units_of_classes
                for number in rng.integers(len(class_units), size=len(class_units))
            ]
        )
        with suppress(GenesigError):
            resamples.append([rule.threshold(scores[rows], y[rows]) for scores in crossfitted])
    return np.array(resamples).reshape(-1, len(crossfitted))


def _threshold_error(held_out: HeldOutScores, in_class: Array, thresholds: Array) -> float:
    """Return the standard deviation, over resampled thresholds (n_resamples, J), of a class's rate.

    The rate is the share of its held-out samples that are called positive.
    """
    scores = held_out.scores[in_class, 0]
    split = held_out.split[in_class]
    rates = [np.mean(scores > split_thresholds[split]) for split_thresholds in thresholds]
    return float(np.std(rates, ddof=1)) if len(rates) > 1 else 0.0


def _rate_with_limits(
    held_out: HeldOutScores, in_class: Array, is_correct: Array, threshold_error: float
) -> tuple[float, float, float]:
    """Return the share of correct calls in a class with its 95 % interval.

    in_class, is_correct (t,) bool: whether a score is of the class, and whether its call is right.
    threshold_error: the standard error of the share that is due to the threshold. Differences
        between the splits hardly contain it, because their training sets share most samples.
    """
    n_correct = np.bincount(held_out.split, weights=in_class * is_correct)  # of each split
    n_in_class = np.bincount(held_out.split, weights=in_class)
    rate = float(n_correct.sum() / n_in_class.sum())
    influence = held_out.sum_by_group(in_class * (is_correct - rate)) / n_in_class.sum()
    error = standard_error_over_splits(
        ratio_by_split(n_correct, n_in_class, rate), held_out.test_train_ratio, influence
    )
    n_units = len(np.unique(held_out.groups[in_class]))
    return rate, *share_limits(rate, float(np.hypot(error, threshold_error)), n_units)
