"""Ridge Cox regression on selected supports: ``min -(2/n) l(Z_A b) + lam ||b||²``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from genesig.compiled.cox import Features
from genesig.compiled.cox_model import Fit, room_for
from genesig.compiled.cox_ridge import Lists, Refits, refit_lists
from genesig.compiled.lanes import LANES
from genesig.optim.cox.certificate import dual_point, duality_gap, null_deviance, squares
from genesig.optim.cox.newton import span
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import CoxSets
from genesig.optim.solution import Path

Array = np.ndarray[Any, Any]

SLACK = 1e-24
"""Decrease, relative to the null deviance, at which steps end; the last are cheap."""


class Ridge(NamedTuple):
    """Coefficients (m, L) on standardised features for L lam, and the relative gap of each (L,)."""

    b: Array
    gap: Array


def ridge(risk: RiskSets, Z: Array, C: Array, lam: Array, ease: float = 0.0) -> Ridge:
    """Minimise ``h(Zb + Ca) + lam ||b||²`` for every lam; returns b above a.

    With no more unknowns than samples. lam = 0 gives the b of least norm; it has no minimum, and an
    infinite gap, where a combination of features orders all events.

    Parameters
    ----------
    Z, C : (n, k), (n, c) arrays
        Features, and those without a penalty; rows in the order of the risk sets.
    lam : (L,) array
    ease : float
        Ridge of C, where that has no finite fit (see `separation.ease`).
    """
    scale = null_deviance(risk)
    return _certified(risk, _solve(risk, Z, span(C), lam, ease), lam, scale, ease)


def _certified(risk: RiskSets, found: _Found, lam: Array, scale: float, ease: float) -> Ridge:
    D, free = found.D, found.free
    gap = [_gap(risk, D, free, x, level, ease) / scale
           for x, level in zip(found.x, lam, strict=True)]  # fmt: skip
    return Ridge(found.coef, np.array(gap))


class _Found(NamedTuple):
    """Coefficients (m + c, L) in the units of Z and C, and x (L, m') in those of D and free."""

    coef: Array
    D: Array
    free: Array
    x: Array


def _solve(
    risk: RiskSets, Z: Array, spanned: tuple[Array, Array], lam: Array, ease: float
) -> _Found:  # fmt: skip
    (D, back), (free, freed) = _reduced(Z, lam), spanned
    n, k = D.shape
    rows = np.zeros((k + free.shape[1], -(-n // LANES) * LANES))
    rows[:k, :n], rows[k:, :n] = D.T, free.T
    every = Features(rows[:k], np.zeros(k), np.ones(k), np.ones(k), np.arange(n))
    x = fitted(risk, every, rows[k:], [np.arange(k)], lam, ease).x
    b = x[:, :k] if back is None else x[:, :k] @ back
    return _Found(np.concatenate([b.T, freed @ x[:, k:].T]), D, free, x)


def fitted(
    risk: RiskSets, every: Features, C: Array, lists: list[Array], lam: Array, ease: float
) -> Refits:
    """Fit lists of features, with columns C beside each; x is that of the last list.

    Parameters
    ----------
    every : Features
    C : (c, N) array
        What spans the covariates, as `newton.span` does, in rows of whole lanes.
    lists : list of int arrays
    lam : (L,) array
    ease : float
        See `ridge`.
    """
    S, L, order = len(lists), len(lam), np.argsort(-lam, kind="stable")
    indptr = np.cumsum([0, *map(len, lists)])
    m, N = max(map(len, lists), default=0) + len(C), C.shape[1]
    fit = Fit(np.zeros((m, N)), np.full(m, 2 * ease), np.zeros(m), np.zeros(m), np.zeros(N))
    scores, held = (np.empty((S, L, each)) for each in (every.F.shape[1], len(C)))
    out = Refits(scores, held, np.empty((L, m)))
    refit_lists(
        risk.terms, fit, room_for(len(risk.died), len(risk.omega), m, m), every, C,
        Lists(indptr, np.concatenate([indptr[:0], *lists]), lam[order]),
        SLACK * null_deviance(risk), out,
    )  # fmt: skip
    back = np.argsort(order)
    return Refits(out.scores[:, back], out.held[:, back], out.x[back])


def _reduced(Z: Array, lam: Array) -> tuple[Array, Array | None]:
    """Return Z in its row space and the way back, where there is no minimum, or a larger one."""
    if Z.shape[1] <= len(Z) and lam.min(initial=np.inf) > 0:
        return Z, None
    if lam.min(initial=np.inf) > 0:
        Q, R = np.linalg.qr(Z.T)
        return np.ascontiguousarray(R.T), Q.T
    left, sizes, back = np.linalg.svd(Z, full_matrices=False)
    kept = sizes > 1e-12 * sizes.max(initial=0.0)
    return left[:, kept] * sizes[kept], back[kept]


def _gap(risk: RiskSets, D: Array, free: Array, x: Array, lam: float, ease: float) -> float:
    b, a = x[: D.shape[1]], x[D.shape[1] :]
    eta = D @ b + free @ a
    free_of = np.hstack([D[:, : 0 if lam else None], free[:, : 0 if ease else None]])
    dual = dual_point(risk, eta, free_of)
    g = D.T @ dual.u + 2 * lam * b
    of_C = squares(ease, a, free.T @ dual.u)
    return duality_gap(risk, eta, dual, g, b, np.zeros(len(b)), lam, of_C)


def ridge_coef(
    sets: CoxSets, path: Path, lam: Array | float
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return values (nnz,), intercept (k, m) and relative gap (k, m), in the units of X.

    ``η(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; the mean of the
    training rows has η = 0 where features are centred. lam is a float or (k,), absolute.
    """
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    values, intercept, gap = np.empty(len(path.values)), np.zeros(path.shape), np.zeros(path.shape)
    for k, m, A, fit in _fits(sets, path, lam):
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
    for k, m, A, fit in _fits(sets, path, lam):
        gamma[k, m] = fixed.turn[k] @ fit.b[len(A) :, 0]
    return gamma


def _fits(sets: CoxSets, path: Path, lam: Array) -> Iterator[tuple[int, int, Array, Ridge]]:
    """Yield training set, step, support A, and the fits on it: b of A, then of the covariates.

    A support is fitted once.
    """
    for k, m in np.ndindex(path.shape):
        A = path.coef(k, m)[0]
        yield k, m, A, sets.once((k, A.tobytes(), lam[k].tobytes()), _kept, sets, k, A, lam[k])


def _kept(sets: CoxSets, k: int, A: Array, lam: Array) -> Ridge:
    return refitted(sets, k, A, lam, certified=True)


def refitted(sets: CoxSets, k: int, A: Array, lam: Array, *, certified: bool) -> Ridge:
    """Return the fits on support A of training set k for every lam: b of A, then of the covariates.

    Parameters
    ----------
    lam : (L,) array
    certified : bool
        Whether gaps are computed; otherwise they are nan.
    """
    held, risk = sets.sets.weights[A] > 0, sets.risk[k]
    Z, spanned = sets.columns(k, A[held]), sets.span(k)
    if not held.all():
        spanned = span(np.hstack([sets.columns(k, A[~held]), sets.covariates(k)]))
    scale, ease = sets.deviance(k), sets.ease(k)
    found = _solve(risk, Z, spanned, lam, ease)
    fit = Ridge(found.coef, np.full(len(lam), np.nan))
    if certified:
        fit = _certified(risk, found, lam, scale, ease)
    order = np.argsort(np.concatenate([np.flatnonzero(held), np.flatnonzero(~held)]))
    return Ridge(np.concatenate([fit.b[order], fit.b[len(A) :]]), fit.gap)
