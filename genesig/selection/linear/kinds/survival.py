"""Survival: Cox's partial likelihood, cut at the median of the left-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.cox.path import covariate_coef, cox_path, ridge_coef, ridge_scores, strength
from genesig.optim.cox.path import tau_max as smallest
from genesig.optim.cox.risk_sets import USUAL, left_out_deviance
from genesig.optim.cox.training import CoxSets, cox_sets
from genesig.optim.solution import Path
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.linear.kinds.record import Fitting, Ground
from genesig.selection.linear.tasks import LinearSettings, TrainingSet


class _Held(NamedTuple):
    """What k sets hold fixed, their rows (n, k) that have weight, and weights (n, k) or None."""

    fixed: Adjustment | None
    rows: Array
    weights: Array | None

    @classmethod
    def of(cls, held: Sequence[Covariates | None], Y: Array, rows: Array) -> _Held:
        fixed = adjust_for_covariates(held, Y, rows)
        if fixed is None or fixed.weights is None:
            return cls(fixed, rows, None)
        rows = fixed.weights > 0
        fixed = adjust_for_covariates(held, Y, rows)
        return cls(fixed, rows, None if fixed is None else fixed.weights)


@dataclass(frozen=True)
class PartialLikelihood:
    """k training sets, as `record.Sets` has them.

    Attributes
    ----------
    sets : CoxSets
    ties : str
    group : (k,) int or None
        The outer set of each inner one: a list is chosen where all folds of one have theirs.
    """

    sets: CoxSets
    ties: str
    group: Array | None = None

    @classmethod
    def of(
        cls, X: Array, Y: Array, rows: Array, held: Sequence[Held | None], ground: Ground
    ) -> PartialLikelihood:
        """Describe k training sets: times and events Y and mask `rows`, (n, k), what each holds."""
        ties = ground.ties or USUAL
        own = _Held.of(held, Y, rows)
        return cls(
            cox_sets(
                X,
                Y["time"],
                Y["event"],
                own.rows,
                centre=ground.centre,
                ties=ties,
                unit_variance=ground.unit_variance,
                weights=ground.weights,
                sample_weights=own.weights,
                fixed=own.fixed,
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
        return smallest(self.sets)

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.sets.norm

    def strength(self, part: slice) -> Array:
        """See `record.Sets`."""
        return strength(self.sets, part)

    def inner(
        self,
        Y: Array,
        rows: Array,
        held: Sequence[Held | None],
        of: Array,
        *,
        together: bool = True,
    ) -> PartialLikelihood:
        """Return other training sets of the matrix, centred and scaled as these are."""
        own = self.sets.sets
        more = _Held.of(held, Y, rows)
        sets = cox_sets(
            own.X,
            Y["time"],
            Y["event"],
            more.rows,
            centre=own.centre,
            ties=self.ties,
            unit_variance=own.unit_variance,
            like=self.sets,
            sample_weights=more.weights,
            fixed=more.fixed,
            norm=None if together else self.norm[of],
        )
        return PartialLikelihood(sets, self.ties, of if together else None)

    def path(self, tau: Array, mu: Array, protocol: LinearSettings, longest: int | None) -> Path:
        """Minimise ``-(2/n) l(Zb) + mu ||b||² + tau Σ w_j |b_j|``."""
        return cox_path(
            self.sets, tau, mu, tolerance=protocol.tolerance, longest=longest, groups=self.group
        )

    def scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit by ridge Cox, see `scores.ridge_scores`; risk sets ask for all rows."""
        return ridge_scores(self.sets, lists, lam)

    def coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit by ridge Cox, see `path.ridge_coef`."""
        values, intercept, _ = ridge_coef(self.sets, lists, lam)
        return values, intercept

    def covariates(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return what `path.covariate_coef` gives, and the means."""
        fixed = self.sets.fixed
        if fixed is None or not fixed.mean.shape[1]:
            return None, None
        return covariate_coef(self.sets, lists, lam), fixed.mean


def median(task: TrainingSet, scores: Array) -> Array:
    """Return the median of the scores of training samples, each by the fold that left it out.

    Above it, a sample is in the half of higher risk.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float

    Returns
    -------
    (n_tau, n_lam) float
    """
    parts = [scores[k][..., rows] for k, rows in enumerate(task.inner_folds)]
    return np.asarray(np.median(np.concatenate(parts, axis=-1), axis=-1))


def deviance(task: TrainingSet, scores: Array, cut: Array, criterion: str) -> tuple[Array, Array]:
    """Return `left_out_deviance` over the grid; there is no other criterion."""
    train = task.train
    grid = scores.shape[1:3]
    y = task.y[train]
    folds = [np.flatnonzero(np.isin(train, rows)) for rows in task.inner_folds]
    of_training = scores[..., train].reshape(len(scores), -1, len(train))
    found = left_out_deviance(y["time"], y["event"], folds, of_training, task.ties or USUAL)
    error, standard_error = (each.reshape(grid) for each in found)
    return error, standard_error


SURVIVAL = Fitting(sets=PartialLikelihood.of, cut=median, error=deviance, signs=False)
