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
from genesig.selection.linear.grid import Surface
from genesig.selection.linear.kinds.known import inner_sets
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.tasks import LinearSettings, TrainingSet

Choice = Callable[[list[TrainingSet], Sets, Sets, LinearSettings], list[Surface]]
Describe = Callable[..., Sets]

RATIOS = (1.0, 2.0, 4.0)
"""Factors that are tried; one omic at least has 1."""


class Alike(NamedTuple):
    """Tasks of one choice of factors.

    Attributes
    ----------
    numbers : (k,) int
        Of the tasks among all.
    todo : list of Task
    factors : (n_omics,) float or None
        None where there is nothing to choose.
    describe : callable
        Tasks to their training sets, by these factors.
    outer, inner : Sets
        Of the tasks, and of what trains their inner folds.
    surfaces : list of Surface
    """

    numbers: Array
    todo: list[TrainingSet]
    factors: Array | None
    describe: Describe
    outer: Sets
    inner: Sets
    surfaces: list[Surface]

    def even(self, describe: Describe) -> tuple[Sets, Sets]:
        """Return the training sets by equal factors; `describe` knows none."""
        if self.factors is None or (self.factors == 1).all():
            return self.outer, self.inner
        return _sets(self.todo, describe)


def candidates(dataset: Dataset, protocol: LinearSettings) -> list[Array] | list[None]:
    """Return the factors among which a training set chooses, equal ones first.

    All of `RATIOS` whose smallest is 1, by their sum; [None] where nothing is learned.
    """
    omics = len(dataset.omics)
    if not protocol.learn_omics or omics < 2:
        return [None]
    grid = np.array(list(product(RATIOS, repeat=omics)))
    grid = grid[grid.min(axis=1) == 1]
    return list(grid[np.argsort(grid.sum(axis=1), kind="stable")])


def alike(
    todo: list[TrainingSet],
    describe: Describe,
    choose: Choice,
    protocol: LinearSettings,
    factors: list[Array] | list[None],
) -> Iterator[Alike]:
    """Give the tasks that choose the same factors.

    Those of the smallest error of all settings, e, where it lies more than its standard error
    below that of equal factors; else equal ones stand: the best of several ratios is flattered.
    """
    if len(factors) == 1:
        own = partial(describe, factors=factors[0])
        every = np.arange(len(todo))
        sets = _sets(todo, own)
        yield Alike(every, todo, factors[0], own, *sets, choose(todo, *sets, protocol))
        return
    # Surfaces are kept of all candidates, and training sets of one, which need more room.
    found = [
        choose(todo, *_sets(todo, partial(describe, factors=each)), protocol) for each in factors
    ]
    best = _best(found)
    for at in np.unique(best):
        numbers = np.flatnonzero(best == at)
        own = partial(describe, factors=factors[at])
        some = [todo[k] for k in numbers]
        yield Alike(
            numbers, some, factors[at], own, *_sets(some, own), [found[at][k] for k in numbers]
        )


def _sets(todo: list[TrainingSet], describe: Describe) -> tuple[Sets, Sets]:
    outer = describe(todo)
    return outer, inner_sets(todo, outer)


def _best(found: list[list[Surface]]) -> Array:
    """Return the number of the candidate that each task chooses."""
    each = np.array([[_smallest(surface) for surface in surfaces] for surfaces in found])
    error = each[..., 0].round(12)
    spread = each[..., 1]
    best = error.argmin(axis=0)
    task = np.arange(error.shape[1])
    better = error[best, task] + spread[best, task] < error[0]
    return np.asarray(np.where(better, best, 0))


def _smallest(surface: Surface) -> tuple[float, float]:
    """Return the smallest error of all settings and its standard error."""
    if np.isnan(surface.error).all():  # the first list of every path is too long
        return np.inf, 0.0
    at = np.unravel_index(np.nanargmin(surface.error), surface.error.shape)
    return float(surface.error[at]), float(surface.standard_error[at])
