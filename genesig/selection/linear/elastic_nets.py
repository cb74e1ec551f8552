"""Elastic nets of training sets: by least squares, for several classes, and for survival.

Shapes: n samples, d genes, k training sets, m points of a path, L lambdas. With several classes,
weights and scores have one more axis, (T,). A `Path` holds m lists of genes, and their weights, for
each training set; a list after the end of a path is empty and has the gap NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox import path as cox
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.optim.cox.training import CoxSets, FollowUp, cox_sets
from genesig.optim.multitask import JointSets, joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import covariate_coef, refit_coef, refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.structured.stretches import Stretches, with_stretches
from genesig.optim.training import TrainingSets, training_sets
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.linear.training_sets import LinearSettings


@dataclass(frozen=True)
class LinearModel:
    """One linear model of one training set."""

    genes: Array  # (m,) int: columns of the matrix, ascending
    values: Array  # (m,) or (m, T) float: weight of each gene
    intercept: Any  # float or (T,) float: the intercept less the threshold
    gamma: Array | None  # (q,) or (q, T) float: weight of each covariate; None without covariates
    crossfitted_scores: Array | None = None
    """(K, n, ...) float: scores of training samples by draws of the folds, see `grid.crossfit`."""

    def scores(self, X: Array, rows: Array) -> Array:
        """Return the scores of some rows of the matrix, without covariates."""
        return np.asarray(self.intercept + X[np.ix_(rows, self.genes)] @ self.values)


class MatrixSettings(NamedTuple):
    """Scaling and penalty that all training sets of a matrix share."""

    centre: bool  # whether each gene is centred on the training rows
    unit_variance: bool  # whether each gene is divided by its sd on the training rows
    penalty_factors: Array | None  # (d,) float: factor of each gene's l1 term; None if all are 1
    ties: str | None  # treatment of ties in survival times
    fusion: Stretches | None = None  # norm of the penalty ``fused``, which replaces the l1 norm


class ElasticNets(Protocol):
    """k training sets of one matrix, of one kind of outcome, with the solver of that kind.

    The criterion is loss + mu ||b||² + tau Σ w_j |b_j|, of genes Z that are centred and scaled by
    the rows of each training set, with penalty factors w. tau_max and norm depend on the set.
    """

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""

    @property
    def tau_max(self) -> Array:
        """Smallest tau at which nothing is selected, (k,)."""

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each training set, the unit of mu and lambda, (k,)."""

    def null_gradient(self, number: int) -> Array:
        """Return the size of each gene's gradient where nothing is selected, (d,), for one set.

        It measures the association of each gene alone with the outcome, up to a factor of the set.
        """

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> ElasticNets:
        """Return training sets inside of these, with the same scaling and penalty factors.

        Responses Y and masks `rows` are (n, k'), `parent` (k',) numbers the sets that contain them.
        With `end_together` the paths of one parent may all end where the first of them ends,
        because only a list that all folds have can be chosen. Without it each path ends alone, and
        these sets take the norm of the parent, which is near enough and saves its computation.
        """

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Return the lists along absolute tau and mu (k, m); settings name solver and tolerance.

        A row of the path ends before its first list of more than `max_genes` genes.
        """

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge at each absolute lambda (k, L); return scores (k, m, L, n).

        Ridge minimises loss + lambda ||b||² over the genes of the list. `rows` (n, k) are the rows
        that need scores; other entries may be anything.
        """

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list at absolute lambda (k,); return values (nnz,) and intercept (k, m).

        Values are per unit of X, those of all lists in a row.

        The intercept is for samples whose covariates are at their means.
        """

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights (k, m, q) of covariates beside refitted genes, and their means (k, q).

        lists, values, lam: the arguments and the values of `ridge_coef`. (None, None) without
        covariates. q counts the columns of the covariates: splines have several.
        """


