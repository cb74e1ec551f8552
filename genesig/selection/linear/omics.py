"""Penalty factors of several omics, chosen by the inner folds as every other setting is.

The l1 term of a gene is multiplied by the factor of its omic (such as RNA or proteins), so that an
omic with more information per gene may be penalised less (Boulesteix et al. 2017, IPF-LASSO). Only
the ratios of the factors matter, because tau counts in units of tau_max.

The FDR-selected genes do not depend on the factors: half-sample lists choose no setting, and the
false discovery rate is estimated for equal factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.grid import ERROR_DIGITS, GridChoice
from genesig.selection.linear.kinds import inner_elastic_nets, outer_elastic_nets
from genesig.selection.linear.training_sets import (
    LinearSettings,
    NormalisedMatrix,
    TrainingSet,
)

ChooseSettings = Callable[
    [list[TrainingSet], ElasticNets, ElasticNets, LinearSettings], list[GridChoice]
]
"""Training sets, their elastic nets, elastic nets of their inner folds, settings -> choices."""

PENALTY_RATIOS = (1.0, 2.0, 4.0)  # factors that are tried; at least one omic has 1


class SameFactors(NamedTuple):
    """Training sets of one matrix that choose the same penalty factors."""

    numbers: Array  # (k,) int: position of each set among all training sets of the matrix
    matrix: NormalisedMatrix  # the matrix with these training sets only
    factors: Array | None  # (n_omics,) float: the chosen factors; None if there is no choice
    outer: ElasticNets  # elastic nets of the training sets
    inner: ElasticNets  # elastic nets of the training sets of their inner folds
    choices: list[GridChoice]  # choice of each training set among the settings, at these factors


def candidate_factors(dataset: Dataset, settings: LinearSettings) -> list[Array] | list[None]:
    """Return the factors (n_omics,) to choose from, equal ones first; [None] without a choice.

    The candidates are all combinations of `PENALTY_RATIOS` whose smallest is 1, by rising sum. None
    leaves the factors that the config fixes.
    """
    n_omics = len(dataset.omics)
    if not settings.learn_omics or n_omics < 2:
        return [None]
    grid = np.array(list(product(PENALTY_RATIOS, repeat=n_omics)))
    grid = grid[grid.min(axis=1) == 1]
    return list(grid[np.argsort(grid.sum(axis=1), kind="stable")])


def group_by_factors(
    matrix: NormalisedMatrix, settings: LinearSettings, choose_settings: ChooseSettings
) -> Iterator[SameFactors]:
    """Yield the training sets that choose the same penalty factors, with their choices.

    For each training set the candidate with the smallest error over all settings wins if it is more
    than its standard error below the error of equal factors. Otherwise equal factors win, because
    the best of several candidates looks better than it is. Groups come in the order of candidates.
    """
    candidates = candidate_factors(matrix.study.dataset, settings)
    if len(candidates) == 1:
        outer, inner = outer_and_inner_nets(matrix, settings, candidates[0])
        choices = choose_settings(matrix.training_sets, outer, inner, settings)
        yield SameFactors(np.arange(len(choices)), matrix, candidates[0], outer, inner, choices)
        return
    # Memory holds the choices of all candidates, but the elastic nets of one at a time.
    choices_of_candidates = [
        choose_settings(
            matrix.training_sets,
            *outer_and_inner_nets(matrix, settings, factors),
            settings,
        )
        for factors in candidates
    ]
    best_candidates = _best_candidates(choices_of_candidates)
    for candidate in np.unique(best_candidates):
        numbers = np.flatnonzero(best_candidates == candidate)
        subset = matrix.subset(numbers)
        outer, inner = outer_and_inner_nets(subset, settings, candidates[candidate])
        yield SameFactors(
            numbers=numbers,
            matrix=subset,
            factors=candidates[candidate],
            outer=outer,
            inner=inner,
            choices=[choices_of_candidates[candidate][number] for number in numbers],
        )


def outer_and_inner_nets(
    matrix: NormalisedMatrix, settings: LinearSettings, omic_factors: Array | None = None
) -> tuple[ElasticNets, ElasticNets]:
    """Return the elastic nets of the training sets of a matrix and of their inner folds."""
    outer = outer_elastic_nets(matrix, settings, omic_factors)
    return outer, inner_elastic_nets(matrix.training_sets, outer)


def _best_candidates(choices_of_candidates: list[list[GridChoice]]) -> Array:
    """Return the index of the candidate that each training set chooses, see `group_by_factors`.

    choices_of_candidates: a list over the training sets for each candidate.
    """
    smallest_errors = np.array(
        [[_smallest_error(choice) for choice in choices] for choices in choices_of_candidates]
    )
    error = smallest_errors[..., 0].round(ERROR_DIGITS)
    standard_error = smallest_errors[..., 1]
    best = error.argmin(axis=0)
    numbers = np.arange(error.shape[1])
    is_better = error[best, numbers] + standard_error[best, numbers] < error[0]
    return np.asarray(np.where(is_better, best, 0))


def _smallest_error(choice: GridChoice) -> tuple[float, float]:
    """Return the smallest error over all settings and its standard error."""
    if np.isnan(choice.error).all():  # the first list of every path is too long
        return np.inf, 0.0
    smallest = np.unravel_index(np.nanargmin(choice.error), choice.error.shape)
    return float(choice.error[smallest]), float(choice.standard_error[smallest])
