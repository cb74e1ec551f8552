"""The Cox elastic net along a path of (tau, mu): Newton on a working set, then all features."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.compiled.cox import Features, beyond, certify
from genesig.compiled.cox_model import FEW
from genesig.compiled.cox_working import miss, take_in
from genesig.optim.cox.certificate import dual_point, duality_gap, squares
from genesig.optim.cox.newton import Point, Problem, go_on, minimise, span
from genesig.optim.cox.training import CoxSets, Solving
from genesig.optim.solution import Path
from genesig.optim.solvers import grid

Array = np.ndarray[Any, Any]

LEAP = 0.6
"""Share of the largest gradient from which features enter together, where tau leaps."""
ROUGH = 1e-4
"""Decrease, relative to the null deviance, at which the steps end while features are missing."""
ROUNDS = 100
"""Most checks of all features in a fit."""


class Fit(NamedTuple):
    """The features (m,) that are not 0 and their coefficients, the gap and the Newton steps."""

    used: Array
    values: Array
    gap: float
    steps: int


def cox_path(
    sets: CoxSets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None, groups: Array | None = None,
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
        A row ends before its first fit of more features than this.
    groups : (k,) int, optional
        Rows of one group: when one ends, the others need not go on; each has its first fit.

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
    gap, steps = np.full(tau.shape, np.nan), np.full(tau.shape, -1)
    coefs = [(np.zeros(0, np.int64), np.zeros(0))] * tau.size
    groups = np.arange(len(tau)) if groups is None else groups
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group).tolist()
        rows = {k: _Row.of(sets, k, tolerance) for k in members}
        for k, m, fit in _down(rows, tau, mu, longest):
            gap[k, m], steps[k, m] = fit.gap, fit.steps
            coefs[k * tau.shape[1] + m] = (fit.used, fit.values)
    return Path.of(tau.shape, coefs, gap, steps, tolerance).ended(longest)


def _down(
    rows: dict[int, _Row], tau: Array, mu: Array, longest: int | None
) -> Iterator[tuple[int, int, Fit]]:  # fmt: skip
    """Yield the fits of rows that end together, side by side; the longest list goes ahead."""
    for m in range(tau.shape[1]):
        ended = False
        first, *others = sorted(rows, key=lambda k: -rows[k].count)
        for some in ([first], others):
            going = {k: rows[k].solve(tau[k, m], mu[k, m], longest) for k in some}
            for k, fit in rows[first].sets.side_by_side(going).items():
                if fit is not None:
                    yield k, m, fit
                too_long = longest is not None and fit is not None and len(fit.used) > longest
                ended = ended or fit is None or too_long
            if ended and m > 0:
                break
        if ended:
            return


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set, (k,), at which no penalised one is selected."""
    if (sets.sets.weights > 0).all() and sets.fixed is None:
        return sets.sets.tau_max
    rows = [_Row.of(sets, k, 1e-9) for k in range(len(sets.risk))]
    return np.array([row.ratio().max() for row in rows])


