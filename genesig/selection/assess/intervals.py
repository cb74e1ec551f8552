"""Measures of held-out samples, y against the score f(x), their intervals, detectable effects.

For two classes y is ±1, the prediction is sign f, and a score of exactly 0 is an error, as it
predicts no class. A measure that the samples do not define (a class is absent, the response is
constant, a list was not computed) is NaN.

No interval is exact: no unbiased variance of k-fold cross-validation exists (Bengio and
Grandvalet 2004). Each function states its assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypedDict

import numpy as np

from genesig.arrays import Array

MIN_BIN_SAMPLES = 8  # samples of a bin of similar scores, below which fewer bins are made
MAX_BINS = 5  # largest number of bins of similar scores

Interval = tuple[float, float]

CONFIDENCE_LEVEL = 0.95
NORMAL_QUANTILE = 1.959963984540054  # the normal quantile at (1 + CONFIDENCE_LEVEL)/2
NO_INTERVAL: Interval = (np.nan, np.nan)

ALPHA = 0.05  # level of the tests of `detectable`
POWER = 0.8  # probability with which they detect an effect
_NORMAL = NormalDist()


def wrong(y: Array, f: Array) -> Array:
    """Return which samples are misclassified, y f <= 0, for y = ±1 (n, 1, ...) and f (n, ...).

    A score of exactly 0 decides for neither class and counts as an error.
    """
    return y * f <= 0


def zero_one_loss(y: Array, f: Array) -> Array:
    """Return `wrong` as 0 and 1; NaN where f is NaN."""
    return np.where(np.isnan(f), np.nan, wrong(y, f))


def misclassification(y: Array, f: Array) -> float:
    """Return the share of misclassified samples, (1/n) #{y f <= 0}, for y = ±1."""
    return float(np.mean(zero_one_loss(y, f))) if len(y) else np.nan


def balanced_error(y: Array, f: Array) -> float:
    """Return (e₋ + e₊)/2, where e± is the share of misclassified samples of each class.

    It is 1 - balanced accuracy, and 1/2 for any constant prediction but 0, which calls no class and
    is wrong for both. NaN without both classes.
    """
    return float(np.mean([misclassification(y[y == c], f[y == c]) for c in (-1.0, 1.0)]))


def squared_error(y: Array, f: Array) -> float:
    """Return the mean squared error (1/n) Σ (y - f)², for classes (±1) and for regression."""
    return float(np.mean(np.square(y - f))) if len(y) else np.nan


def relative_squared_error(y: Array, f: Array) -> float:
    """Return Σ (y - f)² / Σ (y - ȳ)² = 1 - R², with ȳ the mean of these y.

    R² is the coefficient of determination, not a squared correlation: predictions worse than
    the mean have 1 - R² > 1. NaN for a constant response.
    """
    total = float(np.sum(np.square(y - np.mean(y)))) if len(y) else 0.0
    return float(np.sum(np.square(y - f))) / total if total > 0 else np.nan


def auc(y: Array, f: Array) -> float:
    """Return the AUC: P(f₊ > f₋) + P(f₊ = f₋)/2 over all pairs of a positive and a negative sample.

    The Mann-Whitney statistic over n₊ n₋, so ties count one half; .5 is chance. NaN without both
    classes or without a score.
    """
    if not (np.any(y > 0) and np.any(y < 0)) or np.isnan(f).any():
        return np.nan
    return float(np.mean(placements(f[y > 0], f[y < 0])))


