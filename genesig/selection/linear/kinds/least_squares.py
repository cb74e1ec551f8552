"""Training sets under the squared error, two classes as ±1 and numbers: errors left out, cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.refit import covariate_coef, refit_coef, refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.structured.stretches import along
from genesig.optim.training import TrainingSets, training_sets
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.assess.scores import wrong
from genesig.selection.linear.kinds.record import Ground
from genesig.selection.linear.tasks import LinearSettings, TrainingSet


@dataclass(frozen=True)
class Criterion:
    """A loss per sample and how the samples are weighted.

    Attributes
    ----------
    loss : callable
        ``loss(y, f)``: responses (n, 1, ...) and scores (n, ...) to losses (n, ...).
    balanced : bool
        Each class weighs one half, whatever its size; otherwise each sample weighs the same.
    counts : bool
        Whether it counts wrong samples, so that it matters where a score is cut.
    """

    loss: Callable[[Array, Array], Array]
    balanced: bool = False
    counts: bool = False

    def weights(self, y: Array) -> Array:
        """Return the weight of each sample, (n,); they sum to one."""
        if not self.balanced:
            return np.full(len(y), 1.0 / len(y))
        _, number, size = np.unique(y, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / (len(size) * size[number]))


def squared_error(y: Array, f: Array) -> Array:
    """(y - f)², for classes and for regression."""
    return np.asarray(np.square(y - f))


def log_loss(y: Array, f: Array) -> Array:
    """log(1 + exp(-2 y f)): minus the log-likelihood when f is half the log-odds of class +1."""
    return np.asarray(np.logaddexp(0.0, -2.0 * y * f))


CRITERIA = {
    "squared_error": Criterion(squared_error),
    "balanced_error": Criterion(wrong, balanced=True, counts=True),
    "misclassification": Criterion(wrong, counts=True),
    "log_loss": Criterion(log_loss),
}


def midpoint(task: TrainingSet, scores: Array) -> Array:
    """C = (m₋ + m₊)/2, m± the mean out-of-fold score of each class of the training set.

    Each training sample is scored by the fold that left it out. A least-squares score of
    unbalanced classes leans to the larger one, so that 0 is no neutral place to cut.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float

    Returns
    -------
    (n_tau, n_lam) float
    """
    y = task.y
    total = np.zeros((2, *scores.shape[1:3]))
    for k, rows in enumerate(task.inner_folds):
        for side, sign in enumerate((-1.0, 1.0)):
            total[side] += scores[k][..., rows[y[rows] == sign]].sum(axis=-1)
    sizes = [np.sum(y[task.train] == sign) for sign in (-1.0, 1.0)]
    return np.asarray((total[0] / sizes[0] + total[1] / sizes[1]) / 2)


def validation_error(
    task: TrainingSet, scores: Array, cut: Array, criterion: str
) -> tuple[Array, Array]:
    """Return mean validation error and its standard error over the grid.

    E = sum_i w_i loss(y_i, f_i), each training sample i scored by the fold that left it out; with
    the mean E_k and the weight W_k of fold k, SE² = sum_k W_k (E_k - E)² / (K - 1).

    Equal folds make E the mean of the fold means; weights let a fold lack one of the classes.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float
    cut : (n_tau, n_lam) float
        Taken off the scores for a criterion that counts errors.
    criterion : str
        A name in `CRITERIA`.

    Returns
    -------
    error, standard_error : (n_tau, n_lam) float

    References
    ----------
    Friedman, Hastie, Tibshirani 2010, J. Stat. Softw. 33(1); ``cv.glmnet`` computes cvm and cvsd
    by the same weighted formulas.
    """
    weight = np.zeros(len(task.y))
    by = CRITERIA[criterion]
    weight[task.train] = by.weights(task.y[task.train])
    shares = np.array([weight[rows].sum() for rows in task.inner_folds])
    left = cut[..., None] if by.counts else 0.0
    sums = np.stack(
        [
            by.loss(task.y[rows], scores[k][..., rows] - left) @ weight[rows]
            for k, rows in enumerate(task.inner_folds)
        ]
    )
    error = sums.sum(axis=0)
    spread = np.square(sums / shares[:, None, None] - error)
    return error, np.sqrt(np.tensordot(shares, spread, 1) / max(1, len(shares) - 1))


@dataclass(frozen=True)
class LeastSquares:
    """k training sets, as `record.Sets` has them."""

    sets: TrainingSets

    @classmethod
    def of(
        cls, X: Array, Y: Array, rows: Array, held: Sequence[Held | None], ground: Ground
    ) -> LeastSquares:
        """Describe k training sets: responses Y and mask `rows`, (n, k), what each holds fixed."""
        sets = training_sets(
            X,
            Y,
            rows,
            centre=ground.centre,
            weights=ground.weights,
            unit_variance=ground.unit_variance,
            adjustment=held_fixed(held, Y, rows),
        )
        return cls(sets if ground.stretches is None else along(sets, ground.stretches))

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

    def strength(self, part: slice) -> Array:
        """See `record.Sets`."""
        return self.sets.strength(part)

    def inner(
        self,
        Y: Array,
        rows: Array,
        held: Sequence[Held | None],
        of: Array,
        *,
        together: bool = True,
    ) -> LeastSquares:
        """Return other training sets of the matrix, centred and scaled as these are."""
        own = self.sets
        return LeastSquares(
            training_sets(
                own.X,
                Y,
                rows,
                centre=own.centre,
                like=own,
                unit_variance=own.unit_variance,
                adjustment=held_fixed(held, Y, rows),
                norm=None if together else own.norm[of],
            )
        )

    def path(self, tau: Array, mu: Array, protocol: LinearSettings, longest: int | None) -> Path:
        """Minimise ``(1/n)||y - Zb||² + mu ||b||² + tau Σ w_j |b_j|``."""
        return path(
            self.sets,
            tau,
            mu,
            solver=protocol.solver,
            tolerance=protocol.tolerance,
            longest=longest,
        )

    def scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit by ridge, see `refit.refit_scores`."""
        return refit_scores(self.sets, lists, lam, rows)

    def coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit by ridge, see `refit.refit_coef`."""
        return refit_coef(self.sets, lists, lam)

    def covariates(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return what `refit.covariate_coef` gives, and the means."""
        fixed = self.sets.adjustment
        if fixed is None or not fixed.mean.shape[1]:
            return None, None
        return covariate_coef(self.sets, lists, values), fixed.mean
