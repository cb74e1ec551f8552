"""Summaries of each sample's values that show outliers, and principal components of the samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.sample_wise import inverse_scale

BOX_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # whisker, hinge, median, hinge, whisker
# Deviation of an outlier in MADs, scaled to a standard deviation. How often a sample of a set
# without outliers exceeds it is measured in tests/laws/test_sample_quality.py.
OUTLIER_MADS = 5.0
N_NEAREST = 3  # number of nearest samples whose mean distance is that of a sample
SD_PER_MAD = 1.4826  # standard deviation of normal values, in median absolute deviations (MAD)
_TRIMMED_SHARE = 0.02  # share of the values that a trimmed mean leaves out at either end
_GENES_PER_BLOCK = 2048  # genes that are sorted at a time, which limits the memory


def as_logarithms(X: Array) -> Array:
    """Return ``log2(1 + max(x, 0))`` of values that were never logged, for description only."""
    return np.asarray(np.log2(1 + np.maximum(X, 0)))


def row_quantiles(rows: Iterable[Array]) -> Array:
    """Return the quantiles `BOX_QUANTILES` of each row without its NaN, (n, 5); NaN if all are.

    rows: of a matrix, or made one by one, so that no second matrix is made.
    """
    quantiles = []
    for values in rows:
        measured = values[~np.isnan(values)]
        no_values = np.full(len(BOX_QUANTILES), np.nan)
        quantiles.append(np.quantile(measured, BOX_QUANTILES) if len(measured) else no_values)
    return np.array(quantiles).reshape(-1, len(BOX_QUANTILES))


def column_medians(X: Array) -> Array:
    """Return the median of each column without NaN, (d,); NaN for a column of NaN only."""
    medians = np.empty(X.shape[1])
    for start in range(0, X.shape[1], _GENES_PER_BLOCK):
        ascending = np.sort(X[:, start : start + _GENES_PER_BLOCK], axis=0)  # NaN come last
        n_measured = len(X) - np.isnan(ascending).sum(axis=0)
        # Ranks of the two middle values: of an odd number they are one, of no value that is a NaN.
        lower_rank = np.maximum(n_measured - 1, 0) // 2
        upper_rank = np.minimum(n_measured // 2, len(X) - 1)
        middle_values = (
            np.take_along_axis(ascending, rank[None], axis=0)[0]
            for rank in (lower_rank, upper_rank)
        )
        medians[start : start + _GENES_PER_BLOCK] = sum(middle_values) / 2
    return medians


def relative_log_expression(X: Array) -> tuple[Array, int]:
    """Return quantiles of ``x_ij - median_i(x_ij)`` over the genes j, and the number of genes used.

    Genes whose median is the smallest value of all are left out, unless all genes are: half of the
    samples or more did not measure them, and the boxes would have zero width.

    X (n_samples, n_genes) float: logarithms. The quantiles (n_samples, 5) are `BOX_QUANTILES`.

    Source: L. C. Gandolfo & T. P. Speed (2018), PLoS ONE 13:e0191629: without unwanted variation
    the boxes lie at 0 and are of one size, whatever the biology of a minority of genes.
    """
    medians = column_medians(X)
    is_compared = medians > np.nanmin(X)
    is_compared = is_compared if is_compared.any() else np.ones_like(is_compared)
    rows = (row[is_compared] - medians[is_compared] for row in X)
    return row_quantiles(rows), int(is_compared.sum())


def scaling_factors(X: Array) -> Array:
    """Return ``median_i(m_i) / m_i``, (n,), m_i the trimmed mean of sample i, a row of X.

    The largest and the smallest 2 % of the values are left out, as in the scale factors of
    Affymetrix' MAS 5.0. Multiplied by its factor, a sample's intensities come to the level of the
    others. NaN if the mean is not positive.
    """
    means = np.array([_trimmed_mean(np.sort(row[~np.isnan(row)])) for row in X])
    means[~(means > 0)] = np.nan
    return np.asarray(np.nanmedian(means) / means) if np.isfinite(means).any() else means


def _trimmed_mean(ascending: Array) -> float:
    """Return the mean of ascending values without `_TRIMMED_SHARE` at either end; NaN of none."""
    n_trimmed = int(_TRIMMED_SHARE * len(ascending))
    return (
        float(ascending[n_trimmed : len(ascending) - n_trimmed].mean())
        if len(ascending)
        else np.nan
    )


def nearest_distances(products: Array, n_genes: int) -> Array:
    """Return the mean distance of each sample to its `N_NEAREST` nearest samples, (n,); 0 of one.

    Three instead of all, because the samples of a small class are far from most others.

    products (n, n) float: inner products of the samples.
    n_genes: distances are root mean squares over so many genes.
    """
    squared_lengths = np.diag(products)
    squared = squared_lengths[:, None] + squared_lengths[None] - 2 * products
    distances = np.sqrt(np.maximum(squared, 0) / max(n_genes, 1))  # rounding may make -1e-16 of 0
    other_distances = np.sort(distances, axis=1)[:, 1:]  # the first is the sample itself
    return (
        np.asarray(other_distances[:, :N_NEAREST].mean(axis=1))
        if other_distances.size
        else np.zeros(len(squared_lengths))
    )


def deviations(values: Array, min_difference: float) -> Array:
    """Return ``(x - median) / (1.4826 MAD)``; an outlier deviates by more than `OUTLIER_MADS`.

    values (n,) float: one number per sample; NaN stays NaN.
    min_difference: smallest difference of an outlier from the median, for samples that hardly
        differ.
    """
    if not np.isfinite(values).any():
        return np.full(len(values), np.nan)
    from_median = values - np.nanmedian(values)
    spread = SD_PER_MAD * np.nanmedian(np.abs(from_median))
    return np.asarray(
        from_median / max(spread, min_difference / OUTLIER_MADS, np.finfo(float).tiny)
    )


_GENES_PER_PRODUCT = 4096  # genes whose products are added at a time, for the same reason
# Squares of singular values below this share of the largest are rounding.
_EIGENVALUE_ROUNDING = 1e-12


@dataclass(frozen=True)
class Components:
    """The leading components of centred data Z = U S V'."""

    directions: Array  # (n, k) float: U; the largest entry of each column is positive
    size: Array  # (k,) float, falling: S; 0 for components that the data do not have
    explained: Array  # (k,) float: their shares of the variance; 0 if there is none

    @property
    def points(self) -> Array:
        """Return (n, k): the samples on the components, U S."""
        return np.asarray(self.directions * self.size)


