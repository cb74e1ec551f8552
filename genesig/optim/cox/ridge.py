"""Ridge Cox refits of gene lists: all lists and ridge weights of many training sets in one call.

Lists along a path differ by few genes. So each fit starts at the coefficients that the list before
has at the same lambda, and Newton's method needs few steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import add_scaled
from genesig.compiled.ridge import GeneLists
from genesig.optim.cox.likelihood import minimise_ridge, terms_of_set
from genesig.optim.likelihood.path import LossData


class RidgeLevels(NamedTuple):
    """Ridge weights of k training sets."""

    lam: Array
    """(k, L)"""
    falling: Array
    """(k, L) numbers of the ridge weights from the largest to the smallest."""
    slack: Array
    """(k,) promised decrease of a Newton step at which a fit ends."""


class CoxScores(NamedTuple):
    """Arrays that the refits fill."""

    scores: Array
    """(k, m, L, N) linear predictors of the genes, of all samples."""
    covariates: Array
    """(k, m, L, c) coefficients of the columns beside the genes."""
    unsolved: Array
    """(k, m) bool, lists that are left out here."""


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
    """Return the first list from `first_list` on with the genes of list `number`; else `number`."""
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
    """Refit every list by ridge at each lambda; equal lists of a training set are fitted once."""
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
        for e in range(first_entry, end_entry):
            if position_of[lists.genes[e]] < 0:
                position_of[lists.genes[e]] = n_genes
                genes[n_genes] = lists.genes[e]
                n_genes += 1
        Z = np.empty((n_genes, data.F.shape[1]))
        fill_genes(data, i, genes[:n_genes], Z)
        # Of the last list at each lambda: coefficients of the genes by place, then of the columns.
        coef = np.zeros((n_levels, n_genes + n_columns))
        is_fitted = np.zeros(n_levels, np.bool_)
        eta = np.empty(n)
        linear_predictor = np.empty(data.F.shape[1])
        for f in range(n_lists):
            if fits.unsolved[i, f]:
                continue
            equal = equal_list(lists, i * n_lists, i * n_lists + f) - i * n_lists
            if equal < f:
                for level in range(n_levels):
                    for row in range(len(linear_predictor)):
                        fits.scores[i, f, level, row] = fits.scores[i, equal, level, row]
                    for p in range(n_columns):
                        fits.covariates[i, f, level, p] = fits.covariates[i, equal, level, p]
                continue
            begin = lists.start[i * n_lists + f]
            length = lists.start[i * n_lists + f + 1] - begin
            positions = np.empty(length + n_columns, np.int64)
            ridge = np.empty(length + n_columns)
            D = np.empty((len(positions), n))
            x = np.empty(len(positions))
            for e in range(length):
                positions[e] = position_of[lists.genes[begin + e]]
                for row in range(n):
                    D[e, row] = Z[positions[e], row]
            for p in range(n_columns):
                positions[length + p] = n_genes + p
                ridge[length + p] = data.column_ridge[i, p]
                for row in range(n):
                    D[length + p, row] = data.columns[i, p, row]
            for number in range(n_levels):
                level = levels.falling[i, number]
                start = level if is_fitted[level] else levels.falling[i, max(number - 1, 0)]
                for e in range(len(positions)):
                    x[e] = coef[start, positions[e]]
                ridge[:length] = 2.0 * levels.lam[i, level]
                minimise_ridge(terms, D, ridge, x, eta, levels.slack[i])
                is_fitted[level] = True
                coef[level] = 0.0
                for e in range(len(positions)):
                    coef[level, positions[e]] = x[e]
                linear_predictor[:] = 0.0
                for e in range(length):
                    add_scaled(x[e], Z[positions[e]], linear_predictor)
                for row in range(len(linear_predictor)):
                    fits.scores[i, f, level, data.rows[i, row]] = linear_predictor[row]
                for p in range(n_columns):
                    fits.covariates[i, f, level, p] = x[length + p]
        for position in range(n_genes):
            position_of[genes[position]] = -1
