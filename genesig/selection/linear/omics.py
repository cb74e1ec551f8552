"""Factors of several omics, chosen by the inner folds as every other setting is.

The l1 term of a gene is multiplied by the factor of its omic, so that an omic with more to say per
gene may be penalised less (Boulesteix et al. 2017, IPF-LASSO). Factors matter by their ratios
alone, because tau counts in units of tau_max.

The factors have no part in the FDR-selected genes: half-sample lists choose nothing, and the false
discovery rate holds for equal factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset
from genesig.selection.linear.grid import GridChoice
from genesig.selection.linear.kinds.known import inner_elastic_nets
from genesig.selection.linear.kinds.record import ElasticNets
from genesig.selection.linear.tasks import LinearSettings, TrainingSet

ChooseSettings = Callable[
    [list[TrainingSet], ElasticNets, ElasticNets, LinearSettings], list[GridChoice]
]
MakeOuterNets = Callable[..., ElasticNets]

PENALTY_RATIOS = (1.0, 2.0, 4.0)
"""Factors that are tried; one omic at least has 1."""


class SameFactors(NamedTuple):
    """Tasks of one choice of factors.

    Attributes
    ----------
    numbers : (k,) int
        Of the tasks among all.
    training_sets : list of Task
    factors : (n_omics,) float or None
        None where there is nothing to choose.
    make_outer : callable
        Tasks to their training sets, by these factors.
    outer, inner : Sets
        Of the tasks, and of what trains their inner folds.
    choices : list of Surface
    """

    numbers: Array
    training_sets: list[TrainingSet]
    factors: Array | None
    make_outer: MakeOuterNets
    outer: ElasticNets
    inner: ElasticNets
    choices: list[GridChoice]

    def even(self, make_outer: MakeOuterNets) -> tuple[ElasticNets, ElasticNets]:
        """Return the training sets by equal factors; `make_outer` knows none."""
        if self.factors is None or (self.factors == 1).all():
            return self.outer, self.inner
        return _outer_and_inner_nets(self.training_sets, make_outer)


def candidate_factors(dataset: Dataset, settings: LinearSettings) -> list[Array] | list[None]:
    """Return the factors among which a training set chooses, equal ones first.

    All of `PENALTY_RATIOS` whose smallest is 1, by their sum; [None] where nothing is learned.
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
    factors: list[Array] | list[None],
) -> Iterator[SameFactors]:
    """Give the tasks that choose the same factors.

    Those of the smallest error of all settings, e, where it lies more than its standard error
    below that of equal factors; else equal ones stand: the best of several ratios is flattered.
    """
    if len(factors) == 1:
        make_outer_nets = partial(make_outer, factors=factors[0])
        all_numbers = np.arange(len(training_sets))
        nets = _outer_and_inner_nets(training_sets, make_outer_nets)
        yield SameFactors(
            all_numbers,
            training_sets,
            factors[0],
            make_outer_nets,
            *nets,
            choose_settings(training_sets, *nets, settings),
        )
        return
    # Surfaces are kept of all candidates, and training sets of one, which need more room.
    choices_of_candidates = [
        choose_settings(
            training_sets,
            *_outer_and_inner_nets(training_sets, partial(make_outer, factors=candidate)),
            settings,
        )
        for candidate in factors
    ]
    best = _best_candidates(choices_of_candidates)
    for candidate_number in np.unique(best):
        numbers = np.flatnonzero(best == candidate_number)
        make_outer_nets = partial(make_outer, factors=factors[candidate_number])
        same_choice = [training_sets[k] for k in numbers]
        yield SameFactors(
            numbers,
            same_choice,
            factors[candidate_number],
            make_outer_nets,
            *_outer_and_inner_nets(same_choice, make_outer_nets),
            [choices_of_candidates[candidate_number][k] for k in numbers],
        )


def _outer_and_inner_nets(
    training_sets: list[TrainingSet], make_outer: MakeOuterNets
) -> tuple[ElasticNets, ElasticNets]:
    outer = make_outer(training_sets)
    return outer, inner_elastic_nets(training_sets, outer)


def _best_candidates(choices_of_candidates: list[list[GridChoice]]) -> Array:
    """Return the number of the candidate that each task chooses."""
    smallest_errors = np.array(
        [[_smallest_error(choice) for choice in choices] for choices in choices_of_candidates]
    )
    error = smallest_errors[..., 0].round(12)
    standard_error = smallest_errors[..., 1]
    best = error.argmin(axis=0)
    training_set = np.arange(error.shape[1])
    better = error[best, training_set] + standard_error[best, training_set] < error[0]
    return np.asarray(np.where(better, best, 0))


def _smallest_error(choice: GridChoice) -> tuple[float, float]:
    """Return the smallest error of all settings and its standard error."""
    if np.isnan(choice.error).all():  # the first list of every path is too long
        return np.inf, 0.0
    smallest = np.unravel_index(np.nanargmin(choice.error), choice.error.shape)
    return float(choice.error[smallest]), float(choice.standard_error[smallest])