def bin_by_score(f: Array, n_samples: int) -> Array:
    """Return the number of each score's bin (n,), 0 for the lowest scores f (n,).

    Bins hold equal numbers of scores, as far as equal scores stay together. There is one bin for
    every `MIN_BIN_SAMPLES` of the samples, at most `MAX_BINS`; a sample may have several scores.
    """
    n_bins = int(np.clip(n_samples // MIN_BIN_SAMPLES, 1, MAX_BINS))
    ranks = np.searchsorted(np.sort(f), f, side="left")
    return ranks * n_bins // max(len(f), 1)


def roc_curve(positive: Array, f: Array) -> tuple[Array, Array]:
    """Return false and true positive rates over falling thresholds; tied scores are one step.

    Both begin at 0 and have a value for each different score f (n,), of which `positive` (n,) bool
    says whether the sample is positive. The rate of a class without samples is 0.
    """
    order = np.argsort(-f, kind="stable")
    last_of_tie = np.append(np.flatnonzero(np.diff(f[order])), len(order) - 1)
    false_positive_rate, true_positive_rate = (
        np.concatenate([[0.0], np.cumsum(side[order])[last_of_tie] / max(side.sum(), 1)])
        for side in (~positive, positive)
    )
    return false_positive_rate, true_positive_rate


def called_class(positive: Array, f: Array) -> Array:
    """Return the predicted class (n,) of two: 1 above the threshold 0, and 0 below it.

    A score f of 0, or NaN, counts as an error: as the class that `positive` (n,) bool is not.
    """
    correct = np.where(positive, f > 0, f < 0)
    return np.where(correct, positive, ~positive).astype(np.int64)


def confusion_matrix(true: Array, predicted: Array, n_classes: int) -> Array:
    """Return the number of samples of each class (rows) by predicted class, (T, T + 1).

    `true` and `predicted` (n,) number the classes from 0; `predicted` is -1 without a prediction,
    which the last column counts.
    """
    column = np.where(predicted < 0, n_classes, predicted).astype(np.int64)
    counts = np.zeros((n_classes, n_classes + 1), dtype=np.int64)
    np.add.at(counts, (true.astype(np.int64), column), 1)
    return counts


def placements(scores: Array, reference: Array) -> Array:
    """Return the share of the reference scores below each score, ties counting one half."""
    reference = np.sort(reference)
    twice_n_below = np.searchsorted(reference, scores, side="left") + np.searchsorted(
        reference, scores, side="right"
    )
    return np.asarray(twice_n_below / (2.0 * len(reference)))


def t_quantile(df: float) -> float:
    """Return the quantile of Student's t at (1 + CONFIDENCE_LEVEL)/2."""
    # A sixth of a second to import, which jobs that only fit need not wait for.
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + CONFIDENCE_LEVEL) / 2))


def wilson(share: float, n: float) -> Interval:
    """Return the score interval of a proportion p seen in n independent samples.

    The θ with |p - θ| <= z √(θ(1-θ)/n); never empty, also for p = 0 and p = 1 (Wilson 1927).
    `share` need not be a whole number of nths: it may be a mean over repeats.
    """
    if n == 0:
        return NO_INTERVAL
    centre = (share + NORMAL_QUANTILE**2 / (2 * n)) / (1 + NORMAL_QUANTILE**2 / n)
    half_width = (
        NORMAL_QUANTILE
        / (1 + NORMAL_QUANTILE**2 / n)
        * np.sqrt(share * (1 - share) / n + NORMAL_QUANTILE**2 / (4 * n**2))
    )
    # Without rounding, as the report would write a limit of 1e-17.
    low = max(0.0, float(centre - half_width)) if share > 0 else 0.0
    high = min(1.0, float(centre + half_width)) if share < 1 else 1.0
    return low, high


def mean_of_shares(shares: Sequence[float], sizes: Sequence[float]) -> Interval:
    """Return the interval of the plain mean of independent proportions, one per class.

    With p̄ the mean of the k shares and (l, u) the Wilson interval of each,
    (p̄ - √Σ(p-l)²/k, p̄ + √Σ(u-p)²/k): the variances are recovered from the limits (MOVER; Zou and
    Donner 2008), so it is honest where no error was seen.
    """
    p = np.asarray(shares, dtype=float)
    limits = np.array([wilson(*pair) for pair in zip(shares, sizes, strict=True)])
    low, high = np.sqrt(np.sum(np.square(limits - p[:, None]), axis=0)) / len(p)
    return float(p.mean() - low), float(p.mean() + high)


def corrected_t(values: Array, centre: float, test_train_ratio: float) -> Interval:
    """Return centre ± t √((1/J + n_test/n_train) s²), from the errors of J splits.

    t is on J - 1 degrees of freedom, and s² is the variance of the errors. `test_train_ratio`,
    n_test/n_train, allows for the overlap of the training sets (Nadeau and Bengio 2003, section
    4.3). NaN for fewer than two splits.
    """
    if len(values) < 2:
        return NO_INTERVAL
    standard_error = np.sqrt((1 / len(values) + test_train_ratio) * np.var(values, ddof=1))
    half_width = t_quantile(len(values) - 1) * float(standard_error)
    return centre - half_width, centre + half_width


