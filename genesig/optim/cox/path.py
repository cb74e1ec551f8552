"""The Cox elastic net along a path of (tau, mu), and ridge Cox regression on selected lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.ridge import GeneLists
from genesig.optim.cox.likelihood import refit_ridge_path
from genesig.optim.cox.ridge import CoxScores, RidgeLevels, solve_cox_ridge
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import CoxSets, orthogonal_columns
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

    tau, mu, tolerance, longest, groups: see `likelihood_path`; gaps are relative to ``2
    (l_saturated - l(0)) / n``.

    Path: where the unpenalised features order all events there is no finite minimum: their
    coefficients run off, until the gap is within the tolerance or the fit ends unconverged.

    Raises GenesigError: for tau or mu that are negative, or tau = mu = 0.
    """
    path, column_coefs = likelihood_path(
        sets, tau, mu, tolerance=tolerance, longest=longest, groups=groups
    )
    return (
        path
        if not len(sets.unpenalised)
        else _with_unpenalised(sets, path, column_coefs, tolerance).end_rows(longest)
    )


def _with_unpenalised(sets: CoxSets, path: Path, column_coefs: Array, tolerance: float) -> Path:
    """Return the path with the coefficients of the unpenalised features added."""
    coefs = []
    for k, m in np.ndindex(path.shape):
        _, to_columns = sets.unpenalised_columns(k)
        free_coefs = to_columns[: len(sets.unpenalised)] @ column_coefs[k, m, : to_columns.shape[1]]
        indices, values = path.coef(k, m)
        indices = np.concatenate([indices, sets.unpenalised])
        values = np.concatenate([values, np.nan_to_num(free_coefs)])  # NaN where the row had ended
        order = np.argsort(indices)
        order = order[values[order] != 0]
        coefs.append((indices[order], values[order]))
    return Path.from_coefs(path.shape, coefs, path.gap, path.iterations, tolerance)


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set that selects no penalised feature, (k,)."""
    if not len(sets.unpenalised) and sets.fixed is None:
        return sets.sets.tau_max
    starts = [without_features(sets, slice(k, k + 1)) for k in range(len(sets.risk))]
    return np.array([largest_ratio(state, data.weights)[0] for data, state in starts])


def strength(sets: CoxSets, part: slice) -> Array:
    """Return ``|z_j'∇l|`` of each feature at the start of some training sets, (sets, d)."""
    if not len(sets.unpenalised) and sets.fixed is None:
        return sets.sets.strength(part)
    return np.abs(without_features(sets, part)[1].g)


REFIT_SLACK = 1e-13
"""Decrease, relative to the null deviance, at which a refit ends.

A Newton step squares the error.
"""


MAX_REFIT_SETS = 64
"""Number of training sets that are refitted in one call."""


class RidgeFit(NamedTuple):
    """A ridge fit for L values of lam."""

    b: Array
    """(m, L) coefficients on standardised features."""
    gap: Array
    """(L,) relative duality gap; empty if it was not computed."""


def ridge(risk: RiskSets, Z: Array, C: Array, lam: Array, column_ridge: float = 0.0) -> RidgeFit:
    """Return the minimisers of ``h(Zb + Ca) + lam ||b||²`` for every lam, b above a.

    There must be no more unknowns than samples. lam = 0 gives the b of least norm; if a
    combination of features orders all events it has no minimum, and an infinite gap.

    Z, C (n, k), (n, c): features, and those without a penalty; rows in the order of the risk sets.
    lam (L,). column_ridge: ridge of C, if that has no finite fit (see `training.separation_ridge`).
    """
    return _fit_levels(risk, Z, orthogonal_columns(C), lam, column_ridge)


def _fit_levels(
    risk: RiskSets,
    Z: Array,
    spanned: tuple[Array, Array],
    lam: Array,
    column_ridge: float,
    certified: bool = True,
) -> RidgeFit:
    """Return the fits of `ridge`, with C as `orthogonal_columns` returns it."""
    D, to_features = _reduce_features(Z, lam)
    free, free_to_columns = spanned
    order = np.argsort(-lam, kind="stable")
    k = D.shape[1]
    # In one layout, whatever that of Z, so that the kernel is compiled once.
    rows = np.ascontiguousarray(np.vstack([D.T, free.T]))
    share = np.zeros(len(rows))
    share[:k] = 1
    x = np.empty((len(lam), len(rows)))
    gap = np.empty(len(lam) if certified else 0)
    scale = risk.null_deviance
    refit_ridge_path(
        risk.terms, rows, column_ridge * (1 - share), share, lam[order], REFIT_SLACK * scale, x, gap
    )
    in_place = np.argsort(order)
    x = x[in_place]
    b = x[:, :k] if to_features is None else x[:, :k] @ to_features
    relative_gap = gap[in_place] / scale if certified else gap
    return RidgeFit(np.concatenate([b.T, free_to_columns @ x[:, k:].T]), relative_gap)


def _reduce_features(Z: Array, lam: Array) -> tuple[Array, Array | None]:
    """Return Z in its row space, and the matrix back to features.

    Z and None if that is no smaller.
    """
    if Z.shape[1] <= len(Z) and lam.min(initial=np.inf) > 0:
        return Z, None
    if lam.min(initial=np.inf) > 0:
        Q, R = np.linalg.qr(Z.T)
        return np.ascontiguousarray(R.T), Q.T
    U, sizes, to_features = np.linalg.svd(Z, full_matrices=False)
    is_kept = sizes > 1e-12 * sizes.max(initial=0.0)
    return U[:, is_kept] * sizes[is_kept], to_features[is_kept]


