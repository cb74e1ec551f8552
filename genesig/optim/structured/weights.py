"""Weights with which large and small, correlated and uncorrelated blocks compete fairly."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import membership

CHUNK = 50  # responses at once, which bounds memory to d times as many numbers


def permuted_weights(
    X: Array, Y_permuted: Array, members: Array, starts: Array, quantile: float = 0.99
) -> Array:
    """Return the quantile of ``||A_k'y||`` over responses without effect, (B,).

    A weight of sqrt(size) prefers correlated sets, one of 1 large ones: under no effect
    ``||A_k'y||²`` has a mean of tr G_k and a variance of 2 ||G_k||².

    Parameters
    ----------
    X : (n, d) array, centred
    Y_permuted : (n, P) or (n, P, T) array, centred
        The response, permuted as the design allows; of several the norm is that of all together.
    members, starts : (memberships,), (B + 1,) int arrays
        As in `Blocks`.
    quantile : float
        The smallest that this share of the permutations does not exceed.
    """
    n, most = Y_permuted.shape[:2]
    blocks = Blocks(members, starts, np.ones(len(starts) - 1))
    (rows, x), sums = single(X.T[blocks.used]), membership(blocks, np.float32)
    responses, y = single(Y_permuted.reshape(n, most, -1))
    squares = np.empty((len(blocks), most), dtype=np.float32)
    for first in range(0, most, CHUNK):
        part = responses[:, first : first + CHUNK]
        G = rows @ part.reshape(n, -1)
        G *= G
        of_column = G.reshape(len(G), *part.shape[1:]).sum(axis=2) if part.shape[2] > 1 else G
        squares[:, first : first + CHUNK] = sums @ of_column
    place = min(int(np.ceil(quantile * most)), most) - 1
    squares.partition(place, axis=1)
    return np.asarray(x * y * np.sqrt(squares[:, place].astype(float)))


def single(array: Array) -> tuple[Array, float]:
    """Return numbers of 24 bits, at most 1, and what they were divided by.

    Enough for a quantile of few, in half the time and whatever the units.
    """
    scale = float(np.abs(array).max(initial=0)) or 1.0
    return np.ascontiguousarray(array / scale, dtype=np.float32), scale
