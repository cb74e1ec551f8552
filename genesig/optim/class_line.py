"""From scores of classes to probabilities: logistic regression with one slope for all classes.

A line of T classes is an array (T + 1,): an intercept for each class, then the slope b >= 0,

    P(c) = exp(a_c + b f_c) / Σ_k exp(a_k + b f_k).

Of two classes, with columns 0 and f, that is Platt's line, P(positive) = 1/(1 + exp(-(a + b f))).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.arrays import Array


def two_columns(f: Array) -> Array:
    """Return a score for each of two classes, (..., 2), from one score: 0 and f."""
    return np.stack([np.zeros_like(f), f], axis=-1)


def fitted_line(f: Array, place: Array) -> Array:
    """Return the line (T + 1,) of smallest cross-entropy with the classes of samples left out.

    The target of sample i is (n [c_i = c] + T π_c) / (n + T), with π_c the share of class c, so
    that classes which the scores separate have a finite slope, and mean probabilities are the
    shares. Where b < 0 would be better, b = 0, for a score says no less than nothing. NaN without a
    sample of each class, or without a score.

    Parameters
    ----------
    f : (n, T) float
    place : (n,) int
        Number of each sample's class.

    References
    ----------
    Platt 1999, Advances in Large Margin Classifiers, for targets that are smoothed; here towards
    the shares of the classes, not towards equal ones, which would move the mean.
    """
    from scipy.optimize import minimize

    n, T = f.shape
    size = np.bincount(place, minlength=T)
    if not size.all() or np.isnan(f).any():
        return np.full(T + 1, np.nan)
    apart = f - f[:, :1]
    unit = float((apart - apart.mean(axis=0)).std())
    none = np.append(np.log(size / n), 0.0)
    if unit <= 1e-12 * np.abs(apart).max():
        return none
    target = (n * np.eye(T)[place] + T * size / n) / (n + T)
    X = np.concatenate([np.tile(np.eye(T)[:, 1:], (n, 1, 1)), apart[..., None] / unit], axis=2)
    found = minimize(_loss, np.append(none[1:-1] - none[0], 0.0), (X, target), "trust-exact",
                     jac=True, hess=_bend, options={"gtol": 1e-8}).x  # fmt: skip
    for _ in range(2):  # to the last digit, so that what means the same gives the same line
        found = found - np.linalg.solve(_bend(found, X, target), _loss(found, X, target)[1])
    return np.concatenate([[0.0], found[:-1], found[-1:] / unit]) if found[-1] > 0 else none


def _told(theta: Array, X: Array) -> tuple[Array, Array]:
    """Return probabilities and their logarithms, (n, T), by what multiplies X (n, T, m)."""
    from scipy.special import log_softmax

    logarithm = log_softmax(X @ theta, axis=1)
    return np.exp(logarithm), logarithm


def _loss(theta: Array, X: Array, target: Array) -> tuple[float, Array]:
    p, logarithm = _told(theta, X)
    slope = np.einsum("nc,ncm->m", p - target, X) / len(X)
    return -float((target * logarithm).sum()) / len(X), slope


def _bend(theta: Array, X: Array, target: Array) -> Array:
    p, _ = _told(theta, X)
    mean = np.einsum("nc,ncm->nm", p, X)
    return np.asarray(np.einsum("nc,ncl,ncm->lm", p, X, X) - mean.T @ mean) / len(X)


def moved(line: Array, known: Array, asked: Array) -> Array:
    """Return lines (..., T + 1) for classes of other shares (T,) than those of the samples.

    What a class looks like is taken to be the same, so that a_c grows by log(asked_c/known_c).
    Saerens, Latinne and Decaestecker 2002, Neural Comput 14:21.
    """
    return np.asarray(line + np.append(np.log(asked / known), 0.0))


def probabilities(f: Array, line: Array) -> Array:
    """Return the probability of each class, (n, T), of scores (n, T) by lines (T + 1,), (n, T + 1).

    NaN where a score or its line is.
    """
    z = line[..., :-1] + line[..., -1:] * f
    with np.errstate(invalid="ignore"):
        raised = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


STEEPEST = 10.0
"""Logarithm of the largest slope, in standard deviations of the scores."""


def slope(scores: Array, place: Array, weights: Any) -> float:
    """Return b that minimises the cross-entropy of ``p_k ~ exp(b s_k)``.

    Of n rows, with targets smoothed by Laplace's rule, 1/(n + K), so that it is finite.

    Parameters
    ----------
    scores : (n, K) float
        Of rows that were left out.
    place : (n,) int
        Number of each row's class.
    weights : (n,) float or None

    Source: Platt 1999 for the targets; Guo et al. 2017 for one slope of all classes.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    n, K = scores.shape
    target = (1 + n * np.eye(K)[place]) / (n + K)
    spread = float(scores.std()) or 1.0
    each = np.ones(n) if weights is None else np.asarray(weights, dtype=float)

    def loss(logarithm: float) -> float:
        said = log_softmax(np.exp(logarithm) / spread * scores, axis=1)
        return -float(each @ (target * said).sum(axis=1))

    found = minimize_scalar(loss, bounds=(-STEEPEST, STEEPEST), method="bounded")
    return float(np.exp(found.x) / spread)
