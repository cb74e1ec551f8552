"""How often halves of training samples list each gene, and a list of the lasso beside them.

Each half makes two lists of the first genes of a path of the elastic net: all of them, and those of
the larger weights. Nothing is chosen, so that a permuted study costs one short path a half, and no
more.

Complementary pairs: Shah and Samworth 2013, J R Stat Soc B 75:55.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.results import Fits
from genesig.results.chance import FOLDS, TRAINING
from genesig.selection.genes.evidence import LONGEST, MU, NESTED, SHARE, rounded
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Pairs, Task

Array = np.ndarray[Any, Any]


TAU = np.geomspace(0.9, 0.15, 8)


"""Fractions of each half's tau_max at which its path has lists; the last one counts that has at
most `longest_list` genes."""


NUMBERS = 5e6


"""Numbers that the halves of one call may hold (means and scales of k × n_features)."""


def pairs_of(outer: int, protocol: Protocol) -> Pairs:
    """Return how many pairs are drawn of training sets, and of what trains their folds."""
    return Pairs(outer, FOLDS if protocol.list in ("best", "controlled") else 1)


def pairs_of_halves(protocol: Protocol) -> Pairs:
    """Return how many pairs are drawn of half the samples.

    What trains its folds has some only where they have a say in which list predicts.
    """
    pairs = pairs_of(TRAINING, protocol)
    return pairs if pairs.inner == FOLDS else Pairs(pairs.outer)


@dataclass(frozen=True)
class HalfLists:
    """The lists of halves, P complementary pairs of each of k sets of rows.

    Attributes
    ----------
    indptr, indices, strength : (T k + 1,), (nnz,), (nnz,)
        Genes of each list, those of a set one after the other, and their absolute standardised
        weights.
    lists : int
        T, 2 P times those of a half.
    d : int
        Number of genes.
    """

    indptr: Array
    indices: Array
    strength: Array
    lists: int
    d: int

    def times(self) -> Array:
        """Return how many lists of each set hold each gene, (k, d)."""
        return self._sums(np.ones(len(self.indices), dtype=np.int32))

    def weights(self) -> Array:
        """Return the sum of the weights of each gene, (k, d), by which equals are told apart."""
        return self._sums(self.strength)

    def _sums(self, each: Array) -> Array:
        out = np.zeros(((len(self.indptr) - 1) // max(1, self.lists), self.d), dtype=each.dtype)
        of = np.repeat(np.arange(len(self.indptr) - 1) // self.lists, np.diff(self.indptr))
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
    longest, parts = longest_list(d), []
    for part in _chunks(len(halves), each * d):
        of = np.repeat([number for number, _ in halves[part]], each)
        some, rows = [todo[k] for k in of], np.hstack([masks for _, masks in halves[part]])
        Y = np.column_stack([task.y for task in some])
        sets = outer.inner(Y, rows, [task.held for task in some], of, together=False)
        tau, mu = TAU * sets.tau_max[:, None], MU * sets.norm[:, None]
        lists = sets.path(tau, mu, protocol, longest)
        last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
        found = [lists.coef(half, max(at, 0)) for half, at in enumerate(last)]
        if len(long := np.flatnonzero(last < 0)):
            some = [some[half] for half in long]
            again = outer.inner(Y[:, long], rows[:, long], [task.held for task in some], of[long],
                                together=False)  # fmt: skip
            whole = again.path(tau[long, :1], mu[long], protocol, None)
            for at, half in enumerate(long):
                found[half] = strongest(*whole.coef(at, 0), longest)
        found = [part for genes, values in found for part in nested(genes, values)]
        indptr = np.cumsum([0, *(len(genes) for genes, _ in found)])
        genes, values = (np.concatenate([one[at] for one in found]) for at in range(2))
        parts.append(HalfLists(indptr, genes, _size(values), each * len(NESTED), d))
    return HalfLists.joined(parts)


def nested(genes: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Return the lists of a half, the shortest first: how early it lists a gene tells, too."""
    order = np.argsort(-rounded(_size(values)), kind="stable")
    for share in NESTED:
        kept = np.sort(order[: int(np.ceil(share * len(genes)))])
        yield genes[kept], values[kept]


def strongest(genes: Array, values: Array, number: int) -> tuple[Array, Array]:
    """Return the genes of the largest weights, ascending: few samples let too many in at once."""
    kept = np.sort(np.argsort(-rounded(_size(values)), kind="stable")[:number])
    return genes[kept], values[kept]


def longest_list(d: int) -> int:
    """Return the most genes of a list, of d.

    All lists are about as long, under permuted labels, too: those at a fixed share of tau_max are
    longer where there is nothing to be found, so that chance would look larger than it is.
    """
    return max(1, min(LONGEST, int(SHARE * d)))


def _size(values: Array) -> Array:
    """Return the absolute weights, or the length of those of several classes."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


def _chunks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, int(NUMBERS / numbers))
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


STEPS = 20


"""Lists of a path, from .95 tau_max to the smallest tau of the grid."""


def rival_lists(outer: Sets, fits: Fits, genes: Array, protocol: Protocol) -> Fits:
    """Return the fits with a list of the lasso each, as long as the one that predicts.

    Its genes are those of the largest weights in the first list of the lasso's path that has as
    many, or in the longest one: the lasso takes no more genes than there are samples. The lasso is
    the elastic net at the smallest mu of the protocol.

    Parameters
    ----------
    outer : Sets
        The training sets of the fits, one column each.
    fits : Fits
    genes : (d,) int
        Numbers in the data set of the columns of the matrix.
    protocol : Protocol
    """
    sizes = fits.with_chosen().sizes()[:, -1].astype(np.int64)
    tau = np.geomspace(0.95, protocol.tau_min, STEPS) * outer.tau_max[:, None]
    mu = min(protocol.mu) * outer.norm[:, None]
    path = outer.path(tau, mu, protocol, None)
    counted = path.sizes()
    lists = []
    for fit, size in enumerate(sizes):
        enough = np.flatnonzero(counted[fit] >= size)
        at = enough[0] if len(enough) else int(np.argmax(counted[fit]))
        lists.append(genes[strongest(*path.coef(fit, at), size)[0]])
    indptr = np.cumsum([0, *map(len, lists)])
    return replace(fits, rival_indptr=indptr, rival_indices=np.concatenate(lists))
