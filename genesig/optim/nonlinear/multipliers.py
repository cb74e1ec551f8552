"""Dual variables of all d features, most of them in one n × n matrix, and their duality gap.

Notation, as in `problem`: multipliers q (d, n), a row q_a for each feature a; x_a its column of X
(n, d); f their function, ν the weight of ||f||²; φ (d, n) the derivatives of f at the n samples; R
and `first` (n, n) the `Expansion.spread` and the kernel's table of ``φ = -q first/2ν + X'R'``; P
the objective, Ω and Ω* the penalty and its conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Expansion, Problem, slice_features


@dataclass(frozen=True)
class Multipliers:
    """Multipliers q: q_a = Θ'x_a of inactive features, and q_a itself of active features.

    The optimum has this form: features whose gradient vanishes share one Θ. Their condition
    0 = φ_a = -(1/2ν) `first` q_a + R x_a has the same two n × n matrices for each of them.
    """

    theta: Array  # (n, n)
    active: Array  # (k,) int: ascending
    values: Array  # (k, n)

    @classmethod
    def full(cls, q: Array) -> Multipliers:
        """Return multipliers (d, n) with all features active."""
        n = q.shape[1]
        return cls(np.zeros((n, n)), np.arange(len(q)), q)

    def dense(self, X: Array) -> Array:
        """Return all multipliers, (d, n)."""
        q: Array = X.T @ self.theta
        q[self.active] = self.values
        return q

    def squares(self, X: Array) -> Array:
        """Return ||q_a||² of all features (d,), in 2 n² d flops and no d × n array."""
        squared_norms = compressed_squares(X, self.theta)
        squared_norms[self.active] = row_squares(self.values)
        return squared_norms

    def product(self, X: Array, inner: Array) -> Array:
        """Return X q = Σ_a x_a q_a' (n, n), from the inner products X X' = `inner`."""
        active_columns = X[:, self.active]
        return np.asarray(
            inner @ self.theta + active_columns @ (self.values - active_columns.T @ self.theta)
        )

    def activate(self, X: Array, features: Array) -> Multipliers:
        """Return the multipliers, unchanged in value, with more features (numbers) active."""
        is_new = np.zeros(X.shape[1], dtype=bool)
        is_new[features] = True
        is_new[self.active] = False
        features = np.flatnonzero(is_new)
        if len(features) == 0:
            return self
        active = np.concatenate([self.active, features])
        values = np.concatenate([self.values, X[:, features].T @ self.theta])
        order = np.argsort(active)
        return Multipliers(self.theta, active[order], values[order])

    def extrapolate(self, X: Array, previous_q: Multipliers, factor: float) -> Multipliers:
        """Return q + factor (q - previous_q)."""
        joined = self.activate(X, previous_q.active)
        previous = previous_q.activate(X, self.active)
        theta = joined.theta + factor * (joined.theta - previous.theta)
        return Multipliers(
            theta, joined.active, joined.values + factor * (joined.values - previous.values)
        )


def compressed_squares(X: Array, theta: Array) -> Array:
    """Return ||Θ'x_a||² of every column of X."""
    squared_norms = np.empty(X.shape[1])
    for columns in slice_features(X.shape[1]):
        squared_norms[columns] = row_squares(X[:, columns].T @ theta)
    return squared_norms


@dataclass(frozen=True)
class Certificate:
    """Duality gap of multipliers q, and the primal function that belongs to them."""

    gap: float  # Ω(φ) + Ω*(q) - <q, φ> ≥ P(w(q)) - min P, over all features (Fenchel-Young)
    objective: float  # P(w(q))
    expansion: Expansion
    phi: Array  # (k, n): partial derivatives for the active features, at the training points


def gap(penalty: Penalty, q: Array, phi: Array) -> float:
    """Return the duality gap Ω(φ) + Ω*(q) - <q, φ> of arrays (d, n)."""
    value = penalty.value(row_squares(phi)) + penalty.conjugate(row_squares(q))
    return value - float(np.vdot(q, phi))


def certify(
    problem: Problem, penalty: Penalty, X: Array, inner: Array, q: Multipliers, squares: Array
) -> Certificate:
    """Return the gap and the objective of multipliers, in 2 n² d flops.

    X, inner (n, d), (n, n): features and X X'. squares (d,): ||q_a||².
    """
    product_Xq = q.product(X, inner)
    expansion = problem.expand(product_Xq)
    scaled_first = problem.table.first * (-0.5 / problem.nu)
    phi = q.values @ scaled_first + X[:, q.active].T @ expansion.spread.T
    phi_squares = np.zeros(X.shape[1])
    if len(q.active) < X.shape[1]:
        phi_squares = compressed_squares(X, q.theta @ scaled_first + expansion.spread.T)
    phi_squares[q.active] = row_squares(phi)
    # <q, φ> = <q, q first> scaled + <X q, R'>; the first term from the same n × n matrices
    inner_product = product_through_table(inner, X, q, scaled_first) + float(
        np.vdot(product_Xq, expansion.spread.T)
    )
    value = penalty.value(phi_squares)
    residual = problem.y - expansion.f
    hilbert = expansion.alpha @ expansion.f - inner_product / (2 * problem.nu)  # ||f||²
    return Certificate(
        gap=value + penalty.conjugate(squares) - inner_product,
        objective=float(residual @ residual / problem.n + value + problem.nu * hilbert),
        expansion=expansion,
        phi=phi,
    )


def product_through_table(inner: Array, X: Array, q: Multipliers, table: Array) -> float:
    """Return <q, q table> over all features, for a table (n, n); inner (n, n) is X X'."""
    active_products = X[:, q.active].T @ q.theta
    total = np.vdot(inner @ q.theta, q.theta @ table)
    total += np.vdot(q.values, q.values @ table)
    total -= np.vdot(active_products, active_products @ table)
    return float(total)
