"""The nested cross-validation error with its interval, and its difference to another method's.

The error of a repeat is that of all its held-out scores together, the error of a study the mean
over its repeats. `genesig.selection.assess.kinds` defines the error of each kind of response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import group_numbers, mean_spread
from genesig.selection.assess.intervals import NO_INTERVAL, Interval, corrected_t, hull, t_quantile
from genesig.selection.assess.kinds import Headline, HeldOutScores


@dataclass(frozen=True)
class Assessment:
    """Error and AUC of one method, each with its 95 % interval; NaN if undefined.

    The names of the fields are those of the columns in results tables.
    """

    error: float
    low: float
    high: float
    auc: float
    auc_low: float
    auc_high: float


def pooled_error(held_out: HeldOutScores, pool: Array, headline: Headline) -> Array:
    """Return the error of each pool of held-out scores at each column, (n_pools, m).

    `pool` (t,) numbers the pool of each score, such as its repeat.
    """
    loss = headline.loss(held_out) * headline.weights(held_out, pool)[:, None]
    n_pools = int(pool.max()) + 1
    sums = [np.bincount(pool, weights=column, minlength=n_pools) for column in loss.T]
    return np.stack(sums, axis=1)


def study_errors(held_out: HeldOutScores, headline: Headline) -> Array:
    """Return the error of each permutation at each column, the mean of its repeats.

    (n_permutations, m); one row for the observed labels.
    """
    n_repeats = int(held_out.repeat.max()) + 1
    pool = held_out.permutation * n_repeats + held_out.repeat
    errors = pooled_error(held_out, pool, headline)
    return np.asarray(errors.reshape(-1, n_repeats, errors.shape[1]).mean(axis=1))


def assess(held_out: HeldOutScores, headline: Headline) -> list[Assessment]:
    """Return the error of each column of scores with its interval, for one permutation.

    Error and AUC estimate the average performance of models of this procedure, trained on as many
    samples as here, and so do their intervals (see `Headline.limits` of each kind). The AUC is that
    of `held_out_area`, NaN for a number and for survival.
    """
    (errors,) = study_errors(held_out, headline)
    losses = headline.loss(held_out)
    assessments = []
    for column, error in enumerate(map(float, errors)):
        limits = NO_INTERVAL
        if not np.isnan(error):
            limits = headline.limits(held_out, losses[:, column].astype(float), error)
        assessments.append(
            Assessment(error, *limits, *headline.area(held_out, held_out.scores[:, column]))
        )
    return assessments


MIN_REPEATS = 3  # repeats from which on their variance estimates that over training sets


class ErrorDifference(NamedTuple):
    """Errors of two methods on the same samples, and their difference."""

    error: float  # of the method
    reference_error: float
    difference: float  # error of the method less that of the reference
    low: float  # 95 % interval of the difference
    high: float

    def columns(self, name: str) -> dict[str, float]:
        """Return the difference and its interval as columns of a table: name, _low and _high."""
        return {name: self.difference, f"{name}_low": self.low, f"{name}_high": self.high}


def compare_errors(
    method: HeldOutScores, reference: HeldOutScores, column: int, headline: Headline
) -> ErrorDifference:
    """Return how much the error of a method differs from that of a reference on the same samples.

    Both are scored on the same samples, so a sample that is hard for both does not count.
    The interval is ``d ± t √(s²/n + r²)``, t on the degrees of freedom of Satterthwaite (1946), of
    n - 1 and of the repeats less one. s² is the variance over the n samples of the mean difference
    of each over its repeats, the classes weighing one half each (with groups of samples, s²/n is
    the variance over groups, with their degrees of freedom, see `clusters.mean_spread`); r² is the
    variance of the difference over the repeats. s²/n takes the training sets as given, and repeats
    are other training sets of the same samples. Fewer than `MIN_REPEATS` repeats do not estimate
    r². The interval is then the hull of two: that with s²/n alone, and `corrected_t` over splits,
    which is left out if a split does not define its error. Their coverage is measured in
    docs/evidence/claims.md.

    method, reference: of the same samples and splits, in any order; `method` with one column of
    scores. column: column of `reference`, such as -1 for the chosen lists.
    """
    error = float(study_errors(method, headline)[0, 0])
    reference_error = float(study_errors(reference, headline)[0, column])
    method = method.take_rows(_sort_order(method))
    reference = reference.column(column)
    reference = reference.take_rows(_sort_order(reference))
    losses, reference_losses = (
        headline.loss(held_out)[:, 0].astype(float) for held_out in (method, reference)
    )
    loss_difference = losses - reference_losses
    error_difference = error - reference_error
    n = len(method.y)
    # all scores are one pool; the mean weight is 1
    weights = headline.weights(method, np.zeros(n, dtype=np.int64)) * n
    by_repeat = _difference_by_repeat(method, loss_difference, headline)
    if len(by_repeat) >= MIN_REPEATS and np.isfinite(by_repeat).all():
        interval = _interval_over_groups(
            method, loss_difference * weights, error_difference, by_repeat
        )
        return ErrorDifference(error, reference_error, error_difference, *interval)
    by_split = headline.split_errors(method, loss_difference)
    is_defined = len(by_split) > 1 and not np.isnan(by_split).any()
    over_splits = (
        corrected_t(by_split, error_difference, method.test_train_ratio)
        if is_defined
        else NO_INTERVAL
    )
    over_groups = _interval_over_groups(method, loss_difference * weights, error_difference)
    interval = hull(over_splits, over_groups)
    return ErrorDifference(error, reference_error, error_difference, *interval)


def _sort_order(held_out: HeldOutScores) -> Array:
    """Return the order of the rows by split, then by sample."""
    return np.lexsort((held_out.row, held_out.split))


def _difference_by_repeat(
    held_out: HeldOutScores, loss_difference: Array, headline: Headline
) -> Array:
    """Return the difference of the errors in each repeat, (n_repeats,), by weighted means."""
    _, repeat = np.unique(held_out.repeat, return_inverse=True)
    return np.bincount(repeat, weights=headline.weights(held_out, repeat) * loss_difference)


def _interval_over_groups(
    held_out: HeldOutScores,
    loss_difference: Array,
    centre: float,
    repeat_differences: Array | None = None,
) -> Interval:
    """Return centre ± t √(s²/n + r²), see `compare_errors`.

    `loss_difference` (t,) is weighted by class; r² is 0 without `repeat_differences`.
    """
    first_index, sample = np.unique(held_out.row, return_index=True, return_inverse=True)[1:]
    sample_differences = np.bincount(sample, weights=loss_difference) / np.bincount(sample)
    if len(sample_differences) < 2 or np.isnan(sample_differences).any():
        return NO_INTERVAL
    variances = [float(sample_differences.var(ddof=1)) / len(sample_differences)]
    degrees_of_freedom = [float(len(sample_differences) - 1)]
    group = group_numbers(held_out.groups[first_index])
    if group is not None:  # some samples share a group
        spread = mean_spread(sample_differences, group)
        if not spread.df > 0:
            return NO_INTERVAL
        variances = [spread.error**2]
        degrees_of_freedom = [spread.df]
    if repeat_differences is not None:
        variances = [*variances, float(repeat_differences.var(ddof=1))]
        degrees_of_freedom = [*degrees_of_freedom, len(repeat_differences) - 1.0]
    total_variance = sum(variances)
    sum_of_squares_by_df = sum(
        variance**2 / df for variance, df in zip(variances, degrees_of_freedom, strict=True)
    )
    half_width = t_quantile(
        total_variance**2 / sum_of_squares_by_df
        if sum_of_squares_by_df > 0
        else degrees_of_freedom[0]
    ) * float(np.sqrt(total_variance))
    return centre - half_width, centre + half_width
