"""One training set as the penalty on sets sees it: settings, weights, responses, choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import USUAL, RiskSets
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.path import block_paths, tau_maxima
from genesig.optim.structured.solution import BlockPath
from genesig.optim.structured.weights import contest_weights
from genesig.optim.training import training_sets
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.results.splits import GeneSets
from genesig.selection.linear.kinds.known import FITTINGS
from genesig.selection.linear.tasks import TrainingSet


class Told(NamedTuple):
    """Responses Y (n, T) of some training rows, centred; what was taken off, (T,); risk sets."""

    Y: Array
    mean: Array
    risk: RiskSets | None = None


def numbers(task: TrainingSet, rows: Array) -> Told:
    """Take two classes as -1 and 1, or numbers."""
    y = task.y[rows]
    return Told((y - y.mean())[:, None], np.array([y.mean()]))


def columns(task: TrainingSet, rows: Array) -> Told:
    """Make a column of each class, over the root of its share in the training set of the task."""
    outer = task.training_mask()
    share = shares(task.y[:, None], outer, int(task.y.max()) + 1)
    Y = coded(task.y[rows][:, None], share)[:, 0]
    return Told(Y - Y.mean(axis=0), Y.mean(axis=0))


def gradient(task: TrainingSet, rows: Array) -> Told:
    """Take -(n/2) times the gradient of Cox's partial likelihood at 0, and the risk sets."""
    y = task.y[rows]
    risk = RiskSets.of(y["time"], y["event"], task.ties or USUAL)
    Y = np.empty((len(y), 1))
    Y[risk.order, 0] = -len(y) / 2 * risk.gradient(risk.shares(np.zeros(len(y))))
    return Told(Y, np.zeros(1), risk)


TOLD: dict[str, Callable[[TrainingSet, Array], Told]] = ByKind(
    {
        "classification": numbers,
        SEVERAL: columns,
        "regression": numbers,
        "survival": gradient,
    }
)


@dataclass(frozen=True, kw_only=True)
class SetsProtocol:
    """One attribute for each key of the section that a fit reads; the schema explains them.

    ``sets``, ``smallest`` and ``largest`` are read once, by `genesig.data.study.gene_sets`.
    """

    weights: str
    others: str
    mu: Sequence[float]
    tau_min: float
    tau_count: int
    most: int
    one_standard_error: bool
    tolerance: float

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, which itself selects nothing."""
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def mu_grid(self) -> Array:
        """Return the weights of the squared norm, falling: at ties the smoothest wins."""
        return np.sort(np.asarray(self.mu, dtype=float))[::-1]


PERMUTATIONS = 200
"""Enough for the mean over the largest of all norms, which differs little between permutations."""


class NullResponses(NamedTuple):
    """The training response, and what it would be if expression told nothing of it."""

    Y: Array  # (n, T), centred
    permuted: Array  # (n, P, T), as groups and batches allow
    strata: list[Array]  # (n_units, unit_size) rows that change places, see `response_strata`


def permuted(Z: Array, null_responses: NullResponses, members: Array, starts: Array) -> Array:
    """Return `contest_weights`, (B,)."""
    Y, Y_permuted, strata = null_responses
    return contest_weights(Z, Y, Y_permuted, members, starts, strata)


def of_size(Z: Array, null_responses: NullResponses, members: Array, starts: Array) -> Array:
    """Return the square root of each block's size, (B,)."""
    return np.asarray(np.sqrt(np.diff(starts).astype(float)))


def equal(Z: Array, null_responses: NullResponses, members: Array, starts: Array) -> Array:
    """Return 1 for each block, (B,)."""
    return np.ones(len(starts) - 1)


def weighted(
    name: str, Z: Array, null_responses: NullResponses, members: Array, starts: Array
) -> Blocks:
    """Return the blocks with the weights of this name; what has no variance is never selected."""
    weights = WEIGHTS[name](Z, null_responses, members, starts)
    return Blocks(members, starts, np.where(weights > 0, weights, 1.0))


