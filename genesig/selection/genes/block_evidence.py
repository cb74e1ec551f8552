"""Whether the halves of a study agree on blocks of correlated genes, where genes take turns.

A half hits a block when its list holds a member. For the null of all blocks the genes that halves
list, under any labels, are divided without the labels: the gene listed most often leads all that
correlate with it, then the next one of the rest. A prototype's own block is all that correlate with
it; its q is that of its number of hits among these blocks, as `evidence` has it for genes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results.chance import Chance
from genesig.selection.genes.clusters import assign, correlations, standardised
from genesig.selection.genes.evidence import expected, p_values, q_values, tails

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

ALIKE = 0.7
"""Least |r| that makes a gene a member."""
MOST = 4000
"""Genes that are divided, those listed most often: what is left is listed next to never."""

NUMBERS = 5_000_000
"""Correlations that are held at once."""

COLUMNS = ("half_frequency", "chance", "p", "q")


def block_evidence(X: Array, prototypes: Array, chance: Chance) -> pd.DataFrame:
    """Return the share of halves that hit each prototype's block, by chance, and its p and q.

    Parameters
    ----------
    X : (n, d) float
    prototypes : (k,) int
        Columns of X.
    chance : Chance
        Empty where no evidence is looked for: then there are no columns.
    """
    import pandas as pd

    if not chance:
        return pd.DataFrame(index=range(len(prototypes)))
    halves, null = int(chance.halves), _hits(chance, divided(X, chance.times().sum(axis=0))[0])
    chances = expected(tails(null[1:], halves))
    own = np.column_stack([
        _hits(chance, np.where(np.abs(r) >= ALIKE, 0, -1))
        for r in correlations(X, np.arange(X.shape[1]), prototypes).T
    ]) if len(prototypes) else null[:, :0]  # fmt: skip
    times, by_chance = own[0], own[1:]
    q = q_values(times, chances, among=null[0])
    values = times / halves, by_chance.mean(axis=0) / halves, p_values(times, by_chance), q
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def divided(X: Array, total: Array) -> tuple[Array, Array]:
    """Return the block of each gene, (d,), counted from 0, and the gene that leads each block.

    Genes that are not divided have -1; `total` (d,) is how often each is listed.
    """
    order = np.argsort(-total, kind="stable")[: min(MOST, np.count_nonzero(total))]
    block, left, count = np.full(X.shape[1], -1, dtype=np.int64), np.arange(len(order)), 0
    Z, leaders = np.ascontiguousarray(standardised(X[:, order]).T), []
    while len(left):
        alike = np.abs(Z[left] @ Z[left[0]]) >= ALIKE
        alike[0] = True
        block[order[left[alike]]] = count
        leaders.append(order[left[0]])
        left, count = left[~alike], count + 1
    return block, np.array(leaders, dtype=np.int64)


def whole_blocks(X: Array, total: Array) -> Array:
    """Return the block of every gene, (d,): the others join the leader that is most like them.

    Genes that are like none are blocks of their own.
    """
    block, leaders = divided(X, total)
    rest = np.flatnonzero(block < 0)
    for part in np.array_split(rest, 1 + len(rest) * len(leaders) // NUMBERS):
        if len(leaders) and len(part):
            nearest, r = assign(X, part, leaders)
            block[part] = np.where(np.abs(r) >= ALIKE, nearest, -1)
    alone = block < 0
    block[alone] = len(leaders) + np.arange(alone.sum())
    return block


def _hits(chance: Chance, block: Array) -> Array:
    """Return how many halves hit each block, (B + 1, n_blocks), observed labels first."""
    n_blocks, halves = int(block.max(initial=-1)) + 1, int(chance.halves)
    half = np.repeat(np.arange(len(chance.indptr) - 1), np.diff(chance.indptr))
    listed = block[chance.indices]
    pairs = np.unique(half[listed >= 0] * n_blocks + listed[listed >= 0])
    out = np.zeros((len(chance) + 1, n_blocks), dtype=np.int64)
    np.add.at(out, (pairs // n_blocks // halves, pairs % n_blocks), 1)
    return out
