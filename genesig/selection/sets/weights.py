"""What a set's norm weighs in the penalty, so that sets of all sizes compete fairly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.optim.structured.blocks import Blocks

Array = np.ndarray[Any, Any]

PERMUTATIONS = 500
QUANTILE = 0.99
CHUNK = 100
"""Responses at once, which bounds memory to as many numbers for each gene and each set."""


def permuted(Z: Array, members: Array, starts: Array, shuffled: Array) -> Array:
    """Return the 99 % quantile of ``||A_k'y||`` over responses that have lost their samples, (B,).

    Under no effect ``||A_k'y||²`` has the mean s² tr G_k and the variance 2 s⁴ ||G_k||², with G_k =
    A_k A_k' and s² the variance of y: sets of correlated genes have the heavy tail. A weight of
    sqrt(size) would let them win by chance, and one of 1 the large ones.

    Parameters
    ----------
    Z : (n, d) float
        Standardised training rows.
    members, starts : (memberships,), (B + 1,) int
        As in `genesig.optim.structured.blocks.Blocks`.
    shuffled : (n, P) float
        Centred responses.

    Notes
    -----
    In single precision: the quantile itself is known to 6 % from 500 responses.
    """
    from scipy.sparse import csr_array

    ones = np.ones(len(members), dtype=np.float32)
    sums = csr_array((ones, members, starts), shape=(len(starts) - 1, Z.shape[1]))
    genes, responses = np.ascontiguousarray(Z.T, dtype=np.float32), shuffled.astype(np.float32)
    squares = np.empty((len(starts) - 1, shuffled.shape[1]), dtype=np.float32)
    for first in range(0, shuffled.shape[1], CHUNK):
        part = slice(first, first + CHUNK)
        reached = genes @ responses[:, part]
        squares[:, part] = sums @ np.square(reached, out=reached)
    found: Array = np.sqrt(np.quantile(squares, QUANTILE, axis=1).astype(np.float64))
    return found


def of_size(Z: Array, members: Array, starts: Array, shuffled: Array) -> Array:
    """Return the square root of each block's size, (B,)."""
    found: Array = np.sqrt(np.diff(starts).astype(float))
    return found


def equal(Z: Array, members: Array, starts: Array, shuffled: Array) -> Array:
    """Return 1 for each block, (B,)."""
    return np.ones(len(starts) - 1)


def weighted(name: str, Z: Array, members: Array, starts: Array, shuffled: Array) -> Blocks:
    """Return the blocks with the weights of this name; what has no variance is never selected."""
    found = WEIGHTS[name](Z, members, starts, shuffled)
    return Blocks(members, starts, np.where(found > 0, found, 1.0))


WEIGHTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "permuted": permuted,
    "size": of_size,
    "equal": equal,
}
