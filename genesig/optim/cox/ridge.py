"""Ridge Cox regression on selected supports: ``min -(2/n) l(Z_A b) + lam ||b||²``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from genesig.optim.cox.certificate import dual_point, duality_gap, null_deviance
from genesig.optim.cox.newton import Point, Problem, minimise
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import CoxSets
from genesig.optim.solution import Path

Array = np.ndarray[Any, Any]

SLACK, ROUGH = 1e-13, 1e-8
"""Decrease, relative to the null deviance, below which Newton's steps end: of fits that are kept,
and of scores that are only compared. The last step is quadratic, its error far below."""


class Ridge(NamedTuple):
    """Coefficients (m, L) on standardised features for L lam, and the relative gap of each (L,)."""

    b: Array
    gap: Array


def ridge(risk: RiskSets, Z: Array, C: Array, lam: Array, slack: float = SLACK) -> Ridge:
    """Minimise ``h(Zb + Ca) + lam ||b||²`` for every lam; returns b above a.

    In the row space of Z, so with no more unknowns than samples. lam = 0 gives the b of least norm;
    it has no minimum, and an infinite gap, where a combination of features orders all events.

    Parameters
    ----------
    Z, C : (n, k), (n, c) arrays
        Features, and those without a penalty; rows in the order of the risk sets.
    lam : (L,) array
    slack : float
        Decrease, relative to the null deviance, at which steps end.
    """
    left, sizes, back = np.linalg.svd(Z, full_matrices=False)
    kept = sizes > 1e-12 * sizes.max(initial=0.0)
    D, back, scale = left[:, kept] * sizes[kept], back[kept], null_deviance(risk)
    b, a = np.zeros(D.shape[1]), np.zeros(C.shape[1])
    coef, gap = np.empty((Z.shape[1] + C.shape[1], len(lam))), np.empty(len(lam))
    for place in np.argsort(-lam, kind="stable"):
        problem = Problem(risk, D, C, np.zeros(len(b)), float(lam[place]))
        point, _ = minimise(problem, Point.at(problem, b, a), slack * scale)
        b, a = point.b, point.a
        coef[:, place], gap[place] = np.concatenate([b @ back, a]), _gap(problem, point) / scale
    return Ridge(coef, gap)


def _gap(problem: Problem, point: Point) -> float:
    free = problem.C if problem.mu else np.hstack([problem.Z, problem.C])
    dual = dual_point(problem.risk, problem.risk.shares(point.eta), free)
    g = problem.Z.T @ dual.u + 2 * problem.mu * point.b
    return duality_gap(problem.risk, point.eta, dual, g, point.b, problem.cut, problem.mu)


def ridge_scores(
    sets: CoxSets, path: Path, lam: Array | float
) -> tuple[Array, Array]:  # fmt: skip
    """Return the scores ``z_A'b`` (k, m, L, n) of all rows, and the relative gaps (k, m, L).

    Features of weight 0 are not penalised here either; covariates are in the scores of every row.

    Parameters
    ----------
    sets : CoxSets
    path : Path
        Supports A of (k, m) fits. An empty one scores 0.
    lam : float or array that broadcasts to (k, L)
        Absolute.
    """
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (len(sets.risk), lam.shape[1]))
    scores = np.zeros((*path.shape, lam.shape[1], len(sets.sets.X)))
    gap = np.zeros(scores.shape[:3])
    for k, m, A, fit in _fits(sets, path, lam, ROUGH):
        Z = (sets.sets.X[:, A] - sets.sets.mean[k, A]) * sets.sets.inverse_scale[k, A]
        scores[k, m], gap[k, m] = (Z @ fit.b[: len(A)]).T, fit.gap
        if sets.fixed is not None:
            scores[k, m] += (fit.b[len(A) :].T) @ sets.fixed.basis[k]
    return scores, gap


def ridge_coef(
    sets: CoxSets, path: Path, lam: Array | float
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return values (nnz,), intercept (k, m) and relative gap (k, m), in the units of X.

    ``η(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; the mean of the
    training rows has η = 0 where features are centred. lam is a float or (k,), absolute.
    """
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    values, intercept, gap = np.empty(len(path.values)), np.zeros(path.shape), np.zeros(path.shape)
    for k, m, A, fit in _fits(sets, path, lam, SLACK):
        b = sets.sets.inverse_scale[k, A] * fit.b[: len(A), 0]
        values[slice(*path.indptr[k * path.shape[1] + m :][:2])] = b
        intercept[k, m], gap[k, m] = -(sets.sets.mean[k, A] @ b), fit.gap[0]
    return values, intercept, gap


def covariate_coef(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return gamma (k, m, q): η of `ridge_coef` is with ``(c - mean) @ gamma[k, m]`` added.

    mean (k, q) is that of the adjustment; its covariates are fitted at once with the features.
    """
    fixed, shape = sets.fixed, path.shape
    if fixed is None:
        return np.zeros((*shape, 0))
    gamma = np.zeros((*shape, fixed.mean.shape[1]))
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    for k, m, A, fit in _fits(sets, path, lam, SLACK):
        gamma[k, m] = fixed.turn[k] @ fit.b[len(A) :, 0]
    return gamma


def _fits(
    sets: CoxSets, path: Path, lam: Array, slack: float
) -> Iterator[tuple[int, int, Array, Ridge]]:
    """Yield training set, step, support A, and the fits on it: b of A, then of the covariates.

    A support is fitted once.
    """
    for k, m in np.ndindex(path.shape):
        A = path.coef(k, m)[0]
        key = (k, A.tobytes(), lam[k].tobytes(), slack)
        if key not in sets.refits:
            sets.refits[key] = _refit(sets, k, A, lam[k], slack)
        yield k, m, A, sets.refits[key]


def _refit(sets: CoxSets, k: int, A: Array, lam: Array, slack: float) -> Ridge:
    held = sets.sets.weights[A] > 0
    Z, C = sets.columns(k, A[held]), np.hstack([sets.columns(k, A[~held]), sets.covariates(k)])
    fit = ridge(sets.risk[k], Z, C, lam, slack)
    order = np.argsort(np.concatenate([np.flatnonzero(held), np.flatnonzero(~held)]))
    return Ridge(np.concatenate([fit.b[order], fit.b[len(A) :]]), fit.gap)
