"""Ridge refits of gene lists: all lists and ridge weights of many training sets in one call.

With Z the standardised genes of a list on the n training samples and rho = n lambda, the
coefficients are ``(Z Z' + rho I)^-1 Z y``, or for a list of more genes than samples
``Z (Z'Z + rho I)^-1 y``. The smaller matrix is made tridiagonal by reflections, ``K = Q T Q'``, for
all lambda: the system of a lambda is then ``(T + rho I) x = Q'b``.

Source: Eldén 1977, BIT 17, 134-145.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import (
    add_scaled,
    add_scaled_rows,
    indices_by_sign,
    multiply_rows,
    reflect_rows,
    solve_tridiagonal,
    tridiagonalise,
)

MIN_SHARE = 1e-9  # share of the trace of a Gram matrix up to which n lambda would be lost in it

MAX_SHARED = 4  # distinct genes over samples of a training set, up to which lists share products


class RidgeSets(NamedTuple):
    """k training sets of one matrix, each with T outcomes."""

    F: Array  # (d, n) genes less `shift`
    shift: Array  # (d,)
    # (k, n) square root of the weight of a training sample, 0 for the other samples
    root_weight: Array
    n_rows: Array  # (k,) sum of the weights
    y: Array  # (k, T, n) centred outcomes times `root_weight`
    # (k, R, n) covariates, orthonormal on the training rows, see `training.TrainingRows`
    basis: Array
    centre: bool
    unit_variance: bool
    constant_sd: float  # share of the mean up to which a standard deviation is rounding


class GeneLists(NamedTuple):
    """m lists of each training set i: list f is genes[start[i m + f] : start[i m + f + 1]]."""

    start: Array
    genes: Array


class RidgeFits(NamedTuple):
    """Arrays of the refits, which read `offset` and `is_scored` and fill the others."""

    offset: Array  # (k, T) score of a sample whose genes have their means
    is_scored: Array  # (k, n) bool, the samples to score
    scores: Array  # (k, m, L, n, T)
    coef: Array  # (nnz, T) per unit of X, for the last lambda; none are written if nnz is 0
    constant: Array  # (k, m, T) 0 at first; less the coefficients times the means of the genes
    unsolved: Array  # (k, m) bool, lists that need singular values


class ListProducts(NamedTuple):
    """Standardised genes of the lists of one training set, U of them."""

    Z: Array  # (U, n_train) times the root weight
    squared_length: Array  # (U,) of the rows of Z
    scored: Array  # (U, n_scored) on the samples to score
    gram: Array  # (U, U) Z Z', or empty if it would be large
    right: Array  # (U, T) Z y
    mean: Array  # (U,) in units of X
    inverse: Array  # (U,) inverse scale


@jit_inline
def standardise_gene(sets: RidgeSets, i: int, gene: int, z: Array) -> tuple[float, float]:
    """Fill z (n,) with a gene standardised on training set i, free of the covariates.

    Return what was subtracted, in units of X, and the inverse scale, 0 for a constant gene.
    """
    mean = 0.0
    variance = 0.0
    scale = 0.0
    values = sets.F[gene]
    root = sets.root_weight[i]
    for row in range(len(z)):
        mean += root[row] * root[row] * values[row]
    mean /= sets.n_rows[i]
    for row in range(len(z)):
        deviation = root[row] * (values[row] - mean)
        variance += deviation * deviation
    sd = np.sqrt(variance / sets.n_rows[i])
    # Rounding of the values in F and of those in X, from which F was made.
    size = abs(mean) + abs(mean + sets.shift[gene])
    constant = sd <= sets.constant_sd * size and (sets.centre or sets.unit_variance)
    if not sets.unit_variance:
        scale = 0.0 if constant else 1.0
    elif sd > 0.0 and not constant:
        scale = 1.0 / sd
    if not sets.centre:
        mean = 0.0
    for row in range(len(z)):
        z[row] = scale * (values[row] - mean)
    for covariate in range(sets.basis.shape[1]):
        direction = sets.basis[i, covariate]
        projection = 0.0
        for row in range(len(z)):
            projection += root[row] * root[row] * direction[row] * z[row]
        add_scaled(-projection, direction, z)
    return mean + sets.shift[gene], scale


@jit_inline
def list_products(
    sets: RidgeSets, i: int, genes: Array, train: Array, scored_rows: Array, y: Array
) -> ListProducts:
    """Return the standardised genes of all lists of training set i, with their products.

    genes (U,), without repeats; train and scored_rows: numbers of samples; y (T, n_train).
    """
    n_genes = len(genes)
    n_train = len(train)
    n_outcomes = len(y)
    root = sets.root_weight[i][train]
    order = n_genes if n_genes <= MAX_SHARED * n_train else 0
    shared = ListProducts(
        np.empty((n_genes, n_train)),
        np.zeros(n_genes),
        np.empty((n_genes, len(scored_rows))),
        np.empty((order, order)),
        np.zeros((n_genes, n_outcomes)),
        np.empty(n_genes),
        np.empty(n_genes),
    )
    z = np.empty(sets.F.shape[1])
    for place in range(n_genes):
        mean, scale = standardise_gene(sets, i, genes[place], z)
        shared.mean[place] = mean
        shared.inverse[place] = scale
        square = 0.0
        for row in range(n_train):
            value = root[row] * z[train[row]]
            shared.Z[place, row] = value
            square += value * value
        shared.squared_length[place] = square
        for t in range(n_outcomes):
            product = 0.0
            for row in range(n_train):
                product += shared.Z[place, row] * y[t, row]
            shared.right[place, t] = product
        for row in range(len(scored_rows)):
            shared.scored[place, row] = z[scored_rows[row]]
        if order:
            multiply_rows(shared.Z, shared.Z[place], place + 1, shared.gram[place])
    return shared


@jit_inline
def list_matrix(shared: ListProducts, places: Array) -> Array:
    """Return the lower triangle of Z Z' of a list or, with more genes than samples, of Z'Z.

    places (m,): positions of the list's genes in `shared`.
    """
    n_train = shared.Z.shape[1]
    by_genes = len(places) <= n_train
    order = min(len(places), n_train)
    K = np.empty((order, order))
    if by_genes and len(shared.gram):
        for a in range(order):
            for b in range(a + 1):
                # Only products with genes that came earlier are there.
                first = min(places[a], places[b])
                K[a, b] = shared.gram[max(places[a], places[b]), first]
        return K
    genes = shared.Z[places]
    factor = genes if by_genes else np.ascontiguousarray(genes.T)
    for row in range(order):
        multiply_rows(factor, factor[row], row + 1, K[row])
    return K


@jit_inline
def list_coefficients(shared: ListProducts, places: Array, y: Array, rho: Array) -> Array:
    """Return the coefficients (L, T, m) of a list of m genes for rho (L,); y is (T, n_train)."""
    K = list_matrix(shared, places)
    order = len(K)
    n_outcomes = len(y)
    right = np.empty((n_outcomes, order))
    for t in range(n_outcomes):
        for e in range(order):
            right[t, e] = shared.right[places[e], t] if order == len(places) else y[t, e]
    diagonal = np.empty(order)
    off_diagonal = np.empty(order)
    beta = np.empty(order)
    tridiagonalise(K, diagonal, off_diagonal, beta)
    reflect_rows(right, K, beta, transposed=True)
    X = np.empty((len(rho) * n_outcomes, order))
    for level in range(len(rho)):
        for t in range(n_outcomes):
            x = X[level * n_outcomes + t]
            solve_tridiagonal(diagonal, off_diagonal, rho[level], right[t], x)
    reflect_rows(X, K, beta, transposed=False)
    if order == len(places):
        return X.reshape(len(rho), n_outcomes, order)
    B = np.empty((len(rho) * n_outcomes, len(places)))
    genes = shared.Z[places]
    for row in range(len(X)):
        multiply_rows(genes, X[row], len(places), B[row])
    return B.reshape(len(rho), n_outcomes, len(places))


@compiled
def solve_ridge(sets: RidgeSets, lists: GeneLists, lam: Array, fits: RidgeFits) -> None:
    """Fill `fits` with the ridge refit of every list at each lam (k, L).

    Lists of a training set share products. A list is left unsolved if n lambda would be lost in its
    matrix.
    """
    place_of = np.full(len(sets.F), -1, np.int64)
    n_lists = fits.unsolved.shape[1]
    n_outcomes = sets.y.shape[1]
    for i in range(len(lam)):
        train = indices_by_sign(sets.root_weight[i], positive=True)
        scored_rows = indices_by_sign(fits.is_scored[i], positive=True)
        first_entry = lists.start[i * n_lists]
        end_entry = lists.start[(i + 1) * n_lists]
        genes = np.empty(end_entry - first_entry, np.int64)
        n_genes = 0
        for entry in range(first_entry, end_entry):
            if place_of[lists.genes[entry]] < 0:
                place_of[lists.genes[entry]] = n_genes
                genes[n_genes] = lists.genes[entry]
                n_genes += 1
        y = sets.y[i][:, train]
        shared = list_products(sets, i, genes[:n_genes], train, scored_rows, y)
        coef_at_place = np.empty(n_genes)
        for list_number in range(n_lists):
            begin = lists.start[i * n_lists + list_number]
            end = lists.start[i * n_lists + list_number + 1]
            places = np.empty(end - begin, np.int64)
            trace = 0.0
            for entry in range(len(places)):
                places[entry] = place_of[lists.genes[begin + entry]]
                trace += shared.squared_length[places[entry]]
            rho = sets.n_rows[i] * lam[i]
            if len(places) > 0 and rho.min() <= MIN_SHARE * trace:
                fits.unsolved[i, list_number] = True
                continue
            B = list_coefficients(shared, places, y, rho)
            score = np.empty(len(scored_rows))
            for level in range(len(rho)):
                for t in range(n_outcomes):
                    for entry in range(len(places)):
                        coef_at_place[places[entry]] = B[level, t, entry]
                    score[:] = fits.offset[i, t]
                    # Not by products of rows: their rounding depends on the place of a sample.
                    add_scaled_rows(shared.scored, places, coef_at_place, score)
                    for row in range(len(scored_rows)):
                        fits.scores[i, list_number, level, scored_rows[row], t] = score[row]
            if len(fits.coef):
                for entry in range(len(places)):
                    for t in range(n_outcomes):
                        coef = shared.inverse[places[entry]] * B[-1, t, entry]
                        fits.coef[begin + entry, t] = coef
                        fits.constant[i, list_number, t] -= shared.mean[places[entry]] * coef
        for place in range(n_genes):
            place_of[genes[place]] = -1
