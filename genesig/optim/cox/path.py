"""The Cox elastic net along a path of (tau, mu), and ridge Cox regression on selected lists.

Lists along a path differ by few genes. So each ridge refit starts at the coefficients that the list
before has at the same lambda, and Newton's method needs few steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import add_scaled
from genesig.compiled.ridge import GeneLists
from genesig.optim.cox.likelihood import minimise_ridge, refit_ridge_path, terms_of_set
from genesig.optim.cox.risk_sets import DEFAULT_TIES, RiskSets
from genesig.optim.cox.training import CoxSets, orthogonal_columns
from genesig.optim.likelihood_newton import copy_into
from genesig.optim.likelihood_path import (
    LossData,
    likelihood_path,
    smallest_empty_tau,
    without_features,
)
from genesig.optim.solution import Path


class RidgeLevels(NamedTuple):
    """Ridge weights of k training sets."""

    lam: Array  # (k, L)
    falling: Array  # (k, L) numbers of the ridge weights from the largest to the smallest
    slack: Array  # (k,) promised decrease of a Newton step at which a fit ends


class CoxScores(NamedTuple):
    """Arrays that the refits fill."""

    scores: Array  # (k, m, L, N) linear predictors of the genes, of all samples
    covariates: Array  # (k, m, L, c) coefficients of the columns beside the genes
    unsolved: Array  # (k, m) bool, lists that are left out here


@jit_inline
def fill_genes(data: LossData, i: int, genes: Array, Z: Array) -> None:
    """Fill Z (U, N) with genes standardised as in training set i, its own samples first."""
    for position in range(len(genes)):
        gene = genes[position]
        for row in range(Z.shape[1]):
            value = data.F[gene, data.rows[i, row]]
            Z[position, row] = data.inverse[i, gene] * (value - data.mean[i, gene])


@jit_inline
def equal_list(lists: GeneLists, first_list: int, number: int) -> int:
    """Return the first list from `first_list` on with the genes of list `number`, in its order.

    It is `number` itself if no earlier list has them. Lists are numbered as in `GeneLists.start`.
    """
    begin = lists.start[number]
    length = lists.start[number + 1] - begin
    for earlier in range(first_list, number):
        if lists.start[earlier + 1] - lists.start[earlier] == length:
            same = 0
            while same < length and (
                lists.genes[lists.start[earlier] + same] == lists.genes[begin + same]
            ):
                same += 1
            if same == length:
                return earlier
    return number


@compiled
def solve_cox_ridge(data: LossData, lists: GeneLists, levels: RidgeLevels, fits: CoxScores) -> None:
    """Fill `fits` with the ridge refit of every list at each lambda, but for `unsolved` lists.

    Equal lists of a training set are fitted once, so that their scores do not differ by rounding:
    the choice among them is then a tie.
    """
    n_lists = fits.covariates.shape[1]
    n_columns = data.columns.shape[1]
    n_levels = levels.lam.shape[1]
    position_of = np.full(len(data.F), -1, np.int64)
    for i in range(len(levels.lam)):
        n = data.n_samples[i]
        terms = terms_of_set(data.response, i, n)
        first_entry = lists.start[i * n_lists]
        end_entry = lists.start[(i + 1) * n_lists]
        genes = np.empty(end_entry - first_entry, np.int64)
        n_genes = 0
        for entry in range(first_entry, end_entry):
            if position_of[lists.genes[entry]] < 0:
                position_of[lists.genes[entry]] = n_genes
                genes[n_genes] = lists.genes[entry]
                n_genes += 1
        Z = np.empty((n_genes, data.F.shape[1]))
        fill_genes(data, i, genes[:n_genes], Z)
        # Start values: at each lambda the coefficients of all genes, then of the columns, in the
        # last list that was fitted. The first list starts at its fit for the next larger lambda.
        coef = np.zeros((n_levels, n_genes + n_columns))
        is_fitted = np.zeros(n_levels, np.bool_)
        eta = np.empty(n)
        linear_predictor = np.empty(data.F.shape[1])
        scores = fits.scores[i]
        covariates = fits.covariates[i]
        for list_number in range(n_lists):
            if fits.unsolved[i, list_number]:
                continue
            equal_number = equal_list(lists, i * n_lists, i * n_lists + list_number) - i * n_lists
            if equal_number < list_number:
                for level in range(n_levels):
                    copy_into(scores[equal_number, level], scores[list_number, level])
                    copy_into(covariates[equal_number, level], covariates[list_number, level])
                continue
            begin = lists.start[i * n_lists + list_number]
            length = lists.start[i * n_lists + list_number + 1] - begin
            positions = np.empty(length + n_columns, np.int64)
            ridge = np.empty(length + n_columns)
            D = np.empty((len(positions), n))
            x = np.empty(len(positions))
            for entry in range(length):
                positions[entry] = position_of[lists.genes[begin + entry]]
                for row in range(n):
                    D[entry, row] = Z[positions[entry], row]
            for column in range(n_columns):
                positions[length + column] = n_genes + column
                ridge[length + column] = data.column_ridge[i, column]
                for row in range(n):
                    D[length + column, row] = data.columns[i, column, row]
            for rank in range(n_levels):
                level = levels.falling[i, rank]
                start = level if is_fitted[level] else levels.falling[i, max(rank - 1, 0)]
                for entry in range(len(positions)):
                    x[entry] = coef[start, positions[entry]]
                ridge[:length] = 2.0 * levels.lam[i, level]
                minimise_ridge(terms, D, ridge, x, eta, levels.slack[i])
                is_fitted[level] = True
                coef[level] = 0.0
                for entry in range(len(positions)):
                    coef[level, positions[entry]] = x[entry]
                linear_predictor[:] = 0.0
                for entry in range(length):
                    add_scaled(x[entry], Z[positions[entry]], linear_predictor)
                for row in range(len(linear_predictor)):
                    scores[list_number, level, data.rows[i, row]] = linear_predictor[row]
                copy_into(x[length:], covariates[list_number, level])
        for position in range(n_genes):
            position_of[genes[position]] = -1


def cox_path(
    sets: CoxSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
    groups: Array | None = None,
) -> Path:
    """Minimise ``-(2/n) l(Zb) + mu ||b||² + tau Σ_j w_j |b_j|`` for every training set.

    l is the logarithm of the partial likelihood (see `risk_sets`), w are the weights of the sets.

    tau, mu, tolerance, longest, groups: see `likelihood_path`; gaps are relative to ``2
    (l_saturated - l(0)) / n``.

    Raises GenesigError: for tau or mu that are negative, or tau = mu = 0.
    """
    return likelihood_path(sets, tau, mu, tolerance=tolerance, longest=longest, groups=groups)[0]


def tau_max(sets: CoxSets) -> Array:
    """Return the smallest tau of each training set that selects nothing, (k,)."""
    if sets.covariate_adjustment is None:
        return sets.training_sets.tau_max
    # Covariates, which have no penalty, are in the fit without features.
    starts = [without_features(sets, slice(k, k + 1)) for k in range(len(sets.risk))]
    return np.array([smallest_empty_tau(state, data.weights)[0] for data, state in starts])


def strength(sets: CoxSets, chunk: slice) -> Array:
    """Return ``|z_j'∇l|`` of each feature in the fit without features, (len(chunk), d)."""
    if sets.covariate_adjustment is None:
        return sets.training_sets.strength(chunk)
    return np.abs(without_features(sets, chunk)[1].g)


