"""Ridge refit (regularised least squares) of gene lists, for many lambda at once.

Lists are solved in one compiled call (`genesig.compiled.ridge`). Singular values solve the few at
a lambda so small that it would be lost in a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.compiled.ridge import GeneLists, RidgeFits, RidgeSets, solve_ridge
from genesig.optim.solution import Path
from genesig.optim.training import (
    CONSTANT_SD_SHARE,
    StandardisedFeatures,
    TrainingSets,
    rows_of_sets,
    standardise_features,
)

MIN_SINGULAR_VALUE = 1e-12
"""Share of the largest singular value below which another one is the rounding of the means."""


def refit_scores(
    sets: TrainingSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:
    """Return ``f(x) = y_mean + z_A'b`` with ``b = (Z_A'Z_A + n lam I)^+ Z_A'y`` for every lam.

    path: supports A of (k, m) fits. lam float or array that broadcasts to (k, L): absolute; 0 gives
    the minimum-norm least squares solution. rows (n, k) bool, optional: the rows to score, training
    or not, of each training set: all, unless given.

    (k, m, L, n) array: NaN for rows that are not to be scored. An empty support predicts y_mean.
    Covariates of the sets, which have no penalty, are in the scores of every row.

    Source: Mosci 2009, eq. 4.2, closed form with the factor n (section 4.5).
    """
    scores = ridge_scores(
        sets, sets.training_rows.y[:, None], path, lam, sets.y_mean[:, None], rows
    )
    if sets.adjustment is not None:  # (k, n) for each list, lam and response
        scores += sets.adjustment.scores(sets.y_on_basis)[:, None, None, :, None]
    return scores[..., 0]


def ridge_scores(
    sets: TrainingSets, Y: Array, path: Path, lam: Array | float, offset: Array, rows: Array | None
) -> Array:
    """Return the scores ``offset + z_A'B`` of refits to T responses Y, (k, m, L, n, T).

    Y (k, T, n): each response as `TrainingRows.y`. offset (k, T): score of a sample whose genes
    have their means. lam and rows as in `refit_scores`.
    """
    k, n_lists = path.shape
    n = len(sets.X)
    n_outcomes = Y.shape[1]
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    shape = (k, n_lists, lam.shape[1], n, n_outcomes)
    if rows is None:
        is_scored = np.ones((k, n), dtype=bool)
        scores = np.empty(shape)
    else:
        is_scored = np.ascontiguousarray(rows.T)
        scores = np.full(shape, np.nan)
    fits = RidgeFits(
        offset,
        is_scored,
        scores,
        coef=np.empty((0, n_outcomes)),  # none are wanted
        constant=np.empty((0, 0, n_outcomes)),
        unsolved=np.zeros(path.shape, dtype=bool),
    )
    solve_ridge(_ridge_sets(sets, Y), _gene_lists(path), lam, fits)
    for i, list_number, genes, B in _solve_unsolved(sets, Y, path, lam, fits.unsolved):
        samples = np.flatnonzero(is_scored[i])
        list_scores = (genes.Z[:, samples].T @ B).reshape(len(samples), lam.shape[1], -1)
        scores[i, list_number][:, samples] = offset[i] + list_scores.transpose(1, 0, 2)
    return scores


def refit_coef(sets: TrainingSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return values (nnz,) and intercept (k, m) of the refit, in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; for samples with
    the mean of each covariate, see `covariate_coef`. lam float or (k,): absolute.
    """
    values, constant = ridge_coef(sets, sets.training_rows.y[:, None], path, lam)
    return values[:, 0], sets.y_mean[:, None] + constant[:, :, 0]