def standard_error_over_splits(splits: Array, test_train_ratio: float, influence: Array) -> float:
    r"""Return :math:`\sqrt{V_s + V_u}`, the standard error of a measure over J splits.

    :math:`V_s = (1/J + r) s^2` is that between splits (Nadeau and Bengio 2003, see `corrected_t`),
    :math:`V_u = \sum_g U_g^2` that between samples, by the infinitesimal jackknife over
    groups: each of them alone is too small, since a sample that is not tested trains. In noise, and
    for scores that are linear in the training labels, the variance is :math:`2 V_u` (a degenerate
    U-statistic, each pair of samples entering with either one tested). That is what is left where a
    split does not define the measure, as in leave-one-out. Of one split the training samples are
    given, and the variance is :math:`V_u`.

    Coverage of 95 % intervals, 5 folds, 4 repeats, ten genes taken by their difference of means:
    over splits alone 86 to 93 %, twice :math:`V_u` 86 to 93 %, their sum 94 to 97 %; leave-one-out
    81 to 89 %, so read that one as short.

    splits (J,): the measure of each split, NaN where it does not define it. test_train_ratio: r,
    the mean of n_test/n_train. influence (G,): U, derivative of the measure by the weight of each
    group of samples; it adds up to 0.
    """
    n_splits = len(splits)
    over_samples = float(influence @ influence)
    if n_splits < 2 or np.isnan(splits).any():
        return float(np.sqrt((2 if n_splits > 1 else 1) * over_samples))
    return float(np.sqrt((1 / n_splits + test_train_ratio) * np.var(splits, ddof=1) + over_samples))


def ratio_by_split(numerator: Array, denominator: Array, ratio: float) -> Array:
    """Return the value of a ratio ρ = Σ t/Σ b in each split, linearised: ρ + (t - ρ b)/b̄.

    A split with a small denominator, such as few pairs, deviates little from ρ.
    """
    return ratio + (numerator - ratio * denominator) / float(np.mean(denominator))


def share_limits(share: float, standard_error: float, n: int) -> Interval:
    """Return Wilson's interval of a share p with the effective sample size p(1-p)/error².

    This is the sample size by the design effect of a survey (Korn and Graubard 1998). Near 0 and 1,
    where the error itself is uncertain, the interval stays as short as that of a share. If every
    pair is ordered alike, or none, the error is 0; then n samples count.
    """
    is_exact = standard_error < 1e-12 or not 1e-12 < share < 1 - 1e-12
    return wilson(share, n if is_exact else share * (1 - share) / standard_error**2)


def positive_mean_t(values: Array) -> Interval:
    """Return v̄ exp(± t s/(√n v̄)): `mean_t` on the scale of log v̄, for positive losses.

    Of squared errors of 30 to 200 samples it covers in 91 to 94 %, `mean_t` in 90 to 94 %.
    """
    mean = float(np.mean(values))
    low, high = mean_t(values)
    if not mean > 0:
        return low, high
    return mean * float(np.exp(low / mean - 1)), mean * float(np.exp(high / mean - 1))


def mean_t(values: Array) -> Interval:
    """Return v̄ ± t s/√n on n - 1 df for the losses of n independent samples; NaN for n < 2."""
    return corrected_t(values, float(np.mean(values)), 0.0) if len(values) > 1 else NO_INTERVAL


def hull(*intervals: Interval) -> Interval:
    """Return the smallest interval that holds all intervals; NaN intervals are left out."""
    low, high = np.array(intervals).T
    if np.isnan(low).all():
        return NO_INTERVAL
    return float(np.nanmin(low)), float(np.nanmax(high))


def delong(y: Array, f: Array) -> tuple[float, float, float]:
    """Return the AUC of y = ±1 (n,) and scores f (n,), and the hull of two of its intervals.

    They are that of `share_limits` by √(var(V₊)/n₊ + var(V₋)/n₋), V₊ and V₋ the placements of each
    positive among the negatives and of each negative among the positives (DeLong, DeLong and
    Clarke-Pearson 1988); and the score interval with the variance of Hanley and McNeil (Newcombe
    2006, method 5). The first has no width where every pair is ordered alike, the second is too
    narrow where the scores of one class spread more. Coverage, 20 to 200 samples, AUC .5 to .98,
    a class of one to three times the spread of the other: the first .82 to .98, the second .86 to
    .98, the hull .94 to .99. NaN with fewer than two samples in a class, or without a score.
    """
    positive = f[y > 0]
    negative = f[y < 0]
    if min(len(positive), len(negative)) < 2 or np.isnan(f).any():
        return np.nan, *NO_INTERVAL
    positive_placements = placements(positive, negative)
    negative_placements = 1 - placements(negative, positive)
    area = float(np.mean(positive_placements))
    variance = np.var(positive_placements, ddof=1) / len(positive_placements) + np.var(
        negative_placements, ddof=1
    ) / len(negative_placements)
    return area, *area_limits(
        area,
        float(np.sqrt(variance)),
        newcombe(area, len(positive_placements), len(negative_placements)),
    )


