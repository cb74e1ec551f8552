"""From scores of classes to probabilities: multinomial logistic regression with one slope."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
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
