"""What a set's norm weighs in the penalty, so that sets of all sizes compete fairly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.weights import permuted_weights

Array = np.ndarray[Any, Any]

PERMUTATIONS = 500
GAUSSIAN = 2.5758
"""The 99 % quantile of |x|, x of a standard Gaussian."""


def permuted(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return `permuted_weights`; a gene by itself weighs at least what a Gaussian one would, (B,).

    Of a gene that differs in one sample only, every shuffled sum is of the same size: its quantile
    is no larger than the sum itself, and it would always seem to be as good as 1 in 100.
    """
    found = permuted_weights(Z, shuffled, members, starts)
    alone = np.flatnonzero(np.diff(starts) == 1)
    spread = np.sqrt(np.mean(np.square(shuffled)))
    least = GAUSSIAN * spread * np.linalg.norm(Z[:, members[starts[alone]]], axis=0)
    found[alone] = np.maximum(found[alone], least)
    return found


def of_size(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return the square root of each block's size, (B,)."""
    found: Array = np.sqrt(np.diff(starts).astype(float))
    return found


def equal(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return 1 for each block, (B,)."""
    return np.ones(len(starts) - 1)


def weighted(name: str, Z: Array, shuffled: Array, members: Array, starts: Array) -> Blocks:
    """Return the blocks with the weights of this name; what has no variance is never selected."""
    found = WEIGHTS[name](Z, shuffled, members, starts)
    return Blocks(members, starts, np.where(found > 0, found, 1.0))


WEIGHTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "permuted": permuted,
    "size": of_size,
    "equal": equal,
}
