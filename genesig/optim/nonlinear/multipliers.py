"""Dual variables of all d features, most in one n × n matrix, and the gap that they prove."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.nonlinear.penalties import Penalty, row_squares
from genesig.optim.nonlinear.problem import Expansion, Problem, slices


@dataclass(frozen=True)
class Multipliers:
    """q_a = Θ'x_a for the features that are not active, and q_a itself for those that are.

    The optimum has this form, with one Θ for all features whose gradient vanishes, because
    0 = φ_a = -(1/2ν) `first` q_a + R x_a has the same two n × n matrices for every one of them.

    Attributes
    ----------
    theta : (n, n)
    active : (k,) int
        Ascending.
    values : (k, n)
    """

    theta: Array
    active: Array
    values: Array

    @classmethod
    def full(cls, q: Array) -> Multipliers:
        """Hold all multipliers (d, n) as they are."""
        n = q.shape[1]
        return cls(np.zeros((n, n)), np.arange(len(q)), q)

    def dense(self, X: Array) -> Array:
        """Return all multipliers, (d, n)."""
        q: Array = X.T @ self.theta
        q[self.active] = self.values
        return q

    def squares(self, X: Array) -> Array:
        """Return ||q_a||² of all features (d,), in 2 n² d flops and no d × n array."""
        out = compressed_squares(X, self.theta)
        out[self.active] = np.einsum("ai,ai->a", self.values, self.values)
        return out

    def product(self, X: Array, inner: Array) -> Array:
        """X q = Σ_a x_a q_a' (n, n), from the inner products X X' = `inner`."""
        own = X[:, self.active]
        out: Array = inner @ self.theta + own @ (self.values - own.T @ self.theta)
        return out

    def join(self, X: Array, features: Array) -> Multipliers:
        """Make more features active."""
        features = np.setdiff1d(features, self.active)
        if len(features) == 0:
            return self
        active = np.concatenate([self.active, features])
        values = np.concatenate([self.values, X[:, features].T @ self.theta])
        order = np.argsort(active)
        return Multipliers(self.theta, active[order], values[order])

    def ahead(self, X: Array, before: Multipliers, factor: float) -> Multipliers:
        """Return q + factor (q - q_before)."""
        new = self.join(X, before.active)
        old = before.join(X, self.active)
        theta = new.theta + factor * (new.theta - old.theta)
        return Multipliers(theta, new.active, new.values + factor * (new.values - old.values))


def compressed_squares(X: Array, theta: Array) -> Array:
    """||Θ'x_a||² of every column of X."""
    out = np.empty(X.shape[1])
    for part in slices(X.shape[1]):
        q = X[:, part].T @ theta
        out[part] = np.einsum("ai,ai->a", q, q)
    return out


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
