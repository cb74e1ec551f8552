"""The Cox elastic net along a path of (tau, mu), and ridge Cox regression on selected supports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.ridge import GeneLists
from genesig.optim.cox.likelihood import refit_each
from genesig.optim.cox.ridge import CoxScores, RidgeLevels, solve_cox_ridge
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import CoxSets, span
from genesig.optim.likelihood.path import largest_ratio, likelihood_path, without_features
from genesig.optim.solution import Path


def cox_path(
    sets: CoxSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
    groups: Array | None = None,
) -> Path:
    """Minimise ``-(2/n) l(Zb) + mu Σ_{w_j > 0} b_j² + tau Σ_j w_j |b_j|`` for every training set.

    l is the logarithm of the partial likelihood (see `risk_sets`), w are the weights of the sets.

    Parameters
    ----------
    sets : CoxSets
    tau, mu, tolerance, longest, groups
        See `likelihood_path`; gaps are relative to ``2 (l_saturated - l(0)) / n``.

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
    path, held = likelihood_path(sets, tau, mu, tolerance=tolerance, longest=longest, groups=groups)
    return path if not len(sets.free) else _with_free(sets, path, held, tolerance).ended(longest)


def _with_free(sets: CoxSets, path: Path, held: Array, tolerance: float) -> Path:
    """Return the path with the features that have no penalty."""
    coefs = []
    for k, m in np.ndindex(path.shape):
        _, back = sets.beside(k)
        free = back[: len(sets.free)] @ held[k, m, : back.shape[1]]
        indices, values = path.coef(k, m)
        indices = np.concatenate([indices, sets.free])
        values = np.concatenate([values, np.nan_to_num(free)])  # NaN where the row had ended
        order = np.argsort(indices)
        order = order[values[order] != 0]
        coefs.append((indices[order], values[order]))
    return Path.of(path.shape, coefs, path.gap, path.iterations, tolerance)


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set, (k,), at which no penalised one is selected."""
    if not len(sets.free) and sets.fixed is None:
        return sets.sets.tau_max
    each = [without_features(sets, slice(k, k + 1)) for k in range(len(sets.risk))]
    return np.array([largest_ratio(state, ground.weights)[0] for ground, state in each])


def strength(sets: CoxSets, part: slice) -> Array:
    """Return ``|z_j'∇l|`` of each feature where none is selected, in some training sets, (k, d)."""
    if not len(sets.free) and sets.fixed is None:
        return sets.sets.strength(part)
    return np.abs(without_features(sets, part)[1].g)


SLACK = 1e-13
"""Decrease, relative to the null deviance, at which steps end: a Newton step leaves its square."""


MAX_SETS = 64
"""Training sets that are refitted in one call."""


