"""Dual variables of all d features, most of them in one n × n matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.nonlinear.problem import slices

Array = np.ndarray[Any, Any]


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
        new, old = self.join(X, before.active), before.join(X, self.active)
        theta = new.theta + factor * (new.theta - old.theta)
        return Multipliers(theta, new.active, new.values + factor * (new.values - old.values))


def compressed_squares(X: Array, theta: Array) -> Array:
    """||Θ'x_a||² of every column of X."""
    out = np.empty(X.shape[1])
    for part in slices(X.shape[1]):
        q = X[:, part].T @ theta
        out[part] = np.einsum("ai,ai->a", q, q)
    return out
