"""One training set as the penalty on sets sees it: settings, weights of sets, the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.path import block_paths, tau_maxima
from genesig.optim.structured.solution import BlockPath
from genesig.optim.structured.weights import permuted_weights
from genesig.optim.training import training_sets
from genesig.results.gene_sets import GeneSets
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


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


PERMUTATIONS = 500


GAUSSIAN = 2.5758


"""The 99 % quantile of |x|, x of a standard Gaussian."""


def permuted(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return `permuted_weights`; a gene by itself weighs at least what a Gaussian one would, (B,).

    Of a gene that differs in one sample only, every shuffled sum is of the same size: its quantile
    is no larger than the sum itself, and it would always seem to be as good as 1 in 100.
    """
    found = permuted_weights(Z, shuffled, members, starts)
    alone = np.flatnonzero(np.diff(starts) == 1)
    spread = np.sqrt(np.mean(np.square(shuffled)))
    least = GAUSSIAN * spread * np.linalg.norm(Z[:, members[starts[alone]]], axis=0)
    found[alone] = np.maximum(found[alone], least)
    return found


def of_size(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return the square root of each block's size, (B,)."""
    found: Array = np.sqrt(np.diff(starts).astype(float))
    return found


def equal(Z: Array, shuffled: Array, members: Array, starts: Array) -> Array:
    """Return 1 for each block, (B,)."""
    return np.ones(len(starts) - 1)


def weighted(name: str, Z: Array, shuffled: Array, members: Array, starts: Array) -> Blocks:
    """Return the blocks with the weights of this name; what has no variance is never selected."""
    found = WEIGHTS[name](Z, shuffled, members, starts)
    return Blocks(members, starts, np.where(found > 0, found, 1.0))


WEIGHTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
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
        column, owner = place[sets.indices][kept], owner[kept]
        if others == "singletons":
            alone = np.setdiff1d(np.arange(len(genes)), column)
            column = np.concatenate([column, alone])
            owner = np.concatenate([owner, len(sets) + genes[alone]])
        if len(column) == 0:
            raise GenesigError("normalise.folds leaves no gene of any set; filter less, or name "
                               "other sets as structured.sets")  # fmt: skip
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
    y, mean : (n,) float, float
        Centred training response, and what was taken off.
    norm : float
        ||Z'Z||/n of the training rows.
    """

    Z: Array
    rows: Array
    y: Array
    mean: float
    norm: float

    def design(self, blocks: Blocks) -> Columns:
        """Lay the training rows out by blocks, once for all paths."""
        return Columns(self.Z[self.rows], blocks)

    def path(
        self, design: Columns, tau: Array, mu: float, tolerance: float, most: int
    ) -> BlockPath:
        """Follow falling fractions of tau_max, as far as at most so many blocks are selected."""
        responses = self.y[None, :, None]
        highest = float(tau_maxima(design, responses)[0])
        if highest <= 0:
            tau, highest = tau[:0], 1.0
        return block_paths(design, responses, tau[None] * highest, mu * self.norm,
                           tolerance=tolerance, most=most)[0]  # fmt: skip

    def scores(self, design: Columns, path: BlockPath, rows: Array) -> Array:
        """Return f(x) = mean + z'b of some samples along a path, (M, n_rows)."""
        return np.asarray(self.mean + (self.Z[rows] @ coefficients(design, path)).T)


def grounds(X: Array, y: Array, rows: Sequence[Array], *, centre: bool,
            unit_variance: bool) -> Iterator[Ground]:  # fmt: skip
    """Yield the training sets of some rows of a matrix, one at a time."""
    mask = np.zeros((len(X), len(rows)), dtype=bool)
    for k, some in enumerate(rows):
        mask[some, k] = True
    Y = np.repeat(y[:, None], len(rows), axis=1)
    sets = training_sets(X, Y, mask, centre=centre, unit_variance=unit_variance)
    for k, some in enumerate(rows):
        yield Ground(sets.standardised(k), some, sets.Y[some, k], float(sets.y_mean[k]),
                     float(sets.norm[k]))  # fmt: skip


def coefficients(design: Columns, path: BlockPath) -> Array:
    """Return b (d, M) of the fits of a path with one response.

    v_k = e_k A_k'alpha with e_k = ||v_k|| / ||A_k'alpha||, so that b_j is (Z'alpha)_j times the sum
    of e_k over the blocks that have column j.
    """
    from scipy.sparse import csr_array

    Z, blocks = design.X, design.blocks
    if not len(path.tau):
        return np.zeros((Z.shape[1], 0))
    active = np.unique(path.norms.indices)
    parts = [np.zeros(0, dtype=np.int64), *(blocks.columns(int(k)) for k in active)]
    members, starts = np.concatenate(parts), np.cumsum([0, *map(len, parts[1:])])
    sums = csr_array((np.ones(len(members)), members, starts), shape=(len(active), Z.shape[1]))
    along = Z.T @ path.alpha[:, :, 0].T
    reached = np.sqrt(sums @ np.square(along))
    norms = path.norms[:, active].toarray().T
    share = np.divide(norms, reached, out=np.zeros_like(norms), where=norms > 0)
    return np.asarray((sums.T @ share) * along)


CRITERION = "squared_error"


@dataclass(frozen=True)
class Choice:
    """Numbers of tau and mu in their grids, and where a score is cut."""

    tau: int
    mu: int
    threshold: float


def choose(
    task: Task, folds: Iterable[Ground], blocks: Blocks, protocol: SetsProtocol
) -> Choice:  # fmt: skip
    """Choose by the error of the samples left out; ties go to the fewest sets.

    Where the first sets of every path are more than `most`, the first tau serves.
    """
    held = zip(folds, task.inner, strict=True)
    scores = np.stack([_scores(ground, blocks, rows, protocol) for ground, rows in held])
    cut = FITTED[task.kind].cut(task, scores)
    error, se = FITTED[task.kind].error(task, scores, cut, CRITERION)
    error = error.round(12)
    if np.isnan(error).all():
        return Choice(0, 0, 0.0)
    best = np.unravel_index(np.nanargmin(error), error.shape)
    bound = (error[best] + se[best] * protocol.one_standard_error).round(12)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    mu = int(np.nanargmin(error[tau]))
    return Choice(tau, mu, float(cut[tau, mu]))


def _scores(ground: Ground, blocks: Blocks, held: Array, protocol: SetsProtocol) -> Array:
    """Return scores (n_tau, n_mu, n_samples); NaN but of the held rows, and where a path ended."""
    tau, mus = protocol.tau_fractions(), protocol.mu_grid()
    out = np.full((len(tau), len(mus), len(ground.Z)), np.nan)
    design = ground.design(blocks)
    for at, mu in enumerate(mus):
        path = ground.path(design, tau, float(mu), protocol.tolerance, protocol.most)
        out[: len(path.tau), at, held] = ground.scores(design, path, held)
    return out
