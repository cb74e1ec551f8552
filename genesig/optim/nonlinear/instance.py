"""Data that all fits of one path share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.kernels import Kernel
from genesig.optim.nonlinear.metric import (
    EIGENVALUE_MARGIN,
    Dense,
    Metric,
    row_space,
    vanishing_gradient,
)
from genesig.optim.nonlinear.multipliers import Certificate, Multipliers, certify
from genesig.optim.nonlinear.penalties import PENALTIES, Penalty
from genesig.optim.nonlinear.problem import Problem, check_weights, number_groups


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


MULTIPLIER_TOLERANCE = 1e-8  # relative residual of the conjugate gradients that give tau_max


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
