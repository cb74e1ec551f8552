"""Designs of blocks: of columns, or of kernels instead of columns (multiple kernel learning).

    min_f (1/n)||Y - sum_k f_k(X)||² + mu sum_k ||f_k||² + tau sum_k w_k ||f_k||

with each norm that of the kernel's space. Any factor A_k of K_k = A_k A_k' would do, and none is
needed: f_k = K_k c_k, and c_k is a multiple of alpha = (Y - sum_k f_k)/n, the residuals over n.

Source: Mosci 2009, section 5.4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import GenesigError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Blocks:
    """B blocks of columns, which may overlap.

    Raises GenesigError: for a block without columns, or a weight that is not positive.
    """

    members: Array  # (memberships,) int, columns of X, block after block
    # (B + 1,) int; block k is ``members[starts[k] : starts[k + 1]]``, each column once
    starts: Array
    weights: Array  # (B,) weight w_k > 0 of each block's norm in the penalty

    def __post_init__(self) -> None:
        sizes = np.diff(self.starts)
        weights = self.weights
        if not (len(sizes) and (sizes > 0).all()):
            raise GenesigError("there must be blocks, and each needs at least one column")
        if weights.shape != sizes.shape or not (np.isfinite(weights) & (weights > 0)).all():
            raise GenesigError(f"weights must be {len(sizes)} finite numbers > 0, one for a block")
        if self.members.min() < 0:
            raise GenesigError("columns are counted from 0; found a negative number")

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]], weights: Sequence[float] | Array) -> Blocks:
        """Return the blocks of lists of columns; raise if a list has a column twice."""
        members_of_block = [np.asarray(columns, dtype=np.int64) for columns in lists]
        has_repeats = [
            k for k, part in enumerate(members_of_block) if len(np.unique(part)) < len(part)
        ]
        if has_repeats:
            raise GenesigError(f"block {has_repeats[0]} names a column twice")
        starts = np.concatenate([[0], np.cumsum([len(part) for part in members_of_block])]).astype(
            np.int64
        )
        members = np.concatenate([np.zeros(0, np.int64), *members_of_block])
        return cls(members, starts, np.array(weights, dtype=float))

    def __len__(self) -> int:
        return len(self.weights)

    def check(self, d: int) -> None:
        """Raise if the blocks do not fit d columns."""
        if self.members.max() >= d:
            raise GenesigError(
                f"blocks name column {self.members.max()}, counted from 0, of {d} columns"
            )

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""
        return np.asarray(self.members[self.starts[k] : self.starts[k + 1]])

    def sizes(self) -> Array:
        """Return the number of columns of each block, (B,)."""
        return np.diff(self.starts)

    @cached_property
    def used_columns(self) -> Array:
        """Columns that are in a block, ascending."""
        return np.flatnonzero(np.bincount(self.members))

    @cached_property
    def member_positions(self) -> Array:
        """Position of each membership among the used columns."""
        position_of_column = np.zeros(self.used_columns[-1] + 1, dtype=np.int64)
        position_of_column[self.used_columns] = np.arange(len(self.used_columns))
        return position_of_column[self.members]

    def norms(self, coefs: Array) -> Array:
        """Return the Frobenius norm of each block's rows of coefficients (d, T), (B,)."""
        squares = row_squares(coefs)[self.members]
        return np.sqrt(np.add.reduceat(squares, self.starts[:-1]))


MAX_GRAM_BYTES = 100e6  # memory of Gram matrices that are kept for the next response


class Design(Protocol):
    """B designs A_k of n samples, of which solvers need only inner products.

    A response (n, T) may have a training set of its own, which `set_number` numbers.
    """

    @property
    def n(self) -> int:
        """Return the number of samples."""

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""

    @property
    def single_columns(self) -> bool:
        """Return whether each block is one column."""

    def in_training(self, set_number: int) -> Array:
        """Return which samples (n,) are in a training set."""

    def squared_products(self, alphas: Array, set_numbers: Sequence[int] = ()) -> Array:
        """Return ``||A_k'alpha||²``, (P, B), of alphas (P, n, T).

        set_numbers (P,): their training sets; () if all have one training set.
        """

    def block_designs(self, set_number: int, blocks: Array) -> Array:
        """Return some A_k (m, n_s) on the training samples, if each is one column.

        Of other blocks ``A_k A_k'``, as by `lower_triangle`.
        """


class Layout(Design, Protocol):
    """A design whose blocks have places among d columns."""

    @property
    def d(self) -> int:
        """Return the number d of columns among which the blocks have their places."""

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""

    def direction(self, k: int, alpha: Array) -> Array:
        """Return ``A_k'alpha / ||A_k'alpha||``, (m_k, T); 0 where there is none."""