WEIGHTS: dict[str, Callable[[Array, NullResponses, Array, Array], Array]] = {
    "permuted": permuted,
    "size": of_size,
    "equal": equal,
}


@dataclass(frozen=True)
class Members:
    """Blocks of the columns of one matrix.

    Attributes
    ----------
    columns : (d,) int
        Columns of the matrix that some block has; the solver is given no others.
    members, starts : (memberships,), (B + 1,) int
        Places among `columns`, block after block.
    blocks : (B,) int
        What each block is: the number of a set, or the number of sets plus that of a gene.
    """

    columns: Array
    members: Array
    starts: Array
    blocks: Array

    @classmethod
    def of(cls, sets: GeneSets, genes: Array, others: str) -> Members:
        """Take the sets down to the genes that a matrix has; one without any is left out.

        Parameters
        ----------
        sets : GeneSets
        genes : (n_columns,) int
            Gene of each column of the matrix.
        others : {"leave_out", "singletons"}
            What becomes of genes in no set.

        Raises
        ------
        GenesigError
            If nothing is left.
        """
        place = np.full(1 + max(sets.indices.max(initial=0), genes.max(initial=0)), -1)
        place[genes] = np.arange(len(genes))
        owner = np.repeat(np.arange(len(sets)), np.diff(sets.indptr))
        kept = place[sets.indices] >= 0
        column = place[sets.indices][kept]
        owner = owner[kept]
        if others == "singletons":
            alone = np.setdiff1d(np.arange(len(genes)), column)
            column = np.concatenate([column, alone])
            owner = np.concatenate([owner, len(sets) + genes[alone]])
        if len(column) == 0:
            raise GenesigError(
                "normalise.folds leaves no gene of any set; filter less, or name "
                "other sets as structured.sets"
            )
        columns, members = np.unique(column, return_inverse=True)
        blocks, sizes = np.unique(owner, return_counts=True)
        return cls(columns, members, np.cumsum([0, *sizes]), blocks)


@dataclass(frozen=True)
class Ground:
    """Training rows, and all samples as these standardise them.

    Attributes
    ----------
    Z : (n_samples, d)
    rows : (n,) int
        Samples that train.
    Y, mean : (n, T), (T,) float
        Centred training responses, and what was taken off.
    norm : float
        ||Z'Z||/n of the training rows.
    risk : RiskSets or None
        Of survival, whose Y is the gradient at 0.
    """

    Z: Array
    rows: Array
    Y: Array
    mean: Array
    norm: float
    risk: RiskSets | None = None

    def design(self, blocks: Blocks) -> Columns:
        """Lay the training rows out by blocks, once for all paths."""
        return Columns(self.Z[self.rows], blocks)

    def path(
        self, design: Columns, tau: Array, mu: float, tolerance: float, most: int
    ) -> BlockPath:
        """Follow falling fractions of tau_max, as far as at most so many blocks are selected."""
        highest = float(tau_maxima(design, self.Y[None])[0])
        if highest <= 0:
            tau = tau[:0]
            highest = 1.0
        tau = tau * highest
        mu = mu * self.norm
        if self.risk is None:
            return block_paths(design, self.Y[None], tau[None], mu, tolerance=tolerance, most=most)[
                0
            ]
        from genesig.optim.structured.cox import cox_block_path  # here: few jobs need its kernels

        return cox_block_path(design, self.risk, tau, mu, tolerance=tolerance, most=most)

    def scores(self, design: Columns, path: BlockPath, rows: Array) -> Array:
        """Return f(x) = mean + z'B of some samples along a path, (M, n_rows) or (M, n_rows, T)."""
        found = np.tensordot(self.Z[rows], coefficients(design, path), 1).transpose(1, 0, 2)
        return self.shaped(self.mean + found)

    def shaped(self, scores: Array) -> Array:
        """Return scores (..., T) as the kinds know them: of one response without the last axis."""
        return scores[..., 0] if len(self.mean) == 1 else scores