class Ridge(NamedTuple):
    """Coefficients (m, L) on standardised features for L lam, and the relative gap of each (L,).

    The gap is empty where it was not asked for.
    """

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
        Ridge of C, where that has no finite fit (see `training.ease`).
    """
    return _fitted(risk, Z, span(C), lam, ease)


def _fitted(
    risk: RiskSets,
    Z: Array,
    spanned: tuple[Array, Array],
    lam: Array,
    ease: float,
    certified: bool = True,
) -> Ridge:
    """Fit every lam as `ridge` does, with what `span` gives of C; no gap unless `certified`."""
    D, back = _reduced(Z, lam)
    free, freed = spanned
    order = np.argsort(-lam, kind="stable")
    k = D.shape[1]
    rows = np.vstack([D.T, free.T])
    share = np.zeros(len(rows))
    share[:k] = 1
    x = np.empty((len(lam), len(rows)))
    gap = np.empty(len(lam) if certified else 0)
    scale = risk.null_deviance
    refit_each(risk.terms, rows, ease * (1 - share), share, lam[order], SLACK * scale, x, gap)
    in_place = np.argsort(order)
    x = x[in_place]
    b = x[:, :k] if back is None else x[:, :k] @ back
    relative_gap = gap[in_place] / scale if certified else gap
    return Ridge(np.concatenate([b.T, freed @ x[:, k:].T]), relative_gap)


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


def ridge_coef(sets: CoxSets, path: Path, lam: Array | float) -> tuple[Array, Array, Array]:
    """Return values (nnz,), intercept (k, m) and relative gap (k, m), in the units of X.

    ``η(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; the mean of the
    training rows has η = 0 where features are centred. lam is a float or (k,), absolute.
    """
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    values = np.empty(len(path.values))
    intercept = np.zeros(path.shape)
    gap = np.zeros(path.shape)
    for k, m, A, fit in _fits(sets, path, lam):
        b = sets.sets.inverse_scale[k, A] * fit.b[: len(A), 0]
        values[slice(*path.indptr[k * path.shape[1] + m :][:2])] = b
        intercept[k, m] = -(sets.sets.mean[k, A] @ b)
        gap[k, m] = fit.gap[0]
    return values, intercept, gap


def covariate_coef(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return gamma (k, m, q): η of `ridge_coef` is with ``(c - mean) @ gamma[k, m]`` added.

    mean (k, q) is that of the adjustment; its covariates are fitted at once with the features.
    """
    fixed = sets.fixed
    shape = path.shape
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
        yield k, m, A, sets.once((k, A.tobytes(), lam[k].tobytes()), refitted, sets, k, A, lam[k])


def refitted(sets: CoxSets, k: int, A: Array, lam: Array, certified: bool = True) -> Ridge:
    """Return the fits on support A of training set k for every lam (L,).

    Coefficients are those of A, then of the covariates; no gap unless `certified`.
    """
    penalised = sets.sets.weights[A] > 0
    spanned = sets.span(k)
    if not penalised.all():
        spanned = span(np.hstack([sets.columns(k, A[~penalised]), sets.covariates(k)]))
    Z = sets.columns(k, A[penalised])
    fit = _fitted(sets.risk[k], Z, spanned, lam, sets.ease(k), certified)
    order = np.argsort(np.concatenate([np.flatnonzero(penalised), np.flatnonzero(~penalised)]))
    return Ridge(np.concatenate([fit.b[order], fit.b[len(A) :]]), fit.gap)


def ridge_scores(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return the scores ``z_A'b`` (k, m, L, n) of all rows.

    Features of weight 0 are not penalised here either; covariates are in the scores of every row.

    Parameters
    ----------
    sets : CoxSets
    path : Path
        Supports A of (k, m) fits. An empty one scores 0.
    lam : float or array that broadcasts to (k, L)
        Absolute.
    """
    k, n_lists = path.shape
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores = np.zeros((k, n_lists, lam.shape[1], len(sets.sets.X)))
    # A list of more genes than samples is solved in the space of the samples.
    n_rows = np.array([len(rows) for rows in sets.rows])
    unsolved = path.sizes() > n_rows[:, None]
    if len(sets.free) or lam.min(initial=np.inf) <= 0:
        unsolved[:] = True
    else:
        _fill_scores(sets, path, lam, scores, unsolved)
    for i, f in np.argwhere(unsolved).tolist():
        scores[i, f] = _scores(sets, i, path.coef(i, f)[0], lam[i])
    return scores


def _fill_scores(sets: CoxSets, path: Path, lam: Array, scores: Array, unsolved: Array) -> None:
    """Fill the scores of all lists but those that are left `unsolved`."""
    k, n_lists = path.shape
    for first in range(0, k, MAX_SETS):
        part = slice(first, min(first + MAX_SETS, k))
        ground = sets.ground(part)
        start = path.indptr[part.start * n_lists : part.stop * n_lists + 1]
        lists = GeneLists(
            np.ascontiguousarray(start - start[0]),
            np.ascontiguousarray(path.indices[start[0] : start[-1]], dtype=np.int64),
        )
        levels = RidgeLevels(
            lam[part],
            np.argsort(-lam[part], axis=1, kind="stable"),
            SLACK * sets.deviance[part],
        )
        covariates = np.zeros((*scores[part].shape[:3], ground.columns.shape[1]))
        fits = CoxScores(scores[part], covariates, unsolved[part])
        solve_cox_ridge(ground, lists, levels, fits)
        if sets.fixed is None:
            continue
        for i in range(part.start, part.stop):
            _, back = sets.span(i)
            coef = covariates[i - first, ..., : back.shape[1]] @ back.T
            scores[i, ~unsolved[i]] += (coef @ sets.fixed.basis[i])[~unsolved[i]]


def _scores(sets: CoxSets, k: int, A: Array, lam: Array) -> Array:
    """Return the scores (L, n) of one list."""
    own = sets.sets
    b = refitted(sets, k, A, lam, certified=False).b
    scores = ((own.X[:, A] - own.mean[k, A]) * own.inverse_scale[k, A]) @ b[: len(A)]
    if sets.fixed is not None:
        scores += sets.fixed.basis[k].T @ b[len(A) :]
    return np.asarray(scores.T)
