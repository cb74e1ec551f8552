r"""Several responses, one list: the multi-task l1-l2 path and the ridge refit on its supports.

    min_B (1/n)||Y - ZB||_F² + mu ||B||_F² + tau sum_j w_j ||B_j.||_2

for k training sets of one matrix, each with T responses: blocks of one column. A feature is
selected for all of them or for none. T = 1 is the problem of `genesig.optim.solvers.path`, and is
solved there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment
from genesig.optim.refit import ridge_coef, ridge_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import grid
from genesig.optim.solvers import path as scalar_path
from genesig.optim.structured.path import Walk, walk_together
from genesig.optim.structured.solution import Fit
from genesig.optim.training import TrainingSets, training_sets

GOAL = 1e-12  # gap that is aimed at, so that lists do not hang on the way to them
DEPENDENT = 1e-13  # what is this small, as a share of the largest, is rounding
MEMORY = 40e6  # bytes that the training sets of one chunk may take, about
# training sets of one chunk
FEWEST = 4
MOST = 64


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
        found = np.empty(len(self.Y))
        n = len(self.sets.X)
        for part in _chunks(self):
            features = Features(self, part)
            Y = self.Y[part, :, :n].transpose(0, 2, 1)
            square = features.squares(Y, range(len(Y))) / features.weights**2
            largest = square.max(axis=1)
            found[part] = 2 / self.sets.rows[:, part].sum(axis=0) * np.sqrt(largest)
        return found


class Features:
    """The standardised features of some training sets, each a block; see `columns.Design`."""

    single = True

    def __init__(self, joint: JointSets, part: slice) -> None:
        sets = joint.sets
        self.sets = sets
        self.weights = sets.weights
        self.n = len(sets.X)
        self.first = part.start
        (mean, self.inverse) = sets.moments(part)
        self.mean = mean - sets.matrix.shift if sets.centre else mean

    def inside(self, s: int) -> Array:
        """Return which samples (n,) are in a training set."""
        found: Array = self.sets.rows[:, self.first + s]
        return found

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``||z_j'alpha||²``, (P, d); alphas (P, n, T) are free of means and covariates."""
        P, n, T = alphas.shape
        root = self.sets.every.mask[self.first + np.asarray(which), :n]
        lines = (alphas * root[:, :, None]).transpose(2, 0, 1).reshape(-1, n)
        G = lines @ self.sets.matrix.F[:, :n].T
        G *= G
        found: Array = G.reshape(T, P, -1).sum(axis=0)
        for _ in range(2):
            found *= self.inverse[which]
        return found

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some features (m, n_s), times √v and without the covariates."""
        k = self.first + s
        held = self.sets.adjustment
        Z = self.sets.matrix.F[blocks, : self.n] - self.mean[s, blocks, None]
        Z *= self.inverse[s, blocks, None]
        seen = Z if held is None else held.without(k, Z.T).T
        return np.ascontiguousarray(seen[:, self.inside(s)])


def joint_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    like: JointSets | None = None,
    weights: Array | None = None,
    adjustment: Adjustment | None = None,
    norm: Array | None = None,
) -> JointSets:
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
        X,
        Y[:, :, 0],
        rows,
        centre=centre,
        unit_variance=unit_variance,
        like=None if like is None else like.sets,
        weights=weights,
        adjustment=adjustment,
        norm=norm,
    )
    if not (sets.weights > 0).all():
        raise GenesigError("with several responses every weight must be positive")
    if not np.isfinite(Y[rows]).all():
        raise GenesigError("the training responses must be finite; found NaN or infinity")
    (k, T) = Y.shape[1:]
    width = sets.matrix.F.shape[1]
    centred = np.zeros((k, T, width))
    mean = np.empty((k, T))
    of_y = np.zeros((k, 0, T))
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
    joint: JointSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
    groups: Array | None = None,
) -> Path:
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
    if joint.Y.shape[1] == 1:
        one = scalar_path(
            joint.sets, tau, mu, solver="landweber-newton", tolerance=tolerance, longest=longest
        )
        return replace(one, values=one.values[:, None])
    tau, mu = grid(joint.sets, tau, mu)
    if not (tau > 0).all():
        raise GenesigError("with several responses tau must be positive")
    gap = np.full(tau.shape, np.nan)
    steps = np.full(tau.shape, -1, dtype=np.int64)
    none = np.zeros(0, np.int64), np.zeros((0, joint.Y.shape[1]))
    coefs = [none] * tau.size
    M = tau.shape[1]
    for part in _chunks(joint):
        found = _fits(joint, part, (tau[part], mu[part]), min(GOAL, tolerance), longest, groups)
        for k, m, fit, turned in found:
            gap[k, m] = fit.gap
            steps[k, m] = fit.steps
            coefs[k * M + m] = fit.blocks, fit.pieces @ turned
    sizes = np.array([len(values) for _, values in coefs])
    indices, values = map(np.concatenate, zip(*coefs, strict=True))
    return Path.joined(tau.shape, sizes, indices, values, gap, steps, tolerance)


def _fits(
    joint: JointSets,
    part: slice,
    levels: tuple[Array, Array],
    goal: float,
    longest: int | None,
    groups: Array | None,
) -> Iterator[tuple[int, int, Fit, Array]]:
    """Yield k, m, the fit, and what turns its coefficients into those of all responses."""
    design = Features(joint, part)
    walks = []
    turns = []
    every = range(len(joint.Y))[part]
    for s, k in enumerate(every):
        inside = design.inside(s)
        Y, turned = _independent(joint.Y[k, :, : len(inside)].T[inside])
        walks.append(Walk(design, s, Y, goal))
        turns.append(turned)
    group = None if groups is None else groups[part]
    fits = walk_together(walks, *levels, longest, group)
    for k, turned, row in zip(every, turns, fits, strict=True):
        for m, fit in enumerate(row):
            yield k, m, fit, turned


def joint_scores(
    joint: JointSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:
    """Return the refit's scores for every lam, (k, m, L, n, T): see `refit.refit_scores`."""
    scores = ridge_scores(joint.sets, joint.Y, path, lam, joint.y_mean, rows)
    if joint.sets.adjustment is not None:
        basis = joint.sets.adjustment.basis
        scores += np.einsum("kqt,kqn->knt", joint.of_y, basis)[:, None, None]
    return scores


def joint_coef(joint: JointSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values (nnz, T), intercept (k, m, T)) of the refit, in the units of X."""
    values, constant = ridge_coef(joint.sets, joint.Y, path, lam)
    return values, joint.y_mean[:, None] + constant


def _independent(Y: Array) -> tuple[Array, Array]:
    """Return responses (n, r) without those that follow from the others, and V (r, T).

    Y = Y'V with orthonormal rows of V, for which ||B V|| = ||B||: the same problem. The columns of
    T classes, centred, are T - 1.
    """
    U, size, V = np.linalg.svd(Y, full_matrices=False)
    kept = max(1, int((size > DEPENDENT * size.max(initial=0)).sum()))
    return U[:, :kept] * size[:kept], V[:kept]


def _chunks(joint: JointSets) -> Iterator[slice]:
    """Yield training sets that take no more than `MEMORY`."""
    each = joint.sets.weights.size * (8 * joint.Y.shape[1] + 40)
    size = int(np.clip(MEMORY / each, FEWEST, MOST))
    for first in range(0, len(joint.Y), size):
        yield slice(first, min(first + size, len(joint.Y)))
