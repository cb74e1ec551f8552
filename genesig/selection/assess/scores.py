"""Measures of held-out samples: y against the score f(x) of a model.

For two classes y is ±1, the prediction is sign f, and a score of exactly 0 is an error, as it
predicts no class. A measure that the samples do not define (a class is absent, the response is
constant, a list was not computed) is NaN.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array

MIN_BIN_SAMPLES = 8  # samples of a bin of similar scores, below which fewer bins are made

MAX_BINS = 5  # largest number of bins of similar scores


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
