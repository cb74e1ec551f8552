"""Data that all fits of one path share, and the dual variables with their duality gap.

Notation, as in `problem`: multipliers q (d, n), a row q_a for each feature a; x_a its column of X
(n, d); f their function, ν the weight of ||f||²; φ (d, n) the derivatives of f at the n samples; R
and `first` (n, n) the `Expansion.spread` and the kernel's table of ``φ = -q first/2ν + X'R'``; P
the objective, Ω and Ω* the penalty and its conjugate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.optim.kernels import Kernel
from genesig.optim.nonlinear.metric import (
    EIGENVALUE_MARGIN,
    Dense,
    Metric,
    row_space,
    vanishing_gradient,
)
from genesig.optim.nonlinear.problem import (
    PENALTIES,
    Expansion,
    Penalty,
    Problem,
    check_weights,
    number_groups,
    slice_features,
)

MULTIPLIER_TOLERANCE = 1e-8  # relative residual of the conjugate gradients that give tau_max


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


class Minimum(NamedTuple):
    """The end of a solver's iterations at one tau."""

    multipliers: Multipliers
    certificate: Certificate  # their duality gap and their function
    iterations: int


@dataclass(frozen=True)
class Instance:
    """A problem with its features, the metric of its steps and the path's start."""

    X: Array  # (n, d) float: features
    inner: Array  # (n, n) float: X X'
    problem: Problem  # the least-squares problem
    penalty: Callable[[float], Penalty]  # function that returns the penalty at an absolute tau
    metric: Metric  # metric of the solver's steps
    # multipliers of the problem without bounds, at which φ = 0: its solution for tau ≥ tau_max
    start: Multipliers
    tau_max: float  # smallest tau at which nothing is selected
    # (n,) float or 1.0: √v of the samples' weights v. Functions enter by √v f(x_i) and √v ∂_a
    # f(x_i), so that y, the kernel's tables and all weights of the problem contain it.
    root: Array | float

    @property
    def scale(self) -> float:
        """Return ||y||²/n, the unit of gaps."""
        return float(self.problem.y @ self.problem.y) / self.problem.n

    @cached_property
    def dense(self) -> Dense:
        """Return the Hessian as a matrix, built once for all tau."""
        return Dense.from_problem(self.problem, self.X)

    def certify(
        self, penalty: Penalty, q: Multipliers, iterations: int, squares: Array | None = None
    ) -> Minimum:
        """Return the minimum of a solver that ends at q; squares (d,), optional: ||q_a||²."""
        squares = q.squares(self.X) if squares is None else squares
        certificate = certify(self.problem, penalty, self.X, self.inner, q, squares)
        return Minimum(q, certificate, iterations)


class DerivativeCriterion(NamedTuple):
    """Criterion of a path, (1/n)||y - f||² + Ω(∂f) + ν||f||², but for the size tau of Ω."""

    kernel: Kernel  # kernel of the space of f
    penalty: str  # name of Ω in `PENALTIES`: lasso, group or elastic
    nu: float  # ν relative to mean(diag K)/n; positive (see `problem`)
    # partition of the features for the group penalty; None makes each feature a group
    groups: Sequence[Sequence[int]] | None = None
    weights: Array | None = None  # (G,) float: weight p_g of each group's norm; None for 1
    mu: float = 1.0  # share of the norms in the elastic penalty


def make_instance(
    X: Array,
    y: Array,
    criterion: DerivativeCriterion,
    *,
    inner: Array | None = None,
    counts: Array | None = None,
) -> Instance:
    """Return the shared data of a path; tau_max is the smallest tau whose bounds hold the start.

    The start is found by conjugate gradients on r <= n rotated features V diag(s) (n, r), which
    have the inner products of X. Of multipliers Q (r, n) of these, Θ is V diag(1/s) Q.

    X, y (n, d), (n,). inner (n, n), optional: X X', where it is known. counts (n,), optional: a
    sample of count w counts as w samples.
    """
    n, d = X.shape
    block = number_groups(criterion.groups, d, criterion.penalty)
    weights = check_weights(criterion.weights, int(block.max()) + 1)

    def penalty_at(tau: float) -> Penalty:
        return PENALTIES[criterion.penalty](tau, n, block, weights, criterion.mu)

    inner = X @ X.T if inner is None else inner
    problem, root_weights = _weighted_problem(y, criterion, inner, counts)
    metric = Metric.from_problem(problem, inner, d)
    directions, lengths = row_space(inner)
    rotated_multipliers, largest_eigenvalue = vanishing_gradient(
        problem, directions * lengths, metric, MULTIPLIER_TOLERANCE
    )
    if d > len(lengths):
        # On multipliers q with X q = 0, which the rotated features lack, M/2ν is -first_term.
        largest_eigenvalue = max(
            largest_eigenvalue, float(np.max(-metric.first_term / metric.weight))
        )
    theta = (directions / lengths) @ rotated_multipliers
    start = Multipliers(theta, active=np.zeros(0, np.int64), values=np.zeros((0, n)))
    unit_penalty = penalty_at(1.0)  # bounds are multiples of tau
    tau_max = float(np.max(unit_penalty.norms(start.squares(X)) / unit_penalty.radius))
    step_metric = metric.times(EIGENVALUE_MARGIN * largest_eigenvalue)
    return Instance(X, inner, problem, penalty_at, step_metric, start, tau_max, root_weights)


def _weighted_problem(
    y: Array, criterion: DerivativeCriterion, inner: Array, counts: Array | None
) -> tuple[Problem, Array | float]:
    """Return the problem of the centred response, with √v of the samples' weights in it, and √v.

    The weights v are the counts over their mean, so that sums stay sums over n samples.
    """
    squared_norms = np.diag(inner)
    table = criterion.kernel.tables(inner, squared_norms, squared_norms)
    if counts is None:
        return Problem.from_tables(table, y - y.mean(), criterion.nu), 1.0
    root_weights = np.sqrt(counts / counts.mean())
    centred = root_weights * (y - np.average(y, weights=counts))
    nu = criterion.nu / float(counts.mean())  # the n of ν is the sum of the counts
    return Problem.from_tables(table.weighed(root_weights), centred, nu), root_weights
