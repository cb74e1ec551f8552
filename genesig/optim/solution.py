"""The record that every solver returns, and the duality gap that certifies it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from genesig.arrays import Array, row_entries

NOT_COMPUTED = -1  # number of iterations of a fit after the end of its row


@dataclass(frozen=True)
class Path:
    """Minimisers for k training sets at m pairs (tau, mu) each."""

    shape: tuple[int, int]  # (K, M) numbers of training sets and of points, (k, m) below
    # (K M + 1,) the coefficients of training set k at point m, both counted from 0, are
    # ``slice(indptr[k M + m], indptr[k M + m + 1])``
    indptr: Array
    indices: Array  # (nnz,) features of the non-zero coefficients, ascending in each fit
    values: Array  # (nnz,) or (nnz, T) coefficients on the standardised scale
    gap: Array  # (k, m) duality gap relative to ``||y||²/n``; NaN after the end of a row
    iterations: Array  # (k, m) int; `NOT_COMPUTED` after the end of a row (see `end_rows`)
    converged: Array  # (k, m) bool, whether the gap reached the tolerance
    message: str  # empty, or a sentence about the fits that did not converge

    @classmethod
    def from_coefs(
        cls,
        shape: tuple[int, ...],
        coefs: Sequence[tuple[Array, Array]],
        gap: Array,
        iterations: Array,
        tolerance: float,
    ) -> Path:
        """Return a path of one outcome from (indices, values) of each fit, in the order (k, m)."""
        sizes = np.array([len(values) for _, values in coefs])
        indices = np.concatenate([np.zeros(0, np.int64), *(i for i, _ in coefs)])
        values = np.concatenate([np.zeros(0), *(v for _, v in coefs)])
        return cls.from_arrays(shape, sizes, indices, values, gap, iterations, tolerance)

    @classmethod
    def from_arrays(
        cls,
        shape: tuple[int, ...],
        sizes: Array,
        indices: Array,
        values: Array,
        gap: Array,
        iterations: Array,
        tolerance: float,
    ) -> Path:
        """Return a path from the concatenated coefficients of all fits, and their sizes."""
        return cls(
            shape=(shape[0], shape[1]),
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=indices,
            values=values,
            gap=gap,
            iterations=iterations,
            converged=gap <= tolerance,
            message=convergence_message(gap[iterations != NOT_COMPUTED], tolerance),
        )

    @classmethod
    def side_by_side(cls, paths: Sequence[Path]) -> Path:
        """Return the path (k, P m) of P paths of one shape (k, m), the points of each in turn.

        Row k holds the m points of the first path for training set k, then those of the next.
        """
        fit_numbers = []
        for position, path in enumerate(paths):
            k, m = path.shape
            fits_of_path = np.arange(k)[:, None] * len(paths) * m + position * m + np.arange(m)
            fit_numbers.append(np.repeat(fits_of_path.ravel(), np.diff(path.indptr)))
        order = np.argsort(np.concatenate(fit_numbers), kind="stable")
        sizes = np.hstack([path.sizes() for path in paths])
        return cls(
            shape=(sizes.shape[0], sizes.shape[1]),
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=np.concatenate([path.indices for path in paths])[order],
            values=np.concatenate([path.values for path in paths])[order],
            gap=np.hstack([path.gap for path in paths]),
            iterations=np.hstack([path.iterations for path in paths]),
            converged=np.hstack([path.converged for path in paths]),
            message="; ".join(path.message for path in paths if path.message),
        )

    def coef(self, k: int, m: int) -> tuple[Array, Array]:
        """Return (indices, values) of the non-zero coefficients of training set k at point m."""
        entries = row_entries(self.indptr, k * self.shape[1] + m)
        return self.indices[entries], self.values[entries]

    def sizes(self) -> Array:
        """Return the number of non-zero coefficients of each fit, (k, m)."""
        return np.diff(self.indptr).reshape(self.shape)

    def has_ended(self) -> Array:
        """Return whether each row had ended before each fit, (k, m)."""
        return np.asarray(self.iterations == NOT_COMPUTED)

    def last_kept(self) -> Array:
        """Return the number of the last fit before each row ended, (k,); -1 without any."""
        return np.asarray(np.count_nonzero(~self.has_ended(), axis=1) - 1)

    def end_rows(self, longest: int | None) -> Path:
        """Return the path with each row cut before its first fit of more than `longest` features.

        Later fits are cut as well, whatever their length, as if they had not been computed.
        """
        if longest is None:
            return self
        has_ended = np.logical_or.accumulate(self.sizes() > longest, axis=1)
        is_kept = np.repeat(~has_ended.ravel(), np.diff(self.indptr))
        sizes = np.where(has_ended, 0, self.sizes())
        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=self.indices[is_kept],
            values=self.values[is_kept],
            gap=np.where(has_ended, np.nan, self.gap),
            iterations=np.where(has_ended, NOT_COMPUTED, self.iterations),
            converged=self.converged & ~has_ended,
        )


def convergence_message(gap: Array, tolerance: float) -> str:
    """Return a sentence about the fits whose gap exceeds the tolerance; "" if there is none."""
    unconverged = ~(gap <= tolerance)
    if not unconverged.any():
        return ""
    return (
        f"{unconverged.sum()} of {unconverged.size} fits did not reach the relative duality gap"
        f" {tolerance:g} (largest {np.max(gap[unconverged]):.2g})"
    )


def duality_gap(
    Z: Array, y: Array, b: Array, tau: float, mu: float, weights: Array | None = None
) -> float:
    """Return an upper bound of ``Phi(b) - min Phi``, relative to ``||y||²/n``.

    With ``g = (2/n) Z'r - 2 mu b`` and ``s = min(1, tau / max_j |g_j|)``::

        gap = sum_j (tau |b_j| - b_j g_j) + (1-s)/n (2 y'r - (1+s) (||r||² + n mu ||b||²))

    which is the primal minus the dual objective at ``s r``, arranged so that nothing cancels. At
    ``tau = 0 < mu`` the dual of the ridge penalty is used instead: ``gap = ||g||² / (4 mu)``.

    Z (n, d). y (n,). b (d,). weights (d,), optional: weights of the l1 term. A feature of weight 0
    is left out of s, and ``|b_j g_j|`` added.
    """
    n = len(y)
    threshold = tau * (np.ones(len(b)) if weights is None else weights)
    r = y - Z @ b
    g = 2 / n * (Z.T @ r) - 2 * mu * b
    scale = float(y @ y) / n or 1.0
    if tau == 0 and mu > 0:
        return float(g @ g) / (4 * mu) / scale
    s = min(
        1.0, 1.0 / float((np.abs(g[threshold > 0]) / threshold[threshold > 0]).max(initial=1.0))
    )
    energy = r @ r + n * mu * (b @ b)
    gap = np.where(threshold > 0, threshold * np.abs(b) - b * g, np.abs(b * g)).sum()
    gap += (1 - s) / n * (2 * (y @ r) - (1 + s) * energy)
    return max(float(gap), 0.0) / scale