REFIT_SLACK = 1e-13
"""Decrease, over the null deviance, at which a refit ends: a Newton step squares the error."""


MAX_REFIT_SETS = 64  # number of training sets that are refitted in one call


class RidgeFit(NamedTuple):
    """A ridge fit for L values of lam."""

    b: Array  # (m, L) coefficients of standardised features, below them of columns without penalty
    gap: Array  # (L,) relative duality gap


def ridge(risk: RiskSets, Z: Array, C: Array, lam: Array, column_ridge: float = 0.0) -> RidgeFit:
    """Return the minimisers of ``h(Zb + Ca) + lam ||b||²`` for every lam, b above a.

    There must be no more unknowns than samples. lam = 0 gives the b of least norm; if a
    combination of features orders all events it has no minimum, and an infinite gap.

    Z, C (n, k), (n, c): features, and those without a penalty; rows in the order of the risk sets.
    lam (L,). column_ridge: ridge of C, if that has no finite fit (see `training.separation_ridge`).
    """
    return _fit_levels(risk, Z, orthogonal_columns(C), lam, column_ridge)


def _fit_levels(
    risk: RiskSets, Z: Array, spanned: tuple[Array, Array], lam: Array, column_ridge: float
) -> RidgeFit:
    """Return the fits of `ridge`; `spanned` is `orthogonal_columns` of C."""
    D, to_features = _reduce_features(Z, lam)
    free, free_to_columns = spanned
    order = np.argsort(-lam, kind="stable")
    k = D.shape[1]
    # In one layout, whatever that of Z, so that the kernel is compiled once.
    rows = np.ascontiguousarray(np.vstack([D.T, free.T]))
    share = np.zeros(len(rows))
    share[:k] = 1
    x = np.empty((len(lam), len(rows)))
    gap = np.empty(len(lam))
    scale = risk.null_deviance
    refit_ridge_path(
        risk.terms, rows, column_ridge * (1 - share), share, lam[order], REFIT_SLACK * scale, x, gap
    )
    rank_of_lam = np.argsort(order)  # from the order of the fits back to the order of lam
    x = x[rank_of_lam]
    b = x[:, :k] if to_features is None else x[:, :k] @ to_features
    return RidgeFit(np.concatenate([b.T, free_to_columns @ x[:, k:].T]), gap[rank_of_lam] / scale)