def principal_components(products: Array, max_components: int) -> Components:
    """Return the first components, at most `max_components`, of data with these inner products.

    products (n, n) float: Z Z', of data whose columns are centred.
    """
    n_components = min(max_components, len(products))
    eigenvalues, vectors = np.linalg.eigh(products)
    eigenvalues = eigenvalues[::-1]
    vectors = vectors[:, ::-1][:, :n_components]
    eigenvalues = np.where(
        eigenvalues > _EIGENVALUE_ROUNDING * max(eigenvalues[0], 0), eigenvalues, 0
    )
    largest = np.abs(vectors).argmax(axis=0)  # row of the entry that is made positive
    sign = np.where(vectors[largest, np.arange(n_components)] < 0, -1.0, 1.0)
    share = eigenvalues / eigenvalues.sum() if eigenvalues[0] > 0 else eigenvalues
    return Components(vectors * sign, np.sqrt(eigenvalues[:n_components]), share[:n_components])


def standardised_products(X: Array, *, unit_variance: bool) -> Array:
    """Return Z Z' (n, n), Z the columns of `X` centred and, if `unit_variance`, scaled.

    A missing value counts as the mean of its gene. `X` is taken in blocks, so that no second
    matrix of its size is made.
    """
    products = np.zeros((len(X), len(X)))
    for start in range(0, X.shape[1], _GENES_PER_PRODUCT):
        block = X[:, start : start + _GENES_PER_PRODUCT]
        missing = np.isnan(block)
        if missing.any():
            n_measured = np.maximum((~missing).sum(axis=0), 1)
            mean = np.where(missing, 0, block).sum(axis=0) / n_measured
            block = np.where(missing, mean, block)
        Z = block - block.mean(axis=0)
        if unit_variance:
            Z = Z * inverse_scale(block, axis=0)
        products += Z @ Z.T
    return products
