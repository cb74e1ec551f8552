"""Data of one training set for the penalty on gene sets: responses, weights, blocks, choice.

A block is a gene set, or a gene by itself. T is the number of classes if there are several, else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import DEFAULT_TIES, RiskSets
from genesig.optim.structured.columns import Blocks, Columns
from genesig.optim.structured.path import block_paths, tau_maxima
from genesig.optim.structured.solution import BlockPath
from genesig.optim.structured.weights import equal_chance_weights
from genesig.optim.training import training_sets
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results.splits import GeneSets
from genesig.selection.linear.kinds import FITTINGS
from genesig.selection.linear.training_sets import TauGrid, TrainingSet


class CentredResponse(NamedTuple):
    """Responses of some training rows."""

    Y: Array  # (n, T) float: centred responses
    mean: Array  # (T,) float: the means that were subtracted
    risk: RiskSets | None = None  # risk sets; None without survival


def signed_response(training_set: TrainingSet, rows: Array) -> CentredResponse:
    """Return the classes as -1 and 1, or the numbers, centred; T is 1."""
    y = training_set.y[rows]
    return CentredResponse((y - y.mean())[:, None], np.array([y.mean()]))


def class_columns(training_set: TrainingSet, rows: Array) -> CentredResponse:
    """Return a column for each class, over the root of its share in the whole training set.

    `shares` and `coded` take k training sets, (n, k), and return (k, T) and (n, k, T); here k = 1.
    """
    training_mask = training_set.training_mask()
    class_share = shares(training_set.y[:, None], training_mask, int(training_set.y.max()) + 1)
    Y = coded(training_set.y[rows][:, None], class_share)[:, 0]
    return CentredResponse(Y - Y.mean(axis=0), Y.mean(axis=0))


def cox_gradient(training_set: TrainingSet, rows: Array) -> CentredResponse:
    """Return -(n/2) times the gradient of Cox's partial likelihood at 0, and the risk sets."""
    y = training_set.y[rows]
    risk = RiskSets.from_times(y["time"], y["event"], training_set.ties or DEFAULT_TIES)
    Y = np.empty((len(y), 1))
    Y[risk.order, 0] = -len(y) / 2 * risk.gradient(risk.shares(np.zeros(len(y))))
    return CentredResponse(Y, np.zeros(1), risk)


RESPONSE_OF_KIND: dict[str, Callable[[TrainingSet, Array], CentredResponse]] = ByKind(
    {
        "classification": signed_response,
        SEVERAL_CLASSES: class_columns,
        "regression": signed_response,
        "survival": cox_gradient,
    }
)


@dataclass(frozen=True, kw_only=True)
class SetsSettings(TauGrid):
    """Settings of a fit: keys of the section ``structured``, which the schema explains.

    ``sets``, ``smallest`` and ``largest`` are read once, by `genesig.data.study.gene_sets`.
    """

    weights: str  # a key of `SET_WEIGHT_FUNCTIONS`
    others: str  # treatment of genes in no set, see `BlockColumns.from_sets`
    mu: Sequence[float]  # weights of the squared norm, in units of ||Z'Z||/n
    most: int  # largest number of sets of a fit
    one_standard_error: bool  # whether the largest tau within one standard error is chosen
    tolerance: float  # relative duality gap

    def mu_grid(self) -> Array:
        """Return the weights of the squared norm, falling: ties go to the smoothest."""
        return np.sort(np.asarray(self.mu, dtype=float))[::-1]


N_WEIGHT_PERMUTATIONS = 200
"""Permutations for the weights: the mean over the largest of all norms differs little between
them."""


class NullResponses(NamedTuple):
    """The training response, and permutations of it."""

    Y: Array  # (n, T), centred
    Y_permuted: Array  # (n, P, T): P permutations of the rows of Y, as groups and batches allow
    strata: list[Array]  # (n_units, unit_size) rows that change places, see `response_strata`


# In these functions Z (n, d) are standardised training rows, members and starts those of Blocks.


def permutation_weights(
    Z: Array, null_responses: NullResponses, members: Array, starts: Array
) -> Array:
    """Return the weights (B,) under which all blocks enter equally often without any effect."""
    Y, Y_permuted, strata = null_responses
    return equal_chance_weights(Z, Y, Y_permuted, members, starts, strata)


def size_weights(Z: Array, null_responses: NullResponses, members: Array, starts: Array) -> Array:
    """Return the square root of each block's size, (B,)."""
    return np.asarray(np.sqrt(np.diff(starts).astype(float)))


def equal_weights(Z: Array, null_responses: NullResponses, members: Array, starts: Array) -> Array:
    """Return 1 for each block, (B,)."""
    return np.ones(len(starts) - 1)


