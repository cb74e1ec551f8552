"""Designs of blocks: of columns, or of kernels in their place (multiple kernel learning).

    min_f (1/n)||Y - sum_k f_k(X)||² + mu sum_k ||f_k||² + tau sum_k w_k ||f_k||

with each norm that of the kernel's space. Any factor A_k of K_k = A_k A_k' would do, and none is
needed: f_k = K_k c_k, and c_k lies along alpha.

Source: Mosci 2009, section 5.4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
        self.X = np.asarray(X, dtype=float)
        self.blocks = blocks
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

    def fitted(self, blocks: Array, norms: Array, alpha: Array) -> Array:
        """Return ``sum_k A_k v_k`` (n, T) of v_k along ``A_k'alpha``, of some blocks and norms."""
        along = self._rows @ alpha
        sums = self._sums[blocks]
        reached = np.sqrt(sums @ np.einsum("jt,jt->j", along, along))
        return np.asarray(self._rows.T @ ((sums.T @ (norms / reached))[:, None] * along))

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


def full(rows: Array, n: int) -> Array:
    """Return the symmetric matrices (..., n, n) of which `lower` made these rows."""
    found = np.empty((*rows.shape[:-1], n, n))
    (i, j) = _places(n)
    found[..., i, j] = found[..., j, i] = rows
    return found


@cache
def _places(n: int) -> tuple[Array, Array]:
    return np.tril_indices(n)


def membership(blocks: Blocks, dtype: Any) -> csr_array:
    """Return 1 where a block has a column, 0 elsewhere, (B, number of columns used)."""
    from scipy.sparse import csr_array

    ones = np.ones(len(blocks.place), dtype=dtype)
    return csr_array((ones, blocks.place, blocks.starts), shape=(len(blocks), len(blocks.used)))


@dataclass(frozen=True)
class Kernels:
    """Kernel matrices K (B, n, n) of n samples, centred, and their weights (B,).

    The "columns" of kernel k are the n expansion coefficients c_k, from k n on.
    """

    K: Array
    weights: Array

    def __post_init__(self) -> None:
        if self.K.ndim != 3 or self.K.shape[1] != self.K.shape[2] or not len(self.K):
            raise GenesigError(f"kernels must be (B, n, n); found {self.K.shape}")
        if self.weights.shape != self.K.shape[:1] or not (self.weights > 0).all():
            raise GenesigError(f"weights must be {len(self.K)} numbers > 0, one for a kernel")

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return len(self.K[0])

    @property
    def d(self) -> int:
        """Return the number of expansion coefficients, B n."""
        return len(self.K) * self.n

    def columns(self, k: int) -> Array:
        """Return the places of c_k."""
        return np.arange(k * self.n, (k + 1) * self.n)

    def direction(self, k: int, alpha: Array) -> Array:
        """Return alpha, of norm 1 in the kernel's space; 0 where it has none."""
        norm = np.sqrt(max(float(np.vdot(alpha, self.K[k] @ alpha)), 0.0))
        return alpha / norm if norm > 0 else np.zeros_like(alpha)

    @property
    def single(self) -> bool:
        """Return whether each block is one column."""
        return False

    def inside(self, s: int) -> Array:
        """Return all samples."""
        return np.ones(self.n, dtype=bool)

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``tr alpha'K_k alpha``, (P, B), of alphas (P, n, T)."""
        P, n, T = alphas.shape
        stacked = alphas.transpose(1, 0, 2).reshape(n, P * T)
        reached = (self.K.reshape(-1, n) @ stacked).reshape(-1, n, P, T)
        found: Array = np.einsum("kipt,pit->pk", reached, alphas)
        return np.maximum(found, 0)

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some K_k, see `columns.lower`."""
        return lower(self.K[blocks])