def _reduce_features(Z: Array, lam: Array) -> tuple[Array, Array | None]:
    """Return Z (n, k) in coordinates (n, r) of its row space, and the matrix (r, k) back.

    With r >= k and positive lam, Z itself and None: the coordinates would save nothing.
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
        b = sets.training_sets.inverse_scale[k, support] * fit.b[: len(support), 0]
        values[row_entries(path.indptr, k * path.shape[1] + m)] = b
        intercept[k, m] = -(sets.training_sets.mean[k, support] @ b)
        gap[k, m] = fit.gap[0]
    return values, intercept, gap


def covariate_coef(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return gamma (k, m, q), with which covariates c add ``(c - mean) @ gamma[k, m]`` to η.

    mean (k, q) is that of the adjustment; `ridge_coef` has the features' part of the same fits.
    The fits have columns ``(c - mean) @ to_basis`` instead of covariates.
    """
    adjustment = sets.covariate_adjustment
    shape = path.shape
    if adjustment is None:
        return np.zeros((*shape, 0))
    gamma = np.zeros((*shape, adjustment.mean.shape[1]))
    lam = np.broadcast_to(np.asarray(lam, dtype=float), len(sets.risk))[:, None]
    for k, m, support, fit in _fits_of_supports(sets, path, lam):
        gamma[k, m] = adjustment.to_basis[k] @ fit.b[len(support) :, 0]
    return gamma


def _fits_of_supports(
    sets: CoxSets, path: Path, lam: Array
) -> Iterator[tuple[int, int, Array, RidgeFit]]:
    """Yield training set, step, support, and the fit of `refit_support`.

    Each support is fitted once, because `ridge_coef` and `covariate_coef` need the same fits.
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


def refit_support(sets: CoxSets, k: int, support: Array, lam: Array) -> RidgeFit:
    """Return fits to training set k for each lam (L,): of a support, then of the covariates."""
    Z = sets.columns(k, support)
    columns = sets.covariate_columns(k)
    return _fit_levels(sets.risk[k], Z, columns, lam, sets.separation_ridge(k))


def ridge_scores(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return the scores ``z_A'b`` (k, m, L, n) of all rows, with their covariates.

    path: supports A of (k, m) fits. An empty one scores 0. lam float or array that broadcasts to
    (k, L): absolute.
    """
    k, n_lists = path.shape
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores = np.zeros((k, n_lists, lam.shape[1], len(sets.training_sets.X)))
    # A list of more genes than samples is solved in the space of the samples.
    n_rows = np.array([len(rows) for rows in sets.rows])
    unsolved = path.sizes() > n_rows[:, None]
    if lam.min(initial=np.inf) <= 0:
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
        if sets.covariate_adjustment is None:
            continue
        for i in range(chunk.start, chunk.stop):
            _, to_basis = sets.covariate_columns(i)
            coef = covariates[i - first_set, ..., : to_basis.shape[1]] @ to_basis.T
            scores[i, ~unsolved[i]] += (coef @ sets.covariate_adjustment.basis[i])[~unsolved[i]]


