"""How alike a few lists are, from how many of them hold each gene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def agreement(lists: Sequence[Array], d: int) -> float:
    """Φ = 1 - M/(M-1) Σ_f p_f (1-p_f) / [d (k/d)(1-k/d)] of M lists among d genes.

    p_f is the share of lists that hold gene f, k the mean size: 1 for identical lists, 0 on average
    for random ones.

    Parameters
    ----------
    lists : sequence of M arrays of int
        Numbers of the genes, each once.
    d : int

    Returns
    -------
    float
        NaN for fewer than two lists, and where all are empty or hold every gene.

    References
    ----------
    Nogueira, Sechidis and Brown 2018, JMLR 18(174): definition 4.
    """
    m, held = len(lists), np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *lists]))
    share = len(held) / (m * d) if m else 0.0
    if m < 2 or not 0 < share < 1:
        return float("nan")
    last = np.append(np.flatnonzero(held[1:] != held[:-1]), len(held) - 1)
    p = np.diff(last, prepend=-1) / m  # a third of the time of np.unique, asked for at every tau
    return float(1 - m / (m - 1) * np.sum(p * (1 - p)) / (d * share * (1 - share)))
