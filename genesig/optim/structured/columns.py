"""The design of blocks of columns: the norms of all blocks, and the Gram matrix of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from genesig.optim.structured.blocks import Blocks

Array = np.ndarray[Any, Any]

KEPT = 100e6  # bytes of Gram matrices that are kept for the next response


class Design(Protocol):
    """B designs A_k of n samples, of which only inner products are asked for on the way."""

    @property
    def n(self) -> int:
        """Return the number of samples."""

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""

    @property
    def single(self) -> bool:
        """Return whether each block is one column."""

    def inside(self, s: int) -> Array:
        """Return which samples (n,) are in the training set of response s."""

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``||A_k'alpha||²``, (P, B), of alphas (P, n, T) of the responses `which`."""

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some A_k (m, n_s), or ``A_k A_k'``, see `lower`."""


class Layout(Design, Protocol):
    """A design whose blocks have places among d columns."""

    @property
    def d(self) -> int:
        """Return the number of columns, of all blocks together."""

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""

    def direction(self, k: int, alpha: Array) -> Array:
        """Return ``A_k'alpha / ||A_k'alpha||``, (m_k, T); 0 where there is none."""


class Columns:
    """Blocks of columns of X (n, d), laid out once for many responses.

    Attributes
    ----------
    X : (n, d)
        As given, centred.
    blocks : Blocks
    """

    def __init__(self, X: Array, blocks: Blocks) -> None:
        self.X, self.blocks = np.asarray(X, dtype=float), blocks
        blocks.check(self.d)
        self._rows = self.X.T if len(blocks.used) == self.d else self.X.T[blocks.used]
        self._rows = np.ascontiguousarray(self._rows)
        self._sums = membership(blocks, self._rows.dtype)
        self._grams: dict[int, Array] = {}

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return len(self.X)

    @property
    def d(self) -> int:
        """Return the number of columns of X."""
        return int(self.X.shape[1])

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""
        return self.blocks.weights

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""
        return self.blocks.columns(k)

    def direction(self, k: int, alpha: Array) -> Array:
        """Return ``A_k'alpha / ||A_k'alpha||``, (m_k, T); 0 where there is none."""
        along = self.X[:, self.columns(k)].T @ alpha
        return np.asarray(along / (np.linalg.norm(along) or 1.0))

    @property
    def single(self) -> bool:
        """Return whether each block is one column."""
        return len(self.blocks.members) == len(self.blocks)

    def inside(self, s: int) -> Array:
        """Return all samples."""
        return np.ones(self.n, dtype=bool)

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``||A_k'alpha||²``, (P, B), of alphas (P, n, T)."""
        P, n, T = alphas.shape
        G = self._rows @ alphas.transpose(1, 0, 2).reshape(n, P * T)
        G *= G
        of_column = G if T == 1 else G.reshape(-1, P, T).sum(axis=2)
        squares: Array = (self._sums @ of_column).T
        return squares

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some A_k (m, n), or ``A_k A_k'``, see `lower`."""
        if self.single:
            return np.asarray(self._rows[self.blocks.place[blocks]])
        return np.array([self._gram(int(k)) for k in blocks])

    def _gram(self, k: int) -> Array:
        if k not in self._grams:
            A = self._rows[self.blocks.place[self.blocks.starts[k] : self.blocks.starts[k + 1]]]
            if len(self._grams) * 4 * self.n**2 > KEPT:
                self._grams.clear()
            self._grams[k] = lower(A.T @ A)
        return self._grams[k]


def lower(M: Array) -> Array:
    """Return the rows of the lower triangle of matrices (..., n, n), one behind the other."""
    found: Array = M[..., *_places(M.shape[-1])]
    return found


@cache
def _places(n: int) -> tuple[Array, Array]:
    return np.tril_indices(n)


def membership(blocks: Blocks, dtype: Any) -> csr_array:
    """Return 1 where a block has a column, 0 elsewhere, (B, number of columns used)."""
    ones = np.ones(len(blocks.place), dtype=dtype)
    return csr_array((ones, blocks.place, blocks.starts), shape=(len(blocks), len(blocks.used)))
