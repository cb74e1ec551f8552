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
    Y_permuted : (n, P) or (n, P, T) array, centred
        The response, permuted as the design allows; of several the norm is that of all together.
    members, starts : (memberships,), (B + 1,) int arrays
        As in `Blocks`.
    quantile : float
        The smallest that this share of the permutations does not exceed.
    """
    n, most = Y_permuted.shape[:2]
    columns = Columns(X, Blocks(members, starts, np.ones(len(starts) - 1)))
    responses = Y_permuted.reshape(n, most, -1).transpose(1, 0, 2)
    parts = [columns.squares(responses[i : i + CHUNK]) for i in range(0, most, CHUNK)]
    squares, place = np.concatenate(parts), min(int(np.ceil(quantile * most)), most) - 1
    squares.partition(place, axis=0)
    return np.asarray(np.sqrt(squares[place]))
