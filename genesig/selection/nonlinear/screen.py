"""The genes that are looked at: those on which the response depends most, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

WIDTH = 0.25
"""Of the Gaussian kernel between ranks, which run from 0 to 1."""

NEGLIGIBLE = 1e-8
"""Share of the largest eigenvalue below which a kernel's eigenfunctions are left out."""

BLOCK = 1024
"""Genes whose ranks are found at once: that takes six times the room of their values."""


def screen(X: Array, y: Array, most: int | None) -> Array:
    """Return the columns with the largest dependence, ascending; None is all of them.

    Parameters
    ----------
    X, y : (n, d), (n,)
        Training rows only.
    most : int or None

    See Also
    --------
    dependence
    """
    if most is None or most >= X.shape[1]:
        return np.arange(X.shape[1])
    order = np.argsort(-dependence(X, y), kind="stable")
    return np.sort(order[:most])


def dependence(X: Array, y: Array) -> Array:
    """Return Σ_ik (y_i - ȳ) (y_k - ȳ) k(r_ij, r_kj) of each column j, (d,).

    r is the rank of a value in its column, from 0 to 1, and k a Gaussian kernel: the
    Hilbert-Schmidt independence criterion with a linear kernel on y (times n²). It sees a mean of
    y that depends on the gene in any smooth way, up, down or up and down again, and does not
    change under growing transforms of the gene. It sees one gene at a time: a gene that matters
    only together with others can be missed.

    Source: Gretton et al. (2005); as a screen, Song et al. (2012).
    """
    eigenfunctions = _eigenfunctions(len(y))
    place, centred = twice_ranks(X), y - y.mean()
    total = np.zeros(X.shape[1])
    for column in eigenfunctions.T:
        total += np.square(centred @ column[place])
    return total


def twice_ranks(X: Array) -> Array:
    """Return 2 (rank - 1) of each value in its column, ties sharing their mean rank, (n, d) int."""
    out = np.empty(X.shape, dtype=np.int64)
    for first in range(0, X.shape[1], BLOCK):
        part = slice(first, first + BLOCK)
        out[:, part] = _twice_ranks(X[:, part])
    return out


def _twice_ranks(X: Array) -> Array:
    n = len(X)
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    rises = ordered[1:] != ordered[:-1]
    row, edge = np.arange(n)[:, None], np.ones((1, X.shape[1]), dtype=bool)
    first = np.maximum.accumulate(np.where(np.vstack([edge, rises]), row, 0), axis=0)
    behind = np.where(np.vstack([rises, edge]), row, n - 1)
    last = np.minimum.accumulate(behind[::-1], axis=0)[::-1]
    out = np.empty(X.shape, dtype=np.int64)
    np.put_along_axis(out, order, first + last, axis=0)
    return out


def _eigenfunctions(n: int) -> Array:
    """Return P with P P' = the kernel between all whole and half ranks of n values."""
    points = np.arange(2 * n - 1) / max(2 * n - 2, 1)
    K = np.exp(-np.square(points[:, None] - points) / (2 * WIDTH**2))
    eigenvalues, V = np.linalg.eigh(K)
    kept = eigenvalues > NEGLIGIBLE * eigenvalues[-1]
    return np.asarray(V[:, kept] * np.sqrt(eigenvalues[kept]))