def ridge_coef(sets: CoxSets, path: Path, lam: Array | float) -> tuple[Array, Array, Array]:
    """Return values (nnz,), intercept (k, m) and relative gap (k, m), in the units of X.

    ``η(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; the mean of the
    training rows has η = 0 where features are centred. lam is a float or (k,), absolute.
    """
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    values = np.empty(len(path.values))
    intercept = np.zeros(path.shape)
    gap = np.zeros(path.shape)
    for k, m, support, fit in _fits_of_supports(sets, path, lam):
        b = sets.sets.inverse_scale[k, support] * fit.b[: len(support), 0]
        values[slice(*path.indptr[k * path.shape[1] + m :][:2])] = b
        intercept[k, m] = -(sets.sets.mean[k, support] @ b)
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
    for k, m, support, fit in _fits_of_supports(sets, path, lam):
        gamma[k, m] = fixed.to_basis[k] @ fit.b[len(support) :, 0]
    return gamma


def _fits_of_supports(
    sets: CoxSets, path: Path, lam: Array
) -> Iterator[tuple[int, int, Array, RidgeFit]]:
    """Yield training set, step, support, and its fit: coefficients of it, then of covariates.

    Each support is fitted once.
    """
    for k, m in np.ndindex(path.shape):
        support = path.coef(k, m)[0]
        yield (
            k,
            m,
            support,
            sets.cached(
                (k, support.tobytes(), lam[k].tobytes()), refit_support, sets, k, support, lam[k]
            ),
        )


def refit_support(
    sets: CoxSets, k: int, support: Array, lam: Array, certified: bool = True
) -> RidgeFit:
    """Return the fits on the support of training set k for every lam (L,).

    Coefficients are those of the support, then of the covariates; no gap unless `certified`.
    """
    penalised = sets.sets.weights[support] > 0
    spanned = sets.covariate_columns(k)
    if not penalised.all():
        spanned = orthogonal_columns(
            np.hstack([sets.columns(k, support[~penalised]), sets.covariates(k)])
        )
    Z = sets.columns(k, support[penalised])
    fit = _fit_levels(sets.risk[k], Z, spanned, lam, sets.separation_ridge(k), certified)
    order = np.argsort(np.concatenate([np.flatnonzero(penalised), np.flatnonzero(~penalised)]))
    return RidgeFit(np.concatenate([fit.b[order], fit.b[len(support) :]]), fit.gap)


def ridge_scores(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return the scores ``z_A'b`` (k, m, L, n) of all rows.

    Features of weight 0 are not penalised here either; covariates are in the scores of every row.

    path: supports A of (k, m) fits. An empty one scores 0. lam float or array that broadcasts to
    (k, L): absolute.
    """
    k, n_lists = path.shape
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores = np.zeros((k, n_lists, lam.shape[1], len(sets.sets.X)))
    # A list of more genes than samples is solved in the space of the samples.
    n_rows = np.array([len(rows) for rows in sets.rows])
    unsolved = path.sizes() > n_rows[:, None]
    if len(sets.unpenalised) or lam.min(initial=np.inf) <= 0:
        unsolved[:] = True
    else:
        _fill_scores(sets, path, lam, scores, unsolved)
    for i, f in np.argwhere(unsolved).tolist():
        scores[i, f] = _scores_of_list(sets, i, path.coef(i, f)[0], lam[i])
    return scores


def _fill_scores(sets: CoxSets, path: Path, lam: Array, scores: Array, unsolved: Array) -> None:
    """Fill the scores of all lists except the `unsolved` ones."""
    k, n_lists = path.shape
    for first_set in range(0, k, MAX_REFIT_SETS):
        chunk = slice(first_set, min(first_set + MAX_REFIT_SETS, k))
        data = sets.loss_data(chunk)
        start = path.indptr[chunk.start * n_lists : chunk.stop * n_lists + 1]
        lists = GeneLists(
            np.ascontiguousarray(start - start[0]),
            np.ascontiguousarray(path.indices[start[0] : start[-1]], dtype=np.int64),
        )
        levels = RidgeLevels(
            lam[chunk],
            np.argsort(-lam[chunk], axis=1, kind="stable"),
            REFIT_SLACK * sets.deviance[chunk],
        )
        covariates = np.zeros((*scores[chunk].shape[:3], data.columns.shape[1]))
        fits = CoxScores(scores[chunk], covariates, unsolved[chunk])
        solve_cox_ridge(data, lists, levels, fits)
        if sets.fixed is None:
            continue
        for i in range(chunk.start, chunk.stop):
            _, to_basis = sets.covariate_columns(i)
            coef = covariates[i - first_set, ..., : to_basis.shape[1]] @ to_basis.T
            scores[i, ~unsolved[i]] += (coef @ sets.fixed.basis[i])[~unsolved[i]]


def _scores_of_list(sets: CoxSets, k: int, support: Array, lam: Array) -> Array:
    """Return the scores (L, n) of one list."""
    training_sets = sets.sets
    b = refit_support(sets, k, support, lam, certified=False).b
    scores = (
        (training_sets.X[:, support] - training_sets.mean[k, support])
        * training_sets.inverse_scale[k, support]
    ) @ b[: len(support)]
    if sets.fixed is not None:
        scores += sets.fixed.basis[k].T @ b[len(support) :]
    return np.asarray(scores.T)