@dataclass(frozen=True)
class LeastSquaresElasticNets:
    """k training sets under the squared error, see `ElasticNets`."""

    sets: TrainingSets

    @classmethod
    def from_rows(
        cls,
        X: Array,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        matrix_settings: MatrixSettings,
    ) -> LeastSquaresElasticNets:
        """Make k training sets from responses Y and masks `rows`, (n, k), with covariates."""
        sets = training_sets(
            X,
            Y,
            rows,
            centre=matrix_settings.centre,
            weights=matrix_settings.penalty_factors,
            unit_variance=matrix_settings.unit_variance,
            adjustment=adjust_for_covariates(covariates, Y, rows),
        )
        return cls(
            sets if matrix_settings.fusion is None else with_stretches(sets, matrix_settings.fusion)
        )

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j |z_j'y| / w_j`` of each, (k,)."""
        return self.sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.norm

    def null_gradient(self, number: int) -> Array:
        """Return the size of each gene's gradient, see `ElasticNets`."""
        return np.asarray(self.sets.strength(slice(number, number + 1))[0])

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> LeastSquaresElasticNets:
        """Return training sets inside of these, see `ElasticNets`."""
        outer = self.sets
        return LeastSquaresElasticNets(
            training_sets(
                outer.X,
                Y,
                rows,
                centre=outer.centre,
                share_copy_with=outer,  # and its penalty factors and stretches
                unit_variance=outer.unit_variance,
                adjustment=adjust_for_covariates(covariates, Y, rows),
                norm=None if end_together else outer.norm[parent],
            )
        )

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``(1/n)||y - Zb||² + mu ||b||² + tau Σ w_j |b_j|``."""
        return path(
            self.sets,
            tau,
            mu,
            solver=settings.solver,
            tolerance=settings.tolerance,
            longest=max_genes,
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge and return scores, see `refit.refit_scores`."""
        return refit_scores(self.sets, lists, lam, rows)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge and return coefficients, see `refit.refit_coef`."""
        return refit_coef(self.sets, lists, lam)

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights of covariates, see `refit.covariate_coef`, and their means."""
        adjustment = self.sets.adjustment
        if adjustment is None or not adjustment.mean.shape[1]:  # weights alone have no columns
            return None, None
        return covariate_coef(self.sets, lists, values), adjustment.mean


@dataclass(frozen=True)
class MultiTaskElasticNets:
    """k training sets with a column of Y for each class, see `ElasticNets`."""

    joint: JointSets
    class_share: Array
    """(k, T) float: share of each class in the training samples; folds have their parent's."""
    parent: Array | None = None
    """(k,) int: outer set of each inner one, whose paths end together; None if each ends alone."""

    @classmethod
    def from_rows(
        cls,
        X: Array,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        matrix_settings: MatrixSettings,
    ) -> MultiTaskElasticNets:
        """Make k training sets from class numbers Y and masks `rows`, (n, k), with covariates."""
        adjustment = adjust_for_covariates(covariates, Y, rows)
        sample_weights = None if adjustment is None else np.square(adjustment.root_weights)
        class_share = shares(Y, rows, int(Y.max()) + 1, sample_weights)
        joint = joint_sets(
            X,
            coded(Y, class_share),
            rows,
            centre=matrix_settings.centre,
            unit_variance=matrix_settings.unit_variance,
            weights=matrix_settings.penalty_factors,
            adjustment=adjustment,
        )
        return cls(joint, class_share)

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.joint.training_sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j ||z_j'Y|| / w_j`` of each, (k,)."""
        return self.joint.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.joint.norm

    def null_gradient(self, number: int) -> Array:
        """Return the size of each gene's gradient, see `ElasticNets`."""
        sizes = self.joint.training_sets.strength(slice(number, number + 1), self.joint.Y)
        return np.asarray(sizes[0])

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> MultiTaskElasticNets:
        """Return training sets inside of these, coded by the class shares of the outer sets."""
        outer = self.joint.training_sets
        class_share = self.class_share[parent]
        joint = joint_sets(
            outer.X,
            coded(Y, class_share),
            rows,
            centre=outer.centre,
            unit_variance=outer.unit_variance,
            share_copy_with=self.joint,  # and its penalty factors
            adjustment=adjust_for_covariates(covariates, Y, rows),
            norm=None if end_together else self.norm[parent],
        )
        return MultiTaskElasticNets(joint, class_share, parent if end_together else None)

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``(1/n)||Y - ZB||² + mu ||B||² + tau Σ w_j ||B_j||``."""
        return joint_path(
            self.joint, tau, mu, tolerance=settings.tolerance, longest=max_genes, groups=self.parent
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge and return scores, (k, m, L, n, T)."""
        return joint_scores(self.joint, lists, lam, rows)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge and return values (nnz, T) and intercept (k, m, T)."""
        return joint_coef(self.joint, lists, lam)

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return weights of covariates, (k, m, q, T), see `refit.covariate_coef`, and means."""
        adjustment = self.joint.training_sets.adjustment
        if adjustment is None or not adjustment.mean.shape[1]:
            return None, None
        return covariate_coef(
            self.joint.training_sets, lists, values, self.joint.y_on_basis
        ), adjustment.mean


