"""The exact duality gap: how far the objective of given multipliers is from the minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.nonlinear.multipliers import Multipliers, compressed_squares
from genesig.optim.nonlinear.penalties import Penalty, row_squares
from genesig.optim.nonlinear.problem import Expansion, Problem

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Certificate:
    """What is known of multipliers q and the function that belongs to them.

    Attributes
    ----------
    gap : float
        Ω(φ) + Ω*(q) - <q, φ> ≥ P(w(q)) - min P, over all features (Fenchel-Young).
    objective : float
        P(w(q)).
    expansion : Expansion
    phi : (k, n)
        Partial derivatives for the active features, at the training points.
    """

    gap: float
    objective: float
    expansion: Expansion
    phi: Array


def gap(penalty: Penalty, q: Array, phi: Array) -> float:
    """Ω(φ) + Ω*(q) - <q, φ> of arrays (d, n)."""
    value = penalty.value(row_squares(phi)) + penalty.conjugate(row_squares(q))
    return value - float(np.vdot(q, phi))


def certify(
    problem: Problem, penalty: Penalty, X: Array, inner: Array, q: Multipliers, squares: Array
) -> Certificate:
    """Return the gap and the objective of multipliers, in 2 n² d flops.

    Parameters
    ----------
    X, inner : (n, d), (n, n)
        Features and X X'.
    squares : (d,)
        ||q_a||².
    """
    U = q.product(X, inner)
    found = problem.expand(U)
    first = problem.table.first * (-0.5 / problem.nu)
    phi = q.values @ first + X[:, q.active].T @ found.spread.T
    phi_squares = np.zeros(X.shape[1])
    if len(q.active) < X.shape[1]:
        phi_squares = compressed_squares(X, q.theta @ first + found.spread.T)
    phi_squares[q.active] = row_squares(phi)
    # <q, φ> = <q, q first> scaled + <X q, R'>; the first term from the same n × n matrices
    product = paired(problem, inner, X, q, first) + float(np.vdot(U, found.spread.T))
    value = penalty.value(phi_squares)
    residual = problem.y - found.f
    hilbert = found.alpha @ found.f - product / (2 * problem.nu)
    return Certificate(
        gap=value + penalty.conjugate(squares) - product,
        objective=float(residual @ residual / problem.n + value + problem.nu * hilbert),
        expansion=found,
        phi=phi,
    )


def paired(problem: Problem, inner: Array, X: Array, q: Multipliers, first: Array) -> float:
    """<q, q `first`> = tr(q first q') over all features."""
    own = X[:, q.active].T @ q.theta
    total = np.vdot(inner @ q.theta, q.theta @ first)
    total += np.vdot(q.values, q.values @ first) - np.vdot(own, own @ first)
    return float(total)
