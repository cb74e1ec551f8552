"""The running sum of gene set enrichment analysis, for many sets of one order of genes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]

ROUNDING = 1e-12


class Peaks(NamedTuple):
    """Of each set: its score, and the place in the order at which the sum is furthest from 0."""

    score: Array
    place: Array


def peaks(statistic: Array, members: csr_array) -> Peaks:
    """Return ES, (n_sets,): the running sum down the order where it is furthest from 0.

    A gene of the set adds ``|t| / sum of |t| over the set``, any other takes off
    ``1 / (number of others)``; equal shares where every t of the set is 0.

    Parameters
    ----------
    statistic : (n_genes,) float
        t; genes are ordered by it, largest first, ties as they stand.
    members : (n_sets, n_genes) sparse array
        Each set has at least one gene.

    Source: Subramanian et al. 2005, PNAS 102:15545, with the exponent 1.
    """
    n, starts = len(statistic), members.indptr[:-1]
    size = np.diff(members.indptr)
    place = np.empty(n, dtype=np.int64)
    place[np.argsort(-statistic, kind="stable")] = np.arange(n)
    owner = np.repeat(np.arange(len(size)), size)
    order = np.argsort(owner * n + place[members.indices])
    at, gene = place[members.indices][order], members.indices[order]
    added = np.abs(statistic[gene])
    total = np.add.reduceat(added, starts)[owner]
    added = np.divide(added, total, out=1 / size[owner], where=total > 0)
    sums = np.cumsum(added)
    before = np.concatenate([[0.0], sums[:-1]])
    hits = sums - before[starts][owner]
    rank = np.arange(len(at)) - starts[owner]
    missed = (at - rank) / np.maximum(n - size, 1)[owner]
    return _furthest(hits - missed, hits - added - missed, at, members.indptr)


def _furthest(above: Array, below: Array, at: Array, indptr: Array) -> Peaks:
    """Take the sum just after each gene of a set and just before: there it turns."""
    starts = indptr[:-1]
    high, low = np.maximum.reduceat(above, starts), np.minimum.reduceat(below, starts)
    score = np.where(high >= -low - ROUNDING, high, low)
    owner = np.repeat(np.arange(len(starts)), np.diff(indptr))
    reached = np.abs(np.where((score > 0)[owner], above, below) - score[owner]) <= ROUNDING
    first = np.where(reached, np.arange(len(at)), len(at))
    return Peaks(score, at[np.minimum(np.minimum.reduceat(first, starts), len(at) - 1)])