class Columns:
    """Blocks of columns of X (n, d), prepared once for many responses.

    X is centred by the caller.
    """

    def __init__(self, X: Array, blocks: Blocks) -> None:
        self.X = np.asarray(X, dtype=float)
        self.n, self.d = self.X.shape
        self.blocks = blocks
        self.weights = blocks.weights
        self.single_columns = len(blocks.members) == len(blocks)
        blocks.check(self.d)
        uses_all = len(blocks.used_columns) == self.d
        used_rows = self.X.T if uses_all else self.X.T[blocks.used_columns]
        self._rows = np.ascontiguousarray(used_rows)  # (used columns, n) X'
        self._sums = membership(blocks, self._rows.dtype)  # (B, used columns) 0 or 1
        self._grams: dict[int, Array] = {}

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""
        return self.blocks.columns(k)

    def direction(self, k: int, alpha: Array) -> Array:
        """Return ``A_k'alpha / ||A_k'alpha||``, (m_k, T); 0 where there is none."""
        products = self.X[:, self.columns(k)].T @ alpha
        return np.asarray(products / (np.linalg.norm(products) or 1.0))

    def in_training(self, set_number: int) -> Array:
        """Return all samples."""
        return np.ones(self.n, dtype=bool)

    def squared_products(self, alphas: Array, set_numbers: Sequence[int] = ()) -> Array:
        """Return ``||A_k'alpha||²``, (P, B), of P alphas (P, n, T).

        `set_numbers` has no effect: all responses have the same training set.
        """
        P, n, T = alphas.shape
        products = self._rows @ alphas.transpose(1, 0, 2).reshape(n, P * T)
        products *= products
        column_squares = products if T == 1 else products.reshape(-1, P, T).sum(axis=2)
        return np.asarray((self._sums @ column_squares).T)

    def fitted(self, blocks: Array, norms: Array, alpha: Array) -> Array:
        """Return ``sum_k A_k v_k`` (n, T) of some blocks, v_k along ``A_k'alpha``.

        norms (m,) are those of the v_k; ``A_k'alpha`` must not be 0.
        """
        products = self._rows @ alpha
        block_members = self._sums[blocks]
        lengths = np.sqrt(block_members @ np.einsum("jt,jt->j", products, products))
        return np.asarray(
            self._rows.T @ ((block_members.T @ (norms / lengths))[:, None] * products)
        )

    def block_designs(self, set_number: int, blocks: Array) -> Array:
        """Return some A_k (m, n), or ``A_k A_k'`` as by `lower_triangle`."""
        if self.single_columns:
            return np.asarray(self._rows[self.blocks.member_positions[blocks]])
        return np.array([self._gram(int(k)) for k in blocks])

    def _gram(self, k: int) -> Array:
        """Return ``A_k A_k'`` as by `lower_triangle`."""
        if k not in self._grams:
            A = self._rows[
                self.blocks.member_positions[self.blocks.starts[k] : self.blocks.starts[k + 1]]
            ]
            triangle_bytes = 4 * self.n**2  # half a matrix of 8 bytes a number
            if len(self._grams) * triangle_bytes > MAX_GRAM_BYTES:
                self._grams.clear()
            self._grams[k] = lower_triangle(A.T @ A)
        return self._grams[k]


def lower_triangle(M: Array) -> Array:
    """Return the rows of the lower triangle of matrices (..., n, n), concatenated."""
    return np.asarray(M[..., *_lower_indices(M.shape[-1])])


def symmetric_matrix(rows: Array, n: int) -> Array:
    """Return the symmetric matrices (..., n, n) whose `lower_triangle` has these rows."""
    matrices = np.empty((*rows.shape[:-1], n, n))
    (i, j) = _lower_indices(n)
    matrices[..., i, j] = matrices[..., j, i] = rows
    return matrices


@cache
def _lower_indices(n: int) -> tuple[Array, Array]:
    """Return the indices of the lower triangle of an n × n matrix."""
    return np.tril_indices(n)


def membership(blocks: Blocks, dtype: Any) -> csr_array:
    """Return 1 where a block has a column, else 0, (B, number of used columns)."""
    from scipy.sparse import csr_array

    entries = np.ones(len(blocks.member_positions), dtype=dtype)
    return csr_array(
        (entries, blocks.member_positions, blocks.starts),
        shape=(len(blocks), len(blocks.used_columns)),
    )


@dataclass(frozen=True)
class Kernels:
    """Kernel matrices K (B, n, n) of n samples, centred, and their weights (B,).

    The "columns" of kernel k are the n expansion coefficients c_k, from k n on.
    """

    K: Array
    weights: Array
    single_columns: ClassVar[bool] = False

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
        """Return the numbers of the coefficients c_k."""
        return np.arange(k * self.n, (k + 1) * self.n)

    def direction(self, k: int, alpha: Array) -> Array:
        """Return alpha with norm 1 in the kernel's space; 0 if its norm is 0."""
        norm = np.sqrt(max(float(np.vdot(alpha, self.K[k] @ alpha)), 0.0))
        return alpha / norm if norm > 0 else np.zeros_like(alpha)

    def in_training(self, set_number: int) -> Array:
        """Return all samples."""
        return np.ones(self.n, dtype=bool)

    def squared_products(self, alphas: Array, set_numbers: Sequence[int] = ()) -> Array:
        """Return ``tr alpha'K_k alpha``, (P, B), of alphas (P, n, T)."""
        P, n, T = alphas.shape
        stacked = alphas.transpose(1, 0, 2).reshape(n, P * T)
        products = (self.K.reshape(-1, n) @ stacked).reshape(-1, n, P, T)
        squares: Array = np.einsum("kipt,pit->pk", products, alphas)
        return np.maximum(squares, 0)

    def block_designs(self, set_number: int, blocks: Array) -> Array:
        """Return some K_k as by `lower_triangle`."""
        return lower_triangle(self.K[blocks])
