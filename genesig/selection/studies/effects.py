"""The effect of each gene in one study, with its variance, on a scale that studies share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from genesig.response.design import SEVERAL

Array = np.ndarray[Any, Any]

STEPS = 25
"""Newton steps of the log hazard ratio; five are usual."""
LARGEST = 5.0
"""Largest log hazard ratio of one standard deviation; beyond it the events are told apart and the
ratio has no bound."""


class Effect(NamedTuple):
    """Effects (d,) and their variances (d,), NaN where there is none."""

    value: Array
    variance: Array


def hedges(X: Array, y: Array) -> Effect:
    r"""Return Hedges' g of two classes, the difference of means in pooled standard deviations.

    :math:`g = J (\bar x_+ - \bar x_-)/s`, :math:`J = \Gamma(m/2) / (\sqrt{m/2} \Gamma((m - 1)/2))`
    with m = n - 2, which takes the bias of small samples away, and variance :math:`1/n_+ + 1/n_- +
    g^2/(2 n)` (Hedges 1981).

    Parameters
    ----------
    X : (n, d) float
    y : (n,) ±1
    """
    from scipy.special import gammaln

    up, down = X[y > 0], X[y < 0]
    m, n = len(X) - 2, len(X)
    if min(len(up), len(down)) < 2:
        return _none(X)
    squares = sum(((Z - Z.mean(axis=0)) ** 2).sum(axis=0) for Z in (up, down))
    deviation = np.sqrt(squares / m)
    correction = np.exp(gammaln(m / 2) - gammaln((m - 1) / 2)) / np.sqrt(m / 2)
    g = correction * _ratio(up.mean(axis=0) - down.mean(axis=0), deviation)
    return Effect(g, 1 / len(up) + 1 / len(down) + g**2 / (2 * n))


def fisher(X: Array, y: Array) -> Effect:
    """Return Fisher's z of the correlation with a number, artanh r, and its variance 1/(n - 3)."""
    if len(X) < 4:
        return _none(X)
    Z, w = X - X.mean(axis=0), y - y.mean()
    r = _ratio(w @ Z, np.linalg.norm(Z, axis=0) * np.linalg.norm(w))
    z = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    return Effect(z, np.where(np.isnan(z), np.nan, 1 / (len(X) - 3)))


def hazard(X: Array, y: Array) -> Effect:
    """Return the log hazard ratio of one standard deviation of each gene, of Cox's model of it.

    Newton's method on the partial likelihood, ties as Breslow has them; the variance is the inverse
    of the information.

    Parameters
    ----------
    X : (n, d) float
    y : (n,) with the fields ``time`` and ``event``
    """
    order = np.argsort(-y["time"], kind="stable")
    deviation = X.std(axis=0)
    Z = _ratio(X - X.mean(axis=0), deviation)[order]
    time, event = y["time"][order], y["event"][order].astype(bool)
    # The risk set of an event holds all of its time: the last row of that time, from long to short.
    last = np.searchsorted(-time, -time, side="right") - 1
    if not event.any():
        return _none(X)
    b = np.zeros(X.shape[1])
    for _ in range(STEPS):
        score, information = _partial_likelihood(Z, b, event, last)
        step = _ratio(score, information)
        b = np.clip(b + np.clip(step, -1.0, 1.0), -LARGEST, LARGEST)
        if np.nanmax(np.abs(step), initial=0.0) < 1e-9:
            break
    information = _partial_likelihood(Z, b, event, last)[1]
    bounded = np.abs(b) < LARGEST
    return Effect(np.where(bounded, b, np.nan), _ratio(np.where(bounded, 1.0, np.nan), information))


def _partial_likelihood(Z: Array, b: Array, event: Array, last: Array) -> tuple[Array, Array]:
    """Return the score and the information of each gene's log hazard ratio."""
    risk = np.exp(Z * b)
    sums = [np.cumsum(risk * power, axis=0)[last[event]] for power in (1.0, Z, Z**2)]
    first = sums[1] / sums[0]
    return (Z[event] - first).sum(axis=0), (sums[2] / sums[0] - first**2).sum(axis=0)


def _ratio(top: Array, bottom: Array) -> Array:
    known = bottom > 1e-300
    return np.where(known, top / np.where(known, bottom, 1.0), np.nan)


def _none(X: Array) -> Effect:
    return Effect(np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan))


EFFECTS: dict[str, tuple[str, Callable[[Array, Array], Effect]]] = {
    "classification": ("Hedges' g", hedges),
    SEVERAL: ("Hedges' g of a class against the rest", hedges),
    "regression": ("Fisher's z", fisher),
    "survival": ("log hazard ratio", hazard),
}
"""Kind of response -> what the effect is called and how it is found."""