class _WeightedRows(NamedTuple):
    """Adjustment of k training sets, and the rows that count in it."""

    adjustment: Adjustment | None  # projection on covariates and weights; None without both
    rows: Array  # (n, k) bool: training rows with a weight above 0
    weights: Array | None  # (n, k) float: weights of the samples; None if all are 1

    @classmethod
    def from_covariates(
        cls, covariates: Sequence[Covariates | None], Y: Array, rows: Array
    ) -> _WeightedRows:
        """Return the adjustment for covariates and weights of training sets with responses Y."""
        adjustment = adjust_for_covariates(covariates, Y, rows)
        if adjustment is None or adjustment.weights is None:
            return cls(adjustment, rows, None)
        # A sample of weight 0 belongs to no risk set. Weights outside the training rows are 0.
        rows = adjustment.weights > 0
        adjustment = adjust_for_covariates(covariates, Y, rows)
        return cls(adjustment, rows, None if adjustment is None else adjustment.weights)


@dataclass(frozen=True)
class CoxElasticNets:
    """k training sets under Cox's partial likelihood, see `ElasticNets`."""

    sets: CoxSets
    ties: str  # treatment of ties: ``breslow`` or ``efron``
    parent: Array | None = None
    """(k,) int: outer set of each inner one, whose paths end together; None if each ends alone."""

    @classmethod
    def from_rows(
        cls,
        X: Array,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        matrix_settings: MatrixSettings,
    ) -> CoxElasticNets:
        """Make k training sets from times and events Y and masks `rows`, (n, k)."""
        ties = matrix_settings.ties or DEFAULT_TIES
        weighted_rows = _WeightedRows.from_covariates(covariates, Y, rows)
        return cls(
            cox_sets(
                X,
                FollowUp(Y["time"], Y["event"], weighted_rows.weights),
                weighted_rows.rows,
                centre=matrix_settings.centre,
                ties=ties,
                unit_variance=matrix_settings.unit_variance,
                weights=matrix_settings.penalty_factors,
                covariate_adjustment=weighted_rows.adjustment,
            ),
            ties,
        )

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.sets.training_sets.X

    @property
    def tau_max(self) -> Array:
        """``max_j |z_j'∇h| / w_j`` of each at 0, (k,)."""
        return cox.tau_max(self.sets)

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.training_sets.norm

    def null_gradient(self, number: int) -> Array:
        """Return the size of each gene's gradient, see `ElasticNets`."""
        return np.asarray(cox.strength(self.sets, slice(number, number + 1))[0])

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> CoxElasticNets:
        """Return training sets inside of these, see `ElasticNets`."""
        outer = self.sets.training_sets
        weighted_rows = _WeightedRows.from_covariates(covariates, Y, rows)
        sets = cox_sets(
            outer.X,
            FollowUp(Y["time"], Y["event"], weighted_rows.weights),
            weighted_rows.rows,
            centre=outer.centre,
            ties=self.ties,
            unit_variance=outer.unit_variance,
            share_copy_with=self.sets,
            covariate_adjustment=weighted_rows.adjustment,
            norm=None if end_together else self.norm[parent],
        )
        return CoxElasticNets(sets, self.ties, parent if end_together else None)

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``-(2/n) l(Zb) + mu ||b||² + tau Σ w_j |b_j|``."""
        return cox.cox_path(
            self.sets, tau, mu, tolerance=settings.tolerance, longest=max_genes, groups=self.parent
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge Cox and return scores of all rows, for the risk sets."""
        return cox.ridge_scores(self.sets, lists, lam)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge Cox and return values and intercept, see `cox.ridge_coef`."""
        values, intercept, _ = cox.ridge_coef(self.sets, lists, lam)
        return values, intercept

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights of covariates, see `cox.covariate_coef`, and their means.

        `values` has no effect: ridge Cox refits genes and covariates together.
        """
        adjustment = self.sets.covariate_adjustment
        if adjustment is None or not adjustment.mean.shape[1]:
            return None, None
        return cox.covariate_coef(self.sets, lists, lam), adjustment.mean


