"""Samples that look like one specimen measured twice: patients who would stand on both sides.

A model that has seen one of two such samples knows the other, whatever the labels mean: with two
samples of each of 24 patients and labels that mean nothing, genes are named in nearly every study.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.samples import as_logarithms, standardised_products
from genesig.data.steps.scale import never_logged
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.results import Design
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

RIDGE = 0.1
"""What a sample has of its own, as a share of its size, however alike others are."""
LEAST = 1 / 3
"""Smallest partial correlation of twins: what three samples of one patient have given each other
where half of their variance is common."""
FAR = 6.0
"""And at least so many standard deviations, by the MAD, from those of all pairs."""
FEWEST = 6
FEWEST_GENES = 100
"""Samples and genes of which fewer tell nothing."""


def twins(X: Array) -> list[tuple[int, int, float]]:
    r"""Return the pairs of samples that share what no other sample has, the closest first.

    With R the correlations of the samples over genes of mean 0 and variance 1, and
    :math:`K = (R + 0.1\,I)^{-1}`, the partial correlation of two samples given all others is

    .. math:: r_{ij} = -K_{ij} / \sqrt{K_{ii} K_{jj}}.

    Classes, subtypes and batches are shared with others, who explain them; what one patient has to
    himself is not. Whittaker (1990), Graphical models in applied multivariate statistics, 5.7.

    Parameters
    ----------
    X : (n, d) float
        Expression; NaN where it is missing.

    Returns
    -------
    list of (row, row, r)
    """
    if len(X) < FEWEST or X.shape[1] < FEWEST_GENES:
        return []
    R = standardised_products(X, unit_variance=True)
    size = np.sqrt(np.maximum(np.diag(R), np.finfo(float).tiny))
    K = np.linalg.inv(R / size / size[:, None] + RIDGE * np.eye(len(R)))
    own = np.sqrt(np.diag(K))
    first, second = np.triu_indices(len(R), 1)
    r = -(K / own / own[:, None])[first, second]
    usual = np.median(r)
    spread = 1.4826 * np.median(np.abs(r - usual))
    found = np.flatnonzero((r > LEAST) & (r > usual + FAR * spread))
    found = found[np.argsort(-r[found], kind="stable")]
    return [(int(first[k]), int(second[k]), float(r[k])) for k in found]


ADVICE = (
    "if they are, keep one of each, or name a column of patients as data.group, with "
    "splits.scheme: stratified_group_kfold"
)


def check_twins(expression: Expression, sheet: Sheet, where: str) -> Iterator[Problem]:
    """Warn of samples like one specimen measured twice that no group keeps on one side."""
    if found := torn_apart(expression.X[: len(sheet.obs)], sheet.obs, sheet.design):
        first, second = found[0]
        more = f", and {counted(len(found) - 1, 'more pair')}," if len(found) > 1 else ""
        what = f"samples '{first}' and '{second}'{more} look like one specimen measured twice"
        yield Problem(where, f"{what}; {ADVICE}", "warning")


def twins_of(X: Array) -> list[tuple[int, int]]:
    """Return the rows of each pair of samples of a data set that are `twins`, the closest first."""
    return [(first, second) for first, second, _ in twins(logarithms_of(X))]


def cross_twins(X: Array, other: Array) -> list[tuple[int, int]]:
    """Return the samples of two data sets that look like one specimen, the closest pair first.

    Each gene is standardised in each data set, so that another processing makes no difference.

    Parameters
    ----------
    X, other : (n, d) and (m, d) float
        As measured; the same genes.

    Returns
    -------
    list of (row of X, row of other)
    """
    stacked = np.vstack([standardised(logarithms_of(each)) for each in (X, other)])
    n = len(X)
    return [(first, second - n) for first, second, _ in twins(stacked) if first < n <= second]


def logarithms_of(X: Array) -> Array:
    """Return logarithms of values that look as if none had been taken, others as they are."""
    return as_logarithms(X) if np.isfinite(X).any() and never_logged(X) else X


def standardised(X: Array) -> Array:
    """Return every gene with mean 0 and variance 1 over the samples, 0 where it does not vary."""
    known = np.isfinite(X)
    counts = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, X - np.where(known, X, 0).sum(axis=0) / counts, np.nan)
    spread = np.sqrt((np.where(known, centred, 0) ** 2).sum(axis=0) / counts)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def torn_apart(X: Array, obs: pd.DataFrame, design: Design) -> list[tuple[str, str]]:
    """Return the names of `twins` that may stand on both sides of a split, the closest first."""
    values = logarithms_of(X)
    if design.studies and design.batch is not None:  # what all samples of a study share is no tie
        values = _standardised_by_study(values, obs[design.batch].astype(str).to_numpy())
    belongs = list(obs.index if design.group is None else obs[design.group])
    return [
        (str(obs.index[a]), str(obs.index[b]))
        for a, b, _ in twins(values)
        if belongs[a] != belongs[b]
    ]


def _standardised_by_study(X: Array, studies: Array) -> Array:
    values = np.empty(X.shape)
    for study in np.unique(studies):
        values[studies == study] = standardised(X[studies == study])
    return values
