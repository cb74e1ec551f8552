"""One test for each gene alone, as a reference for the signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.missingness import q_values
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.optim.cox.score_test import score_test
from genesig.response.covariates import knot_counts, place_knots, spline_columns
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.genes.statistics import class_test, slope_test

if TYPE_CHECKING:
    import pandas as pd

LINEAR_TEST = "linear"  # name of the test that has covariates in it


UNIVARIATE_TESTS = ByKind(
    {
        "classification": "welch",
        SEVERAL_CLASSES: "anova",
        "regression": "correlation",
        "survival": "score",
    }
)


@dataclass(frozen=True)
class Units:
    """Values that are tested: one row per independent unit, not per sample."""

    X: Array  # (n_units, n_genes) float
    y: Array  # (n_units,) response
    group: Array | None  # (n_units,) name of the group of each unit; None if every sample is a unit
    test: str  # ``differences``, ``welch``, ``anova``, ``correlation`` or ``score``
    batch: Array | None = None  # (n_units,) batch of each unit; None if no batch is in the test
    covariates: Array | None = None  # (n_units, q) covariates; None if none are in the test
    ties: str | None = None  # treatment of ties in survival times


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

    If the study names batches, all but the second have the batch in the model (see `slope_test`),
    so that a batch that is associated with the label makes no discovery. Differences lack the
    batch: most often a group lies in one batch, whose level cancels. The batch is also left out if
    a group of one class has samples of several batches.

    Covariates of the study are in the model in the same way, for two or more classes with one
    variance of the errors: ordinary least squares of each gene on the class and the covariates. A
    missing covariate is the mean of the others. Weights of samples have no effect.

    If only some groups hold both classes, Welch's t takes the two means of such a group as
    independent; that costs power, as they tend to be alike, but makes no p too small. A group of
    one class counts once, however many samples it has.

    A gene without any spread inside the classes (of two, or a number that is a straight line of the
    response), such as an indicator of missing values, has no finite t. Its p is that of a
    permutation test, 2 / (number of arrangements of the response), and its statistic the normal
    quantile of it.

    A positive statistic is higher expression in the positive class, with a rising response, or with
    earlier events. A gene that is constant (in groups: never differs; with batches: inside each),
    or of which too few units are left for a test, has statistic 0 and p 1. q is the smallest false
    discovery rate at which the gene is a discovery (Benjamini and Hochberg 1995).
    """
    import pandas as pd

    statistic, p = _statistic_and_p(dataset)
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
    return _statistic_and_p(dataset)[0]


def _statistic_and_p(dataset: Dataset) -> tuple[Array, Array]:
    """Return statistic and p of each gene; 0 and 1 without a test."""
    unit_values = units(dataset)
    statistic, p = _run_test(unit_values)
    is_separated = np.isinf(statistic)
    if is_separated.any():
        from scipy.stats import norm

        smallest_p = _smallest_p(unit_values)
        p = np.where(is_separated, smallest_p, p)
        statistic = np.where(is_separated, np.sign(statistic) * norm.isf(smallest_p / 2), statistic)
    is_untested = np.isnan(p) | (np.ptp(dataset.X, axis=0) == 0)
    return np.where(is_untested, 0.0, statistic), np.where(is_untested, 1.0, p)


def _smallest_p(unit_values: Units) -> float:
    """Return the two-sided p of the most extreme arrangement of the response over the units."""
    from scipy.special import gammaln

    if unit_values.test == "differences":
        return float(2.0 ** (1 - len(_differences(unit_values))))
    sizes = np.unique(unit_values.y, return_counts=True)[1]
    log_arrangements = gammaln(len(unit_values.y) + 1) - gammaln(sizes + 1).sum()
    return float(min(1.0, 2 * np.exp(-log_arrangements)))


