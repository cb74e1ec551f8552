r"""Several responses, one list: the multi-task l1-l2 path and the ridge refit on its supports.

    min_B (1/n)||Y - ZB||_F² + mu ||B||_F² + tau sum_j w_j ||B_j.||_2

for k training sets of one matrix, each with T responses. A feature is selected for all of them or
for none. T = 1 is the problem of `genesig.optim.solvers.path`, and is solved there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from genesig.compiled import multitask_sweep as compiled
from genesig.compiled.multitask_groups import DONE
from genesig.compiled.multitask_sweep import Found, Many
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment
from genesig.optim.refit import coef_all, refit_all, room_for_scores
from genesig.optim.screening import in_single, screen_of, strong_rule
from genesig.optim.solution import Path
from genesig.optim.solvers import grid
from genesig.optim.solvers import path as scalar_path
from genesig.optim.training import TrainingSets, part_of, training_sets

Array = np.ndarray[Any, Any]

GOAL = 1e-12  # gap that is aimed at, so that lists do not hang on the way to them
FLOOR = 1e-13  # rounding of a gradient, as a share of the first tau
DEPENDENT = 1e-13  # what is this small, as a share of the largest, is rounding
MEMORY = 40e6  # bytes that the training sets of one chunk may take, about
FEWEST, MOST = 4, 64  # training sets of one chunk


@dataclass(frozen=True)
class JointSets:
    """k training sets, each with T responses.

    Attributes
    ----------
    sets : TrainingSets
        Rows, means and scales of the k sets; the responses there are the first ones.
    Y : (k, T, N) float
        Responses minus their training means, 0 on the other rows.
        With an adjustment times √v, and less what the covariates say of them.
    y_mean : (k, T) float
    of_y : (k, q, T) float
        What the covariates say of the responses, see `Adjustment.centred`.
    """

    sets: TrainingSets
    Y: Array
    y_mean: Array
    of_y: Array

    @property
    def norm(self) -> Array:
        """Return ``||Z'Z|| / n_k``, (k,)."""
        return self.sets.norm

    @cached_property
    def tau_max(self) -> Array:
        """Return the smallest tau that selects nothing, ``(2/n_k) max_j ||z_j'Y|| / w_j``, (k,)."""
        sets, inverse = self.sets, self.sets.inverse_scales(slice(None))
        found = np.zeros((len(self.Y), len(sets.weights)))
        Y = self.Y if sets.adjustment is None else self.Y * sets.padded.mask[:, None]
        compiled.pulls(sets.matrix.F, inverse, sets.padded.number, Y, found)
        return np.asarray((found / sets.weights).max(axis=1))


def joint_sets(
    X: Array, Y: Array, rows: Array, *, centre: bool, unit_variance: bool,
    like: JointSets | None = None, weights: Array | None = None,
    adjustment: Adjustment | None = None, norm: Array | None = None,
) -> JointSets:  # fmt: skip
    """Describe k training sets with T responses each.

    Parameters
    ----------
    X : (n, d) array
    Y : (n, k, T) array
        Raw responses; values outside the training rows are ignored.
    rows, centre, unit_variance, like, weights, adjustment, norm
        As in `training_sets`; weights must be positive.
    """
    sets = training_sets(
        X, Y[:, :, 0], rows, centre=centre, unit_variance=unit_variance,
        like=None if like is None else like.sets, weights=weights, adjustment=adjustment, norm=norm,
    )  # fmt: skip
    if not (sets.weights > 0).all():
        raise GenesigError("with several responses every weight must be positive")
    if not np.isfinite(Y[rows]).all():
        raise GenesigError("the training responses must be finite; found NaN or infinity")
    (k, T), width = Y.shape[1:], sets.matrix.F.shape[1]
    centred, mean, of_y = np.zeros((k, T, width)), np.empty((k, T)), np.zeros((k, 0, T))
    if adjustment is not None:
        each = [adjustment.centred(Y[:, :, t]) for t in range(T)]
        left, mean, of_y = (np.stack(part, axis=-1) for part in zip(*each, strict=True))
        centred[:, :, : len(X)] = left.transpose(1, 2, 0)
        return JointSets(sets, centred, mean, of_y)
    for i in range(k):
        part = np.ascontiguousarray(Y[rows[:, i], i].T)
        mean[i] = [row.mean() for row in part]
        centred[i][:, np.flatnonzero(rows[:, i])] = part - mean[i][:, None]
    return JointSets(sets, centred, mean, of_y)


