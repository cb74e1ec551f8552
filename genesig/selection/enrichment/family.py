"""Chance that any set of a collection would be as far, from permuted labels."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ROUNDING = 1e-9


def family_p(observed: Array, null: Array) -> Array:
    """Return ``p_k = (1 + #{b: max_j z_bj >= z_k}) / (B + 1)`` of each set, (n_sets,).

    The largest statistic of a permutation is of one set or another, however they overlap or go
    together: under permuted labels some p is at most a in at most a share a of studies. So one
    set among thousands can be found with a hundred permutations, where a p for each set that is
    then multiplied by their number cannot be small.

    Parameters
    ----------
    observed : (n_sets,) float
        A statistic that is alike for all sets under permuted labels, large where a set is far.
    null : (B, n_sets) float

    Source: Westfall and Young 1993, single-step maxT; Phipson and Smyth 2010 for the one added.
    """
    largest = np.sort(null.max(axis=1))
    below = np.searchsorted(largest, observed - ROUNDING)
    return np.asarray((1 + len(null) - below) / (len(null) + 1))
