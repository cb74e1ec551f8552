"""Covariates and weights of the samples: what every model of a study adjusts for.

Covariates are in every model without a penalty. Permutations exchange only the part of expression
that the covariates leave (`exchange_residuals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.response.covariates import knot_counts, place_knots, spline_columns
from genesig.response.design import BALANCED
from genesig.results import Dataset

COVARIATES = "covariates"  # name of the baseline that has the covariates alone

COVARIATES_AND_RIDGE = "covariates and ridge"
"""Name of the baseline that adds ridge regression on all genes to the covariates."""

SAMPLES_PER_COLUMN = 6  # samples for each column of covariates that is taken out of the expression

N_FINE_KNOTS = 7  # knots of the finer spline of `covariate_basis`


@dataclass(frozen=True)
class Covariates:
    """Covariates and weight of each sample, from which training sets get knots and weights."""

    values: Array  # (n, r) float, as `Dataset.covariates` gives them, NaN where missing
    weights: Array | None  # (n,) float
    balanced: bool  # whether the weights make the classes of each training set count alike
    n_knots: tuple[int, ...] = ()  # of each covariate

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Covariates | None:
        """Return the record of all samples; None in a study without covariates and weights."""
        design = dataset.design
        if not design.covariates and design.weights is None:
            return None
        return cls(
            dataset.covariates(),
            dataset.sample_weights(),
            design.weights == BALANCED,
            knot_counts(design.covariates),
        )

    def training_knots(self, rows: Array) -> Array:
        """Return the knots (r, K) for the training rows (n,) bool, see `place_knots`."""
        weighted = rows if self.weights is None else rows & (self.weights > 0)
        return place_knots(self.values[weighted], self.n_knots)

    def permute(self, row_of_sample: Array) -> Covariates:
        """Return a copy whose row row_of_sample[i] has the covariates and weight of sample i."""
        sample_of_row = np.argsort(row_of_sample)
        weights = None if self.weights is None else self.weights[sample_of_row]
        return replace(self, values=self.values[sample_of_row], weights=weights)

    def training_weights(self, y: Array, rows: Array) -> Array:
        """Return the weight of each sample (n,) for the training rows (n,) bool.

        Weights outside these rows have no meaning.
        """
        if self.balanced:
            _, class_number, class_size = np.unique(
                y[rows], return_inverse=True, return_counts=True
            )
            weights = np.zeros(len(y))
            weights[rows] = 1 / class_size[class_number]
            return weights
        return np.ones(len(y)) if self.weights is None else self.weights


def adjust_for_covariates(
    covariates: Sequence[Covariates | None], Y: Array, is_training: Array
) -> Adjustment | None:
    """Return the adjustment of k training sets, or None in a study without covariates and weights.

    covariates k of Covariates, or k of None. Y (n, k) float: responses. is_training (n, k) bool:
    training rows of each set.
    """
    covariate_sets = [record for record in covariates if record is not None]
    if not covariate_sets:
        return None
    weights = None
    if any(record.balanced or record.weights is not None for record in covariate_sets):
        weights = np.column_stack(
            [
                record.training_weights(Y[:, k], is_training[:, k])
                for k, record in enumerate(covariate_sets)
            ]
        )
    splines = [
        spline_columns(record.values, record.training_knots(training_rows))
        for record, training_rows in zip(covariate_sets, is_training.T, strict=True)
    ]
    return adjustment(is_training, np.stack(splines), weights)


def exchange_residuals(dataset: Dataset, row_of_sample: Array) -> Array:
    r"""Return the expression of a study in which it tells nothing beyond the covariates.

    Without covariates X[π], π being `row_of_sample`. With them, P(C) being the least-squares fit
    by the covariates,

    .. math:: X^* = P(C) X + (X - P(C) X)[π],

    Genes and label then depend on the covariates as before, but no other part of a gene depends on
    the label. A missing value moves with its residual.

    row_of_sample (n,) int: permutation of the rows, by `genesig.data.splits.draw.draw_permutation`.

    C. J. F. ter Braak (1992), Permutation versus bootstrap significance tests in multiple
    regression and ANOVA. A. M. Winkler et al. (2014), Permutation inference for the general linear
    model, NeuroImage 92:381, where Smith's method permutes so.
    """
    X = dataset.X
    if not dataset.design.covariates or (row_of_sample == np.arange(len(row_of_sample))).all():
        return X[row_of_sample]
    Q = covariate_basis(dataset)
    finite = np.isfinite(X)
    mean = np.sum(X, axis=0, where=finite) / np.maximum(finite.sum(axis=0), 1)
    fitted = mean + Q @ (Q.T @ np.where(finite, X - mean, 0.0))
    return np.asarray(fitted + (X - fitted)[row_of_sample])


def covariate_basis(dataset: Dataset) -> Array:
    """Return orthonormal columns (n, c) that span the part of a gene which covariates explain.

    The span is larger than that of the models: it adds the products of two covariates, and a spline
    with more knots, up to a column for every `SAMPLES_PER_COLUMN` samples. A dependence of genes on
    covariates which the models do not adjust for then stays in place under a permutation, and is no
    evidence for anything else.
    """
    C = dataset.covariates()
    n_knots = knot_counts(dataset.design.covariates)
    is_continuous = [len(np.unique(column[~np.isnan(column)])) > 2 for column in C.T]
    C = np.where(np.isnan(C), np.nanmean(C, axis=0), C)
    sd = C.std(axis=0)
    C = (C - C.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    base = spline_columns(C, place_knots(C, n_knots))
    # A covariate of k knots has k - 1 columns, without knots one.
    covariate_of_column = np.repeat(np.arange(len(n_knots)), [max(1, k - 1) for k in n_knots])
    products = [
        base[:, i] * base[:, j]
        for i in range(len(covariate_of_column))
        for j in range(i)
        if covariate_of_column[i] != covariate_of_column[j]
    ]
    continuous = C[:, is_continuous]
    fine = spline_columns(continuous, place_knots(continuous, [N_FINE_KNOTS] * continuous.shape[1]))
    linear_columns = np.arange(continuous.shape[1]) * (N_FINE_KNOTS - 1)  # `base` has them
    columns = np.column_stack([base, *products, np.delete(fine, linear_columns, axis=1)])
    columns = columns[:, : max(base.shape[1], len(C) // SAMPLES_PER_COLUMN)]
    all_rows = np.ones((len(C), 1), dtype=bool)
    return adjustment(all_rows, columns[None]).columns(0)