def grounds(X: Array, task: TrainingSet, *, centre: bool, unit_variance: bool) -> Iterator[Ground]:
    """Yield the training sets of a task and of its inner folds, one at a time."""
    rows = [task.train, *(np.setdiff1d(task.train, fold) for fold in task.inner_folds)]
    mask = np.zeros((len(X), len(rows)), dtype=bool)
    for k, some in enumerate(rows):
        mask[some, k] = True
    sets = training_sets(X, np.zeros(mask.shape), mask, centre=centre, unit_variance=unit_variance)
    for k, some in enumerate(rows):
        told = TOLD[task.kind](task, some)
        yield Ground(sets.standardised(k), some, told.Y, told.mean, float(sets.norm[k]), told.risk)


def coefficients(design: Columns, path: BlockPath) -> Array:
    """Return B (d, M, T) of the fits of a path.

    v_k = e_k A_k'alpha with e_k = ||v_k|| / ||A_k'alpha||, so that B_j is (Z'alpha)_j times the sum
    of e_k over the blocks that have column j.
    """
    from scipy.sparse import csr_array

    Z = design.X
    blocks = design.blocks
    T = path.alpha.shape[2]
    if not len(path.tau):
        return np.zeros((Z.shape[1], 0, T))
    active = np.unique(path.norms.indices)
    parts = [np.zeros(0, dtype=np.int64), *(blocks.columns(int(k)) for k in active)]
    members = np.concatenate(parts)
    starts = np.cumsum([0, *map(len, parts[1:])])
    sums = csr_array((np.ones(len(members)), members, starts), shape=(len(active), Z.shape[1]))
    along = np.tensordot(Z.T, path.alpha, (1, 1))
    reached = np.sqrt(sums @ np.square(along).sum(axis=2))
    norms = path.norms[:, active].toarray().T
    share = np.divide(norms, reached, out=np.zeros_like(norms), where=norms > 0)
    return np.asarray((sums.T @ share)[:, :, None] * along)


CRITERION = "squared_error"


@dataclass(frozen=True)
class Choice:
    """Numbers of tau and mu in their grids, and where a score is cut, see `Fitting.cut`."""

    tau: int
    mu: int
    threshold: Any


def choose(
    task: TrainingSet, folds: Iterable[Ground], blocks: Blocks, protocol: SetsProtocol
) -> Choice:
    """Choose by the error, or deviance, of the samples left out; ties go to the fewest sets.

    Where the first sets of every path are more than `most`, the first tau serves.
    """
    held = zip(folds, task.inner_folds, strict=True)
    scores = np.stack([_scores(ground, blocks, rows, protocol) for ground, rows in held])
    cut = FITTINGS[task.kind].thresholds(task, scores)
    error, se = FITTINGS[task.kind].validation_error(task, scores, cut, CRITERION)
    error = np.where(np.isinf(error), np.nan, error).round(12)
    if np.isnan(error).all():
        return Choice(0, 0, 0.0)
    best = np.unravel_index(np.nanargmin(error), error.shape)
    bound = (error[best] + se[best] * protocol.one_standard_error).round(12)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    mu = int(np.nanargmin(error[tau]))
    return Choice(tau, mu, cut[tau, mu])


def _scores(ground: Ground, blocks: Blocks, held: Array, protocol: SetsProtocol) -> Array:
    """Return scores (n_tau, n_mu, n_samples, ...); NaN where a path ended.

    They are of the held rows; of survival of the training rows, too, which are its risk sets.
    """
    tau = protocol.tau_fractions()
    mus = protocol.mu_grid()
    rows = held if ground.risk is None else np.concatenate([ground.rows, held])
    out = np.full((len(tau), len(mus), len(ground.Z), len(ground.mean)), np.nan)
    design = ground.design(blocks)
    out = ground.shaped(out)
    for at, mu in enumerate(mus):
        path = ground.path(design, tau, float(mu), protocol.tolerance, protocol.most)
        out[: len(path.tau), at, rows] = ground.scores(design, path, rows)
    return out
