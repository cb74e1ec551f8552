"""Penalty factors of several omics, chosen by the inner folds as every other setting is.

The l1 term of a gene is multiplied by the factor of its omic, so that an omic with more information
per gene may be penalised less (Boulesteix et al. 2017, IPF-LASSO). Only the ratios of the factors
matter, because tau counts in units of tau_max.

The FDR-selected genes do not depend on the factors: half-sample lists choose no setting, and the
false discovery rate is estimated for equal factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.grid import ERROR_DIGITS, GridChoice
from genesig.selection.linear.kinds import inner_elastic_nets
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet

ChooseSettings = Callable[
    [list[TrainingSet], ElasticNets, ElasticNets, LinearSettings], list[GridChoice]
]
"""Training sets, their elastic nets, elastic nets of their inner folds, settings -> choices."""
MakeOuterNets = Callable[..., ElasticNets]
"""Training sets and, by keyword, ``omic_factors`` (all 1 without it) -> their elastic nets."""

PENALTY_RATIOS = (1.0, 2.0, 4.0)  # factors that are tried; at least one omic has 1


class SameFactors(NamedTuple):
    """Training sets that choose the same penalty factors."""

    numbers: Array  # (k,) int: position of each set among all that were given
    training_sets: list[TrainingSet]
    factors: Array | None  # (n_omics,) float: the chosen factors; None if there is no choice
    make_outer: MakeOuterNets  # training sets -> their elastic nets with these factors
    outer: ElasticNets  # elastic nets of the training sets
    inner: ElasticNets  # elastic nets of the training sets of their inner folds
    choices: list[GridChoice]  # choice of each training set among the settings, at these factors

    def with_equal_factors(self, make_outer: MakeOuterNets) -> tuple[ElasticNets, ElasticNets]:
        """Return outer and inner nets with equal factors, the default of `make_outer`."""
        if self.factors is None or (self.factors == 1).all():
            return self.outer, self.inner
        return _outer_and_inner_nets(self.training_sets, make_outer)


def candidate_factors(dataset: Dataset, settings: LinearSettings) -> list[Array] | list[None]:
    """Return the factors (n_omics,) to choose from, equal ones first; [None] without a choice.

    The candidates are all combinations of `PENALTY_RATIOS` whose smallest is 1, by rising sum.
    """
    n_omics = len(dataset.omics)
    if not settings.learn_omics or n_omics < 2:
        return [None]
    grid = np.array(list(product(PENALTY_RATIOS, repeat=n_omics)))
    grid = grid[grid.min(axis=1) == 1]
    return list(grid[np.argsort(grid.sum(axis=1), kind="stable")])


def group_by_factors(
    training_sets: list[TrainingSet],
    make_outer: MakeOuterNets,
    choose_settings: ChooseSettings,
    settings: LinearSettings,
    candidates: list[Array] | list[None],
) -> Iterator[SameFactors]:
    """Yield the training sets that choose the same penalty factors, with their choices.

    The candidate with the smallest error over all settings wins if it is more than its standard
    error below the error of equal factors. Otherwise equal factors win, because the best of several
    candidates looks better than it is.
    """
    makers = [partial(make_outer, omic_factors=factors) for factors in candidates]
    if len(candidates) == 1:
        outer, inner = _outer_and_inner_nets(training_sets, makers[0])
        choices = choose_settings(training_sets, outer, inner, settings)
        numbers = np.arange(len(training_sets))
        yield SameFactors(numbers, training_sets, candidates[0], makers[0], outer, inner, choices)
        return
    # Memory holds the choices of all candidates, but the elastic nets of one at a time.
    choices_of_candidates = [
        choose_settings(training_sets, *_outer_and_inner_nets(training_sets, make), settings)
        for make in makers
    ]
    best_candidates = _best_candidates(choices_of_candidates)
    for candidate in np.unique(best_candidates):
        numbers = np.flatnonzero(best_candidates == candidate)
        subset = [training_sets[number] for number in numbers]
        outer, inner = _outer_and_inner_nets(subset, makers[candidate])
        yield SameFactors(
            numbers=numbers,
            training_sets=subset,
            factors=candidates[candidate],
            make_outer=makers[candidate],
            outer=outer,
            inner=inner,
            choices=[choices_of_candidates[candidate][number] for number in numbers],
        )


def _outer_and_inner_nets(
    training_sets: list[TrainingSet], make_outer: MakeOuterNets
) -> tuple[ElasticNets, ElasticNets]:
    """Return the elastic nets of training sets and of their inner folds."""
    outer = make_outer(training_sets)
    return outer, inner_elastic_nets(training_sets, outer)


def _best_candidates(choices_of_candidates: list[list[GridChoice]]) -> Array:
    """Return the index of the candidate that each training set chooses, see `group_by_factors`."""
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
