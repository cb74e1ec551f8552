"""One test per gene: what a signature is to be more than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.missingness import q_values
from genesig.optim.cox.risk_sets import USUAL
from genesig.response.covariates import knot_counts, knots_at, splined
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.results import Dataset
from genesig.selection.genes.statistics import class_test, score_test, slope_test

if TYPE_CHECKING:
    import pandas as pd

LINEAR = "linear"
"""Name of the test that has covariates in it."""


TESTS = ByKind(
    {
        "classification": "welch",
        SEVERAL: "anova",
        "regression": "correlation",
        "survival": "score",
    }
)


@dataclass(frozen=True)
class Units:
    """Values that are tested: one row per independent unit, not per sample.

    Attributes
    ----------
    X : (n_units, n_genes) float
    y : (n_units,) array
        Response.
    group : (n_units,) or None
        Name of the group of each unit; None where every sample is a unit of its own.
    test : {"differences", "welch", "anova", "correlation", "score"}
    batch : (n_units,) or None
        Batch of each unit, where it is in the test.
    covariates : (n_units, q) or None
        What is held fixed, where it is in the test.
    """

    X: Array
    y: Array
    group: Array | None
    test: str
    batch: Array | None = None
    covariates: Array | None = None
    ties: str | None = None


def univariate_table(dataset: Dataset) -> pd.DataFrame:
    """Return univariate.tsv: statistic, two-sided p and Benjamini-Hochberg q of each gene.

    On all samples, after the row-wise steps, genes in the order of their names. Samples of one
    group (a patient, a pair) are not independent, so `units` averages them first; without groups
    each sample is a unit:

    * two classes: Welch's t of positive minus negative class (variances need not be equal,
      classes are seldom of one size);
    * two classes, both in every group, or in pairs: t of the differences within groups; samples
      without a partner of the other class are left out;
    * more classes: Welch's F, see `statistics.class_test`; it has no sign;
    * a number: t = r √((n-2)/(1-r²)), of Pearson's r, n units;
    * survival: z of Cox's score test, see `score_test`.

    Where the study names batches, all but the second have the batch in the model (see
    `slope_test`), so that a batch that goes with the label makes no discovery. Differences have it
    not: most often a group lies in one batch, whose level they lose. Nor is it in the test where
    a group of one class has samples of several batches.

    Covariates of the study are in the model in the same way, for two or more classes with one
    variance of the errors: ordinary least squares of each gene on the class and them. A missing one
    is the mean of the others. Weights of samples play no part.

    Where only some groups hold both classes, Welch's t takes the two means of such a group as
    independent; that costs power, as they tend to be alike, but makes no p too small. A group of
    one class counts once, however many samples it has.

    A gene without any spread inside the classes (of two, or a number that is a straight line of the
    response), such as whether a value is missing, has no finite t: its p is that of a permutation
    test, 2 / (number of arrangements of the response), and its statistic the normal quantile of it.

    A positive statistic is higher expression in the positive class, with a rising response, or with
    earlier events. A
    gene that is constant (in groups: never differs; with batches: inside each), or of which too
    few units are left for a test, has statistic 0 and p 1. q is the smallest false discovery rate
    at which the gene counts as found (Benjamini and Hochberg 1995).
    """
    import pandas as pd

    statistic, p = _known(dataset)
    return pd.DataFrame(
        {
            "gene": dataset.genes,
            "symbol": dataset.var["symbol"].to_numpy(),
            "statistic": statistic,
            "p_value": p,
            "q_value": q_values(p),
        }
    )


def statistics(dataset: Dataset) -> Array:
    """Return the statistic of `univariate_table`, (n_genes,)."""
    return _known(dataset)[0]


def _known(dataset: Dataset) -> tuple[Array, Array]:
    """Return statistic and p; 0 and 1 where there is no test."""
    it = units(dataset)
    statistic, p = _test(it)
    apart = np.isinf(statistic)
    if apart.any():
        from scipy.stats import norm

        least = _smallest(it)
        p = np.where(apart, least, p)
        statistic = np.where(apart, np.sign(statistic) * norm.isf(least / 2), statistic)
    unknown = np.isnan(p) | (np.ptp(dataset.X, axis=0) == 0)
    return np.where(unknown, 0.0, statistic), np.where(unknown, 1.0, p)


def _smallest(it: Units) -> float:
    """Return the two-sided p of the most extreme arrangement of the response over the units."""
    from scipy.special import gammaln

    if it.test == "differences":
        return float(2.0 ** (1 - len(_differences(it))))
    sizes = np.unique(it.y, return_counts=True)[1]
    arranged = gammaln(len(it.y) + 1) - gammaln(sizes + 1).sum()
    return float(min(1.0, 2 * np.exp(-arranged)))


def units(dataset: Dataset) -> Units:
    """Average the samples of each group and class (regression: of each group), say which test."""
    X = dataset.X
    y = dataset.response()
    group = _groups(dataset)
    names = dataset.batches()
    batch = np.zeros(len(y), int) if names is None else np.unique(names, return_inverse=True)[1]
    test = TESTS[dataset.design.kind]
    ties = dataset.design.ties
    C = _covariates(dataset)
    classes = len(dataset.design.classes or ())
    if group is None:
        return Units(X, y, None, test, _several(batch), C, ties)
    names, number = np.unique(group, return_inverse=True)
    cell = number
    if classes:
        cell = classes * number + (y > 0 if classes == 2 else y).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    found, start, count = np.unique(cell[order], return_index=True, return_counts=True)
    means = np.add.reduceat(X[order], start, axis=0) / count[:, None]
    # A group has one time; of numbers it has the mean.
    response = y[order][start] if y.dtype.names else np.add.reduceat(y[order], start) / count
    own = batch[order][start]
    known = _several(own) if (batch[order] == np.repeat(own, count)).all() else None
    if C is not None:
        C = np.add.reduceat(C[order], start, axis=0) / count[:, None]
    if not classes:
        return Units(means, response, names, test, known, C, ties)
    group = names[found // classes]
    if classes == 2 and (dataset.design.pair is not None or len(found) == 2 * len(names)):
        return Units(means, response, group, "differences")
    return Units(means, response, group, test, known, C)


def _covariates(dataset: Dataset) -> Array | None:
    if not dataset.design.covariates:
        return None
    C = dataset.covariates()
    C = splined(C, knots_at(C, knot_counts(dataset.design.covariates)))
    return np.where(np.isnan(C), np.nanmean(C, axis=0), C)


def _several(batch: Array) -> Array | None:
    return batch if len(np.unique(batch)) > 1 else None


class Tested(TypedDict):
    """Name of the test, columns of groups and of batches in it (or None), number of values.

    ``covariates`` are the columns in it, where there are such.
    """

    test: str
    group: str | None
    batch: str | None
    values: int
    covariates: NotRequired[list[str]]


def what_was_tested(dataset: Dataset) -> Tested:
    """Say what was tested: test, columns of groups and of batches in it, number of values."""
    it = units(dataset)
    values = len(it.y) if it.test != "differences" else len(_differences(it))
    column = None if it.group is None else dataset.design.pair or dataset.design.group
    batch = None if it.batch is None else dataset.design.batch
    found: Tested = {"test": it.test, "group": column, "values": values, "batch": batch}
    if it.covariates is not None:
        test = it.test if it.test == "score" else LINEAR
        found |= {"test": test, "covariates": [c.column for c in dataset.design.covariates]}
    return found


def _groups(dataset: Dataset) -> Array | None:
    if dataset.design.pair is not None:
        return dataset.obs[dataset.design.pair].astype(str).to_numpy(dtype=object)
    return dataset.groups()


def _test(it: Units) -> tuple[Array, Array]:
    if it.test == "differences":
        return _differences_test(_differences(it))
    if it.test == "score":
        return score_test(it.X, it.y, it.batch, it.ties or USUAL, it.covariates)
    if it.test == "anova":
        return class_test(it.X, it.y, it.batch, it.covariates)
    own = it.test == "welch" and it.covariates is None
    return slope_test(it.X, it.y, it.batch, by_class=own, covariates=it.covariates)


def _differences_test(differences: Array) -> tuple[Array, Array]:
    """Run SciPy's test, which warns of genes without spread; what never differs comes as NaN."""
    import warnings

    from scipy.stats import ttest_1samp

    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ttest_1samp(differences, 0.0, axis=0)
    flat = np.all(differences == 0, axis=0)
    return np.where(flat, np.nan, found.statistic), np.where(flat, np.nan, found.pvalue)


def _differences(it: Units) -> Array:
    """Return positive minus negative class of every group that has both; rows are in that order."""
    names = np.asarray(it.group)
    up = np.flatnonzero((names[1:] == names[:-1]) & (it.y[1:] > it.y[:-1])) + 1
    return np.asarray(it.X[up] - it.X[up - 1])
