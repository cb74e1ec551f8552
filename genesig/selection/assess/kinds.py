"""Held-out scores of a study, and their assessment for each kind of response.

Classes: the balanced error, in which all classes count alike, and the AUC. A number: 1 - R².
Survival: 1 - C.

Private functions have the arguments of the fields of `Headline` and `AssessmentKind` that call
them; class_number (t,) int numbers the n_classes classes from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import centres, coded, margins, probabilities, shares, two_columns
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.selection.assess.clusters import (
    class_sides,
    macro_auc,
    mean_class_error,
    predict_class,
    wrong_classes,
)
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    area_limits,
    auc,
    balanced_error,
    corrected_t,
    hull,
    mean_of_shares,
    misclassification,
    newcombe,
    placements,
    ratio_by_split,
    share_limits,
    squared_error,
    standard_error_over_splits,
    t_quantile,
    wrong,
    zero_one_loss,
)
from genesig.selection.assess.survival import harrell, order_scores

Classes = tuple[str, ...] | None


@dataclass(frozen=True)
class HeldOutScores:
    """Every held-out score of a study, one row per (permutation, split, test sample)."""

    # (t,) response with which the score is compared
    y: Array
    # (t,) int, row of the data set from which response, split and group come: a permutation
    # exchanges only the expression of the rows
    row: Array
    # (t,) int, number of the split in ``splits.outer``, of its repeat, and of the permutation
    split: Array
    repeat: Array
    permutation: Array
    # (t, m) float, f(x) less the threshold of its fit, a column per mu: above 0 the positive class;
    # of several classes (t, m, T), the largest of which is the prediction
    scores: Array
    # mean of n_test/n_train over the splits
    test_train_ratio: float
    # (t,) int, number of the sample's group, such as its patient; None if each is its own group
    group: Array | None = None

    @property
    def groups(self) -> Array:
        """The independent unit of each row, (t,): its group, or its sample without groups."""
        return self.row if self.group is None else self.group

    def sum_by_group(self, values: Array) -> Array:
        """Return the sum of values (t,) over each group, (G,)."""
        _, group_number = np.unique(self.groups, return_inverse=True)
        return np.bincount(group_number, weights=values)

    def take_rows(self, order: Array) -> HeldOutScores:
        """Return the record of these rows, in this order."""
        rows = ("y", "row", "split", "repeat", "permutation", "scores")
        group = None if self.group is None else self.group[order]
        return replace(self, **{name: getattr(self, name)[order] for name in rows}, group=group)

    def column(self, index: int) -> HeldOutScores:
        """Return the record of one column of scores."""
        return replace(self, scores=self.scores[:, [index]])

    def sample_means(self, values: Array) -> tuple[Array, Array]:
        """Return the response and the mean of the values of each sample that was tested.

        Values (t,), or (t, T) with several classes.
        """
        _, first_index, sample = np.unique(self.row, return_index=True, return_inverse=True)
        if values.ndim > 1:
            columns = [self.sample_means(column)[1] for column in values.T]
            return self.y[first_index], np.stack(columns, axis=1)
        return self.y[first_index], np.bincount(sample, weights=values) / np.bincount(sample)


@dataclass(frozen=True)
class Headline:
    """The reported error of a study: a weighted sum of a loss over the samples of a pool."""

    name: str
    # held-out scores -> loss of each sample at each column of scores, (t, m)
    loss: Callable[[HeldOutScores], Array]
    # held-out scores, pool numbers (t,) -> weights (t,), whose product with the losses adds up to
    # the error of each pool; NaN if a pool does not define it
    weights: Callable[[HeldOutScores, Array], Array]
    # held-out scores, losses (t,) of one column -> error of each split, (J,)
    split_errors: Callable[[HeldOutScores, Array], Array]
    # held-out scores, losses (t,) of one column, the error -> its 95 % interval
    limits: Callable[[HeldOutScores, Array, float], Interval]
    # held-out scores, scores (t,) or (t, T) of one column -> AUC and its 95 % interval
    area: Callable[[HeldOutScores, Array], tuple[float, float, float]]


@dataclass(frozen=True)
class AssessmentKind:
    """The assessment of one kind of response; `Classes` are the names of the classes."""

    headline: Headline
    # columns of scores.tsv that hold errors
    errors: tuple[str, ...]
    # y, scores (less the threshold) of a test set -> values of `errors`, NaN if undefined
    measure_split: Callable[[Array, Array], tuple[float, ...]]
    # y, scores, classes -> columns ``predicted`` and ``wrong``
    decision_columns: Callable[[Array, Array, Classes], dict[str, Array]]
    # adjustment of 1 + k training sets, y, training rows (n, 1 + k) bool, validation rows of the k
    # inner folds -> score (n,) of every sample by the covariates alone, less its threshold. The
    # first set is an outer training set, the others are this set without an inner fold
    score_covariates: Callable[[Adjustment, Array, Array, Sequence[Array]], Array]
    # scores, classes -> columns that hold scores
    score_columns: Callable[[Array, Classes], dict[str, Array]] = lambda f, classes: {"score": f}
    # table with these columns, classes -> scores
    read_scores: Callable[[Any, Classes], Array] = lambda table, classes: table["score"].to_numpy(
        float
    )
    # scores (t,) or (t, T) of one list, lines of probabilities (t, T + 1) (`optim.classes`),
    # classes -> further columns of predictions.tsv
    probability_columns: Callable[[Array, Array, Classes], dict[str, Array]] = (
        lambda f, lines, classes: {}
    )


Side = tuple[Array, Array]


def held_out_area(held_out: HeldOutScores, sides: Sequence[Side]) -> tuple[float, float, float]:
    r"""Return the AUC and its 95 % interval; NaN without both classes or without a score.

    :math:`A = \sum_s \sum_{i \in +, j \in -} (1[f_i > f_j] + ½ 1[f_i = f_j]) / \sum_s n_+ n_-` over
    the test sets s, whose samples one model left out. The AUC of each sample's mean score would be
    that of many models together, and pooled scores compare models with each other. The interval
    is that of `share_limits` by the error of `standard_error_over_splits`, which estimates the
    error of A around its mean over studies of this size. Near 1 the score interval widens it, with
    the groups of samples of each class as its size; the intervals of several sides are combined as
    in `mean_of_shares`. If a test set lacks a class, as in leave-one-out, the scores of a repeat
    are pooled.

    sides list of ((t,) bool, (t,) float): which samples are positive, and the scores; with several
    sides A is the mean of their AUC.
    """
    splits_have_both = all(_has_both_sides(positive, held_out.split) for positive, _ in sides)
    test_set = held_out.split if splits_have_both else held_out.repeat
    is_defined = all(
        _has_both_sides(positive, test_set) and not np.isnan(f).any() for positive, f in sides
    )
    class_sizes = [_count_units(positive, held_out.row) for positive, _ in sides]
    if not is_defined or min(map(min, class_sizes)) < 2:
        return np.nan, *NO_INTERVAL
    side_areas = [_area_within_blocks(test_set, *side) for side in sides]
    value, splits, influence = (np.mean(part, axis=0) for part in zip(*side_areas, strict=True))
    value = float(value)
    if not splits_have_both:
        splits = np.full(len(np.unique(held_out.split)), np.nan)
    error = standard_error_over_splits(
        splits, held_out.test_train_ratio, held_out.sum_by_group(influence)
    )
    areas = [side_area[0] for side_area in side_areas]
    score_intervals = [
        newcombe(area, *_count_units(positive, held_out.groups))
        for area, (positive, _) in zip(areas, sides, strict=True)
    ]
    widths = np.sqrt(np.square(np.transpose(score_intervals) - areas).sum(axis=1)) / len(sides)
    return value, *area_limits(value, error, (value - widths[0], value + widths[1]))


def _has_both_sides(positive: Array, block: Array) -> bool:
    """Return whether every block has samples of both sides."""
    n_positive = np.bincount(block, weights=positive)
    size = np.bincount(block)
    return bool(((n_positive > 0) & (n_positive < size))[size > 0].all())


def _count_units(positive: Array, unit: Array) -> tuple[int, int]:
    """Return the number of units (samples or groups) on the positive and on the negative side."""
    return len(np.unique(unit[positive])), len(np.unique(unit[~positive]))


def _area_within_blocks(block: Array, positive: Array, f: Array) -> tuple[float, Array, Array]:
    """Return the AUC over pairs within blocks, the AUC of each block, and the influence (t,)."""
    concordant = np.zeros(len(f))
    comparable = np.zeros(len(f))
    block_areas = []
    for block_number in np.unique(block):
        in_block = block == block_number
        positive_rows, negative_rows = (
            np.flatnonzero(in_block & side) for side in (positive, ~positive)
        )
        shares_below = placements(f[positive_rows], f[negative_rows])
        concordant[positive_rows] = shares_below * len(negative_rows)
        concordant[negative_rows] = (1 - placements(f[negative_rows], f[positive_rows])) * len(
            positive_rows
        )
        comparable[positive_rows] = len(negative_rows)
        comparable[negative_rows] = len(positive_rows)
        block_areas.append(shares_below.mean())
    pairs = comparable.sum() / 2
    value = concordant.sum() / 2 / pairs
    return float(value), np.array(block_areas), (concordant - value * comparable) / pairs


def balanced_error_measure(
    loss: Callable[[HeldOutScores], Array],
    class_number: Callable[[HeldOutScores], tuple[Array, int]],
    area: Callable[[HeldOutScores, Array], tuple[float, float, float]],
) -> Headline:
    """Return the balanced error, the mean over the classes of their error shares, as a headline.

    loss, area: see `Headline`. class_number: held-out scores -> class number of each score, from 0,
    and the number of classes.
    """
    return Headline(
        name="balanced error",
        loss=loss,
        weights=lambda held_out, pool: _class_weights(*class_number(held_out), pool),
        split_errors=lambda held_out, losses: _balanced_split_errors(
            held_out, losses, *class_number(held_out)
        ),
        limits=lambda held_out, losses, error: _balanced_error_limits(
            held_out, losses, error, *class_number(held_out)
        ),
        area=area,
    )


def _class_weights(class_number: Array, n_classes: int, pool: Array) -> Array:
    """Return 1/(T n_c), n_c the size of the sample's class in its pool; NaN without a class."""
    cell = n_classes * pool + class_number
    size = np.bincount(cell, minlength=n_classes * (int(pool.max()) + 1))
    has_all_classes: Array = np.all(size.reshape(-1, n_classes) > 0, axis=1)
    return np.where(has_all_classes[pool], 1 / (n_classes * size[cell]), np.nan)