def joint_path(
    joint: JointSets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None, groups: Array | None = None,
) -> Path:  # fmt: skip
    """Minimise for every training set, each fit started at the one before it in its row.

    Parameters
    ----------
    joint : JointSets
    tau, mu : floats or arrays that broadcast to (k, m)
        Absolute; tau > 0.
    tolerance : float
        Largest duality gap, relative to ``||Y||²/n``, at which a fit counts as converged.
    longest : int, optional
        A training set's row ends before its first fit of more features than this.
    groups : (k,) int, optional
        Where a row has ended, those of its group are of no use: they end there or later.

    Returns
    -------
    Path
        Whose values are (nnz, T), on the standardised scale.

    Raises
    ------
    GenesigError
        For tau or mu that leave no problem.
    """
    if joint.sets.adjustment is not None:
        return _one_by_one(joint, *grid(joint.sets, tau, mu), tolerance, longest, groups)
    if joint.Y.shape[1] == 1:
        found = scalar_path(
            joint.sets, tau, mu, solver="landweber-newton", tolerance=tolerance, longest=longest
        )
        return replace(found, values=found.values[:, None])
    tau, mu = grid(joint.sets, tau, mu)
    if not (tau > 0).all():
        raise GenesigError("with several responses tau must be positive")
    size = int(np.clip(MEMORY / _bytes_of(joint), FEWEST, MOST))
    single, most = in_single(joint.sets), np.inf if longest is None else longest
    gap, steps = np.full(tau.shape, np.nan), np.full(tau.shape, -1, dtype=np.int64)
    coefs: list[tuple[Array, Array]] = []
    groups = np.arange(len(tau)) if groups is None else groups
    for first in range(0, len(tau), size):
        part = slice(first, first + size)
        walk = _Walk(joint, single, part, groups, min(GOAL, tolerance))
        coefs += walk.down(tau[part], mu[part], gap[part], steps[part], most)
    sizes = np.array([len(values) for _, values in coefs])
    indices = np.concatenate([indices for indices, _ in coefs])
    values = np.concatenate([values for _, values in coefs])
    return Path.joined(tau.shape, sizes, indices, values, gap, steps, tolerance)


def _one_by_one(
    joint: JointSets, tau: Array, mu: Array, tolerance: float, longest: int | None,
    groups: Array | None,
) -> Path:  # fmt: skip
    """Minimise for sets with weights or covariates, each as a matrix of its own (see `alone`)."""
    k, M = tau.shape
    groups, use = np.arange(k) if groups is None else groups, dict[int, int]()
    sizes, gap, steps = np.zeros((k, M), int), np.full((k, M), np.nan), np.full((k, M), -1)
    found = []
    for i, group in enumerate(map(int, groups)):
        part = i, slice(use.get(group, M))
        found.append(joint_path(alone(joint, i), tau[part], mu[part],
                                tolerance=tolerance, longest=longest))  # fmt: skip
        sizes[part], gap[part], steps[part] = found[-1].sizes(), found[-1].gap, found[-1].iterations
        use[group] = max(1, int((steps[i] >= 0).sum()))
    indices, values = (np.concatenate([getattr(path, name) for path in found])
                       for name in ("indices", "values"))  # fmt: skip
    return Path.joined(tau.shape, sizes.ravel(), indices, values, gap, steps, tolerance)


def alone(joint: JointSets, k: int) -> JointSets:
    """Return training set k as one of its rows: √v Z and √v Y less covariates, as they are."""
    sets, inside = joint.sets, joint.sets.rows[:, k]
    Z, _ = sets.problem(k)
    Y = joint.Y[k][:, : len(inside)][:, inside]
    plain = joint_sets(
        Z, Y.T[:, None], np.ones((len(Z), 1), dtype=bool), centre=False, unit_variance=False,
        weights=sets.weights,
    )  # fmt: skip
    kept = np.zeros(plain.Y.shape)  # weighted responses have a mean that is not to be taken off
    kept[0, :, : len(Z)] = Y
    return replace(plain, Y=kept)


