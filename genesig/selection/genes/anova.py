"""Whether a gene differs between several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def class_test(
    X: Array, y: Array, batch: Array | None, covariates: Array | None = None
) -> tuple[Array, Array]:  # fmt: skip
    """Return F and p of the differences between the classes y, for each column of X.

    Without batches Welch's analysis of variance, whose classes have each a variance of their own;
    with batches or covariates the F test of the classes beside them, with one variance.

    Parameters
    ----------
    X : (n, d) float
    y, batch : (n,), (n,) or None
        Class and batch of each row.
    covariates : (n, q) or None

    Returns
    -------
    F, p : (d,) float
        NaN where a gene is constant (inside every batch), or too few samples are left.
    """
    if batch is None and covariates is None:
        return welch_anova(X, y)
    return _beside(X, y, batch, covariates)


def welch_anova(X: Array, y: Array) -> tuple[Array, Array]:
    """Return Welch's F and p: the squared t of Welch's test where there are two classes.

    With w_c = n_c/s_c², W their sum, m the mean of the class means by these weights and
    h = sum_c (1 - w_c/W)²/(n_c - 1)::

        F = [sum_c w_c (m_c - m)² / (k - 1)] / [1 + 2 (k - 2) h / (k² - 1)]

    on k - 1 and (k² - 1)/(3 h) degrees of freedom. A class in which a gene is constant has a
    variance as small as rounding.

    Source: Welch 1951, Biometrika 38:330.
    """
    from scipy.special import fdtrc

    names, number, size = np.unique(y, return_inverse=True, return_counts=True)
    k = len(names)
    if k < 2 or size.min() < 2:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    means = np.stack([X[number == c].mean(axis=0) for c in range(k)])
    variance = np.stack([X[number == c].var(axis=0, ddof=1) for c in range(k)])
    least = np.square(len(y) * np.finfo(float).eps * np.abs(X).max(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        w = size[:, None] / np.maximum(variance, least)
        share = w / w.sum(axis=0)
        h = (np.square(1 - share) / (size[:, None] - 1)).sum(axis=0)
        between = (w * np.square(means - (share * means).sum(axis=0))).sum(axis=0) / (k - 1)
        F = between / (1 + 2 * (k - 2) / (k**2 - 1) * h)
        p = fdtrc(k - 1, (k**2 - 1) / (3 * h), F)
    flat = np.ptp(X, axis=0) == 0
    return np.where(flat, np.nan, F), np.where(flat, np.nan, p)


def _beside(
    X: Array, y: Array, batch: Array | None, covariates: Array | None
) -> tuple[Array, Array]:  # fmt: skip
    """Return F and p of least squares with the classes against batches and covariates alone."""
    from scipy.special import fdtrc

    batch = np.zeros(len(y)) if batch is None else batch
    of_batch, of_class = (np.eye(m.max() + 1)[m] for m in (
        np.unique(each, return_inverse=True)[1] for each in (batch, y)
    ))  # fmt: skip
    C = np.zeros((len(y), 0)) if covariates is None else covariates - covariates.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    small = np.hstack([of_batch, C])
    large = np.hstack([small, of_class])
    rank, whole = (int(np.linalg.matrix_rank(part)) for part in (small, large))
    n, more = len(y), whole - rank
    if more < 1 or n - whole < 1:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    rest = [np.square(X - part @ np.linalg.lstsq(part, X, rcond=None)[0]).sum(axis=0)
            for part in (small, large)]  # fmt: skip
    rounding = n * np.square(n * np.finfo(float).eps * np.abs(X).max(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (rest[0] - rest[1]) / more / (rest[1] / (n - whole))
    F = np.where(rest[0] > rounding, np.maximum(F, 0.0), np.nan)
    return F, fdtrc(more, n - whole, F)
