"""One test per gene: what a signature is to be more than."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def univariate_table(dataset: Dataset) -> pd.DataFrame:
    """Return univariate.tsv: statistic, two-sided p and Benjamini-Hochberg q of each gene.

    On all samples, after the row-wise steps, genes in the order of the matrix:

    * two classes: Welch's t of positive minus negative class (variances need not be equal,
      classes are seldom of one size);
    * two classes in pairs: t of the differences within pairs; samples without a partner are
      left out;
    * a number: t = r √((n-2)/(1-r²)), of Pearson's r.

    A positive statistic is higher expression in the positive class, or with a rising response. A
    gene that is constant (in pairs: never differs) has statistic 0 and p 1. q is the smallest
    false discovery rate at which the gene counts as found (Benjamini and Hochberg 1995).
    """
    import pandas as pd
    from scipy.stats import false_discovery_control

    statistic, p = _test(dataset)
    unknown = np.isnan(p)
    p = np.where(unknown, 1.0, p)
    return pd.DataFrame(
        {
            "gene": dataset.genes,
            "symbol": dataset.var["symbol"].to_numpy(),
            "statistic": np.where(unknown, 0.0, statistic),
            "p_value": p,
            "q_value": false_discovery_control(p),
        }
    )


def _test(dataset: Dataset) -> tuple[Array, Array]:
    from scipy.stats import ttest_1samp, ttest_ind

    y = dataset.response()
    if dataset.design.classes is None:
        return _pearson(dataset.X, y)
    if dataset.design.pair is None:
        flat = np.ptp(dataset.X, axis=0) == 0
        return _tested(flat, ttest_ind, dataset.X[y > 0], dataset.X[y < 0], equal_var=False)
    names = dataset.obs[dataset.design.pair].astype(str).to_numpy()
    differences = _differences(dataset.X, y, names)
    return _tested(np.all(differences == 0, axis=0), ttest_1samp, differences, 0.0)


def _tested(flat: Array, test: Any, *data: Any, **how: Any) -> tuple[Array, Array]:
    """Run a test of scipy, which warns of genes without spread; flat ones come back as NaN."""
    import warnings

    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = test(*data, axis=0, **how)
    return np.where(flat, np.nan, found.statistic), np.where(flat, np.nan, found.pvalue)


def _differences(X: Array, y: Array, pair: Array) -> Array:
    """Return positive minus negative sample of every complete pair."""
    rows = {(name, side): row for row, (name, side) in enumerate(zip(pair, y, strict=True))}
    whole = [name for name in dict.fromkeys(pair) if {(name, 1.0), (name, -1.0)} <= rows.keys()]
    up, down = ([rows[name, side] for name in whole] for side in (1.0, -1.0))
    return np.asarray(X[up] - X[down])


def _pearson(X: Array, y: Array) -> tuple[Array, Array]:
    from scipy.special import stdtr

    centred, response = X - X.mean(axis=0), y - y.mean()
    scale = np.sqrt(np.sum(np.square(centred), axis=0) * np.sum(np.square(response)))
    flat = np.ptp(X, axis=0) == 0
    r = np.where(flat, np.nan, response @ centred / np.where(flat, 1.0, scale))
    df = len(y) - 2
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(df / np.maximum(1 - np.square(r), 0.0))
    return t, 2 * stdtr(df, -np.abs(t))