def weighted_blocks(
    name: str, Z: Array, null_responses: NullResponses, members: Array, starts: Array
) -> Blocks:
    """Return the blocks with the named weights, 1 instead of 0.

    A block of weight 0 has no variance, and is never selected.
    """
    weights = SET_WEIGHT_FUNCTIONS[name](Z, null_responses, members, starts)
    return Blocks(members, starts, np.where(weights > 0, weights, 1.0))


SET_WEIGHT_FUNCTIONS: dict[str, Callable[[Array, NullResponses, Array, Array], Array]] = {
    "permuted": permutation_weights,
    "size": size_weights,
    "equal": equal_weights,
}


@dataclass(frozen=True)
class BlockColumns:
    """Blocks of the columns of one matrix."""

    columns: Array  # (d,) int: columns of the matrix in any block; the solver gets no others
    members: Array  # (memberships,) int: indices in `columns`, block after block
    starts: Array  # (B + 1,) int: index in `members` at which each block begins
    # (B,) int: number of the set of each block, or the number of sets plus that of a gene
    blocks: Array

    @classmethod
    def from_sets(cls, sets: GeneSets, genes: Array, genes_without_set: str) -> BlockColumns:
        """Return the sets restricted to the genes of a matrix; a set without any is left out.

        genes (n_columns,) int: gene of each column of the matrix. genes_without_set {"leave_out",
        "singletons"}: treatment of genes in no set.

        Raises GenesigError: if nothing is left.
        """
        max_gene = max(sets.indices.max(initial=0), genes.max(initial=0))
        column_of_gene = np.full(1 + max_gene, -1)  # -1: not in the matrix
        column_of_gene[genes] = np.arange(len(genes))
        block_of_member = np.repeat(np.arange(len(sets)), np.diff(sets.indptr))
        is_measured = column_of_gene[sets.indices] >= 0
        member_columns = column_of_gene[sets.indices][is_measured]
        block_of_member = block_of_member[is_measured]
        if genes_without_set == "singletons":
            single_genes = np.setdiff1d(np.arange(len(genes)), member_columns)
            member_columns = np.concatenate([member_columns, single_genes])
            block_of_member = np.concatenate([block_of_member, len(sets) + genes[single_genes]])
        if len(member_columns) == 0:
            raise GenesigError(
                "normalise.folds leaves no gene of any set; filter less, or name "
                "other sets as structured.sets"
            )
        columns, members = np.unique(member_columns, return_inverse=True)
        blocks, sizes = np.unique(block_of_member, return_counts=True)
        return cls(columns, members, np.cumsum([0, *sizes]), blocks)


@dataclass(frozen=True)
class BlockData:
    """Training rows, and all samples standardised by them."""

    Z: Array  # (n_samples, d) float: standardised samples
    rows: Array  # (n,) int: training samples
    Y: Array  # (n, T) float: centred training responses
    mean: Array  # (T,) float: the means that were subtracted
    norm: float  # ||Z'Z||/n of the training rows
    # risk sets of survival, whose Y is the gradient at 0; None for other responses
    risk: RiskSets | None = None

    def design(self, blocks: Blocks) -> Columns:
        """Return the training rows laid out by blocks, once for all paths."""
        return Columns(self.Z[self.rows], blocks)

    def path(
        self, design: Columns, tau: Array, mu: float, tolerance: float, max_blocks: int
    ) -> BlockPath:
        """Return the fits along falling fractions of tau_max, up to `max_blocks` blocks.

        mu is in units of `norm`. The solvers accept several responses at once; here is one.
        """
        tau_max = float(tau_maxima(design, self.Y[None])[0])
        if tau_max <= 0:
            tau = tau[:0]  # no block has a gradient: a path without fits
            tau_max = 1.0
        tau = tau * tau_max
        mu = mu * self.norm
        if self.risk is None:
            return block_paths(
                design, self.Y[None], tau[None], mu, tolerance=tolerance, max_blocks=max_blocks
            )[0]
        from genesig.optim.structured.cox import cox_block_path  # here: few jobs need its kernels

        return cox_block_path(
            design, self.risk, tau, mu, tolerance=tolerance, max_blocks=max_blocks
        )

    def scores(self, design: Columns, path: BlockPath, rows: Array) -> Array:
        """Return f(x) = mean + z'B of some samples along a path, (M, n_rows) or (M, n_rows, T)."""
        centred_scores = np.tensordot(self.Z[rows], coefficients(design, path), 1).transpose(
            1, 0, 2
        )
        return self.without_single_column(self.mean + centred_scores)

    def without_single_column(self, scores: Array) -> Array:
        """Return scores (..., T) without the last axis if there is one response."""
        return scores[..., 0] if len(self.mean) == 1 else scores