@dataclass
class _Row:
    """One training set on its way down the path; b (d,) as it is, g = Z'u there.

    C (n, c) spans the features without a penalty, and the covariates; `back` takes a to theirs;
    ease is their ridge, where they have no finite fit.
    problem and point are those of the features `inside` (d,) bool, then C; `within` (m,) are their
    numbers, `outside` (d,) bool the others that have a penalty, `free` the features that have none;
    `count` features are not 0. No product with u moves by more than `reach` times what u does.
    """

    sets: CoxSets
    k: int
    every: Features
    tolerance: float
    scale: float
    C: Array
    back: Array
    ease: float
    b: Array
    g: Array
    tau: float
    inside: Array
    within: Array
    outside: Array
    free: Array
    reach: float
    problem: Problem
    point: Point
    count: int = 0

    @classmethod
    def of(cls, sets: CoxSets, k: int, tolerance: float) -> _Row:
        """Start with the unpenalised features alone: paths of several mu start alike."""
        # Without the sets, which would otherwise hold themselves, and their matrix, for long.
        start = sets.once(("start", k, tolerance), cls._start, sets, k, tolerance)
        return cls(sets, k, tolerance=tolerance, b=np.zeros(len(start["g"])), tau=np.inf, **start)

    @classmethod
    def _start(cls, sets: CoxSets, k: int, tolerance: float) -> dict[str, Any]:
        every, risk = sets.features(k), sets.risk[k]
        free, d = np.flatnonzero(every.weight == 0), len(every.weight)
        C, back = span(np.hstack([sets.columns(k, free), sets.covariates(k)]))
        D, none, ease = sets.by_row(k, free[:0], C), np.zeros(C.shape[1]), sets.ease(k)
        problem, scale = Problem(risk, D, none + 2 * ease, none.copy()), sets.deviance(k)
        start = Point.at(problem, none)
        if len(D):
            start, _ = minimise(problem, start, 1e-3 * tolerance * scale)
        u = dual_point(risk, start.eta[: len(C)], C[:, : 0 if ease else None]).u
        g = sets.products({k: u})[k]
        return {
            "every": every, "scale": scale, "C": C, "back": back, "ease": ease, "g": g,
            "inside": np.zeros(d, dtype=bool), "within": free[:0], "outside": every.weight > 0,
            "problem": problem, "point": start, "free": free,
            # Features have length √n at most where weights v of samples are 1: Σ v z² = n.
            "reach": (1 + 1e-9) * np.sqrt(len(u) / risk.terms.weight.min()),
        }  # fmt: skip

    def solve(self, tau: float, mu: float, longest: int | None) -> Solving:
        """Go on to the next point of the path; None where its list is certainly too long."""
        last, steps = 0.1 * self.tolerance * self.scale, 0
        can_end = mu > 0 and longest is not None and longest < len(self.b)
        slack = max(last, ROUGH * self.scale) if can_end else last
        if len(self.within) < len(self.b):
            needed = self.b != 0 if can_end else self._guess(tau)
            if can_end or len(self.problem.D) > FEW or not self.inside[needed].all():
                self._take_in(needed)
        for _ in range(ROUNDS):
            taken, more = self._minimise(tau, mu, slack, last, self._further(longest))
            gap, steps = (yield from self._check(tau, mu)), steps + taken
            if more >= 0 and self._clear(tau):
                slack, steps = last, steps + more
            elif more >= 0:
                self._go_back()
                gap = yield from self._check(tau, mu)
            if slack <= last and (gap <= self.tolerance or slack < 1e-16 * self.scale):
                break
            if can_end and longest is not None and self._surely(gap / mu) > longest:
                return None
            if miss(self.g, self.every.weight, tau, 1 - LEAP, self.outside, self.inside):
                self._take_in(self.inside)
            else:
                slack = last if slack > last else slack / 100
        return self._found(tau, gap, steps)

    def _found(self, tau: float, gap: float, steps: int) -> Fit:
        self.tau, used, values = tau, self.within, self.b[self.within]
        if len(self.free):
            found = self.b.copy()
            found[self.free] = (self.back @ self.point.x[-self.C.shape[1] :])[: len(self.free)]
            used, values = np.arange(len(found)), found
        used, values = used[values != 0], values[values != 0]
        self.count = len(used)
        return Fit(used, values, gap, steps)

    def _further(self, longest: int | None) -> int:
        """Return up to how many features the row goes on without a look at all, to mend it after.

        -1 where nothing bounds what it would find; more features may end the path.
        """
        known = self.sets.sets.unit_variance and not self.C.shape[1]
        return longest if known and longest is not None else -1

    def _clear(self, tau: float) -> bool:
        """Tell whether no feature from outside was beyond its bound at the rough point."""
        level = (1 - 1e-9) * tau, self.problem.room, self.reach
        return not beyond(self.g, self.every.weight, self.outside, *level)

    def _go_back(self) -> None:
        """Go back to the rough point."""
        rough, here = self.problem.room.rough, self.problem.room.here
        self.point, self.b[self.within] = Point(rough.x.copy(), rough.eta.copy()), rough.x
        here.u[:] = rough.u

    def ratio(self) -> Array:
        """Return ``|g_j| / w_j``, (d,); 0 for those without a penalty."""
        weight = self.every.weight
        return np.abs(self.g) / np.where(weight > 0, weight, np.inf)

    def _surely(self, square: float) -> int:
        """Return how many penalised features are selected in the exact fit, at the least.

        The objective grows by mu ||b' - b||² from its minimum b', so b' is within √(gap / mu) of b:
        only features whose squares add up to less may all be 0 there.
        """
        squares = np.sort(np.square(self.b[self.within]))
        squares = squares[np.count_nonzero(self.b[self.within] == 0) :]
        gone = np.searchsorted(np.cumsum(squares), square * self.scale, side="right")
        return len(squares) - int(gone)

    def _guess(self, tau: float) -> Array:
        """Return the features that may be active (sequential strong rule; a guess, cautious)."""
        ratio = self.ratio()
        top = ratio.max()
        strong = np.maximum(2 * tau - min(self.tau, top), LEAP * min(self.tau, top))
        likely = (ratio >= strong) if tau else (self.every.weight > 0)
        return np.asarray((self.b != 0) | likely)

    def _take_in(self, needed: Array) -> None:
        """Have these features in the problem, and the next ones with them: few cost little."""
        self.inside, self.outside = needed.copy(), np.empty(len(needed), dtype=bool)
        most, places = FEW - self.C.shape[1], np.empty(len(needed), np.int64)
        rest = (len(needed) if len(needed) <= most else most // 2) - int(np.count_nonzero(needed))
        weight = self.every.weight
        count = take_in(self.g, weight, max(rest, 0), self.inside, self.outside, places)
        self.within = places[:count].copy()
        D = self.sets.by_row(self.k, self.within, self.C)
        ridge, spare = np.full(len(D), 2 * self.ease), self.problem.room
        self.problem = Problem(self.sets.risk[self.k], D, ridge, np.zeros(len(D)), spare)
        a = self.point.x[len(self.point.x) - self.C.shape[1] :]
        self.point = Point.at(self.problem, np.concatenate([self.b[self.within], a]))

    def _minimise(
        self, tau: float, mu: float, slack: float, last: float, longest: int
    ) -> tuple[int, int]:
        """See `newton.go_on`; it does so where the slack is above the last."""
        problem, k = self.problem, len(self.problem.D) - self.C.shape[1]
        problem.cut[:k], problem.ridge[:k] = tau * self.every.weight[self.within], 2 * mu
        longest = longest if slack > last else -1
        self.point, steps, more = go_on(problem, self.point, slack, last, longest)
        self.b[self.within] = self.point.x[:k]
        return steps, more

    def _check(self, tau: float, mu: float) -> Generator[Array, Array, float]:
        """Look at all features; return the relative gap."""
        risk, held = self.sets.risk[self.k], self.every.weight > 0
        eta, cut = self.point.eta[: len(self.C)], tau * self.every.weight
        a = self.point.x[len(self.point.x) - self.C.shape[1] :]
        if tau and (self.ease or not len(a)):
            here = self.problem.room.here
            self.g = yield here.u
            of_C = squares(self.ease, a, self.C.T @ here.u) if len(a) else (0.0, 0.0)
            level = np.array([tau, mu, *of_C])
            gap = certify(risk.terms, eta, here, self.every, self.b, level, self.g)
            return float(gap / self.scale)
        dual = dual_point(risk, eta, self.C[:, : 0 if self.ease else None])
        self.g = yield dual.u
        g = (self.g + 2 * mu * self.b)[held]
        of_C = squares(self.ease, a, self.C.T @ dual.u)
        return duality_gap(risk, eta, dual, g, self.b[held], cut[held], mu, of_C) / self.scale
