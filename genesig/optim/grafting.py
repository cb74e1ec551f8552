"""A lasso whose inner products are any kernel between features, by grafting.

    min_b ½ b'(K + δ I) b - k_y'b + (λ/2) ||b||_1

Optimal where |k_y - K b|_q ≤ λ/2, with equality and the sign of b_q where b_q is not zero; the
largest useful λ is 2 max|k_y|. Features are added one at a time, the one that breaks its bound
most, and only the columns of K of the active features are ever computed.

A kernel between features need not be positive semidefinite (mutual information is not). Then the
objective is unbounded below. Shifting the diagonal by δ = max(0, -λ_min(K_AA)) of the active block
makes it convex there and keeps the diagonal constant; with b ≥ 0 and K ≥ 0 it is bounded as it is.

Source: Li, Yang and Xing (2006), problem 4 (their problem 5 has the same optimality conditions,
but leaves b free where K is singular); Perkins, Lacker and Theiler (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.compiled.coordinate import descend

Array = np.ndarray[Any, Any]

FALL = 0.99
"""Ratio of one λ to the one before, while features are counted."""
LEAST = 1e-3
"""Smallest λ for a number of features, over the largest useful one."""


@dataclass(frozen=True)
class Grafted:
    """Features in the order in which they came in, and their weights.

    Attributes
    ----------
    order, coef : (k,), (k,)
    shift : float
        δ.
    lam : float
        λ of these weights.
    violation : float
        Largest breach of the optimality conditions over all features.
    """

    order: Array
    coef: Array
    shift: float
    lam: float
    violation: float


@dataclass
class _State:
    """The problem; the active features, their columns of K, and their weights."""

    column: Callable[[int], Array]
    k_y: Array
    nonnegative: bool
    slack: float
    order: list[int]
    columns: Array
    coef: Array
    shift: float = 0.0


def graft(
    column: Callable[[int], Array], k_y: Array, *, lam: float, n_features: int | None,
    nonnegative: bool, tolerance: float,
) -> Grafted:  # fmt: skip
    """Solve for one λ, or for the lowest λ with a number of features.

    Parameters
    ----------
    column : callable
        Feature -> its column of K (d,), computed when the feature comes in.
    k_y : (d,)
        Kernel of each feature with the response.
    lam : float
        λ; with `n_features` the smallest λ that may be reached.
    n_features : int, optional
        Most features; λ falls by one percent at a time until there are more, and is then bisected
        to the last value that has no more.
    nonnegative : bool
        b ≥ 0.
    tolerance : float
        Relative to max|k_y|.
    """
    slack, none = tolerance * float(np.abs(k_y).max()), np.zeros((0, len(k_y)))
    state = _State(column, k_y, nonnegative, slack, [], none, np.zeros(0))
    if n_features is None:
        return _solve(state, lam)
    level = 2 * max(float(_pull(state, k_y).max()), 0.0)
    kept = _result(state, level, 0.0)
    lam = max(lam, LEAST * level)
    while level > lam:
        level = max(lam, FALL * level)
        found = _solve(state, level)
        if len(found.order) > n_features:
            return _bisect(state, level, kept, n_features)
        kept = found
    return kept


def _bisect(state: _State, low: float, kept: Grafted, n_features: int) -> Grafted:
    """Return the last solution of at most `n_features`, λ between `low` and that of `kept`."""
    for _ in range(20):
        middle = (low + kept.lam) / 2
        found = _solve(state, middle)
        if len(found.order) > n_features:
            low = middle
        else:
            kept = found
    return kept


def _solve(state: _State, lam: float) -> Grafted:
    """Add the feature that breaks its bound most until none does."""
    _descend(state, lam)
    while True:
        pull = _pull(state, state.k_y - state.coef @ state.columns)
        pull[state.order] = -np.inf
        best = int(np.argmax(pull))
        if pull[best] <= lam / 2 + state.slack:
            return _result(state, lam, max(float(pull[best]) - lam / 2, 0.0))
        state.order.append(best)
        state.columns = np.vstack([state.columns, state.column(best)])
        state.shift = _shift(state.columns[:, state.order], state.nonnegative)
        state.coef = np.append(state.coef, 0.0)
        _descend(state, lam)


def _result(state: _State, lam: float, violation: float) -> Grafted:
    used = np.flatnonzero(state.coef)
    order = np.array(state.order, dtype=np.int64)[used]
    return Grafted(order, state.coef[used], state.shift, lam, violation)


def _pull(state: _State, rest: Array) -> Array:
    return rest.copy() if state.nonnegative else np.abs(rest)


def _shift(K: Array, nonnegative: bool) -> float:
    if nonnegative:
        return 0.0
    smallest = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    return 0.0 if smallest > 0 else 1e-8 * float(K[0, 0]) - smallest


def _descend(state: _State, lam: float) -> None:
    """Solve over the active features, from the weights that they have."""
    K, b = np.ascontiguousarray(state.columns[:, state.order]), state.coef.copy()
    diagonal, half = np.diag(K) + state.shift, lam / 2
    descend(K, state.k_y[state.order], diagonal, b, half, state.nonnegative, 0.1 * state.slack)
    state.coef = b
