"""Proximal Newton steps: the likelihood's quadratic model, solved as a least-squares problem.

At η = Dx the model ``∇h'D(x' - x) + ½ (x' - x)'D'HD(x' - x)`` is, but for a constant,
``(1/N) ||y - A x'||²`` with ``A = √(N/2) R``, ``R'R = D'HD``: a problem of `solvers.path`. R is a
Cholesky factor, with pivots since H is singular, of the smaller of D'HD and H itself.

Source: Lee, Sun and Saunders 2014; Simon, Friedman, Hastie and Tibshirani 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dposv, dpstrf

from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.signs import by_signs
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

Array = np.ndarray[Any, Any]

FEW = 400
"""Most features whose quadratic model is solved by its signs."""
STEPS = 60
"""Most Newton steps of a fit."""
INNER = 1e-12
"""Relative duality gap of the quadratic models."""
DEPENDENT = 1e-12
"""Eigenvalues of a Hessian below this share of the largest are rounding."""
ARMIJO = 1e-4
"""Share of the expected decrease that a step must bring."""


@dataclass(frozen=True)
class Problem:
    """``min h(Zb + Ca) + mu ||b||² + Σ_j cut_j |b_j|``, Z (n, k) and C (n, c), cut (k,).

    Rows are in the order of the risk sets.
    """

    risk: RiskSets
    Z: Array
    C: Array
    cut: Array
    mu: float


@dataclass(frozen=True)
class Point:
    """b (k,), a (c,), and η (n,)."""

    b: Array
    a: Array
    eta: Array

    @classmethod
    def at(cls, problem: Problem, b: Array, a: Array) -> Point:
        """Return the point of these coefficients."""
        return cls(b, a, problem.Z @ b + problem.C @ a)


def minimise(problem: Problem, start: Point, slack: float) -> tuple[Point, int]:
    """Step until the decrease that the model promises is below `slack`; also count the steps."""
    point, now = start, problem.risk.value(start.eta) + _penalty(problem, start.b)
    for step in range(1, STEPS + 1):
        p = problem.risk.shares(point.eta)
        u = problem.risk.gradient(p)
        b, a = _model_minimum(problem, point, p, u)
        goal = Point.at(problem, b, a)
        promised = float(u @ (goal.eta - point.eta)) + _penalty(problem, b)
        promised -= _penalty(problem, point.b)
        further = _search(problem, point, goal, promised, now)
        if further is None:
            return point, step
        point, now = further
        if -promised <= slack:
            return point, step
    return point, STEPS


def _penalty(problem: Problem, b: Array) -> float:
    return float(problem.mu * (b @ b) + problem.cut @ np.abs(b))


def _search(
    problem: Problem, point: Point, goal: Point, promised: float, now: float
) -> tuple[Point, float] | None:
    """Go the whole way, half of it, a quarter..., until enough of the promise is kept.

    From the objective `now`; also return the one that is reached.
    """
    share = 1.0
    while share > 1e-8:
        b, a = (x + share * (z - x) for x, z in ((point.b, goal.b), (point.a, goal.a)))
        tried = replace(goal, b=b, a=a, eta=point.eta + share * (goal.eta - point.eta))
        value = problem.risk.value(tried.eta) + _penalty(problem, b)
        if value <= now + ARMIJO * share * promised + 1e-14 * abs(now):
            return (tried if share < 1 else goal), value
        share /= 2
    return None


def _model_minimum(problem: Problem, point: Point, p: Array, u: Array) -> tuple[Array, Array]:
    """Return b and a of the model's minimum; the free columns are projected out of the others."""
    D, x, k = np.hstack([problem.Z, problem.C]), np.concatenate([point.b, point.a]), len(point.b)
    if not problem.cut.any() and len(x) <= len(u):
        Q, g = _quadratic(problem, p, u, D, x)
        found = _ridge(Q, g) if problem.mu and 0 < len(x) == k else None
        if found is None:
            found = np.linalg.lstsq(Q, g, rcond=DEPENDENT)[0]
        return found[:k], found[k:]
    if problem.cut.any() and len(x) <= FEW:
        Q, g = _quadratic(problem, p, u, D, x)
        cut = np.concatenate([problem.cut, np.zeros(len(point.a))])
        if (found := by_signs(Q, g, cut, x)) is not None:
            return found[:k], found[k:]
    A, y = least_squares(problem.risk, p, u, D, x)
    free = np.linalg.pinv(A[:, k:], rcond=np.sqrt(DEPENDENT))
    A, F = np.ascontiguousarray(A[:, :k]), A[:, k:]
    b = _lasso(A - F @ (free @ A), y - F @ (free @ y), problem.cut, problem.mu)
    return b, free @ (y - A @ b)


def _quadratic(problem: Problem, p: Array, u: Array, D: Array, x: Array) -> tuple[Array, Array]:
    """Return Q and g of the model ``½ x'Qx - g'x``, the squared penalty in it."""
    H = problem.risk.hessian(p, D)
    Q = H.copy()
    penalised = np.arange(len(problem.cut))
    Q[penalised, penalised] += 2 * problem.mu
    return Q, H @ x - D.T @ u


def _ridge(Q: Array, g: Array) -> Array | None:
    _, x, info = dposv(Q, g)
    return x if info == 0 and np.isfinite(x).all() else None


def _lasso(A: Array, y: Array, cut: Array, mu: float) -> Array:
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
