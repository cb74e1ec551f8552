"""Summaries of each sample's values that show outliers, and twins: two samples of one specimen.

A model trained on one twin predicts the other even if labels mean nothing: with two samples of each
of 24 patients and random labels, genes are FDR-selected in nearly every study.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import never_logged
from genesig.data.steps.transforms import inverse_scale
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.results import Design
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

BOX_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # whisker, hinge, median, hinge, whisker
# Deviation of an outlier in MADs, scaled to a standard deviation. How often a sample of a set
# without outliers exceeds it is measured in tests/laws/test_sample_quality.py.
OUTLIER_MADS = 5.0
N_NEAREST = 3  # number of nearest samples whose mean distance is that of a sample
SD_PER_MAD = 1.4826  # standard deviation of normal values, in median absolute deviations (MAD)
_TRIMMED_SHARE = 0.02  # share of the values that a trimmed mean leaves out at either end
_GENES_PER_BLOCK = 2048  # genes that are sorted at a time, which limits the memory
_GENES_PER_PRODUCT = 4096  # genes whose products are added at a time, for the same reason
# Squares of singular values below this share of the largest are rounding.
_EIGENVALUE_ROUNDING = 1e-12

SAMPLE_RIDGE = 0.1  # least part of a sample that no other explains, as a share of its variance
MIN_PARTIAL_CORRELATION = 1 / 3
"""Smallest partial correlation of twins: that of three samples of one patient if half of their
variance is common."""
MIN_TWIN_MADS = 6.0  # distance of their r from the median, in MADs scaled to standard deviations
MIN_TWIN_SAMPLES = 6  # smallest number of samples in which twins are searched
MIN_TWIN_GENES = 100  # smallest number of genes by which twins are searched

SIMILAR_SAMPLES = "similar_samples"  # code of the warning of twins
_TWINS_ADVICE = (
    "if they are, keep one of each, or name a column of patients as data.group, with "
    "splits.scheme: stratified_group_kfold"
)


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


def find_twins(X: Array) -> list[tuple[int, int, float]]:
    r"""Return the pairs of samples with a large partial correlation, the closest first.

    With R the correlations of the samples over genes of mean 0 and variance 1, and
    :math:`K = (R + 0.1\,I)^{-1}`, the partial correlation of two samples given all others is

    .. math:: r_{ij} = -K_{ij} / \sqrt{K_{ii} K_{jj}}.

    Classes, subtypes and batches are shared with other samples, which explain them; the features of
    a single patient are not. Whittaker (1990), Graphical models in applied multivariate statistics,
    5.7.

    X (n, d) float: expression; NaN where it is missing.

    Returns list of (row, row, r).
    """
    if len(X) < MIN_TWIN_SAMPLES or X.shape[1] < MIN_TWIN_GENES:
        return []
    products = standardised_products(X, unit_variance=True)
    lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    correlations = products / lengths / lengths[:, None]
    precision = np.linalg.inv(correlations + SAMPLE_RIDGE * np.eye(len(products)))
    root_diagonal = np.sqrt(np.diag(precision))
    first_rows, second_rows = np.triu_indices(len(products), 1)
    r = -(precision / root_diagonal / root_diagonal[:, None])[first_rows, second_rows]
    median_r = np.median(r)
    spread = SD_PER_MAD * np.median(np.abs(r - median_r))
    twin_pairs = np.flatnonzero(
        (r > MIN_PARTIAL_CORRELATION) & (r > median_r + MIN_TWIN_MADS * spread)
    )
    twin_pairs = twin_pairs[np.argsort(-r[twin_pairs], kind="stable")]
    return [(int(first_rows[pair]), int(second_rows[pair]), float(r[pair])) for pair in twin_pairs]


def check_twins(expression: Expression, sheet: Sheet, location: str) -> Iterator[Problem]:
    """Yield a warning of twins that are not in one group; none without twins.

    expression, sheet: checked, so that the rows of X and of `sheet.obs` are the same samples.
    """
    if pairs := find_divisible_twins(expression.X, sheet.obs, sheet.design):
        first_sample, second_sample = pairs[0]
        further_pairs = f", and {counted(len(pairs) - 1, 'more pair')}," if len(pairs) > 1 else ""
        message = f"samples '{first_sample}' and '{second_sample}'{further_pairs} look like one "
        message += f"specimen measured twice; {_TWINS_ADVICE}"
        yield Problem(location, message, "warning", code=SIMILAR_SAMPLES)


def find_twins_as_measured(X: Array) -> list[tuple[int, int]]:
    """Return the rows of each pair of twins in values as measured, (n, d), the closest first."""
    return [(row, other_row) for row, other_row, _ in find_twins(log_if_raw(X))]


def find_twins_across(X: Array, other_X: Array) -> list[tuple[int, int]]:
    """Return the samples of two data sets that look like one specimen, the closest pair first.

    Each gene is standardised in each data set, so that a different processing has no effect.

    X, other_X (n, d) and (m, d) float: as measured; the same genes. A pair is (row of X, row of
    other_X).
    """
    stacked = np.vstack([standardise_genes(log_if_raw(values)) for values in (X, other_X)])
    n_first = len(X)
    return [
        (row, stacked_row - n_first)
        for row, stacked_row, _ in find_twins(stacked)
        if row < n_first <= stacked_row  # of a pair the first row is the smaller one
    ]


def log_if_raw(X: Array) -> Array:
    """Return logarithms of values that were probably never logged, other values unchanged."""
    return as_logarithms(X) if np.isfinite(X).any() and never_logged(X) else X


def standardise_genes(X: Array) -> Array:
    """Return each gene with mean 0 and variance 1; a constant gene becomes 0, NaN stays NaN."""
    is_measured = np.isfinite(X)
    n_measured = np.maximum(is_measured.sum(axis=0), 1)
    centred = np.where(
        is_measured, X - np.where(is_measured, X, 0).sum(axis=0) / n_measured, np.nan
    )
    spread = np.sqrt((np.where(is_measured, centred, 0) ** 2).sum(axis=0) / n_measured)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def find_divisible_twins(X: Array, obs: pd.DataFrame, design: Design) -> list[tuple[str, str]]:
    """Return the names of twins of different groups, which splits may divide, the closest first.

    X (n, d): as measured; its rows are the samples of the sample table obs.
    """
    values = log_if_raw(X)
    if design.studies and design.batch is not None:
        # Features of a whole study are no sign of twins.
        values = _standardise_by_study(values, obs[design.batch].astype(str).to_numpy())
    group_of_sample = list(obs.index if design.group is None else obs[design.group])
    return [
        (str(obs.index[row]), str(obs.index[other_row]))
        for row, other_row, _ in find_twins(values)
        if group_of_sample[row] != group_of_sample[other_row]
    ]


def _standardise_by_study(X: Array, studies: Array) -> Array:
    """Return the values with each gene standardised within each study."""
    values = np.empty(X.shape)
    for study in np.unique(studies):
        values[studies == study] = standardise_genes(X[studies == study])
    return values