def _balanced_split_errors(
    held_out: HeldOutScores, loss: Array, class_number: Array, n_classes: int
) -> Array:
    """Return the balanced error of each split, (J,)."""
    _, split = np.unique(held_out.split, return_inverse=True)
    return np.bincount(split, weights=_class_weights(class_number, n_classes, split) * loss)


def _balanced_error_limits(
    held_out: HeldOutScores, loss: Array, error: float, class_number: Array, n_classes: int
) -> Interval:
    """Return the hull of two intervals of the balanced error, each too short in other cases.

    * over splits: error ± t √((1/J + n_test/n_train) s²) on J - 1 df, see `corrected_t`. It covers
      the choice of training samples, but is empty when no split has an error. Left out where a
      split does not define its error: a test fold without both classes, hence leave-one-out.
    * over samples: from the Wilson intervals of the classes' shares (see `mean_of_shares`), where
      repeats do not add samples, and the size of a class is its number of groups; half of it in
      leave-one-out, as every sample also trains: twice the variance, as in
      `standard_error_over_splits`.

    Coverage of the expected error (tests/references/test_coverage.py): hull 98-100 %, over splits
    alone 71-98 %, over samples alone 96-98 %; leave-one-out 88-95 %, with all samples 69-92 %.
    """
    splits = _balanced_split_errors(held_out, loss, class_number, n_classes)
    is_undefined = bool(np.isnan(splits).any())
    over_splits = (
        NO_INTERVAL if is_undefined else corrected_t(splits, error, held_out.test_train_ratio)
    )
    over_samples = _interval_over_samples(
        held_out, loss, class_number, n_classes, 0.5 if _is_leave_one_out(held_out) else 1.0
    )
    low, high = hull(over_splits, over_samples)
    return max(0.0, low), min(1.0, high)


