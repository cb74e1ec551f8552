r"""Several responses with one gene list: the multi-task l1-l2 path, and the ridge refit on it.

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
from genesig.optim.solution import NOT_COMPUTED, Path
from genesig.optim.solvers import broadcast_levels
from genesig.optim.solvers import path as scalar_path
from genesig.optim.structured.path import WorkingSetSolver, solve_all
from genesig.optim.structured.solution import BlockFit
from genesig.optim.training import TrainingSets, training_sets

SOLVER_GAP = 1e-12  # so small that lists do not depend on the steps of the solver
ROUNDING_SHARE = 1e-13  # singular values below this share of the largest are rounding
JOINT_CHUNK_BYTES = 40e6  # about the memory of the training sets of one chunk
FEATURE_BYTES = 40  # of a feature of a training set, besides its products with the T responses
MIN_CHUNK_SETS = 4
MAX_CHUNK_SETS = 64


@dataclass(frozen=True)
class JointSets:
    """k training sets, each with T responses."""

    training_sets: TrainingSets  # the k sets, with the first of the responses each
    # (k, T, n) responses minus their training means, 0 on the other rows. With an adjustment times
    # √v, and without the part that the covariates explain.
    Y: Array
    y_mean: Array  # (k, T)
    # (k, q, T) coefficients of the responses on the covariates, see `Adjustment.centred`
    y_on_basis: Array

    @property
    def norm(self) -> Array:
        """Return ``||Z'Z|| / n_k``, (k,)."""
        return self.training_sets.norm

    @cached_property
    def tau_max(self) -> Array:
        """Return the smallest tau that selects nothing, ``(2/n_k) max_j ||z_j'Y|| / w_j``, (k,)."""
        largest_tau = np.empty(len(self.Y))
        for chunk in _chunks(self):
            features = Features(self, chunk)
            Y = self.Y[chunk].transpose(0, 2, 1)
            squared_gradients = features.squared_products(Y, range(len(Y))) / features.weights**2
            largest = squared_gradients.max(axis=1)
            largest_tau[chunk] = (
                2 / self.training_sets.rows[:, chunk].sum(axis=0) * np.sqrt(largest)
            )
        return largest_tau


class Features:
    """The standardised features of a chunk of training sets, each a block; see `columns.Design`.

    A set has a number among all sets, and a position in the chunk.
    """

    single_columns = True

    def __init__(self, joint: JointSets, chunk: slice) -> None:
        sets = joint.training_sets
        self.sets = sets
        self.weights = sets.weights
        self.n = len(sets.X)
        self.first_set = chunk.start
        (mean, self.inverse) = sets.moments(chunk)
        self.mean = mean - sets.matrix.shift if sets.centre else mean

    def in_training(self, position: int) -> Array:
        """Return which samples (n,) are in the training set at a position of the chunk."""
        return np.asarray(self.sets.rows[:, self.first_set + position])

    def squared_products(self, alphas: Array, positions: Sequence[int] = ()) -> Array:
        """Return ``||z_j'alpha||²``, (P, d); alphas (P, n, T) are free of means and covariates.

        positions (P,): the training set of each alpha, counted in the chunk.
        """
        P, n, T = alphas.shape
        root = self.sets.training_rows.root_weights[self.first_set + np.asarray(positions)]
        lines = (alphas * root[:, :, None]).transpose(2, 0, 1).reshape(-1, n)
        G = lines @ self.sets.matrix.F.T
        G *= G
        squares: Array = G.reshape(T, P, -1).sum(axis=0)
        for _ in range(2):  # times the squared inverse scale, without an array for the square
            squares *= self.inverse[positions]
        return squares

    def block_designs(self, position: int, blocks: Array) -> Array:
        """Return some features (m, n_s), times √v and without the covariates' part."""
        k = self.first_set + position
        fixed = self.sets.adjustment
        Z = self.sets.matrix.F[blocks] - self.mean[position, blocks, None]
        Z *= self.inverse[position, blocks, None]
        adjusted = Z if fixed is None else fixed.without(k, Z.T).T
        return np.ascontiguousarray(adjusted[:, self.in_training(position)])


