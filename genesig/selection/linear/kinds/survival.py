"""Survival: Cox's partial likelihood, with a threshold at the median of the out-of-fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.cox.path import covariate_coef, cox_path, ridge_coef, ridge_scores, strength
from genesig.optim.cox.path import tau_max as smallest_empty_tau
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.cox.training import CoxSets, cox_sets
from genesig.optim.solution import Path
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.linear.kinds.calibration import calibrate_survival
from genesig.selection.linear.kinds.record import Fitting, MatrixSettings
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet


class _WeightedRows(NamedTuple):
    """Adjustment of k training sets, and the rows that count in it."""

    adjustment: Adjustment | None
    rows: Array
    """(n, k) bool: training rows with a weight above 0."""
    weights: Array | None
    """(n, k) float: weights of the samples; None if all are 1."""

    @classmethod
    def from_covariates(
        cls, covariates: Sequence[Covariates | None], Y: Array, rows: Array
    ) -> _WeightedRows:
        """Return the adjustment for covariates and weights of training sets with responses Y."""
        adjustment = adjust_for_covariates(covariates, Y, rows)
        if adjustment is None or adjustment.weights is None:
            return cls(adjustment, rows, None)
        # A sample of weight 0 belongs to no risk set.
        rows = adjustment.weights > 0
        adjustment = adjust_for_covariates(covariates, Y, rows)
        return cls(adjustment, rows, None if adjustment is None else adjustment.weights)


@dataclass(frozen=True)
class CoxElasticNets:
    """k training sets under Cox's partial likelihood, see `record.ElasticNets`."""

    sets: CoxSets
    ties: str
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
                Y["time"],
                Y["event"],
                weighted_rows.rows,
                centre=matrix_settings.centre,
                ties=ties,
                unit_variance=matrix_settings.unit_variance,
                weights=matrix_settings.penalty_factors,
                sample_weights=weighted_rows.weights,
                fixed=weighted_rows.adjustment,
            ),
            ties,
        )

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.sets.sets.X

    @property
    def tau_max(self) -> Array:
        """``max_j |z_j'∇h| / w_j`` of each at 0, (k,)."""
        return smallest_empty_tau(self.sets)

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.sets.norm

    def null_gradient(self, numbers: slice) -> Array:
        """Return the size of each gene's gradient, see `record.ElasticNets`."""
        return strength(self.sets, numbers)

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> CoxElasticNets:
        """Return training sets inside of these, see `record.ElasticNets`."""
        outer = self.sets.sets
        weighted_rows = _WeightedRows.from_covariates(covariates, Y, rows)
        sets = cox_sets(
            outer.X,
            Y["time"],
            Y["event"],
            weighted_rows.rows,
            centre=outer.centre,
            ties=self.ties,
            unit_variance=outer.unit_variance,
            share_copy_with=self.sets,
            sample_weights=weighted_rows.weights,
            fixed=weighted_rows.adjustment,
            norm=None if end_together else self.norm[parent],
        )
        return CoxElasticNets(sets, self.ties, parent if end_together else None)

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``-(2/n) l(Zb) + mu ||b||² + tau Σ w_j |b_j|``."""
        return cox_path(
            self.sets, tau, mu, tolerance=settings.tolerance, longest=max_genes, groups=self.parent
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge Cox and return scores of all rows, for the risk sets."""
        return ridge_scores(self.sets, lists, lam)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge Cox and return values and intercept, see `path.ridge_coef`."""
        values, intercept, _ = ridge_coef(self.sets, lists, lam)
        return values, intercept

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights of covariates, see `path.covariate_coef`, and their means."""
        adjustment = self.sets.fixed
        if adjustment is None or not adjustment.mean.shape[1]:
            return None, None
        return covariate_coef(self.sets, lists, lam), adjustment.mean


def median_score(training_set: TrainingSet, scores: Array) -> Array:
    """Return the median out-of-fold score of the training samples, (n_tau, n_lam).

    A sample above it is in the half of higher risk. Scores are (n_folds, n_tau, n_lam, n).
    """
    fold_scores = [scores[fold][..., rows] for fold, rows in enumerate(training_set.inner_folds)]
    return np.asarray(np.median(np.concatenate(fold_scores, axis=-1), axis=-1))


def cox_deviance(
    training_set: TrainingSet, scores: Array, thresholds: Array, criterion: str
) -> tuple[Array, Array]:
    """Return the out-of-fold deviance and its standard error; `criterion` has no effect."""
    train = training_set.train
    grid = scores.shape[1:3]
    y = training_set.y[train]
    folds = [np.flatnonzero(np.isin(train, rows)) for rows in training_set.inner_folds]
    training_scores = scores[..., train].reshape(len(scores), -1, len(train))
    ties = training_set.ties or DEFAULT_TIES
    deviances = left_out_deviance(y["time"], y["event"], folds, training_scores, ties)
    error, standard_error = (values.reshape(grid) for values in deviances)
    return error, standard_error


SURVIVAL_FITTING = Fitting(
    elastic_nets=CoxElasticNets.from_rows,
    thresholds=median_score,
    validation_error=cox_deviance,
    signed_classes=False,
    calibrate=calibrate_survival,
)