def area_limits(area: float, standard_error: float, score_limits: Interval) -> Interval:
    """Return the hull of an AUC's interval by its error, if that is above 0, and `score_limits`."""
    return hull(
        # n has no effect beside an error
        share_limits(area, standard_error, n=1) if standard_error > 0 else NO_INTERVAL,
        score_limits,
    )


def newcombe(
    area: float,
    n_positive: float,
    n_negative: float,
    design_effect: float = 1.0,
    tolerance: float = 1e-12,
) -> Interval:
    """Return the score interval of an AUC: the θ with |area - θ| <= z √V(θ), on a grid of 1e-4.

    V is that of `area_variance` times the design effect. tolerance: added to the right side.
    """
    theta = np.linspace(0.0, 1.0, 10001)
    width = NORMAL_QUANTILE * np.sqrt(design_effect * area_variance(theta, n_positive, n_negative))
    is_compatible = np.abs(area - theta) <= width + tolerance
    return float(theta[is_compatible][0]), float(theta[is_compatible][-1])


def area_variance(theta: Array, n_positive: float, n_negative: float) -> Array:
    """Return V = θ(1-θ) (1 + N (1-θ)/(2-θ) + N θ/(1+θ)) / (n₊ n₋), N = (n₊ + n₋)/2 - 1.

    Of the AUC of independent samples (Hanley and McNeil 1982, with both classes' spread alike:
    Newcombe 2006, method 5).
    """
    mean_df = (n_positive + n_negative) / 2 - 1
    inflation = 1 + mean_df * (1 - theta) / (2 - theta) + mean_df * theta / (1 + theta)
    return np.asarray(theta * (1 - theta) * inflation / (n_positive * n_negative))


class Detectable(TypedDict):
    """The smallest effects that a study of this size detects; None if unknown.

    ``error`` is the error below which p would have been at most .05, ``auc`` that of a score fixed
    beforehand, ``effect`` that of one gene among all: a difference in standard deviations, or of a
    number its correlation.
    """

    error: float | None
    auc: float | None
    effect: float | None


def detectable(
    errors: Sequence[float], class_sizes: Sequence[int] | None, n_units: int, n_genes: int
) -> Detectable:
    """Return the smallest effects that a study detects with probability `POWER`.

    errors: of the permutations. p = (1 + #{error_b <= error})/(B + 1). class_sizes:
    independent samples (groups) of each of two classes; None for a number. n_units: independent
    samples. A gene is tested at level .05/n_genes (Bonferroni).

    With z = z_(1-α/2) + z_power: d = z √(1/n₁ + 1/n₂), AUC = 1/2 + z √((n₁+n₂+1)/(12 n₁ n₂)), the
    standard error of the Mann-Whitney statistic without signal (Hanley and McNeil 1982), and of a
    number r = tanh(z/√(n-3)) (Fisher 1921).
    """
    gene_z = _detectable_z(ALPHA / max(n_genes, 1))
    effects: Detectable = {"error": _detectable_error(errors), "auc": None, "effect": None}
    if class_sizes is not None and len(class_sizes) == 2 and min(class_sizes) > 1:
        n_negative, n_positive = class_sizes
        auc = 0.5 + _detectable_z(ALPHA) * math.sqrt(
            (n_negative + n_positive + 1) / (12 * n_negative * n_positive)
        )
        effects["auc"] = auc if auc < 1 else None
        effects["effect"] = gene_z * math.sqrt(1 / n_negative + 1 / n_positive)
    elif class_sizes is None and n_units > 4:
        effects["effect"] = math.tanh(gene_z / math.sqrt(n_units - 3))
    return effects


def _detectable_z(level: float) -> float:
    """Return z_(1-α/2) + z_power, the effect in standard errors that a test at level α detects."""
    return _NORMAL.inv_cdf(1 - level / 2) + _NORMAL.inv_cdf(POWER)


def _detectable_error(errors: Sequence[float]) -> float | None:
    """Return the permuted error below which p <= ALPHA; None with too few permutations."""
    rank = math.floor(ALPHA * (len(errors) + 1) + 1e-9) - 1
    return sorted(errors)[rank] if 0 <= rank < len(errors) else None