def _scores_of_list(sets: CoxSets, k: int, support: Array, lam: Array) -> Array:
    """Return the scores (L, n) of one list."""
    training_sets = sets.training_sets
    b = refit_support(sets, k, support, lam).b
    scores = (
        (training_sets.X[:, support] - training_sets.mean[k, support])
        * training_sets.inverse_scale[k, support]
    ) @ b[: len(support)]
    if sets.covariate_adjustment is not None:
        scores += sets.covariate_adjustment.basis[k].T @ b[len(support) :]
    return np.asarray(scores.T)


MAX_GAP = 1e-7  # relative duality gap of a converged fit; it is larger if no slope is finite

MIN_RANGE = 1e-12  # range of the scores over the largest of them, up to which all count as equal


class ScoreSlope(NamedTuple):
    """Slope b of the hazard exp(b f) of scores f; NaN if there is no finite slope."""

    value: float
    variance: float  # inverse of the information at b


NO_SLOPE = ScoreSlope(np.nan, np.nan)


def fit_slope(
    time: Array, event: Array, scores: Array, ties: str = DEFAULT_TIES, weights: Array | None = None
) -> ScoreSlope:
    """Return the slope of largest partial likelihood, and its variance.

    `NO_SLOPE` without an event, for equal scores, and for scores that order all events.

    time, event, scores (n,). ties: A name in `risk_sets.TIES`. weights (n,), optional: of the
    samples, positive.
    """
    scores = np.asarray(scores, dtype=float)
    is_constant = np.ptp(scores) <= MIN_RANGE * np.abs(scores).max()
    if not np.any(event) or np.isnan(scores).any() or is_constant:
        return NO_SLOPE
    risk = RiskSets.from_times(time, event, ties, weights)
    scale = float(scores.std())
    standardised = ((scores - scores.mean()) / scale)[risk.order][:, None]
    no_columns = standardised[:, :0]
    fit = ridge(risk, standardised, no_columns, lam=np.zeros(1))
    if not fit.gap[0] <= MAX_GAP:
        return NO_SLOPE
    slope = float(fit.b[0, 0])
    shares = risk.shares(standardised[:, 0] * slope)
    # The Hessian is of -(2/n) l.
    information = len(scores) / 2 * float(risk.hessian(shares, standardised)[0, 0])
    return ScoreSlope(slope / scale, 1 / (information * scale**2))


def slope_influence(
    time: Array, event: Array, scores: Array, slope: float, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the score residual of each sample at a slope, and its part of the information, (n,).

    Both are multiplied by the sample's weight (n,), 1 by default. Ties are Breslow's.

    Source: Lin and Wei 1989, J Am Stat Assoc 84:1074; Binder 1992, Biometrika 79:139, for weights.
    """
    time = np.asarray(time, dtype=float)
    event_weight = np.asarray(event, dtype=float) * (1.0 if weights is None else weights)
    relative_risk = np.exp(slope * (scores - scores.mean()))
    if weights is not None:
        relative_risk = weights * relative_risk
    residual = np.zeros(len(scores))
    information = np.zeros(len(scores))
    for event_time in np.unique(time[event_weight > 0]):
        events_now = event_weight * (time == event_time)
        at_risk = relative_risk * (time >= event_time)
        mean = (at_risk @ scores) / at_risk.sum()
        hazard = at_risk * events_now.sum() / at_risk.sum()
        residual += (scores - mean) * (events_now - hazard)
        information += hazard * np.square(scores - mean)
    return residual, information