@dataclass(frozen=True)
class NestedModels:
    """Models of k training sets over growing mu; list m of set i has number i n_mu + m."""

    indptr: Array  # (k n_mu + 1,) int: list j has the entries indptr[j] to indptr[j + 1]
    indices: Array  # (nnz,) int: columns of the matrix
    values: Array  # (nnz,) or (nnz, T) float: ridge weights per unit of X
    intercept: Array  # (k, n_mu) float
    gap: Array  # (k, n_mu) float: relative duality gap; NaN if the list was too long
    gamma: Array | None  # (k, n_mu, q[, T]) float: weights of covariates; None without covariates
    covariate_mean: Array | None  # (k, q) float: mean of each covariate over the training samples


def fit_nested_lists(
    nets: ElasticNets, tau: Array, lam: Array, settings: LinearSettings
) -> NestedModels:
    """Select genes over growing mu at fixed tau, and refit each list by ridge.

    tau (k,) is a fraction of tau_max, lam (k,) counts in ||Z'Z||/n, Z the standardised genes. The
    lists of a training set end before the first one of more than ``linear.longest`` genes. As mu
    grows, the support tends to {j: (2/n)|z_j'y| > tau w_j}, a univariate screen: the longest lists
    hold correlated genes.

    Source: Mosci 2009, section 4.4 (stage II).
    """
    mu = np.asarray(settings.mu) * nets.norm[:, None]
    absolute_tau = (tau * nets.tau_max)[:, None]
    selection = nets.path(absolute_tau, mu, settings, settings.longest)
    return refit_by_ridge(nets, selection, lam)


def refit_by_ridge(nets: ElasticNets, selection: Path, lam: Array) -> NestedModels:
    """Refit each list of a selection by ridge, with lam (k,) in units of ||Z'Z||/n."""
    values, intercept = nets.ridge_coef(selection, lam * nets.norm)
    gamma, covariate_mean = nets.covariate_coef(selection, values, lam * nets.norm)
    if gamma is not None and covariate_mean is not None:  # now the intercept for covariates of 0
        intercept = intercept - np.einsum("kmq...,kq->km...", gamma, covariate_mean)
    return NestedModels(
        selection.indptr, selection.indices, values, intercept, selection.gap, gamma, covariate_mean
    )


def lists_as_path(lists: Sequence[Sequence[Array]]) -> Path:
    """Return (k, m) lists of genes, each ascending, as a path whose supports they are.

    A refit reads only the supports; all coefficients are 1.
    """
    shape = (len(lists), len(lists[0]))
    coefs = [(genes, np.ones(len(genes))) for row in lists for genes in row]
    return Path.from_coefs(shape, coefs, np.zeros(shape), np.ones(shape, dtype=np.int64), 0.0)
