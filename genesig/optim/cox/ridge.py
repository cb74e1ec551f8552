"""Ridge Cox refits of gene lists: all lists and ridge weights of many training sets in one call.

Lists along a path differ by few genes. So each fit starts at the coefficients that the list before
has at the same lambda, and Newton's method needs few steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, part
from genesig.compiled.algebra import add
from genesig.compiled.ridge import GeneLists
from genesig.optim.cox.likelihood import minimise_ridge, terms_of
from genesig.optim.likelihood.path import Ground


class RidgeLevels(NamedTuple):
    """lam (k, L): ridge weights; falling (k, L): their numbers from the largest to the smallest.

    slack (k,): promised decrease of a Newton step at which a fit ends.
    """

    lam: Array
    falling: Array
    slack: Array


class CoxScores(NamedTuple):
    """Where refits are written.

    scores (k, m, L, N): linear predictors of the genes, of all samples. covariates (k, m, L, c):
    coefficients of the columns beside the genes. unsolved (k, m): lists that are left out here.
    """

    scores: Array
    covariates: Array
    unsolved: Array


@part
def fill_genes(ground: Ground, i: int, genes: Array, Z: Array) -> None:
    """Fill Z (U, N) with some genes as training set i standardises them, its own samples first."""
    for place in range(len(genes)):
        gene = genes[place]
        for row in range(Z.shape[1]):
            value = ground.F[gene, ground.rows[i, row]]
            Z[place, row] = ground.inverse[i, gene] * (value - ground.mean[i, gene])


@part
def equal_list(lists: GeneLists, first: int, number: int) -> int:
    """Return the first list from `first` on that has the genes of list `number`, or `number`."""
    begin = lists.start[number]
    length = lists.start[number + 1] - begin
    for earlier in range(first, number):
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
def solve_cox_ridge(ground: Ground, lists: GeneLists, levels: RidgeLevels, fits: CoxScores) -> None:
    """Refit every list by ridge at each lambda; equal lists of a training set are fitted once."""
    n_lists = fits.covariates.shape[1]
    n_columns = ground.columns.shape[1]
    n_levels = levels.lam.shape[1]
    place_of = np.full(len(ground.F), -1, np.int64)
    for i in range(len(levels.lam)):
        n = ground.size[i]
        terms = terms_of(ground.response, i, n)
        first_entry = lists.start[i * n_lists]
        end_entry = lists.start[(i + 1) * n_lists]
        genes = np.empty(end_entry - first_entry, np.int64)
        n_genes = 0
        for e in range(first_entry, end_entry):
            if place_of[lists.genes[e]] < 0:
                place_of[lists.genes[e]] = n_genes
                genes[n_genes] = lists.genes[e]
                n_genes += 1
        Z = np.empty((n_genes, ground.F.shape[1]))
        fill_genes(ground, i, genes[:n_genes], Z)
        # Of the last list at each lambda: coefficients of the genes by place, then of the columns.
        coef = np.zeros((n_levels, n_genes + n_columns))
        known = np.zeros(n_levels, np.bool_)
        eta = np.empty(n)
        predictor = np.empty(ground.F.shape[1])
        for f in range(n_lists):
            if fits.unsolved[i, f]:
                continue
            equal = equal_list(lists, i * n_lists, i * n_lists + f) - i * n_lists
            if equal < f:
                for level in range(n_levels):
                    for row in range(len(predictor)):
                        fits.scores[i, f, level, row] = fits.scores[i, equal, level, row]
                    for p in range(n_columns):
                        fits.covariates[i, f, level, p] = fits.covariates[i, equal, level, p]
                continue
            begin = lists.start[i * n_lists + f]
            length = lists.start[i * n_lists + f + 1] - begin
            places = np.empty(length + n_columns, np.int64)
            ridge = np.empty(length + n_columns)
            D = np.empty((len(places), n))
            x = np.empty(len(places))
            for e in range(length):
                places[e] = place_of[lists.genes[begin + e]]
                for row in range(n):
                    D[e, row] = Z[places[e], row]
            for p in range(n_columns):
                places[length + p] = n_genes + p
                ridge[length + p] = ground.ease[i, p]
                for row in range(n):
                    D[length + p, row] = ground.columns[i, p, row]
            for number in range(n_levels):
                level = levels.falling[i, number]
                start = level if known[level] else levels.falling[i, max(number - 1, 0)]
                for e in range(len(places)):
                    x[e] = coef[start, places[e]]
                ridge[:length] = 2.0 * levels.lam[i, level]
                minimise_ridge(terms, D, ridge, x, eta, levels.slack[i])
                known[level] = True
                coef[level] = 0.0
                for e in range(len(places)):
                    coef[level, places[e]] = x[e]
                predictor[:] = 0.0
                for e in range(length):
                    add(x[e], Z[places[e]], predictor)
                for row in range(len(predictor)):
                    fits.scores[i, f, level, ground.rows[i, row]] = predictor[row]
                for p in range(n_columns):
                    fits.covariates[i, f, level, p] = x[length + p]
        for place in range(n_genes):
            place_of[genes[place]] = -1
