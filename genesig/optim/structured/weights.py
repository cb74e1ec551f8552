"""Weights with which large and small, correlated and uncorrelated blocks compete fairly."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import Columns

Array = np.ndarray[Any, Any]

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
    Y_permuted : (n, P) array, centred
        The response, permuted as the design allows.
    members, starts : (memberships,), (B + 1,) int arrays
        As in `Blocks`.
    quantile : float
        The smallest that this share of the permutations does not exceed.
    """
    number, most = len(starts) - 1, Y_permuted.shape[1]
    columns = Columns(X, Blocks(members, starts, np.ones(number)))
    squares = np.empty((number, most))
    for first in range(0, most, CHUNK):
        part = slice(first, first + CHUNK)
        squares[:, part] = columns.squares(Y_permuted.T[part, :, None]).T
    place = min(int(np.ceil(quantile * most)), most) - 1
    squares.partition(place, axis=1)
    return np.sqrt(squares[:, place])
