"""How often complementary halves of training samples list each gene: the half-frequency.

Each half makes one list, that of an elastic net whose weights are fixed beforehand. Nothing is
chosen, so a permuted study costs one short path a half, and no more.

Complementary pairs: Shah and Samworth 2013, J R Stat Soc B 75:55.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Pairs, Task

Array = np.ndarray[Any, Any]

MU = 1e-2
"""Weight of the squared l2 term, in units of ||X'X||/n: correlated genes enter together."""
TAU = np.array([[0.5, 0.32], [0.8, 0.64]])
"""Fractions of each half's tau_max; the list at the smallest one counts that is not too long. The
second pair is for halves whose lists at the first one are."""
LONGEST = 150
"""Most genes of a list that counts."""
TRAINING, FINAL, HALVED = Pairs(6, 3), Pairs(25, 3), Pairs(6)
"""Pairs of halves of a training set, of all samples, of a half; and inside each inner fold."""
NUMBERS = 5e6
"""Numbers that the halves of one call may hold (means and scales of k × n_features)."""


@dataclass(frozen=True)
class HalfLists:
    """The lists of halves, P complementary pairs of each of k sets of rows.

    Attributes
    ----------
    indptr, indices, strength : (2 P k + 1,), (nnz,), (nnz,)
        Genes that each half lists, the halves of a set one after the other, and their absolute
        standardised weights.
    halves : int
        2 P.
    d : int
        Number of genes.
    """

    indptr: Array
    indices: Array
    strength: Array
    halves: int
    d: int

    def times(self) -> Array:
        """Return how many halves of each set list each gene, (k, d)."""
        return self._sums(np.ones(len(self.indices), dtype=np.int32))

    def weights(self) -> Array:
        """Return the sum of the weights of each gene, (k, d), by which equals are told apart."""
        return self._sums(self.strength)

    def _sums(self, each: Array) -> Array:
        out = np.zeros(((len(self.indptr) - 1) // max(1, self.halves), self.d), dtype=each.dtype)
        of = np.repeat(np.arange(len(self.indptr) - 1) // self.halves, np.diff(self.indptr))
        np.add.at(out, (of, self.indices), each)
        return out

    def renamed(self, genes: Array, d: int) -> HalfLists:
        """Return the lists as numbers of d genes, of which these are the ones that took part."""
        return replace(self, indices=genes[self.indices], d=d)

    @classmethod
    def joined(cls, parts: Sequence[HalfLists]) -> HalfLists:
        """Join the lists of several sets of rows."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return replace(
            parts[0], indptr=np.concatenate([[0], np.cumsum(sizes)]),
            indices=np.concatenate([part.indices for part in parts]),
            strength=np.concatenate([part.strength for part in parts]),
        )  # fmt: skip


def list_halves(
    outer: Sets, todo: Sequence[Task], halves: Sequence[tuple[int, Array]], protocol: Protocol
) -> HalfLists:
    """List genes in halves of training sets, or of what is inside of these.

    Parameters
    ----------
    outer : Sets
        Of the tasks, one column each.
    todo : list of Task
    halves : list of (int, (n, 2 P) bool)
        The number of a task, and halves of rows that it trains on; all of one P.
    protocol : Protocol
    """
    d, each = outer.X.shape[1], halves[0][1].shape[1]
    parts = []
    for part in _chunks(len(halves), each * d):
        of = np.repeat([number for number, _ in halves[part]], each)
        rows = np.hstack([masks for _, masks in halves[part]])
        lists = _lists(outer, todo, of, rows, protocol)
        indptr = np.cumsum([0, *(len(genes) for genes, _ in lists)])
        genes, weights = (np.concatenate([one[at] for one in lists]) for at in range(2))
        parts.append(HalfLists(indptr, genes, weights, each, d))
    return HalfLists.joined(parts)


def _lists(
    outer: Sets, todo: Sequence[Task], of: Array, rows: Array, protocol: Protocol, level: int = 0
) -> list[tuple[Array, Array]]:  # fmt: skip
    """Return the genes of each half, and their absolute weights; none where all lists are long."""
    some = [todo[k] for k in of]
    Y = np.column_stack([task.y for task in some])
    sets = outer.inner(Y, rows, [task.held for task in some], of, together=False)
    tau, mu = TAU[level] * sets.tau_max[:, None], MU * sets.norm[:, None]
    lists = sets.path(tau, mu, protocol, LONGEST)
    last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
    found = [lists.coef(half, max(at, 0)) for half, at in enumerate(last)]
    found = [(genes, _size(values)) for genes, values in found]
    long = np.flatnonzero(last < 0)
    if len(long) and level + 1 < len(TAU):
        again = _lists(outer, todo, of[long], rows[:, long], protocol, level + 1)
        for half, one in zip(long, again, strict=True):
            found[half] = one
    return found


def _size(values: Array) -> Array:
    """Return the absolute weights, or the length of those of several classes."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


def _chunks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, int(NUMBERS / numbers))
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))