def joint_scores(
    joint: JointSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:  # fmt: skip
    """Return the refit's scores for every lam, (k, m, L, n, T): see `refit.refit_scores`."""
    (k, m), T, lam = path.shape, joint.Y.shape[1], np.atleast_2d(np.asarray(lam, float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores, wanted = room_for_scores((k, m, lam.shape[1], len(joint.sets.X), T), rows)
    refit_all(joint.sets, joint.Y, path, lam, joint.y_mean, scores, wanted)
    if joint.sets.adjustment is not None:
        basis = joint.sets.adjustment.basis
        scores += np.einsum("kqt,kqn->knt", joint.of_y, basis)[:, None, None]
    return scores


def joint_coef(joint: JointSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values (nnz, T), intercept (k, m, T)) of the refit, in the units of X."""
    values, constant = coef_all(joint.sets, joint.Y, path, lam)
    return values, joint.y_mean[:, None] + constant


def _independent(Y: Array) -> tuple[Array, Array]:
    """Return responses (k, r, N) without those that follow from the others, and V (k, r, T).

    Y = V'Y' with orthonormal rows of V, for which ||B|| = ||B V||: the same problem. The columns of
    T classes, centred, are T - 1.
    """
    k, T, _ = Y.shape
    found, turned = np.zeros_like(Y), np.zeros((k, T, T))
    for i in range(k):
        rows = np.flatnonzero(Y[i].any(axis=0))
        U, size, V = np.linalg.svd(Y[i][:, rows], full_matrices=False)
        kept = int((size > DEPENDENT * size.max(initial=0)).sum())
        found[i][:kept, rows] = size[:kept, None] * V[:kept]
        turned[i, :kept] = U.T[:kept]
    most = max(1, int(turned.any(axis=2).sum(axis=1).max()))
    return np.ascontiguousarray(found[:, :most]), turned[:, :most]


def _bytes_of(joint: JointSets) -> int:
    """Return about what a training set takes."""
    return int(joint.sets.weights.size * (8 * joint.Y.shape[1] + 40))


class _Walk:
    """The training sets that go down their paths together."""

    def __init__(
        self, joint: JointSets, single: tuple[Array, Array], part: slice, groups: Array, goal: float
    ) -> None:
        sets, (Y, self.turned) = joint.sets, _independent(joint.Y[part])
        rows, d = part_of(sets.padded, part), len(sets.weights)
        q, T, _ = Y.shape
        inverse = np.ascontiguousarray(sets.inverse_scales(part))
        places = np.argsort(rows.mask == 0, axis=1, kind="stable")
        places[np.take_along_axis(rows.mask, places, axis=1) == 0] = -1
        screen = screen_of(sets, single, inverse)
        self.goal, self.ended = goal, np.zeros(q, dtype=bool)
        self.many = Many(
            F=sets.matrix.F, shift=sets.matrix.shift, weights=sets.weights, tau=np.zeros(q),
            mu=np.zeros(q), strong=np.zeros(q), floor=np.zeros(q), mask=rows.mask,
            number=rows.number, inverse=inverse, rows=places, Y=Y, R=Y.copy(),
            working=np.zeros((q, d), dtype=np.int32), n_working=np.zeros(q, dtype=np.int64),
            mark=np.zeros((q, d), dtype=np.uint8), value=np.zeros((q, d, T)),
            known=np.zeros((q, 6)), group=groups[part].astype(np.int64),
        )  # fmt: skip
        self.found = Found(
            tiles=screen.tiles, square=screen.scaled**2, top=screen.top,
            feature=np.zeros((q, d), dtype=np.int32), level=np.zeros((q, d), dtype=np.float32),
            number=np.zeros(q, dtype=np.int64), state=np.zeros(q, dtype=np.uint8),
            gap=np.zeros(q), steps=np.zeros((q, 2), dtype=np.int64),
            joined=np.ones((q, 2), dtype=np.int64), doubt=np.zeros(q, np.uint8),
        )  # fmt: skip

    def down(
        self, tau: Array, mu: Array, gap: Array, steps: Array, most: float
    ) -> list[tuple[Array, Array]]:
        """Return the coefficients in the order (set, step); fill gap and steps."""
        (q, M), many, found = tau.shape, self.many, self.found
        none = np.zeros(0, np.int64), np.zeros((0, self.turned.shape[2]))
        out = [[none] * M for _ in range(q)]
        many.floor[:] = FLOOR * tau[:, 0] * many.weights.max()
        for m in range(M):
            many.tau[:], many.mu[:], many.strong[:] = tau[:, m], mu[:, m], np.inf
            if m + 1 < M:
                many.strong[:] = strong_rule(tau[:, m], tau[:, m + 1], mu[:, m + 1] != mu[:, m])
            found.steps[:], found.state[:] = 0, np.where(self.ended, DONE, compiled.ROUGH)
            found.joined[:, 1], found.joined[:, 0] = found.joined[:, 0], 0
            compiled.step(many, found, self.goal, float(most))
            self.ended |= np.isnan(found.gap)
            for s in map(int, np.flatnonzero(~self.ended)):
                out[s][m] = self._coef(s)
                gap[s, m], steps[s, m] = found.gap[s], found.steps[s, 0]
        return [fit for row in out for fit in row]

    def _coef(self, s: int) -> tuple[Array, Array]:
        """Return the features that are selected, ascending, and their rows."""
        indices = np.sort(self.many.working[s, : self.many.n_working[s]]).astype(np.int64)
        rows = self.many.value[s, indices]
        kept = rows.any(axis=1)
        rows, values = rows[kept], np.zeros((np.count_nonzero(kept), self.turned.shape[2]))
        for r, turned in enumerate(self.turned[s]):
            values += rows[:, r, None] * turned
        return indices[kept], values
