"""One test for each gene alone, as a reference for the signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.missingness import q_values
from genesig.optim.cox.risk_sets import DEFAULT_TIES, score_test
from genesig.response.covariates import knot_counts, place_knots, spline_columns
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import Dataset

if TYPE_CHECKING:
    import pandas as pd

MAX_CONDITION_NUMBER = 1e8  # above which residuals cannot separate variances of two classes

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
    * more classes: Welch's F, see `class_test`; it has no sign;
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
        return float(2.0 ** (1 - len(pair_differences(unit_values, unit_values.y))))
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
        values = len(pair_differences(unit_values, unit_values.y))
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
        return _differences_test(pair_differences(unit_values, unit_values.X))
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


def pair_differences(unit_values: Units, values: Array) -> Array:
    """Return positive minus negative class of every group that has both, (n_differences, ...).

    values (n_units, ...): of each unit. The units are sorted by group, the negative class first.
    """
    names = np.asarray(unit_values.group)
    positive_rows = (
        np.flatnonzero((names[1:] == names[:-1]) & (unit_values.y[1:] > unit_values.y[:-1])) + 1
    )
    return np.asarray(values[positive_rows] - values[positive_rows - 1])


def slope_test(
    X: Array, y: Array, batch: Array | None, *, by_class: bool, covariates: Array | None = None
) -> tuple[Array, Array]:
    """Return t and two-sided p of b in ``x = level of the batch + b y + error``, for each gene x.

    With covariates c, ``c'g`` is in the model, too.

    t is b, of least squares, over its standard error. With one variance of the errors it is the
    test of the partial correlation, df = n - 1 - number of batches. With a variance for each class
    it is Welch's test with the batches in it, and Welch's test itself for one batch. Classes are
    seldom of equal size: if the rarer of 10 and 30 samples varied twice as much, 14 % of the genes
    without effect had p <= 0.05 with one variance, 5.1 % with two. If the batches cannot separate
    the two variances (each batch a pair), there is one.

    X (n, d) float. y (n,) float. batch (n,) or None: None is one batch for all. by_class: whether
    samples with y > 0 have a variance of their own. covariates (n, q) or None.

    t, p (d,) float: NaN for a gene that is constant inside every batch, and for all genes if y is
    so, or if too few samples are left.
    """
    from scipy.special import stdtr

    n = len(y)
    all_samples = np.ones(n, dtype=bool)
    batches = all_samples if batch is None else batch
    batch_names, batch_number = np.unique(batches, return_inverse=True)
    batch_indicator = np.eye(len(batch_names))[batch_number]
    projection = batch_indicator @ (batch_indicator / batch_indicator.sum(axis=0)).T
    projection, n_covariate_terms = _with_covariates(projection, covariates)
    response = y - projection @ y
    response_square = float(response @ response)
    if (
        n - len(batch_names) - n_covariate_terms < 2
        or response_square <= _rounding_of_squares(y[:, None])[0]
    ):
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    slope_weights = response / response_square
    rounding = _rounding_of_squares(X)
    residual_maker = np.eye(n) - projection - np.outer(response, slope_weights)
    classes = np.array([y > 0, y <= 0] if by_class else [all_samples], dtype=float)
    residuals = _Residuals.from_projection(residual_maker, slope_weights, classes)
    squares = residuals.strata @ np.square(residual_maker @ X)
    variance, df = residuals.slope_variance(np.where(squares > rounding, squares, 0.0))
    b = slope_weights @ X
    # b² response_square and the squared residuals add up to the variation inside batches.
    b = np.where(np.square(b) * response_square + squares.sum(axis=0) > 2 * rounding, b, np.nan)
    with np.errstate(divide="ignore"):
        t = b / np.sqrt(variance)
    return t, 2 * stdtr(df, -np.abs(t))


def _with_covariates(projection: Array, covariates: Array | None) -> tuple[Array, int]:
    """Return the projection on batches and covariates, and the dimensions it gained.

    projection (n, n): on the batches. Covariates that these explain, or each other, add none.
    """
    if covariates is None or not covariates.shape[1]:
        return projection, 0
    C = covariates - covariates.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    C = C - projection @ C
    left_vectors, s, _ = np.linalg.svd(C, full_matrices=False)
    basis = left_vectors[:, s > 1e-8 * np.sqrt(len(C))]  # columns had length √n
    return projection + basis @ basis.T, basis.shape[1]


def _rounding_of_squares(X: Array) -> Array:
    """Return the largest sum of squares of a constant column that rounding may cause."""
    n = len(X)
    return np.asarray(n * np.square(n * np.finfo(float).eps * np.abs(X).max(axis=0)))


@dataclass(frozen=True)
class _Residuals:
    """Estimate of the variance of a slope whose errors have a variance v in each stratum.

    C. R. Rao (1970), J Am Stat Assoc 65:161; F. E. Satterthwaite (1946), Biometrics Bull 2:110.
    """

    strata: Array  # (g, n) of 0 and 1: members of each stratum: of a class, or all
    # (g, g) float: ``shares @ v`` is the expected sum of squared residuals of each stratum
    shares: Array
    # (g,) float: ``weight @ sums of squares`` is the variance of the slope, without bias
    weight: Array
    spread: Array  # (g, g) float: ``2 v' spread v`` is the variance of that estimate

    @classmethod
    def from_projection(
        cls, residual_maker: Array, slope_weights: Array, strata: Array
    ) -> _Residuals:
        """Return the estimate for residuals ``residual_maker @ x`` and slope ``slope_weights @ x``.

        residual_maker (n, n), slope_weights (n,), strata (g, n) of 0 and 1.
        The strata are joined if their variances cannot be separated.
        """
        shares = _sums_of_squares(residual_maker, strata)
        is_separable = np.linalg.cond(shares) <= MAX_CONDITION_NUMBER
        if is_separable:
            weight = np.linalg.solve(shares, strata @ np.square(slope_weights))
        if not is_separable or (weight <= 0).any():
            one_stratum = np.ones((1, len(residual_maker)))
            return cls.from_projection(residual_maker, slope_weights, one_stratum)
        return cls(
            strata,
            shares,
            weight,
            _sums_of_squares(residual_maker * (weight @ strata) @ residual_maker, strata),
        )

    def slope_variance(self, squares: Array) -> tuple[Array, Array]:
        """Return the variance of the slope (d,) from sums of squares (g, d), and its df (d,)."""
        v = np.maximum(np.linalg.solve(self.shares, squares), 0)
        # df depends only on the ratios of the variances v: they have sum 1, or are 1 if all are 0.
        total = v.sum(axis=0)
        v = np.divide(v, total, out=np.ones_like(v), where=total > 0)
        half_variance_of_estimate = np.einsum("gd,gh,hd->d", v, self.spread, v)
        df = np.square(self.weight @ self.shares @ v) / half_variance_of_estimate
        return self.weight @ squares, df


def _sums_of_squares(M: Array, strata: Array) -> Array:
    """Return the sum of M_ij² over i and j in each two strata, (g, g)."""
    return np.asarray(strata @ np.square(M) @ strata.T)


def class_test(
    X: Array, y: Array, batch: Array | None, covariates: Array | None = None
) -> tuple[Array, Array]:
    """Return F and p of the differences between the classes y, for each column of X.

    Without batches and covariates it is Welch's analysis of variance, with a variance for each
    class. Otherwise it is the F test of the classes beside batches and covariates, with one
    variance.

    X (n, d) float. y, batch (n,), (n,) or None: class and batch of each row. covariates (n, q) or
    None.

    F, p (d,) float: NaN if a gene is constant (inside every batch), or too few samples are left.
    """
    if batch is None and covariates is None:
        return welch_anova(X, y)
    return _class_f_test(X, y, batch, covariates)


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

    class_names, class_number, class_size = np.unique(y, return_inverse=True, return_counts=True)
    n_classes = len(class_names)
    if n_classes < 2 or class_size.min() < 2:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    means = np.stack([X[class_number == c].mean(axis=0) for c in range(n_classes)])
    variance = np.stack([X[class_number == c].var(axis=0, ddof=1) for c in range(n_classes)])
    variance_floor = np.square(len(y) * np.finfo(float).eps * np.abs(X).max(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = class_size[:, None] / np.maximum(variance, variance_floor)
        share = weights / weights.sum(axis=0)
        h = (np.square(1 - share) / (class_size[:, None] - 1)).sum(axis=0)
        between = (weights * np.square(means - (share * means).sum(axis=0))).sum(axis=0) / (
            n_classes - 1
        )
        F = between / (1 + 2 * (n_classes - 2) / (n_classes**2 - 1) * h)
        p = fdtrc(n_classes - 1, (n_classes**2 - 1) / (3 * h), F)
    is_constant = np.ptp(X, axis=0) == 0
    return np.where(is_constant, np.nan, F), np.where(is_constant, np.nan, p)


def _class_f_test(
    X: Array, y: Array, batch: Array | None, covariates: Array | None
) -> tuple[Array, Array]:
    """Return F and p of least squares with the classes against batches and covariates alone.

    F is infinite for a gene without residuals beside the classes.
    """
    from scipy.special import fdtrc

    batch = np.zeros(len(y)) if batch is None else batch
    batch_indicator, class_indicator = (
        np.eye(numbers.max() + 1)[numbers]
        for numbers in (np.unique(labels, return_inverse=True)[1] for labels in (batch, y))
    )
    C = np.zeros((len(y), 0)) if covariates is None else covariates - covariates.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    null_design = np.hstack([batch_indicator, C])
    full_design = np.hstack([null_design, class_indicator])
    null_rank = int(np.linalg.matrix_rank(null_design))
    full_rank = int(np.linalg.matrix_rank(full_design))
    n = len(y)
    n_class_terms = full_rank - null_rank
    if n_class_terms < 1 or n - full_rank < 1:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    null_squares, full_squares = (
        np.square(X - design @ np.linalg.lstsq(design, X, rcond=None)[0]).sum(axis=0)
        for design in (null_design, full_design)
    )
    rounding = _rounding_of_squares(X)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (null_squares - full_squares) / n_class_terms / (full_squares / (n - full_rank))
    F = np.where(null_squares > rounding, np.maximum(F, 0.0), np.nan)
    return F, fdtrc(n_class_terms, n - full_rank, F)
