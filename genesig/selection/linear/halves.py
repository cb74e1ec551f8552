"""How often complementary halves of training samples list each gene: the half-frequency.

Each half makes one list, that of an elastic net whose weights are fixed beforehand. Nothing is
chosen, so a permuted study costs one short path a half, and no more.

Complementary pairs: Shah and Samworth 2013, J R Stat Soc B 75:55.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Pairs, Task

Array = np.ndarray[Any, Any]

MU = 1e-2
"""Weight of the squared l2 term, in units of ||X'X||/n: correlated genes enter together."""
TAU = np.geomspace(0.8, 0.32, 4)
"""Fractions of each half's tau_max; the list at the last one counts that is not too long."""
LONGEST = 150
"""Most genes of a list that counts."""
TRAINING, FINAL, HALVED = Pairs(10, 3), Pairs(25, 3), Pairs(10)
"""Pairs of halves of a training set, of all samples, of a half; and inside each inner fold."""
NUMBERS = 5e6
"""Numbers that the halves of one call may hold (means and scales of k × n_features)."""


@dataclass(frozen=True)
class Counts:
    """What the halves of k training sets say of d genes.

    Attributes
    ----------
    times : (k, d) int
        Number of halves that list the gene.
    strength : (k, d) float
        Sum of its absolute standardised weights over them, which tells genes apart that were listed
        equally often.
    most : int
        Number of halves, 2 P.
    """

    times: Array
    strength: Array
    most: int

    def of_all(self, genes: Array, d: int) -> Counts:
        """Return the counts of all d genes, of which these are some; 0 of the others."""
        times, strength = np.zeros((len(self.times), d), np.int32), np.zeros((len(self.times), d))
        times[:, genes], strength[:, genes] = self.times, self.strength
        return Counts(times, strength, self.most)


def count_lists(
    outer: Sets, todo: Sequence[Task], halves: Sequence[tuple[int, Array]], protocol: Protocol
) -> Counts:
    """Count the halves that list each gene, for training sets inside of those of the tasks.

    Parameters
    ----------
    outer : Sets
        Of the tasks, one column each.
    todo : list of Task
    halves : list of (int, (n, 2 P) bool)
        The number of a task, and halves of rows that it trains on; all of one P.
    protocol : Protocol

    Returns
    -------
    Counts
        One row for each of the lists of halves.
    """
    d, each = outer.X.shape[1], halves[0][1].shape[1]
    times = np.zeros((len(halves), d), dtype=np.int32)
    strength = np.zeros((len(halves), d))
    for part in _chunks(len(halves), each * d):
        own = np.repeat(np.arange(part.start, part.stop), each)
        of = np.repeat([number for number, _ in halves[part]], each)
        some = [todo[k] for k in of]
        Y, rows = np.column_stack([task.y for task in some]), np.hstack([r for _, r in halves[part]])
        sets = outer.inner(Y, rows, [task.held for task in some], of, together=False)
        tau = TAU * sets.tau_max[:, None]
        lists = sets.path(tau, MU * sets.norm[:, None], protocol, LONGEST)
        last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
        counts = np.repeat((np.arange(len(TAU)) == last[:, None]).ravel(), np.diff(lists.indptr))
        row = np.repeat(np.repeat(own, len(TAU)), np.diff(lists.indptr))
        at = row[counts], lists.indices[counts]
        np.add.at(times, at, 1)
        np.add.at(strength, at, _size(lists.values[counts]))
    return Counts(times, strength.round(9), each)


def _size(values: Array) -> Array:
    """Return the absolute weights, or the length of those of several classes."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


def _chunks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, int(NUMBERS / numbers))
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))
