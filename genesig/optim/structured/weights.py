"""Weights with which large and small, correlated and uncorrelated blocks compete fairly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]

SINGLE = np.float32

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

    Notes
    -----
    In single precision, which halves the time: 500 responses tell the quantile to 6 %.
    """
    (n, most), B = Y_permuted.shape[:2], len(starts) - 1
    sums = csr_array((np.ones(len(members), SINGLE), members, starts), shape=(B, X.shape[1]))
    features = np.ascontiguousarray(X.T, dtype=SINGLE)
    responses = Y_permuted.reshape(n, most, -1).astype(SINGLE)
    squares = np.empty((B, most), SINGLE)
    for first in range(0, most, CHUNK):
        part = responses[:, first : first + CHUNK]
        reached = np.square(features @ part.reshape(n, -1)).reshape(-1, *part.shape[1:])
        squares[:, first : first + CHUNK] = sums @ reached.sum(axis=2)
    place = min(int(np.ceil(quantile * most)), most) - 1
    squares.partition(place, axis=1)
    return np.asarray(np.sqrt(squares[:, place].astype(float)))