def joint_sets(
    X: Array,
    Y: Array,
    rows: Array,
    *,
    centre: bool,
    unit_variance: bool,
    share_copy_with: JointSets | None = None,
    weights: Array | None = None,
    adjustment: Adjustment | None = None,
    norm: Array | None = None,
) -> JointSets:
    """Return k training sets with T responses each.

    X (n, d). Y (n, k, T): raw responses; values outside the training rows are ignored. rows,
    centre, unit_variance, weights, adjustment, norm: as in `training_sets`; weights must be
    positive. share_copy_with: training sets of the same X, whose copy of X is used again.
    """
    sets = training_sets(
        X,
        Y[:, :, 0],
        rows,
        centre=centre,
        unit_variance=unit_variance,
        share_copy_with=None if share_copy_with is None else share_copy_with.training_sets,
        weights=weights,
        adjustment=adjustment,
        norm=norm,
    )
    if not (sets.weights > 0).all():
        raise GenesigError("with several responses every weight must be positive")
    if not np.isfinite(Y[rows]).all():
        raise GenesigError("the training responses must be finite; found NaN or infinity")
    n, k, T = Y.shape
    if adjustment is not None:
        adjusted = [adjustment.centred(Y[:, :, t]) for t in range(T)]
        residuals, mean, y_on_basis = (
            np.stack(set_responses, axis=-1) for set_responses in zip(*adjusted, strict=True)
        )
        return JointSets(sets, np.ascontiguousarray(residuals.transpose(1, 2, 0)), mean, y_on_basis)
    centred = np.zeros((k, T, n))
    mean = np.empty((k, T))
    for set_number in range(k):
        set_responses = np.ascontiguousarray(Y[rows[:, set_number], set_number].T)
        mean[set_number] = [row.mean() for row in set_responses]
        centred[set_number][:, np.flatnonzero(rows[:, set_number])] = (
            set_responses - mean[set_number][:, None]
        )
    return JointSets(sets, centred, mean, np.zeros((k, 0, T)))


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

    tau, mu (broadcast to (k, m)): absolute; tau > 0.
    tolerance: largest duality gap, relative to ``||Y||²/n``, at which a fit counts as converged.
    longest, optional: a training set's row ends before its first fit of more features than this.
    groups (k,) int, optional: once a row ends, the other rows of its group in the same chunk
        (`_chunks`) end at the same point. No effect with one response.

    Path: its values are (nnz, T), on the standardised scale.

    Raises GenesigError: for tau or mu that leave no problem.
    """
    if joint.Y.shape[1] == 1:
        scalar = scalar_path(
            joint.training_sets,
            tau,
            mu,
            solver="landweber-newton",
            tolerance=tolerance,
            longest=longest,
        )
        return replace(scalar, values=scalar.values[:, None])
    tau, mu = broadcast_levels(joint.training_sets, tau, mu)
    if not (tau > 0).all():
        raise GenesigError("with several responses tau must be positive")
    gap = np.full(tau.shape, np.nan)
    steps = np.full(tau.shape, NOT_COMPUTED, dtype=np.int64)
    no_coef = np.zeros(0, np.int64), np.zeros((0, joint.Y.shape[1]))
    coefs = [no_coef] * tau.size
    M = tau.shape[1]
    for chunk in _chunks(joint):
        block_fits = _fits(
            joint, chunk, (tau[chunk], mu[chunk]), min(SOLVER_GAP, tolerance), longest, groups
        )
        for k, m, fit, to_responses in block_fits:
            gap[k, m] = fit.gap
            steps[k, m] = fit.steps
            coefs[k * M + m] = fit.blocks, fit.coefs @ to_responses
    sizes = np.array([len(values) for _, values in coefs])
    indices, values = map(np.concatenate, zip(*coefs, strict=True))
    return Path.from_arrays(tau.shape, sizes, indices, values, gap, steps, tolerance)


def _fits(
    joint: JointSets,
    chunk: slice,
    levels: tuple[Array, Array],
    tolerance: float,
    longest: int | None,
    groups: Array | None,
) -> Iterator[tuple[int, int, BlockFit, Array]]:
    """Yield k, m, the fit, and the matrix (r, T) from its responses to all responses."""
    design = Features(joint, chunk)
    solvers = []
    rotations = []
    set_numbers = range(len(joint.Y))[chunk]
    for position, set_number in enumerate(set_numbers):
        in_training = design.in_training(position)
        Y, to_responses = _independent(joint.Y[set_number].T[in_training])
        solvers.append(WorkingSetSolver(design, position, Y, tolerance))
        rotations.append(to_responses)
    group = None if groups is None else groups[chunk]
    fits = solve_all(solvers, *levels, longest, group)
    for set_number, to_responses, row in zip(set_numbers, rotations, fits, strict=True):
        for level, fit in enumerate(row):
            yield set_number, level, fit, to_responses


def joint_scores(
    joint: JointSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:
    """Return the refit's scores for every lam, (k, m, L, n, T).

    path: k training sets, m lists of each. lam: float or array that broadcasts to (k, L). rows (n,
    k) bool: rows to score of each training set, all unless given; the others are NaN. Formula and
    units of lam: see `refit.refit_scores`.
    """
    scores = ridge_scores(joint.training_sets, joint.Y, path, lam, joint.y_mean, rows)
    if joint.training_sets.adjustment is not None:
        basis = joint.training_sets.adjustment.basis
        scores += np.einsum("kqt,kqn->knt", joint.y_on_basis, basis)[:, None, None]
    return scores


def joint_coef(joint: JointSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values (nnz, T), intercept (k, m, T)) of the refit, in the units of X."""
    values, constant = ridge_coef(joint.training_sets, joint.Y, path, lam)
    return values, joint.y_mean[:, None] + constant


def _independent(Y: Array) -> tuple[Array, Array]:
    """Return responses R (n, r) without linear dependence, and V (r, T), with Y = R V.

    V has orthonormal rows, so that ||B V|| = ||B||: R poses the same problem as Y. The centred
    columns of T classes have rank T - 1.
    """
    U, singular_values, V = np.linalg.svd(Y, full_matrices=False)
    rank = max(1, int((singular_values > ROUNDING_SHARE * singular_values.max(initial=0)).sum()))
    return U[:, :rank] * singular_values[:rank], V[:rank]


def _chunks(joint: JointSets) -> Iterator[slice]:
    """Yield slices of training sets that take about `JOINT_CHUNK_BYTES`.

    A slice has `MIN_CHUNK_SETS` to `MAX_CHUNK_SETS` training sets; the last one may have fewer.
    """
    n_features = len(joint.training_sets.weights)
    bytes_of_set = n_features * (8 * joint.Y.shape[1] + FEATURE_BYTES)
    chunk_size = int(np.clip(JOINT_CHUNK_BYTES / bytes_of_set, MIN_CHUNK_SETS, MAX_CHUNK_SETS))
    for start in range(0, len(joint.Y), chunk_size):
        yield slice(start, min(start + chunk_size, len(joint.Y)))