def outer_and_inner_data(
    X: Array, training_set: TrainingSet, *, centre: bool, unit_variance: bool
) -> tuple[BlockData, Iterator[BlockData]]:
    """Return the data of a training set, and those of what trains each of its inner folds.

    The iterator makes the latter one at a time, because each has a standardised copy of the matrix.
    """
    train = training_set.train
    rows = [train, *(np.setdiff1d(train, fold) for fold in training_set.inner_folds)]
    row_masks = np.zeros((len(X), len(rows)), dtype=bool)
    for number, training_rows in enumerate(rows):
        row_masks[training_rows, number] = True
    no_response = np.zeros(row_masks.shape)  # only the scaling is needed
    scaled_sets = training_sets(
        X, no_response, row_masks, centre=centre, unit_variance=unit_variance
    )

    def block_data(number: int) -> BlockData:
        response = RESPONSE_OF_KIND[training_set.kind](training_set, rows[number])
        return BlockData(
            scaled_sets.standardised(number),
            rows[number],
            response.Y,
            response.mean,
            float(scaled_sets.norm[number]),
            response.risk,
        )

    return block_data(0), (block_data(number) for number in range(1, len(rows)))


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
    block_columns = [np.zeros(0, dtype=np.int64), *(blocks.columns(int(k)) for k in active)]
    members = np.concatenate(block_columns)
    starts = np.cumsum([0, *map(len, block_columns[1:])])
    block_sums = csr_array(
        (np.ones(len(members)), members, starts), shape=(len(active), Z.shape[1])
    )
    gradients = np.tensordot(Z.T, path.alpha, (1, 1))
    gradient_norms = np.sqrt(block_sums @ np.square(gradients).sum(axis=2))
    norms = path.norms[:, active].toarray().T
    scale = np.divide(norms, gradient_norms, out=np.zeros_like(norms), where=norms > 0)
    return np.asarray((block_sums.T @ scale)[:, :, None] * gradients)


VALIDATION_CRITERION = "squared_error"
"""Measure by which the inner folds choose tau and mu, see `Fitting.validation_error`."""


@dataclass(frozen=True)
class SetsChoice:
    """The settings that the inner folds choose."""

    tau: int  # index of tau
    mu: int  # index of mu
    threshold: Any  # threshold of the scores, see `Fitting.thresholds`


def choose_tau_and_mu(
    training_set: TrainingSet,
    inner_data: Iterable[BlockData],
    blocks: Blocks,
    settings: SetsSettings,
) -> SetsChoice:
    """Choose by the validation error or deviance of the inner folds; ties go to the fewest sets.

    `inner_data` are the training sets of the folds. If the first fit of every path has more than
    ``most`` sets, the first tau is chosen.
    """
    fitting = FITTINGS[training_set.kind]
    scores = np.stack(
        [
            _path_scores(block_data, blocks, validation_rows, settings)
            for block_data, validation_rows in zip(
                inner_data, training_set.inner_folds, strict=True
            )
        ]
    )
    thresholds = fitting.thresholds(training_set, scores)
    error, standard_error = fitting.validation_error(
        training_set, scores, thresholds, VALIDATION_CRITERION
    )
    error = np.where(np.isinf(error), np.nan, error).round(12)
    if np.isnan(error).all():
        return SetsChoice(tau=0, mu=0, threshold=0.0)
    best = np.unravel_index(np.nanargmin(error), error.shape)
    max_error = error[best]
    if settings.one_standard_error:
        max_error = (max_error + standard_error[best]).round(12)
    tau = int(np.argmax((error <= max_error).any(axis=1)))
    mu = int(np.nanargmin(error[tau]))
    return SetsChoice(tau, mu, thresholds[tau, mu])


def _path_scores(
    block_data: BlockData, blocks: Blocks, validation_rows: Array, settings: SetsSettings
) -> Array:
    """Return scores (n_tau, n_mu, n_samples, ...) of validation rows; NaN after a path's end.

    For survival the training rows are scored, too, which are the risk sets.
    """
    tau = settings.tau_fractions()
    mu_grid = settings.mu_grid()
    rows = (
        validation_rows
        if block_data.risk is None
        else np.concatenate([block_data.rows, validation_rows])
    )
    scores = np.full((len(tau), len(mu_grid), len(block_data.Z), len(block_data.mean)), np.nan)
    design = block_data.design(blocks)
    scores = block_data.without_single_column(scores)
    for mu_index, mu in enumerate(mu_grid):
        path = block_data.path(design, tau, float(mu), settings.tolerance, settings.most)
        scores[: len(path.tau), mu_index, rows] = block_data.scores(design, path, rows)
    return scores
