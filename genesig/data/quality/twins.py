"""Twins: pairs of samples that look like one specimen measured twice, on both sides of a split.

A model trained on one of two such samples predicts the other even if labels mean nothing: with two
samples of each of 24 patients and random labels, genes are FDR-selected in nearly every study.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.samples import SD_PER_MAD, as_logarithms, standardised_products
from genesig.data.steps.scale import never_logged
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.results import Design
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_RIDGE = 0.1  # least part of a sample that no other explains, as a share of its variance
MIN_PARTIAL_CORRELATION = 1 / 3
"""Smallest partial correlation of twins: that of three samples of one patient if half of their
variance is common."""
MIN_MADS = 6.0  # distance of their partial correlation from the median, in MAD standard deviations
MIN_TWIN_SAMPLES = 6  # smallest number of samples in which twins are searched
MIN_TWIN_GENES = 100  # smallest number of genes by which twins are searched


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
    twin_pairs = np.flatnonzero((r > MIN_PARTIAL_CORRELATION) & (r > median_r + MIN_MADS * spread))
    twin_pairs = twin_pairs[np.argsort(-r[twin_pairs], kind="stable")]
    return [(int(first_rows[pair]), int(second_rows[pair]), float(r[pair])) for pair in twin_pairs]


SIMILAR_SAMPLES = "similar_samples"  # code of the warning of twins
_TWINS_ADVICE = (
    "if they are, keep one of each, or name a column of patients as data.group, with "
    "splits.scheme: stratified_group_kfold"
)


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