def units(dataset: Dataset) -> Units:
    """Average the samples of each group and class (regression: each group); name the test."""
    X = dataset.X
    y = dataset.response()
    group = _groups(dataset)
    batches = dataset.batches()
    batch_number = np.zeros(len(y), int)
    if batches is not None:
        batch_number = np.unique(batches, return_inverse=True)[1]
    test = UNIVARIATE_TESTS[dataset.design.kind]
    ties = dataset.design.ties
    covariates = _filled_covariates(dataset)
    n_classes = len(dataset.design.classes or ())
    if group is None:
        return Units(X, y, None, test, _if_several(batch_number), covariates, ties)
    group_names, group_number = np.unique(group, return_inverse=True)
    # A cell, whose samples are averaged, is a group or a class within it.
    cell = group_number
    if n_classes:
        cell = n_classes * group_number + (y > 0 if n_classes == 2 else y).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    cells, first_row, count = np.unique(cell[order], return_index=True, return_counts=True)
    means = np.add.reduceat(X[order], first_row, axis=0) / count[:, None]
    # A group has one time; of numbers it has the mean.
    response = (
        y[order][first_row] if y.dtype.names else np.add.reduceat(y[order], first_row) / count
    )
    cell_batch = batch_number[order][first_row]
    # A cell with samples of several batches belongs to none, so that no batch is in the test.
    cells_have_batch = (batch_number[order] == np.repeat(cell_batch, count)).all()
    tested_batch = _if_several(cell_batch) if cells_have_batch else None
    if covariates is not None:
        covariates = np.add.reduceat(covariates[order], first_row, axis=0) / count[:, None]
    if not n_classes:
        return Units(means, response, group_names, test, tested_batch, covariates, ties)
    group = group_names[cells // n_classes]
    # pairs, or both classes in every group
    if n_classes == 2 and (dataset.design.pair is not None or len(cells) == 2 * len(group_names)):
        return Units(means, response, group, "differences")
    return Units(means, response, group, test, tested_batch, covariates)


def _filled_covariates(dataset: Dataset) -> Array | None:
    """Return the covariates as splines, (n, q), missing ones as their mean; None without any."""
    if not dataset.design.covariates:
        return None
    covariates = dataset.covariates()
    covariates = spline_columns(
        covariates, place_knots(covariates, knot_counts(dataset.design.covariates))
    )
    return np.where(np.isnan(covariates), np.nanmean(covariates, axis=0), covariates)


def _if_several(batch_number: Array) -> Array | None:
    """Return the batch of each unit; None if all have the same."""
    return batch_number if len(np.unique(batch_number)) > 1 else None


class UnivariateTest(TypedDict):
    """Description of the tests of single genes."""

    test: str  # name of the test
    group: str | None  # column of the groups that were averaged or paired; None without groups
    batch: str | None  # column of the batches in the test; None without batches
    values: int  # number of units, or of differences
    covariates: NotRequired[list[str]]  # columns of the covariates, if there are any in the test


def describe_test(dataset: Dataset) -> UnivariateTest:
    """Return the study's test: its name, columns of groups and batches, number of values."""
    unit_values = units(dataset)
    values = len(unit_values.y)
    if unit_values.test == "differences":
        values = len(_differences(unit_values))
    column = None if unit_values.group is None else dataset.design.pair or dataset.design.group
    batch = None if unit_values.batch is None else dataset.design.batch
    description: UnivariateTest = {
        "test": unit_values.test,
        "group": column,
        "values": values,
        "batch": batch,
    }
    if unit_values.covariates is not None:
        test = unit_values.test if unit_values.test == "score" else LINEAR_TEST
        description |= {"test": test, "covariates": [c.column for c in dataset.design.covariates]}
    return description


def _groups(dataset: Dataset) -> Array | None:
    """Return the pair of each sample, or its group; None without both."""
    if dataset.design.pair is not None:
        return dataset.obs[dataset.design.pair].astype(str).to_numpy(dtype=object)
    return dataset.groups()


def _run_test(unit_values: Units) -> tuple[Array, Array]:
    """Return statistic and p of each gene by the test of the units."""
    if unit_values.test == "differences":
        return _differences_test(_differences(unit_values))
    if unit_values.test == "score":
        return score_test(
            unit_values.X,
            unit_values.y,
            unit_values.batch,
            unit_values.ties or DEFAULT_TIES,
            unit_values.covariates,
        )
    if unit_values.test == "anova":
        return class_test(unit_values.X, unit_values.y, unit_values.batch, unit_values.covariates)
    by_class = unit_values.test == "welch" and unit_values.covariates is None
    return slope_test(
        unit_values.X,
        unit_values.y,
        unit_values.batch,
        by_class=by_class,
        covariates=unit_values.covariates,
    )


def _differences_test(differences: Array) -> tuple[Array, Array]:
    """Return SciPy's t and p of differences from 0; NaN for a gene that never differs."""
    import warnings

    from scipy.stats import ttest_1samp

    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = ttest_1samp(differences, 0.0, axis=0)
    never_differs = np.all(differences == 0, axis=0)
    return np.where(never_differs, np.nan, result.statistic), np.where(
        never_differs, np.nan, result.pvalue
    )


def _differences(unit_values: Units) -> Array:
    """Return positive minus negative class of every group that has both, (n_differences, n_genes).

    The rows of `units` are sorted by group, the negative class first.
    """
    names = np.asarray(unit_values.group)
    positive_rows = (
        np.flatnonzero((names[1:] == names[:-1]) & (unit_values.y[1:] > unit_values.y[:-1])) + 1
    )
    return np.asarray(unit_values.X[positive_rows] - unit_values.X[positive_rows - 1])
