"""How many genes have a half-frequency by chance, and which can be named at a rate of error.

With F_g the number of lists that hold gene g, of T, and F_g^b that under permutation b = 1 ... B:

    E(t) = (1 + Σ_b #{g : F_g^b >= t}) / (B + 1),   R(t) = #{g : F_g >= t},
    q_g = min over t <= F_g of min(1, E(t) / R(t)).

E sums the null of every gene, so that genes which are listed easily (of large variance, with heavy
tails, in large blocks) do not mislead it. The 1 keeps q above 0, as Phipson and Smyth 2010 ask of
p.

Source: the plug-in estimate of the false discovery rate of Storey and Tibshirani 2003, PNAS
100:9440, and of SAM, Tusher et al. 2001, PNAS 98:5116, with lists of halves in the place of t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


DIGITS = 9


"""Of the largest value: copies of a gene, fitted together, differ by less."""


def rounded(values: Array) -> Array:
    """Return sizes (n,) as shares of the largest one, rounded, so that those of copies are equal.

    Sorted by them, copies stand in the order of their names, whatever the scale of the data.
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, DIGITS) if largest > 0 else values


MU = 1e-2


"""Weight of the squared l2 term of their lists, in units of ||X'X||/n: correlated genes enter
together."""


LONGEST, SHARE = 100, 0.1


"""Most genes of a list, and most of all."""


NESTED = (0.5, 1.0)


"""Shares of the genes of a half, by weight, that make its lists: one of the first genes counts
twice, one of the last once."""


LOOSE = 2.0


"""Rate of error of the genes that may predict, in units of that of named ones."""


FEWEST = 19


"""Permutations below which nothing is claimed: no p would reach .05."""


LEVEL = 0.05


"""Share of noise studies that may name a gene, whatever the rate among those named."""


def tails(times: Array, most: int) -> Array:
    """Return how many of d genes at least t halves list: (k, most + 1) of times (k, d)."""
    counts = np.zeros((len(times), most + 1), dtype=np.int64)
    row = np.repeat(np.arange(len(times)), times.shape[1])
    np.add.at(counts, (row, times.ravel()), 1)
    return np.asarray(counts[:, ::-1].cumsum(axis=1)[:, ::-1])


def expected(null: Array) -> Array:
    """Return E(t), (T + 1,), of the tails (B, T + 1) under permuted labels."""
    return np.asarray((1 + null.sum(axis=0)) / (len(null) + 1))


def q_values(times: Array, chance: Array, among: Array | None = None) -> Array:
    """Return q of each gene (d,), from its number of lists and E(t); 1 where no list holds it.

    R counts the genes themselves, or `among` others.
    """
    found = tails((times if among is None else among)[None], len(chance) - 1)[0]
    return np.asarray(_q(found, chance)[times])


def _q(found: Array, chance: Array) -> Array:
    """Return q of a gene that t lists hold, (..., T + 1); NaN beyond the most frequent one."""
    ratio = np.divide(chance, found, out=np.full(found.shape, np.nan), where=found > 0)
    ratio[..., 0] = 1.0
    return np.asarray(np.fmin.accumulate(np.minimum(1.0, ratio), axis=-1))


def _called(found: Array, chance: Array, fdr: float) -> Array:
    """Return how many genes have q <= fdr, (...,), of tails (..., T + 1)."""
    passing = (_q(found, chance) <= fdr) & (found > 0)
    first = np.argmax(passing, axis=-1)
    number = np.take_along_axis(found, first[..., None], axis=-1)[..., 0]
    return np.where(passing.any(axis=-1), number, 0)


def gate(found: Array, null: Array, fdr: float) -> float:
    """Return p of the number of genes called: whether there is anything to be named at all.

    The best of many t passes too often in noise. So each permutation is called by the E of the
    others: p = (1 + #{b : called_b >= called}) / (B + 1).

    Parameters
    ----------
    found : (T + 1,) int
        Tails under the observed labels.
    null : (B, T + 1) int
    fdr : float

    Returns
    -------
    float
        1 where no gene is called, and with fewer than two permutations.
    """
    own = int(_called(found, expected(null), fdr)) if len(null) > 1 else 0
    if not own:
        return 1.0
    others = (1 + null.sum(axis=0) - null) / len(null)
    return float((1 + np.sum(_called(null, others, fdr) >= own)) / (len(null) + 1))


def p_values(times: Array, null: Array) -> Array:
    """Return (1 + #{b : F_g^b >= F_g}) / (B + 1) of each gene, (d,), of null (B, d)."""
    return np.asarray((1 + np.sum(null >= times, axis=0)) / (len(null) + 1))


def ranked(times: Array, strength: Array) -> Array:
    """Return the genes that any list holds, the most frequent first, then the strongest."""
    order = np.lexsort((np.arange(len(times)), -rounded(strength), -times))
    return np.asarray(order[: np.count_nonzero(times)])
