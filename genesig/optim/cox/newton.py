"""Proximal Newton steps: the likelihood's quadratic model, solved for few features by its signs.

For many, at η = Dx the model ``∇h'D(x' - x) + ½ (x' - x)'D'HD(x' - x)`` is, but for a constant,
``(1/N) ||y - A x'||²`` with ``A = √(N/2) R``, ``R'R = D'HD``: a problem of `solvers.path`. R is a
Cholesky factor, with pivots since H is singular, of the smaller of D'HD and H itself.

Source: Lee, Sun and Saunders 2014; Simon, Friedman, Hastie and Tibshirani 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from genesig.compiled import cox as compiled
from genesig.compiled.cox_model import Fit, Room, room_for
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

Array = np.ndarray[Any, Any]

INNER = 1e-12
"""Relative duality gap of the other quadratic models."""
DEPENDENT = 1e-12
"""Eigenvalues of a Hessian below this share of the largest are rounding."""


@dataclass(frozen=True)
class Problem:
    """``min h(D'x) + Σ_j (½ ridge_j x_j² + cut_j |x_j|)``, D (m, N), ridge, cut (m,).

    A feature in each row, its samples in the order of the risk sets, then 0 to whole lanes. `spare`
    may be the room of another problem of as many features and the same risk sets.
    """

    risk: RiskSets
    D: Array
    ridge: Array
    cut: Array
    spare: Room | None = None

    @cached_property
    def room(self) -> Room:
        """Room for the steps of few features."""
        if self.spare is not None and len(self.spare.z) == len(self.D):
            return self.spare
        return room_for(len(self.risk.died), len(self.risk.omega), len(self.D))


@dataclass(frozen=True)
class Point:
    """x (m,) and η = D'x (N,)."""

    x: Array
    eta: Array

    @classmethod
    def at(cls, problem: Problem, x: Array) -> Point:
        """Return the point of these coefficients."""
        return cls(x, x @ problem.D)


def span(C: Array) -> tuple[Array, Array]:
    """Return columns (n, r) of length √n, at right angles, that span C (n, c), and (c, r) back.

    ``C back`` are these columns; what depends on others shares its coefficient.
    """
    if not C.shape[1]:
        return C, np.zeros((0, 0))
    left, sizes, back = np.linalg.svd(C, full_matrices=False)
    kept, root = sizes > DEPENDENT * sizes.max(initial=0.0), np.sqrt(len(C))
    return root * left[:, kept], root * back[kept].T / sizes[kept]


def minimise(problem: Problem, start: Point, slack: float) -> tuple[Point, int]:
    """Step until the decrease that the model promises is below `slack`; also count the steps."""
    return go_on(problem, start, slack, slack, -1)[:2]


def go_on(
    problem: Problem, start: Point, slack: float, last: float, longest: int
) -> tuple[Point, int, int]:
    """Do so, and where at most `longest` x are not 0 then, go on to `last`: -1 steps if not.

    The first of the two points is then the room's rough one; the gradient at the last is in the
    room in any case.
    """
    risk, room = problem.risk, problem.room
    found = Point(start.x.copy(), start.eta.copy())
    fit = Fit(problem.D, problem.ridge, problem.cut, found.x, found.eta)
    steps, more = compiled.minimise(risk.terms, fit, room, slack, last, longest)
    if steps >= 0:
        return found, steps, more
    found, steps = _by_least_squares(problem, start, slack)
    compiled.judge(risk.terms, found.eta[: len(risk.died)], room.here, 0.0)
    return found, steps, -1


def _by_least_squares(problem: Problem, start: Point, slack: float) -> tuple[Point, int]:
    point, now = start, problem.risk.value(start.eta[: len(problem.risk.died)])
    now += _penalty(problem, start.x)
    for step in range(1, compiled.STEPS + 1):
        n = len(problem.risk.died)
        p = problem.risk.shares(point.eta[:n])
        u = problem.risk.gradient(p)
        goal = Point.at(problem, _model_minimum(problem, point, p, u))
        promised = float(u @ (goal.eta - point.eta)[:n]) + _penalty(problem, goal.x)
        promised -= _penalty(problem, point.x)
        further = _search(problem, point, goal, promised, now)
        if further is None:
            return point, step
        point, now = further
        if -promised <= slack:
            return point, step
    return point, compiled.STEPS


def _penalty(problem: Problem, x: Array) -> float:
    return float(problem.ridge @ (x * x) / 2 + problem.cut @ np.abs(x))


def _search(
    problem: Problem, point: Point, goal: Point, promised: float, now: float
) -> tuple[Point, float] | None:
    """Go the whole way, half of it, a quarter..., until enough of the promise is kept.

    From the objective `now`; also return the one that is reached.
    """
    share = 1.0
    while share > 1e-8:
        x, eta = (a + share * (b - a) for a, b in ((point.x, goal.x), (point.eta, goal.eta)))
        value = problem.risk.value(eta[: len(problem.risk.died)]) + _penalty(problem, x)
        if value <= now + compiled.ARMIJO * share * promised + 1e-14 * abs(now):
            return (replace(goal, x=x, eta=eta) if share < 1 else goal), value
        share /= 2
    return None


def _model_minimum(problem: Problem, point: Point, p: Array, u: Array) -> Array:
    """Return x of the model's minimum; the free columns are projected out of the others."""
    D, held = problem.D[:, : len(u)].T, (problem.cut > 0) | (problem.ridge > 0)
    A, y = least_squares(problem.risk, p, u, D, point.x)
    F, A = A[:, ~held], np.ascontiguousarray(A[:, held])
    free, x = np.linalg.pinv(F, rcond=np.sqrt(DEPENDENT)), np.zeros(len(held))
    rest = A - F @ (free @ A), y - F @ (free @ y)
    x[held] = _lasso(*rest, problem.cut[held], problem.ridge[held] / 2)
    x[~held] = free @ (y - A @ x[held])
    return x


def _lasso(A: Array, y: Array, cut: Array, ridge: Array) -> Array:
    """Return the minimum; what a feature has of ridge beyond that of all is a row more."""
    mu, n = float(ridge.min()), len(y)
    if len(beyond := np.flatnonzero(ridge > mu)):
        more = np.zeros((len(beyond), A.shape[1]))
        more[np.arange(len(beyond)), beyond] = np.sqrt(n * (ridge[beyond] - mu))
        scale = np.sqrt(1 + len(beyond) / n)
        A, y = scale * np.vstack([A, more]), scale * np.pad(y, (0, len(beyond)))
    rows = np.ones((len(y), 1), dtype=bool)
    level = float(cut.max())
    keys: dict[str, Any] = {"solver": "landweber-newton", "tolerance": INNER}
    sets = training_sets(
        A, y[:, None], rows, centre=False, unit_variance=False,
        weights=cut / level if level else None,
    )  # fmt: skip
    fit = path(sets, level, mu, **keys)
    b, (features, values) = np.zeros(A.shape[1]), fit.coef(0, 0)
    b[features] = values
    return b


def least_squares(
    risk: RiskSets, p: Array, u: Array, D: Array, x: Array
) -> tuple[Array, Array]:  # fmt: skip
    """Return A (N, m) and y (N,), all columns with sum 0, of the model at ``η = Dx``.

    Parameters
    ----------
    p, u : (T, n), (n,)
        Shares and gradient there.
    D : (n, m)
    x : (m,)
    """
    few = D.shape[1] <= len(u)
    R, t = _root(*((risk.hessian(p, D), D.T @ u) if few else (risk.hessian(p), u)))
    A = R if few else R @ D
    scale = np.sqrt((len(t) + 1) / 2)
    return _centred(scale * A), _centred(scale * (A @ x - t))


def _root(S: Array, g: Array) -> tuple[Array, Array]:
    """Return R (r, m) with R'R = S (m, m) of rank r, and t with R't = g."""
    # Slow to import, and every kind of study imports this module.
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    U, pivots, rank, _ = dpstrf(S, lower=0)
    pivots, U = pivots - 1, np.triu(U)[:rank]
    R = np.empty_like(U)
    R[:, pivots] = U
    return R, solve_triangular(U[:, :rank], g[pivots[:rank]], trans="T")


def _centred(x: Array) -> Array:
    """Return x with one row more, rotated so that all columns sum to 0 (Householder)."""
    root = np.sqrt(len(x) + 1)
    total = x.sum(axis=0) / (root - 1 if len(x) else 1)
    return np.concatenate([x - total / root, [total * (1 - 1 / root)]])
