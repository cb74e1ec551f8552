"""Several classes as responses, and probabilities from their scores by a line.

Class c is a column of 1 inside and 0 outside, over the square root of its share, so that rare
classes count: the mean square of a centred column is then 1 minus the share. A sample is of the
class whose mean of out-of-fold scores is nearest; with two classes that is the side of the
midpoint, because both columns, and so all scores, lie on one line.

Probabilities come from a logistic regression with one slope for all classes. Its line of T classes
is an array (T + 1,): an intercept for each class, then the slope b >= 0,

    P(c) = exp(a_c + b f_c) / Σ_k exp(a_k + b f_k).

Of two classes, with columns 0 and f, that is Platt's line, P(positive) = 1/(1 + exp(-(a + b f))).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array

N_SMOOTHING_SAMPLES = 2
"""Samples of all classes together that smooth the targets, as of Platt's two classes. One for each
class would make the probabilities of many classes too equal."""

MIN_UNDOUBTED_SHRINKAGE = 0.75
"""Shrinkage below which predictions are in doubt: the fitted slope is below 2.5 standard errors,
as in 95 to 98 % of simulated studies of noise."""

VARIANCE_FACTOR = 2.5  # c of the factor ``1 - (c s²/b²)^1.5`` of a slope b of standard error s

MAX_LOG_SLOPE = 10.0  # largest |log slope| per standard deviation of the scores


def shares(y: Array, rows: Array, n_classes: int, weights: Array | None = None) -> Array:
    """Return the share of each class among the training rows of k sets, (k, T).

    y (n, k) float: numbers of the classes, 0 to T - 1. rows (n, k) bool: training rows.
    n_classes: T. weights (n, k) float, optional: of the samples, 0 outside the training rows:
    shares are then of their sum.
    """
    if weights is not None:  # one set at a time, so that no sum depends on the other sets
        sums = [
            np.bincount(labels, label_weights, n_classes)
            for labels, label_weights in zip(y.astype(int).T, weights.T, strict=True)
        ]
        return np.stack([class_sums / class_sums.sum() for class_sums in sums])
    membership = y[:, :, None] == np.arange(n_classes)
    return np.asarray((membership & rows[:, :, None]).sum(axis=0) / rows.sum(axis=0)[:, None])


def coded(y: Array, share: Array) -> Array:
    """Return the columns (n, k, T), not centred, of numbers y (n, k) and shares (k, T).

    The inner folds of a training set have its shares, so that their scores can be put together. A
    class without a share has a column of 0.
    """
    membership = (y[:, :, None] == np.arange(share.shape[1])).astype(float)
    return np.asarray(membership / np.sqrt(np.where(share > 0, share, np.inf)))


def centres(y: Array, scores: Array, n_classes: int) -> Array:
    """Return the mean of scores (..., n, T) in each class of the numbers y (n,), (..., T, T)."""
    membership = (y == np.arange(n_classes)[:, None]).astype(float)
    class_sizes = np.maximum(membership.sum(axis=1, keepdims=True), 1.0)
    return np.asarray((membership / class_sizes) @ scores)


def margins(scores: Array, means: Array) -> Array:
    """Return how much nearer each class's mean is than the average mean, (..., n, T).

    scores (..., n, T): f of each sample; means (..., T, T): mean m_c of each class c. The result is
    ``f'm_c - ||m_c||²/2``, which falls with the distance of f from m_c, less its mean over c.
    """
    slopes, constant = discriminant(means)
    return np.asarray(scores @ slopes + constant[..., None, :])


def discriminant(means: Array) -> tuple[Array, Array]:
    """Return slopes (..., T, T) and constants (..., T) of the linear map from scores to `margins`.

    means (..., T, T): mean score of each class, one class a row.
    """
    constant = -np.square(means).sum(axis=-1) / 2
    slopes = np.swapaxes(means, -1, -2)
    return (
        np.asarray(slopes - slopes.mean(axis=-1, keepdims=True)),
        np.asarray(constant - constant.mean(axis=-1, keepdims=True)),
    )


def two_columns(f: Array) -> Array:
    """Return a score for each of two classes, (..., 2), from one score: 0 and f."""
    return np.stack([np.zeros_like(f), f], axis=-1)


def fitted_line(scores: Array, class_number: Array) -> Array:
    """Return the line (T + 1,) of smallest cross-entropy with the classes of left-out samples.

    The target of sample i is (n [c_i = c] + m π_c) / (n + m), with π_c the share of class c and m =
    `N_SMOOTHING_SAMPLES`. So classes which the scores separate have a finite slope, and mean
    probabilities are the shares. If b < 0 would fit better, b is 0, and every probability is the
    share of its class. NaN if a class has no sample, or a score is NaN.

    scores (n, T) float, or (K, n, T): of K draws of the folds, over which the cross-entropy is the
    mean. class_number (n,) int.

    Source: Platt 1999, Advances in Large Margin Classifiers, for targets that are smoothed; here
    towards the shares of the classes, not towards equal ones, which would move the mean.
    """
    rows = _stack_draws(scores)
    line, difference_sd = _without_slope(rows, class_number)
    if not difference_sd > 0:
        return line
    target = _smoothed_targets(class_number, rows)
    X = _intercept_columns(rows)
    X = np.concatenate([X, _differences(rows)[..., None] / difference_sd], axis=2)
    theta = _minimise_loss(np.append(line[1:-1] - line[0], 0.0), X, target)
    if not theta[-1] > 0:
        return line
    return np.concatenate([[0.0], theta[:-1], theta[-1:] / difference_sd])


class ShrunkenLine(NamedTuple):
    """A line whose slope is smaller than the fitted one."""

    line: Array  # (T + 1,)
    # the slope over the fitted slope, 0 to 1. At 0 every probability is the share of its class; NaN
    # without a line.
    shrinkage: float


def slope_shrinkage(slope: float, variance: float) -> float:
    r"""Return the share of a fitted slope that predictions of new samples keep, 0 to 1.

    Of few samples with a weak signal, slopes that come out large are too large more often than too
    small. A slope b > 0 of variance s² is multiplied by

    .. math:: \max(0, 1 - (c s^2 / b^2)^{3/2}),

    with c = `VARIANCE_FACTOR`. The factor is 0 below 1.6 standard errors and .94 at 4.

    Source: Copas 1983, J R Stat Soc B 45:311, has the factor 1 - s²/b², which leaves too much slope
    in noise. With 1 - 1.5 s²/b² probabilities were too equal if the signal is clear. A higher power
    of s²/b² (a garrote, Breiman 1995, Technometrics 37:373, of higher degree) spares clear slopes;
    the power 2 also spares weak ones. The power 3/2 was chosen among eight rules on simulated
    studies; tests/claims judge it on others.
    """
    return max(0.0, 1 - math.pow(VARIANCE_FACTOR * variance / slope**2, 1.5))


def shrunken_line(scores: Array, class_number: Array, design_effect: float = 1.0) -> ShrunkenLine:
    """Return the line whose slope is right among new samples, on average over studies.

    The fitted slope is multiplied by its `slope_shrinkage`, and the intercepts are fitted again, so
    that the mean probabilities are the shares of the classes. K draws of the folds reduce the luck
    of one draw, but are n samples still: the variance is by the mean information of the draws.

    scores (n, T) or (K, n, T) float: of samples left out, as for `fitted_line`. class_number (n,).
    design_effect: variance of the slope over that of as many independent samples.
    """
    line = fitted_line(scores, class_number)
    if not line[-1] > 0:  # 0, or NaN without a line
        return ShrunkenLine(line, shrinkage=float(line[-1]))
    rows = _stack_draws(scores)
    variance = design_effect * _slope_variance(rows, line, len(class_number))
    shrinkage = slope_shrinkage(float(line[-1]), variance)
    slope = shrinkage * float(line[-1])
    intercepts = _intercepts(rows, class_number, slope)
    return ShrunkenLine(np.concatenate([[0.0], intercepts, [slope]]), shrinkage)


def _stack_draws(scores: Array) -> Array:
    """Return scores (n, T) or (K, n, T) as rows (K n, T)."""
    return np.asarray(scores.reshape(-1, scores.shape[-1]))


def _without_slope(scores: Array, class_number: Array) -> tuple[Array, float]:
    """Return the line of the class shares, and the standard deviation of the score differences.

    The standard deviation is 0 if no slope can be fitted: scores do not differ, or are missing. The
    line is NaN if a score is missing or a class has no sample.
    """
    n, T = len(class_number), scores.shape[1]
    class_size = np.bincount(class_number, minlength=T)
    if not class_size.all() or np.isnan(scores).any():
        return np.full(T + 1, np.nan), 0.0
    differences = _differences(scores)
    sd = float((differences - differences.mean(axis=0)).std())
    is_constant = sd <= 1e-12 * np.abs(differences).max()
    return np.append(np.log(class_size / n), 0.0), 0.0 if is_constant else sd


def _differences(scores: Array) -> Array:
    """Return each class's score minus the first class's score, (n, T)."""
    return np.asarray(scores - scores[:, :1])


def _intercept_columns(scores: Array) -> Array:
    """Return the design of the intercepts of all classes but the first, (n, T, T - 1)."""
    n, T = scores.shape
    return np.tile(np.eye(T)[:, 1:], (n, 1, 1))


def _smoothed_targets(class_number: Array, scores: Array) -> Array:
    """Return Platt's targets of rows (K n, T), smoothed towards the shares of the classes."""
    n, T = len(class_number), scores.shape[1]
    class_size = np.bincount(class_number, minlength=T)
    class_share = class_size / n
    smoothed_counts = n * np.eye(T)[class_number] + N_SMOOTHING_SAMPLES * class_share
    return np.tile(smoothed_counts / (n + N_SMOOTHING_SAMPLES), (len(scores) // n, 1))


def _slope_variance(scores: Array, line: Array, n: int) -> float:
    """Return the variance of the slope by the expected information at a line, for n samples."""
    X = np.concatenate([_intercept_columns(scores), _differences(scores)[..., None]], axis=2)
    theta = np.append(line[1:-1] - line[0], line[-1])
    information = n * _hessian(theta, X, target=None)
    return float(np.linalg.inv(information)[-1, -1])


def _intercepts(scores: Array, class_number: Array, slope: float) -> Array:
    """Return the intercepts (T - 1,) of all classes but the first, fitted at a fixed slope."""
    target = _smoothed_targets(class_number, scores)
    class_share = target.mean(axis=0)
    offset = slope * _differences(scores)
    start = np.log(class_share[1:] / class_share[0])
    return _minimise_loss(start, _intercept_columns(scores), target, offset)


def _minimise_loss(start: Array, X: Array, target: Array, offset: Array | float = 0.0) -> Array:
    """Return the minimum theta (m,) of `_loss`, from a start (m,)."""
    from scipy.optimize import minimize

    arguments = (X, target, offset)
    theta = minimize(
        _loss, start, arguments, "trust-exact", jac=True, hess=_hessian, options={"gtol": 1e-8}
    ).x
    for _ in range(2):  # to the last digit, so that equal inputs give equal lines
        theta = theta - np.linalg.solve(_hessian(theta, *arguments), _loss(theta, *arguments)[1])
    return np.asarray(theta)


def _softmax_of(theta: Array, X: Array, offset: Array | float) -> tuple[Array, Array]:
    """Return probabilities and their logarithms, (n, T), for X (n, T, m) and an offset (n, T)."""
    from scipy.special import log_softmax

    logarithms = log_softmax(X @ theta + offset, axis=1)
    return np.exp(logarithms), logarithms


def _loss(
    theta: Array, X: Array, target: Array, offset: Array | float = 0.0
) -> tuple[float, Array]:
    """Return the mean cross-entropy with the targets (n, T), and its gradient (m,)."""
    p, logarithms = _softmax_of(theta, X, offset)
    gradient = np.einsum("nc,ncm->m", p - target, X) / len(X)
    return -float((target * logarithms).sum()) / len(X), gradient


def _hessian(theta: Array, X: Array, target: Array | None, offset: Array | float = 0.0) -> Array:
    """Return the second derivatives of the loss, (m, m); the targets do not matter."""
    p, _ = _softmax_of(theta, X, offset)
    mean = np.einsum("nc,ncm->nm", p, X)
    return np.asarray(np.einsum("nc,ncl,ncm->lm", p, X, X) - mean.T @ mean) / len(X)


def doubt_of_line(shrinkage: float, *, survival: bool = False) -> str:
    """Return why probabilities of classes, or risks of an event, are in doubt; "" if they are not.

    `shrinkage` is the slope of the line over its fitted slope; "" for NaN, without a line.
    """
    if not shrinkage < MIN_UNDOUBTED_SHRINKAGE:
        return ""
    outcome = "survival: the risk" if survival else "the class: the probability"
    if shrinkage == 0:
        consequence = "is that of all training samples" if survival else "is the share of the class"
        return f"left-out samples do not show that the score predicts {outcome} {consequence}"
    consequence = f"keeps {100 * shrinkage:.0f}% of its slope"
    return f"left-out samples hardly show that the score predicts {outcome} {consequence}"


def line_for_shares(line: Array, sample_shares: Array, new_shares: Array) -> Array:
    """Return lines (..., T + 1) for class shares (T,) that differ from the shares in the samples.

    A class is taken to look the same, so that a_c grows by the log of its new share over its old.
    Saerens, Latinne and Decaestecker 2002, Neural Comput 14:21.
    """
    return np.asarray(line + np.append(np.log(new_shares / sample_shares), 0.0))


def probabilities(f: Array, line: Array) -> Array:
    """Return the probability of each class, (..., T), of scores (..., T).

    line (T + 1,), or (..., T + 1) with one for each sample. NaN where a score or its line is.
    """
    z = line[..., :-1] + line[..., -1:] * f
    with np.errstate(invalid="ignore"):
        raised = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def shrunken_slope(scores: Array, class_number: Array, weights: Any, groups: Any = None) -> float:
    """Return the slope b of ``p_k ~ exp(b s_k)`` that is right among new samples, on average.

    The slope of smallest cross-entropy, shrunken as in `shrunken_line`. It is finite, because
    `N_SMOOTHING_SAMPLES`, spread evenly over the classes, smooth the targets. It stays above 0, so
    that probabilities have the order of the scores.

    scores (n, T) float: of rows that were left out. class_number (n,) int. weights (n,) float or
    None. groups (n,) or None: group of each row, such as its patient. With groups the variance of
    the slope is over groups if it is then larger.

    Source: Platt 1999 for the targets; Guo et al. 2017 for one slope of all classes.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax, softmax

    n, T = scores.shape
    smoothed_counts = n * np.eye(T)[class_number] + N_SMOOTHING_SAMPLES / T
    target = smoothed_counts / (n + N_SMOOTHING_SAMPLES)
    spread = float(scores.std()) or 1.0
    row_weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)

    def loss(logarithm: float) -> float:
        log_p = log_softmax(np.exp(logarithm) / spread * scores, axis=1)
        return -float(row_weights @ (target * log_p).sum(axis=1))

    optimum = minimize_scalar(loss, bounds=(-MAX_LOG_SLOPE, MAX_LOG_SLOPE), method="bounded")
    fitted = float(np.exp(optimum.x) / spread)
    p = softmax(fitted * scores, axis=1)
    information = row_weights @ ((p * scores**2).sum(axis=1) - (p * scores).sum(axis=1) ** 2)
    influence = row_weights * ((target - p) * scores).sum(axis=1)
    effect = _robust_variance_ratio(influence, groups)
    shrinkage = slope_shrinkage(fitted, effect / float(information)) if information > 0 else 0.0
    return max(shrinkage * fitted, float(np.exp(-MAX_LOG_SLOPE) / spread))


def _robust_variance_ratio(influence: Array, groups: Any) -> float:
    """Return the sum of squares of groups' sums of influences (n,), over that of rows; >= 1.

    Here it has no correction for few groups; that of a study's own slope has one
    (`slope_design_effect` of `selection.linear.kinds`).
    """
    if groups is None:
        return 1.0
    _, group_number = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(group_number, weights=influence)
    return max(1.0, float(sums @ sums) / (float(influence @ influence) or np.inf))