def _is_leave_one_out(held_out: HeldOutScores) -> bool:
    """Return whether each test set is one sample, or the samples of one group."""
    tested = np.unique(np.stack([held_out.split, held_out.groups]), axis=1)
    return bool(tested.shape[1] == len(np.unique(held_out.split)) > 1)


def _interval_over_samples(
    held_out: HeldOutScores,
    loss: Array,
    class_number: Array,
    n_classes: int,
    units_per_group: float,
) -> Interval:
    """Return the interval of the balanced error from the error shares of the classes.

    `units_per_group` is the number of independent samples that each group counts as.
    """
    means = []
    sizes = []
    for c in range(n_classes):
        in_class = class_number == c
        repeats = np.unique(held_out.repeat[in_class])
        repeat_means = [loss[in_class & (held_out.repeat == repeat)].mean() for repeat in repeats]
        means.append(float(np.mean(repeat_means)))
        sizes.append(units_per_group * len(np.unique(held_out.groups[in_class])))
    return mean_of_shares(means, sizes)


def _measure_two_classes(y: Array, f: Array) -> tuple[float, ...]:
    """Return the `AssessmentKind.errors` of two classes in one test set."""
    return misclassification(y, f), balanced_error(y, f), squared_error(y, f), auc(y, f)


def _two_class_decisions(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    """Return the predicted class and whether it is wrong; neither without a score."""
    negative, positive = classes or ("", "")
    predicted = np.select([f > 0, f < 0], [positive, negative], default="").astype(object)
    is_wrong = wrong(y, f)
    is_missing = np.isnan(f)
    if is_missing.any():
        is_wrong = is_wrong.astype(object)
        is_wrong[is_missing] = None
    return {"predicted": predicted, "wrong": is_wrong}


def _positive_probability(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    """Return the probability of the positive class."""
    _, positive = classes or ("", "")
    return {f"probability of {positive}": probabilities(two_columns(f), lines)[:, 1]}


def _score_two_classes_by_covariates(
    adjustment: Adjustment, y: Array, is_training: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return scores less the midpoint of the class means of the inner folds' scores.

    Without inner folds, the raw scores.
    """
    f = adjustment.covariate_scores(np.tile(y[:, None], is_training.shape[1]))
    if not inner_folds:
        return np.asarray(f[0])
    inner_y = y[np.concatenate(inner_folds)]
    inner_scores = np.concatenate([f[k, fold] for k, fold in enumerate(inner_folds, 1)])
    return np.asarray(
        f[0] - np.mean([inner_scores[inner_y == class_code].mean() for class_code in (-1.0, 1.0)])
    )


def _measure_classes(y: Array, f: Array) -> tuple[float, ...]:
    """Return the `AssessmentKind.errors` of several classes in one test set."""
    error = float(np.mean(wrong_classes(y, f))) if len(y) else np.nan
    return error, mean_class_error(y, f, f.shape[-1]), np.nan, macro_auc(y, f)


def _class_decisions(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    """Return the predicted class and whether it is wrong; neither without scores."""
    names = np.array([*(classes or ()), ""], dtype=object)
    predicted = predict_class(f)
    loss = wrong_classes(y, f)
    is_missing = np.isnan(loss)
    is_wrong = (loss == 1).astype(object) if is_missing.any() else loss == 1
    if is_missing.any():
        is_wrong[is_missing] = None
    return {"predicted": names[predicted], "wrong": is_wrong}


def _score_classes_by_covariates(
    adjustment: Adjustment, y: Array, is_training: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return `margins` (n, T) to the mean scores of the classes in the inner folds.

    Without inner folds, the raw scores (n, T).
    """
    Y = np.tile(y[:, None], is_training.shape[1])
    n_classes = int(y.max()) + 1
    share = shares(
        Y[:, :1], is_training[:, :1], n_classes, np.square(adjustment.root_weights[:, :1])
    )
    # Sets without an inner fold have the shares of the outer training set, set 0, see `coded`.
    columns = coded(Y, np.repeat(share, is_training.shape[1], axis=0))
    f = np.stack([adjustment.covariate_scores(columns[:, :, c]) for c in range(n_classes)], axis=-1)
    if not inner_folds:
        return np.asarray(f[0])
    inner_scores = np.concatenate([f[k, fold] for k, fold in enumerate(inner_folds, 1)])
    return margins(f[0], centres(y[np.concatenate(inner_folds)], inner_scores, n_classes))


def _class_probabilities(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    """Return the probability of each class."""
    p = probabilities(f, lines)
    return {f"probability of {name}": p[:, c] for c, name in enumerate(classes or ())}


def _inverse_variation(held_out: HeldOutScores, pool: Array) -> Array:
    """Return 1 / Σ (y - ȳ)² over the sample's pool."""
    mean = np.bincount(pool, weights=held_out.y) / np.maximum(np.bincount(pool), 1)
    total = np.bincount(pool, weights=np.square(held_out.y - mean[pool]))
    return 1.0 / np.where(total > 0, total, np.nan)[pool]


def _number_split_errors(held_out: HeldOutScores, loss: Array) -> Array:
    """Return the mean loss of each split over the variance of all responses.

    The variance within a small split would be too uncertain.
    """
    _, split = np.unique(held_out.split, return_inverse=True)
    return np.bincount(split, weights=loss) / np.bincount(split) / _variance(held_out)


def _number_error_limits(held_out: HeldOutScores, loss: Array, error: float) -> Interval:
    """Return error ± t √(V_s + V_u) on J - 1 df, see `standard_error_over_splits`.

    Both variances are of u = (l - error (y - ȳ)²)/s², what sample and split add to the ratio: of
    the losses alone the interval would hold that of Σ (y - ȳ)² twice, and cover in 99 to 100 %.
    """
    sample_y, _ = held_out.sample_means(held_out.y)  # each sample once, however often tested
    mean = float(np.mean(sample_y))
    linear_terms = (loss - error * np.square(held_out.y - mean)) / _variance(held_out)
    _, split = np.unique(held_out.split, return_inverse=True)
    splits = np.bincount(split, weights=linear_terms) / np.bincount(split)
    influence = held_out.sum_by_group(linear_terms) / len(linear_terms)
    degrees_of_freedom = len(splits) - 1 if len(splits) > 1 else len(influence) - 1
    if degrees_of_freedom < 1:
        return NO_INTERVAL
    half_width = t_quantile(degrees_of_freedom) * standard_error_over_splits(
        splits, held_out.test_train_ratio, influence
    )
    return max(0.0, error - half_width), error + half_width


def _variance(held_out: HeldOutScores) -> float:
    """Return the variance of the responses of the tested samples."""
    return float(np.var(held_out.sample_means(held_out.y)[0]))


def _no_decision(f: Array) -> Array:
    """Return None for each sample: a number or a risk is neither right nor wrong."""
    return np.full(len(f), None, dtype=object)


def _score_numbers_by_covariates(
    adjustment: Adjustment, y: Array, is_training: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return the least-squares scores by the covariates."""
    return np.asarray(adjustment.covariate_scores(np.tile(y[:, None], is_training.shape[1]))[0])


def _test_sets(held_out: HeldOutScores) -> list[Array]:
    """Return the rows of each test set, one split under one permutation."""
    key = held_out.permutation * (int(held_out.split.max()) + 1) + held_out.split
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _comparable_pairs(y: Array) -> Array:
    """Return which pairs (i, j) are comparable, (n, n): i had the event, j was followed longer."""
    time = y["time"]
    event = y["event"]
    is_later = time > time[:, None]
    is_later |= (time == time[:, None]) & ~event
    return np.asarray(is_later & event[:, None])


def _count_pairs(held_out: HeldOutScores) -> Array:
    """Return the number of pairs in its test set that each sample is part of, (t,)."""
    n_pairs = np.zeros(len(held_out.y))
    for rows in _test_sets(held_out):
        comparable = _comparable_pairs(held_out.y[rows])
        n_pairs[rows] = comparable.sum(axis=0) + comparable.sum(axis=1)
    return n_pairs


def _order_loss(held_out: HeldOutScores) -> Array:
    """Return the share of each sample's pairs that are ordered wrongly, ties counting one half."""
    loss = np.zeros(held_out.scores.shape)
    for rows in _test_sets(held_out):
        comparable = _comparable_pairs(held_out.y[rows])
        n_pairs = np.maximum(comparable.sum(axis=0) + comparable.sum(axis=1), 1)
        for column, f in enumerate(held_out.scores[rows].T):
            wrong_order = np.where(comparable, 1 - order_scores(f), 0.0)
            loss[rows, column] = (wrong_order.sum(axis=0) + wrong_order.sum(axis=1)) / n_pairs
            loss[rows, column] += 0 * f.sum()  # NaN if a score is NaN
    return loss


def _pair_weights(held_out: HeldOutScores, pool: Array) -> Array:
    """Return half of the sample's share of all pairs of its pool, as a pair has two samples."""
    n_pairs = _count_pairs(held_out)
    total = np.bincount(pool, weights=n_pairs)
    return n_pairs / np.where(total > 0, total, np.nan)[pool]


def _order_split_errors(held_out: HeldOutScores, loss: Array) -> Array:
    """Return the error of each split over its pairs, (J,); NaN without a pair."""
    _, split = np.unique(held_out.split, return_inverse=True)
    n_pairs = _count_pairs(held_out)
    total = np.bincount(split, weights=n_pairs)
    return np.bincount(split, weights=n_pairs * loss) / np.where(total > 0, total, np.nan)


def _order_error_limits(held_out: HeldOutScores, loss: Array, error: float) -> Interval:
    """Return the interval of 1 - C by the error of `standard_error_over_splits`.

    Test sets without a pair are left out.
    """
    _, repeat = np.unique(held_out.repeat, return_inverse=True)
    n_pairs = _count_pairs(held_out)
    n_repeats = int(repeat.max()) + 1
    total = np.bincount(repeat, weights=n_pairs)
    if not (total > 0).all() or np.isnan(loss).any():
        return NO_INTERVAL
    errors = np.bincount(repeat, weights=n_pairs * loss) / total
    influence = 2 * n_pairs * (loss - errors[repeat]) / total[repeat] / n_repeats
    _, split = np.unique(held_out.split, return_inverse=True)
    pairs, n_wrong = (np.bincount(split, weights=values) for values in (n_pairs, n_pairs * loss))
    has_pairs = pairs > 0
    splits = ratio_by_split(n_wrong[has_pairs], pairs[has_pairs], error)
    spread = standard_error_over_splits(
        splits, held_out.test_train_ratio, held_out.sum_by_group(influence)
    )
    n_event_groups = len(np.unique(held_out.groups[held_out.y["event"] & (n_pairs > 0)]))
    # if all pairs are ordered alike, half of the groups with an event count as samples
    return share_limits(error, spread, max(n_event_groups // 2, 1))


def _risk_decisions(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    """Return the risk group; a single sample is neither right nor wrong."""
    group = np.select([f > 0, f <= 0], ["high", "low"], default="").astype(object)
    return {"predicted": group, "wrong": _no_decision(f)}


def _score_survival_by_covariates(
    adjustment: Adjustment, y: Array, is_training: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return the scores of Cox's model of the covariates; inner folds set no threshold."""
    from genesig.optim.cox.path import ridge  # here, because most jobs import this module
    from genesig.optim.cox.training import separation_ridge

    training_rows = np.flatnonzero(adjustment.root_weights[:, 0])
    C = adjustment.basis[0].T
    weights = adjustment.weights
    training_weights = None if weights is None else weights[training_rows, 0]
    risk = RiskSets.from_times(
        y["time"][training_rows], y["event"][training_rows], weights=training_weights
    )
    training_covariates = C[training_rows[risk.order]]
    fit = ridge(
        risk,
        Z=training_covariates[:, :0],  # no genes, so that lam has no effect
        C=training_covariates,
        lam=np.ones(1),
        column_ridge=separation_ridge(risk, training_covariates),
    )
    return np.asarray(C @ fit.b[:, 0])


ASSESSMENT_KINDS: dict[str, AssessmentKind] = ByKind(
    {
        "classification": AssessmentKind(
            headline=balanced_error_measure(
                loss=lambda held_out: zero_one_loss(held_out.y[:, None], held_out.scores),
                class_number=lambda held_out: ((held_out.y > 0).astype(np.int64), 2),
                area=lambda held_out, f: held_out_area(held_out, [(held_out.y > 0, f)]),
            ),
            errors=("misclassification", "balanced_error", "squared_error", "auc"),
            measure_split=_measure_two_classes,
            decision_columns=_two_class_decisions,
            score_covariates=_score_two_classes_by_covariates,
            probability_columns=_positive_probability,
        ),
        SEVERAL_CLASSES: AssessmentKind(
            headline=balanced_error_measure(
                loss=lambda held_out: wrong_classes(held_out.y, held_out.scores),
                class_number=lambda held_out: (
                    held_out.y.astype(np.int64),
                    held_out.scores.shape[-1],
                ),
                area=lambda held_out, f: held_out_area(held_out, class_sides(held_out.y, f)),
            ),
            errors=("misclassification", "balanced_error", "squared_error", "auc"),
            measure_split=_measure_classes,
            decision_columns=_class_decisions,
            score_covariates=_score_classes_by_covariates,
            score_columns=lambda f, classes: {
                f"score of {name}": f[..., c] for c, name in enumerate(classes or ())
            },
            read_scores=lambda table, classes: table[
                [f"score of {name}" for name in classes or ()]
            ].to_numpy(float),
            probability_columns=_class_probabilities,
        ),
        "regression": AssessmentKind(
            headline=Headline(
                name="1 - R²",
                loss=lambda held_out: np.square(held_out.y[:, None] - held_out.scores),
                weights=_inverse_variation,
                split_errors=_number_split_errors,
                limits=_number_error_limits,
                area=lambda held_out, f: (np.nan, *NO_INTERVAL),
            ),
            errors=("misclassification", "balanced_error", "squared_error", "auc"),
            measure_split=lambda y, f: (np.nan, np.nan, squared_error(y, f), np.nan),
            decision_columns=lambda y, f, classes: {"predicted": f, "wrong": _no_decision(f)},
            score_covariates=_score_numbers_by_covariates,
        ),
        "survival": AssessmentKind(
            headline=Headline(
                name="1 - C",
                loss=_order_loss,
                weights=_pair_weights,
                split_errors=_order_split_errors,
                limits=_order_error_limits,
                area=lambda held_out, f: (np.nan, *NO_INTERVAL),
            ),
            errors=("concordance",),
            measure_split=lambda y, f: (harrell(y["time"], y["event"], f).value,),
            decision_columns=_risk_decisions,
            score_covariates=_score_survival_by_covariates,
        ),
    }
)
