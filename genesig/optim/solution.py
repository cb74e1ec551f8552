"""The record that every solver returns, and the duality gap that proves how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from genesig.arrays import Array


@dataclass(frozen=True)
class Path:
    """Minimisers for k training sets at m pairs (tau, mu) each.

    Attributes
    ----------
    shape : (int, int)
        (k, m).
    indptr, indices, values : (k * m + 1,), (nnz,), (nnz,)
        Sparse coefficients on the standardised scale, features ascending: fit (k, m) is
        ``slice(indptr[k * M + m], indptr[k * M + m + 1])``.
    gap : (k, m) float
        Duality gap relative to ``||y||²/n``; NaN where the row had ended.
    iterations : (k, m) int
        -1 where the row had ended (see `ended`).
    converged : (k, m) bool
        Whether the gap reached the tolerance.
    message : str
        Empty, or a sentence about the fits that did not converge.
    """

    shape: tuple[int, int]
    indptr: Array
    indices: Array
    values: Array
    gap: Array
    iterations: Array
    converged: Array
    message: str

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        coefs: Sequence[tuple[Array, Array]],
        gap: Array,
        iterations: Array,
        tolerance: float,
    ) -> Path:
        """Collect (indices, values) of the fits, in the order (k, m)."""
        sizes = np.array([len(values) for _, values in coefs])
        indices = np.concatenate([np.zeros(0, np.int64), *(i for i, _ in coefs)])
        values = np.concatenate([np.zeros(0), *(v for _, v in coefs)])
        return cls.joined(shape, sizes, indices, values, gap, iterations, tolerance)

    @classmethod
    def joined(
        cls,
        shape: tuple[int, ...],
        sizes: Array,
        indices: Array,
        values: Array,
        gap: Array,
        iterations: Array,
        tolerance: float,
    ) -> Path:
        """Take the coefficients of all fits, one after the other, with the sizes of the fits."""
        return cls(
            shape=(shape[0], shape[1]),
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=indices,
            values=values,
            gap=gap,
            iterations=iterations,
            converged=gap <= tolerance,
            message=not_converged(gap[iterations >= 0], tolerance),
        )

    @classmethod
    def beside(cls, paths: Sequence[Path]) -> Path:
        """Return the path whose rows are those of some paths (k, m), one after the other."""
        fit = []
        for number, path in enumerate(paths):
            k, m = path.shape
            of_path = np.arange(k)[:, None] * len(paths) * m + number * m + np.arange(m)
            fit.append(np.repeat(of_path.ravel(), np.diff(path.indptr)))
        order = np.argsort(np.concatenate(fit), kind="stable")
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
        """Return (indices, values) of the non-zero coefficients of one fit."""
        part = slice(*self.indptr[k * self.shape[1] + m :][:2])
        return self.indices[part], self.values[part]

    def sizes(self) -> Array:
        """Return the number of non-zero coefficients of each fit, (k, m)."""
        return np.diff(self.indptr).reshape(self.shape)

    def has_ended(self) -> Array:
        """Return whether each row had ended before each fit, (k, m)."""
        return np.asarray(self.iterations < 0)

    def last_kept(self) -> Array:
        """Return the number of the last fit before each row ended, (k,); -1 without any."""
        return np.asarray(np.count_nonzero(~self.has_ended(), axis=1) - 1)

    def ended(self, longest: int | None) -> Path:
        """Return the path with each row cut before its first fit of more than `longest` features.

        What comes after is as good as never computed, whatever its length.
        """
        if longest is None:
            return self
        over = np.logical_or.accumulate(self.sizes() > longest, axis=1)
        kept = np.repeat(~over.ravel(), np.diff(self.indptr))
        sizes = np.where(over, 0, self.sizes())
        return replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=self.indices[kept],
            values=self.values[kept],
            gap=np.where(over, np.nan, self.gap),
            iterations=np.where(over, -1, self.iterations),
            converged=self.converged & ~over,
        )


def not_converged(gap: Array, tolerance: float) -> str:
    """Say which fits are not within the tolerance, or nothing."""
    bad = ~(gap <= tolerance)
    if not bad.any():
        return ""
    return (
        f"{bad.sum()} of {bad.size} fits did not reach the relative duality gap {tolerance:g}"
        f" (largest {np.max(gap[bad]):.2g})"
    )


def duality_gap(
    Z: Array, y: Array, b: Array, tau: float, mu: float, weights: Array | None = None
) -> float:
    r"""Bound ``Phi(b) - min Phi`` from above, relative to ``||y||²/n``.

    With ``g = (2/n) Z'r - 2 mu b`` and ``s = min(1, tau / max_j |g_j|)``::

        gap = sum_j (tau |b_j| - b_j g_j) + (1-s)/n (2 y'r - (1+s) (||r||² + n mu ||b||²))

    which is the primal minus the dual objective at ``s r``, arranged so that nothing cancels. At
    ``tau = 0 < mu`` the dual of the ridge penalty is used instead: ``gap = ||g||² / (4 mu)``.

    Parameters
    ----------
    Z : (n, d) array
    y : (n,) array
    b : (d,) array
    tau, mu : float
    weights : (d,) array, optional
        Weights of the l1 term. A feature of weight 0 is left out of s, and ``|b_j g_j|`` added.
    """
    n = len(y)
    cut = tau * (np.ones(len(b)) if weights is None else weights)
    r = y - Z @ b
    g = 2 / n * (Z.T @ r) - 2 * mu * b
    scale = float(y @ y) / n or 1.0
    if tau == 0 and mu > 0:
        return float(g @ g) / (4 * mu) / scale
    s = min(1.0, 1.0 / float((np.abs(g[cut > 0]) / cut[cut > 0]).max(initial=1.0)))
    q = r @ r + n * mu * (b @ b)
    gap = np.where(cut > 0, cut * np.abs(b) - b * g, np.abs(b * g)).sum()
    gap += (1 - s) / n * (2 * (y @ r) - (1 + s) * q)
    return max(float(gap), 0.0) / scale
