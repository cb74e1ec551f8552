"""The logistic loss of two classes, for training sets side by side.

``h(η) = Σ_i v_i log(1 + exp(-y_i η_i))``. For ``u_i = -y_i v_i q_i``, q_i in [0, 1], its conjugate
is ``Σ_i v_i (q_i log q_i + (1 - q_i) log(1 - q_i))``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import compiled
from genesig.optim.likelihood.newton import Loss
from genesig.optim.likelihood.side_by_side import Ground, Levels, State, over_sets

Array = np.ndarray[Any, Any]


class Classes(NamedTuple):
    """Classes y of -1 and 1 and weights v, each (n,), or (T, N) of training sets."""

    y: Array
    v: Array


class Here(NamedTuple):
    """h(η), its gradient u (n,), and its second derivatives w (n,)."""

    value: float
    u: Array
    w: Array


@compiled
def classes_of(response: Classes, t: int, n: int) -> Classes:
    """Return those of one training set."""
    return Classes(response.y[t, :n], response.v[t, :n])


@compiled
def at(given: Classes, eta: Array) -> Here:
    """Return the loss at η."""
    value, u, w = 0.0, np.empty(len(eta)), np.empty(len(eta))
    for i in range(len(eta)):
        z = given.y[i] * eta[i]
        e = np.exp(-abs(z))
        value += given.v[i] * (max(-z, 0.0) + np.log1p(e))
        u[i] = -given.y[i] * given.v[i] * (e if z > 0 else 1.0) / (1.0 + e)
        w[i] = given.v[i] * e / ((1.0 + e) * (1.0 + e))
    return Here(value, u, w)


@compiled
def curve(given: Classes, here: Here, D: Array, places: Array, HD: Array) -> None:
    """See `Loss.curve`: H is diagonal."""
    for j in places:
        for i in range(D.shape[1]):
            HD[j, i] = here.w[i] * D[j, i]


@compiled
def halve(given: Classes, here: Here, D: Array, places: Array, E: Array) -> None:
    """See `Loss.halve`."""
    root = np.sqrt(here.w)
    for j in places:
        for i in range(D.shape[1]):
            E[j, i] = root[i] * D[j, i]


@compiled
def conjugate(given: Classes, here: Here, eta: Array, z: Array, u: Array, s: float) -> float:
    """Return h*(s u); ∞ for no q in [0, 1]."""
    total = 0.0
    for i in range(len(u)):
        q = -s * given.y[i] * u[i] / given.v[i]
        if q < 0.0 or q > 1.0:
            return np.inf
        total += given.v[i] * ((q * np.log(q) if q > 0.0 else 0.0)
                               + ((1.0 - q) * np.log1p(-q) if q < 1.0 else 0.0))  # fmt: skip
    return total


LOGISTIC = Loss(at, curve, halve, conjugate)
solve_each, judge_each = over_sets(LOGISTIC, classes_of)


@compiled
def solve_sets(ground: Ground, state: State, which: Array, levels: Levels, steps: Array) -> None:
    """See `over_sets`."""
    solve_each(ground, state, which, levels, steps)


@compiled
def judge_sets(
    ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
) -> None:  # fmt: skip
    """See `over_sets`."""
    judge_each(ground, state, which, levels, gap, outside)
