"""More than two classes: one list for all, and the class whose out-of-fold mean is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.classes import centres, coded, discriminant, margins, shares
from genesig.optim.multitask import JointSets, joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import covariate_coef
from genesig.optim.solution import Path
from genesig.response.design import Design
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.assess.several import wrong
from genesig.selection.linear.kinds.record import Fitting, Ground
from genesig.selection.linear.path import Lists
from genesig.selection.linear.tasks import LinearSettings, TrainingSet


@dataclass(frozen=True)
class ClassColumns:
    """k training sets with a column for each class, as `record.Sets` has them.

    Attributes
    ----------
    joint : JointSets
    share : (k, T) float
        Of each class in the training samples; inner folds have that of their outer set.
    group : (k,) int or None
        The outer set of each inner one: a list is chosen where all folds of one have theirs.
    """

    joint: JointSets
    share: Array
    group: Array | None = None

    @classmethod
    def of(
        cls, X: Array, Y: Array, rows: Array, held: Sequence[Covariates | None], ground: Ground
    ) -> ClassColumns:
        """Describe k training sets: numbers of the classes Y and mask `rows`, (n, k)."""
        fixed = adjust_for_covariates(held, Y, rows)
        weights = None if fixed is None else np.square(fixed.root)
        share = shares(Y, rows, int(Y.max()) + 1, weights)
        joint = joint_sets(
            X,
            coded(Y, share),
            rows,
            centre=ground.centre,
            unit_variance=ground.unit_variance,
            weights=ground.weights,
            adjustment=fixed,
        )
        return cls(joint, share)

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.joint.sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j ||z_j'Y|| / w_j`` of each, (k,)."""
        return self.joint.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.joint.norm

    def strength(self, part: slice) -> Array:
        """See `record.Sets`."""
        return self.joint.sets.strength(part, self.joint.Y)

    def inner(
        self,
        Y: Array,
        rows: Array,
        held: Sequence[Held | None],
        of: Array,
        *,
        together: bool = True,
    ) -> ClassColumns:
        """Return other training sets of the matrix, coded by the shares of the outer ones."""
        own = self.joint.sets
        share = self.share[of]
        joint = joint_sets(
            own.X,
            coded(Y, share),
            rows,
            centre=own.centre,
            unit_variance=own.unit_variance,
            like=self.joint,
            adjustment=held_fixed(held, Y, rows),
            norm=None if together else self.norm[of],
        )
        return ClassColumns(joint, share, of if together else None)

    def path(self, tau: Array, mu: Array, protocol: LinearSettings, longest: int | None) -> Path:
        """Minimise ``(1/n)||Y - ZB||² + mu ||B||² + tau Σ w_j ||B_j||``."""
        return joint_path(
            self.joint, tau, mu, tolerance=protocol.tolerance, longest=longest, groups=self.group
        )

    def scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit by ridge; (k, m, L, n, T)."""
        return joint_scores(self.joint, lists, lam, rows)

    def coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit by ridge; values (nnz, T) and intercept (k, m, T)."""
        return joint_coef(self.joint, lists, lam)

    def covariates(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return what `refit.covariate_coef` gives, (k, m, q, T), and the means."""
        fixed = self.joint.sets.adjustment
        if fixed is None or not fixed.mean.shape[1]:
            return None, None
        return covariate_coef(self.joint.sets, lists, values, self.joint.of_y), fixed.mean


def _left_out(task: TrainingSet, scores: Array) -> tuple[Array, Array]:
    """Return the class numbers and the out-of-fold scores (n_tau, n_lam, n_train, T)."""
    rows = np.concatenate(task.inner_folds)
    parts = [scores[k][..., fold, :] for k, fold in enumerate(task.inner_folds)]
    return task.y[rows], np.concatenate(parts, axis=-2)


def _weights(task: TrainingSet) -> Array | None:
    """Return the weights of the training samples, in the order of `_left_out`."""
    if task.covariates is None:
        return None
    rows = np.concatenate(task.inner_folds)
    return np.asarray(task.covariates.weights_in(task.y, task.training_mask()[:, 0])[rows])


def _centres(task: TrainingSet, scores: Array) -> Array:
    """Return the mean out-of-fold score of each class, (n_tau, n_lam, T, T)."""
    y, f = _left_out(task, scores)
    return centres(y, f, f.shape[-1])


def _squared(y: Array, f: Array, cut: Array, v: Array | None) -> Array:
    """Hold scores against the columns as they were coded, by shares of the weights v."""
    member = (y[:, None] == np.arange(f.shape[-1])).astype(float)
    share = np.average(member, axis=0, weights=v)
    return np.asarray(np.square(coded(y[:, None], share[None])[:, 0] - f).sum(axis=-1))


def _wrong(y: Array, f: Array, cut: Array, v: Array | None) -> Array:
    return wrong(y, np.moveaxis(margins(f, cut), -2, 0)).transpose(1, 2, 0)


# The loss of each training sample by its out-of-fold score, and whether classes weigh alike.
LOSSES = {
    "squared_error": (_squared, False),
    "balanced_error": (_wrong, True),
    "misclassification": (_wrong, False),
}


def _error(task: TrainingSet, scores: Array, cut: Array, criterion: str) -> tuple[Array, Array]:
    """Return the validation error and its standard error, as `least_squares.validation_error`."""
    y, f = _left_out(task, scores)
    loss, balanced = LOSSES[criterion]
    _, number, size = np.unique(y, return_inverse=True, return_counts=True)
    weight = 1 / (len(size) * size[number]) if balanced else np.full(len(y), 1 / len(y))
    fold = np.repeat(np.arange(len(task.inner_folds)), [len(rows) for rows in task.inner_folds])
    member = fold == np.arange(len(task.inner_folds))[:, None]
    share = member @ weight
    v = _weights(task)
    sums = np.stack([(loss(y, f, cut, v) * weight)[..., own].sum(axis=-1) for own in member])
    error = sums.sum(axis=0)
    spread = np.square(sums / share[:, None, None] - error)
    return error, np.sqrt(np.tensordot(share, spread, 1) / max(1, len(share) - 1))


def _decide(lists: Lists, cuts: Sequence[Any]) -> tuple[Lists, Array]:
    """Turn the weights of each fit into those of its margins, see `multitask.discriminant`.

    The prediction is then the largest, without a threshold. Fits without means keep theirs.
    """
    values = lists.values.copy()
    intercept = lists.intercept.copy()
    n_mu = lists.gap.shape[1]
    gamma = None if lists.gamma is None else lists.gamma.copy()
    for fit, means in enumerate(cuts):
        if np.ndim(means) == 2:
            turned, constant = discriminant(means)
            part = slice(*lists.indptr[[fit * n_mu, (fit + 1) * n_mu]])
            values[part] = values[part] @ turned
            intercept[fit] = intercept[fit] @ turned + constant
            if gamma is not None:
                gamma[fit] = gamma[fit] @ turned
    decided = replace(lists, values=values, intercept=intercept, gamma=gamma)
    return decided, np.zeros(len(cuts))


def _told(scores: Array, cut: Any) -> Array:
    """Return the margins, as `_decide` has them."""
    return margins(scores, cut) if np.ndim(cut) == 2 else scores


def _columns(design: Design) -> tuple[int, ...]:
    return (len(design.classes or ()),)


SEVERAL_CLASSES = Fitting(
    sets=ClassColumns.of,
    cut=_centres,
    error=_error,
    signs=False,
    decide=_decide,
    columns=_columns,
    told=_told,
    cut_turns=True,
    by_class=lambda f: f,
)
