"""The Cox elastic net along a path of (tau, mu): Newton on a working set, then all features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.optim.cox.certificate import DualPoint, dual_point, duality_gap, null_deviance
from genesig.optim.cox.newton import Point, Problem, minimise
from genesig.optim.cox.training import CoxSets
from genesig.optim.solution import Path
from genesig.optim.solvers import grid

Array = np.ndarray[Any, Any]

LEAP = 0.6
"""Share of the largest gradient from which features enter together, where tau leaps."""
ROUNDS = 100
"""Most checks of all features in a fit."""


class Fit(NamedTuple):
    """Coefficients b (d,) with the unpenalised among them, their gap and the Newton steps."""

    b: Array
    gap: float
    steps: int


def cox_path(
    sets: CoxSets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None,
) -> Path:  # fmt: skip
    """Minimise ``-(2/n) l(Zb) + mu Σ_{w_j > 0} b_j² + tau Σ_j w_j |b_j|`` for every training set.

    l is the logarithm of the partial likelihood (see `risk_sets`), w are the weights of the sets.

    Parameters
    ----------
    sets : CoxSets
    tau, mu : floats or arrays that broadcast to (k, m)
        Absolute. Each fit starts at the solution of the one before it in its row.
    tolerance : float
        Largest duality gap, relative to ``2 (l_saturated - l(0)) / n``, at which a fit counts as
        converged.
    longest : int, optional
        A row ends after its first fit of more features than this.

    Returns
    -------
    Path
        Where the unpenalised features order all events there is no finite minimum: their
        coefficients run off, until the gap is within the tolerance or the fit ends unconverged.

    Raises
    ------
    GenesigError
        For tau or mu that are negative, or tau = mu = 0.
    """
    tau, mu = grid(sets.sets, tau, mu)
    coefs, gap = [], np.full(tau.shape, np.nan)
    steps = np.full(tau.shape, -1)
    for k in range(len(tau)):
        row, most = _Row.of(sets, k, tolerance), 0
        for m in range(tau.shape[1]):
            if longest is not None and most > longest:
                coefs.append((np.zeros(0, np.int64), np.zeros(0)))
                continue
            fit = row.solve(tau[k, m], mu[k, m])
            gap[k, m], steps[k, m], used = fit.gap, fit.steps, np.flatnonzero(fit.b)
            coefs.append((used, fit.b[used]))
            most = max(most, len(used))
    return Path.of(tau.shape, coefs, gap, steps, tolerance).ended(longest)


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set, (k,), at which no penalised one is selected."""
    if (sets.sets.weights > 0).all() and sets.fixed is None:
        return sets.sets.tau_max
    rows = [_Row.of(sets, k, 1e-9) for k in range(len(sets.risk))]
    return np.array([row.ratio().max() for row in rows])


@dataclass
class _Row:
    """One training set on its way down the path; b (d,), a (c,) as they are, g = Z'u there.

    C (n, c) holds the features without a penalty, then the covariates.
    """

    sets: CoxSets
    k: int
    weights: Array
    tolerance: float
    scale: float
    free: Array
    C: Array
    b: Array
    a: Array
    g: Array
    tau: float

    @classmethod
    def of(cls, sets: CoxSets, k: int, tolerance: float) -> _Row:
        """Start with the unpenalised features alone."""
        weights = sets.sets.weights
        free = np.flatnonzero(weights == 0)
        C = np.hstack([sets.columns(k, free), sets.covariates(k)])
        b, a = np.zeros(len(weights)), np.zeros(C.shape[1])
        row = cls(
            sets, k, weights, tolerance, null_deviance(sets.risk[k]), free, C, b, a, b, np.inf
        )  # fmt: skip
        none = row._problem(np.zeros(len(weights), dtype=bool), b, 0.0)
        start, _ = minimise(none, Point.at(none, b[:0], a), 1e-3 * tolerance * row.scale)
        row.a, row.g = start.a, sets.products(k, row._dual(start).u)
        return row

    def solve(self, tau: float, mu: float) -> Fit:
        """Go on to the next point of the path."""
        cut, slack, steps = tau * self.weights, 0.1 * self.tolerance * self.scale, 0
        inside = self._guess(tau)
        for _ in range(ROUNDS):
            problem = self._problem(inside, cut, mu)
            point, more = minimise(problem, Point.at(problem, self.b[inside], self.a), slack)
            self.b[inside], self.a, steps = point.b, point.a, steps + more
            gap = self._check(point, cut, mu)
            violation = np.where(inside | (cut == 0), 0, np.abs(self.g) - cut)
            if gap <= self.tolerance or slack < 1e-16 * self.scale:
                break
            if (violation > 0).any():
                inside |= (violation > 0) & (violation >= (1 - LEAP) * violation.max())
            else:
                slack /= 100
        self.tau, found = tau, self.b.copy()
        found[self.free] = self.a[: len(self.free)]
        return Fit(found, gap, steps)

    def ratio(self) -> Array:
        """Return ``|g_j| / w_j``, (d,); 0 for those without a penalty."""
        return np.abs(self.g) / np.where(self.weights > 0, self.weights, np.inf)

    def _guess(self, tau: float) -> Array:
        """Return the features that may be active (sequential strong rule; a guess, cautious)."""
        ratio = self.ratio()
        top = ratio.max()
        strong = np.maximum(2 * tau - min(self.tau, top), LEAP * min(self.tau, top))
        return np.asarray((self.b != 0) | ((ratio >= strong) if tau else (self.weights > 0)))

    def _problem(self, inside: Array, cut: Array, mu: float) -> Problem:
        Z = self.sets.columns(self.k, np.flatnonzero(inside))
        return Problem(self.sets.risk[self.k], Z, self.C, cut[inside], mu)

    def _dual(self, point: Point) -> DualPoint:
        risk = self.sets.risk[self.k]
        return dual_point(risk, risk.shares(point.eta), self.C)

    def _check(self, point: Point, cut: Array, mu: float) -> float:
        """Look at all features; return the relative gap."""
        dual, held = self._dual(point), self.weights > 0
        self.g = self.sets.products(self.k, dual.u)
        g = (self.g + 2 * mu * self.b)[held]
        risk = self.sets.risk[self.k]
        return duality_gap(risk, point.eta, dual, g, self.b[held], cut[held], mu) / self.scale