def ridge_coef(sets: TrainingSets, Y: Array, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return coefficients (nnz, T) in units of X, and constants (k, m, T), for Y (k, T, n).

    ``constant + x @ coef`` is 0 for a sample whose genes have their means.
    """
    k, n_lists = path.shape
    n_outcomes = Y.shape[1]
    lam = np.array(np.broadcast_to(np.asarray(lam, dtype=float), (k,)))[:, None]
    coef = np.zeros((len(path.indices), n_outcomes))
    constant = np.zeros((k, n_lists, n_outcomes))
    unsolved = np.zeros(path.shape, dtype=bool)
    fits = RidgeFits(
        offset=np.zeros((k, n_outcomes)),
        is_scored=np.zeros((k, len(sets.X)), dtype=bool),  # no sample is
        scores=np.empty((k, n_lists, 1, 0, n_outcomes)),
        coef=coef,
        constant=constant,
        unsolved=unsolved,
    )
    solve_ridge(_ridge_sets(sets, Y), _gene_lists(path), lam, fits)
    for i, list_number, genes, B in _solve_unsolved(sets, Y, path, lam, unsolved):
        entries = row_entries(path.indptr, i * n_lists + list_number)
        coef[entries] = genes.inverse[:, None] * B
        constant[i, list_number] = -genes.mean @ coef[entries]
    return coef, constant


def covariate_coef(
    sets: TrainingSets, path: Path, values: Array, y_on_basis: Array | None = None
) -> Array:
    """Return gamma (k, m, q), with which covariates c add ``(c - mean) @ gamma[k, m]`` to a score.

    Least squares of what the features, with the `values` of `refit_coef`, leave of the response;
    mean (k, q) is that of the adjustment. Without covariates, q is 0. y_on_basis (k, q): the
    response's coefficients on `Adjustment.basis`. With values (nnz, T) of several responses it is
    (k, q, T), and gamma (k, m, q, T).
    """
    adjustment = sets.adjustment
    y_on_basis = sets.y_on_basis if y_on_basis is None else y_on_basis
    k, n_lists = path.shape
    gamma = np.zeros((k, n_lists, *y_on_basis.shape[1:]))
    if adjustment is None:
        return gamma
    for i in range(k):
        Q = adjustment.columns(i)
        for list_number in range(n_lists):
            entries = row_entries(path.indptr, i * n_lists + list_number)
            linear = sets.X[:, path.indices[entries]] @ values[entries]
            linear = (adjustment.root_weights[:, i] * linear.T).T  # Q is orthogonal to its mean
            gamma[i, list_number] = adjustment.to_basis[i] @ (y_on_basis[i] - Q.T @ linear)
    return gamma


def _ridge_sets(sets: TrainingSets, Y: Array) -> RidgeSets:
    """Return what the compiled refit needs of training sets with outcomes Y (k, T, n)."""
    rows = sets.training_rows
    return RidgeSets(
        F=sets.matrix.F,
        shift=sets.matrix.shift,
        root_weight=rows.root_weights,
        n_rows=rows.n_rows,
        y=np.ascontiguousarray(Y),
        basis=rows.basis,
        centre=bool(sets.centre),
        unit_variance=bool(sets.unit_variance),
        constant_sd=CONSTANT_SD_SHARE,
    )


def _gene_lists(path: Path) -> GeneLists:
    """Return the supports of a path for compiled code."""
    return GeneLists(
        np.ascontiguousarray(path.indptr, dtype=np.int64),
        np.ascontiguousarray(path.indices, dtype=np.int64),
    )


def _solve_unsolved(
    sets: TrainingSets, Y: Array, path: Path, lam: Array, unsolved: Array
) -> Iterator[tuple[int, int, StandardisedFeatures, Array]]:
    """Yield numbers of training set and list, its standardised genes and coefficients (m, L T).

    A lambda has the coefficients of its T responses side by side. unsolved (k, n_lists) bool: the
    lists. Y (k, T, n): as in `ridge_scores`.
    """
    for i, list_number in np.argwhere(unsolved).tolist():
        rows = rows_of_sets(sets.training_rows, i)
        gene_columns, _ = path.coef(i, list_number)
        genes = standardise_features(sets.matrix, rows, gene_columns)
        train = np.flatnonzero(rows.root_weights)
        Z = genes.training[:, train]  # times √v, as Y; `genes.Z` is not
        y = Y[i][:, train].T
        yield i, list_number, genes, minimum_norm_coef(Z, y, rows.n_rows * lam[i])


def minimum_norm_coef(Z: Array, y: Array, rho: Array) -> Array:
    """Return ``(Z Z' + rho I)^+ Z y`` of Z (m, n), y (n, T) and rho (L,), which may be 0.

    (m, L T): a rho has the T columns of y side by side. `MIN_SINGULAR_VALUE` decides which singular
    values count as 0.
    """
    U, singular_values, V = np.linalg.svd(Z, full_matrices=False)
    is_selected = singular_values > MIN_SINGULAR_VALUE * singular_values.max(initial=0.0)
    U = U[:, is_selected]
    singular_values = singular_values[is_selected]
    coef_on_axes = (
        singular_values[:, None, None]
        * (V[is_selected] @ y)[:, None]
        / (singular_values[:, None] ** 2 + rho)[..., None]
    )
    return np.asarray(U @ coef_on_axes.reshape(len(singular_values), -1))
