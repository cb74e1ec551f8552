"""What the values of each sample look like beside those of the others, and their components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.sample_wise import inverse_scale

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# In MADs, scaled to a standard deviation; how often a set without outliers passes it is measured
# in tests/laws/test_sample_quality.py.
FAR = 5.0
NEAREST = 3
_MAD = 1.4826
_TRIMMED = 0.02
_BLOCK = 2048


def as_logarithms(X: Array) -> Array:
    """``log2(1 + max(x, 0))``: values that were never logged, for a look at them."""
    return np.asarray(np.log2(1 + np.maximum(X, 0)))


def row_quantiles(X: Array) -> Array:
    """Return (n, 5): the quantiles `QUANTILES` of each row, NaN left out."""
    return _quantiles(iter(X), len(X))


def _quantiles(rows: Iterator[Array], count: int) -> Array:
    found = np.full((count, len(QUANTILES)), np.nan)
    for row, values in enumerate(rows):
        values = values[~np.isnan(values)]
        if len(values):
            found[row] = np.quantile(values, QUANTILES)
    return found


def column_medians(X: Array) -> Array:
    """Return (d,): the median of each column, NaN left out; a column of NaN alone has NaN."""
    medians = np.empty(X.shape[1])
    for start in range(0, X.shape[1], _BLOCK):
        grown = np.sort(X[:, start : start + _BLOCK], axis=0)  # NaN come last
        count = len(X) - np.isnan(grown).sum(axis=0)
        low = np.maximum(count - 1, 0) // 2
        high = np.minimum(count // 2, len(X) - 1)
        middle = (np.take_along_axis(grown, k[None], axis=0)[0] for k in (low, high))
        medians[start : start + _BLOCK] = sum(middle) / 2
    return medians


def relative_log_expression(X: Array) -> tuple[Array, int]:
    """Return quantiles of ``x_ij - median_i(x_ij)`` over the genes j of each sample i.

    Genes whose median is the smallest value of all are left out, as long as there are others: half
    of the samples or more did not measure them, and the boxes would be boxes of zeros.

    Parameters
    ----------
    X : (n_samples, n_genes) float
        Logarithms.

    Returns
    -------
    (n_samples, 5) float, int
        The quantiles `QUANTILES`, and the number of genes that were compared.

    Notes
    -----
    L. C. Gandolfo & T. P. Speed (2018), PLoS ONE 13:e0191629: without unwanted variation the boxes
    lie at 0 and are of one size, whatever the biology of a minority of genes.
    """
    medians = column_medians(X)
    used = medians > np.nanmin(X)
    used = used if used.any() else np.ones_like(used)
    rows = (row[used] - medians[used] for row in X)
    return _quantiles(rows, len(X)), int(used.sum())


def scaling_factors(X: Array) -> Array:
    """``median_i(m_i) / m_i``, m the sample's mean without the 2 % largest and smallest values.

    What a sample's intensities would have to be multiplied by to come to the level of the others;
    NaN where its mean is not positive.

    Notes
    -----
    The trimmed mean is that of Affymetrix' MAS 5.0 scale factors.
    """
    means = np.array([_trimmed_mean(np.sort(row[~np.isnan(row)])) for row in X])
    means[~(means > 0)] = np.nan
    return np.asarray(np.nanmedian(means) / means) if np.isfinite(means).any() else means


def _trimmed_mean(grown: Array) -> float:
    cut = int(_TRIMMED * len(grown))
    return float(grown[cut : len(grown) - cut].mean()) if len(grown) else np.nan


def nearest_distances(products: Array, n_genes: int) -> Array:
    """Return (n,): the mean distance of each sample to its three nearest ones.

    Three and not all: the samples of a small class are far from most others without a fault.

    Parameters
    ----------
    products : (n, n) float
        Inner products of the samples.
    n_genes : int
        Distances are root mean squares over so many genes.
    """
    size = np.diag(products)
    squared = np.maximum(size[:, None] + size[None] - 2 * products, 0) / max(n_genes, 1)
    others = np.sort(np.sqrt(squared), axis=1)[:, 1:]  # the first is the sample itself
    return np.asarray(others[:, :NEAREST].mean(axis=1)) if others.size else np.zeros(len(size))


def deviations(values: Array, least: float) -> Array:
    """``(x - median) / (1.4826 MAD)``; an outlier deviates by more than `FAR`.

    Parameters
    ----------
    values : (n,) float
        One number per sample; NaN stays NaN.
    least : float
        Smallest difference from the median that may count: where the other samples hardly differ,
        the MAD is so small that no difference would mean anything.
    """
    if not np.isfinite(values).any():
        return np.full(len(values), np.nan)
    from_median = values - np.nanmedian(values)
    spread = _MAD * np.nanmedian(np.abs(from_median))
    return np.asarray(from_median / max(spread, least / FAR, np.finfo(float).tiny))


_FEATURES_AT_A_TIME = 4096
# Squares of singular values below this share of the largest are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Components:
    """The leading components of centred data Z = U S V'.

    Attributes
    ----------
    directions : (n, k) float
        U; the largest entry of each column is positive.
    size : (k,) float, falling
        S; 0 for components that the data do not have.
    explained : (k,) float
        Their shares of the variance.
    """

    directions: Array
    size: Array
    explained: Array

    @property
    def points(self) -> Array:
        """Return (n, k): the samples on the components, U S."""
        return np.asarray(self.directions * self.size)


def principal_components(products: Array, most: int) -> Components:
    """Return the first components, at most `most`, of data with these inner products.

    Parameters
    ----------
    products : (n, n) float
        Z Z', of data whose columns are centred.
    """
    count = min(most, len(products))
    squares, vectors = np.linalg.eigh(products)
    squares = squares[::-1]
    vectors = vectors[:, ::-1][:, :count]
    squares = np.where(squares > _ROUNDING * max(squares[0], 0), squares, 0)
    largest = np.abs(vectors).argmax(axis=0)
    sign = np.where(vectors[largest, np.arange(count)] < 0, -1.0, 1.0)
    share = squares / squares.sum() if squares[0] > 0 else squares
    return Components(vectors * sign, np.sqrt(squares[:count]), share[:count])


def standardised_products(X: Array, *, unit_variance: bool) -> Array:
    """Return Z Z' (n, n), Z the columns of `X` centred and, if asked for, scaled.

    A missing value counts as the mean of its gene. `X` is taken in blocks, so that no second
    matrix of its size is made.
    """
    products = np.zeros((len(X), len(X)))
    for start in range(0, X.shape[1], _FEATURES_AT_A_TIME):
        block = X[:, start : start + _FEATURES_AT_A_TIME]
        missing = np.isnan(block)
        if missing.any():
            there = np.maximum((~missing).sum(axis=0), 1)
            mean = np.where(missing, 0, block).sum(axis=0) / there
            block = np.where(missing, mean, block)
        Z = block - block.mean(axis=0)
        if unit_variance:
            Z = Z * inverse_scale(block, axis=0)
        products += Z @ Z.T
    return products
