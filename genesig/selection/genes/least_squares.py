"""The slope of the response in each gene, with the batches in the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
TOLD_APART = 1e8
"""Condition number beyond which residuals do not tell the variances of two classes apart."""


def slope_test(
    X: Array, y: Array, batch: Array | None, *, by_class: bool, covariates: Array | None = None
) -> tuple[Array, Array]:  # fmt: skip
    """Return t and two-sided p of b in ``x = level of the batch + b y + error``, for each gene x.

    With covariates c, ``c'g`` is in the model, too.

    t is b, of least squares, over its standard error. With one variance of the errors it is the
    test of the partial correlation, df = n - 1 - number of batches. With one for each class it is
    Welch's test with the batches in it, and Welch's test itself for one batch: classes are seldom
    of one size, and where the rarer of 10 and 30 samples varied twice as much, 14 % of the genes
    without effect had p <= .05 with one variance, 5.1 % with two. Where the batches leave the two
    not apart (each batch a pair), there is one.

    Parameters
    ----------
    X : (n, d) float
    y : (n,) float
    batch : (n,) or None
        None is one batch for all.
    by_class : bool
        Whether samples with y > 0 have a variance of their own.
    covariates : (n, q) or None

    Returns
    -------
    t, p : (d,) float
        NaN for a gene that is constant inside every batch, and for all genes where y is so, or
        where too few samples are left.
    """
    from scipy.special import stdtr

    n, every = len(y), np.ones(len(y), dtype=bool)
    names, number = np.unique(every if batch is None else batch, return_inverse=True)
    member = np.eye(len(names))[number]
    level = member @ (member / member.sum(axis=0)).T
    level, parts = _with_covariates(level, covariates)
    response = y - level @ y
    size = float(response @ response)
    if n - len(names) - parts < 2 or size <= _rounding(y[:, None])[0]:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    slope, rounding = response / size, _rounding(X)
    M = np.eye(n) - level - np.outer(response, slope)
    classes = np.array([y > 0, y <= 0] if by_class else [every], dtype=float)
    residuals = _Residuals.of(M, slope, classes)
    squares = residuals.groups @ np.square(M @ X)
    variance, df = residuals.of_slope(np.where(squares > rounding, squares, 0.0))
    b = slope @ X
    b = np.where(np.square(b) * size + squares.sum(axis=0) > 2 * rounding, b, np.nan)
    with np.errstate(divide="ignore"):
        t = b / np.sqrt(variance)
    return t, 2 * stdtr(df, -np.abs(t))


def _with_covariates(level: Array, covariates: Array | None) -> tuple[Array, int]:
    """Return the projection on batches and covariates, and by how many dimensions it has grown."""
    if covariates is None or not covariates.shape[1]:
        return level, 0
    C = covariates - covariates.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    C = C - level @ C
    U, s, _ = np.linalg.svd(C, full_matrices=False)
    Q = U[:, s > 1e-8 * np.sqrt(len(C))]
    return level + Q @ Q.T, Q.shape[1]


def _rounding(X: Array) -> Array:
    """Return how large the sum of squares of a constant column may become by rounding."""
    n = len(X)
    return np.asarray(n * np.square(n * np.finfo(float).eps * np.abs(X).max(axis=0)))


@dataclass(frozen=True)
class _Residuals:
    """What residuals say of a slope whose errors have a variance v for each group of samples.

    Attributes
    ----------
    groups : (g, n) of 0 and 1
    shares : (g, g) float
        ``shares @ v`` is what their sums of squares in each group are on average.
    weight : (g,) float
        ``weight @ sums of squares`` is the variance of the slope, without bias.
    spread : (g, g) float
        ``2 v' spread v`` is the variance of that.

    Notes
    -----
    C. R. Rao (1970), J Am Stat Assoc 65:161; F. E. Satterthwaite (1946), Biometrics Bull 2:110.
    """

    groups: Array
    shares: Array
    weight: Array
    spread: Array

    @classmethod
    def of(cls, M: Array, slope: Array, groups: Array) -> _Residuals:
        """Describe residuals ``M x`` and slope ``slope @ x``; as one group if not told apart."""
        shares = _sums(M, groups)
        if np.linalg.cond(shares) > TOLD_APART:
            return cls.of(M, slope, np.ones((1, len(M))))
        weight = np.linalg.solve(shares, groups @ np.square(slope))
        if (weight <= 0).any():
            return cls.of(M, slope, np.ones((1, len(M))))
        return cls(groups, shares, weight, _sums(M * (weight @ groups) @ M, groups))

    def of_slope(self, squares: Array) -> tuple[Array, Array]:
        """Return the slope's variance and its degrees of freedom from sums of squares (g, d)."""
        v = np.maximum(np.linalg.solve(self.shares, squares), 0)
        total = v.sum(axis=0)
        v = np.divide(v, total, out=np.ones_like(v), where=total > 0)
        of_variance = np.einsum("gd,gh,hd->d", v, self.spread, v)
        return self.weight @ squares, np.square(self.weight @ self.shares @ v) / of_variance


def _sums(M: Array, groups: Array) -> Array:
    """Return the sum of M_ij² over i and j in each two groups."""
    return np.asarray(groups @ np.square(M) @ groups.T)
