"""Selection of gene sets in the outer splits, on all samples and on halves of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import permute_responses, response_strata
from genesig.data.splits.folds import SET_WEIGHTS, generator, spawn_key
from genesig.data.steps.normalise import moment_settings
from genesig.errors import GenesigError
from genesig.optim.classes import discriminant
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.solution import BlockPath
from genesig.response.design import SEVERAL_CLASSES
from genesig.results import Dataset
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.linear.kinds import FITTINGS
from genesig.selection.linear.training_sets import (
    PreparedStudy,
    TrainingSet,
    batch_of,
    permutation_numbers,
)
from genesig.selection.sets.training_sets import (
    N_WEIGHT_PERMUTATIONS,
    BlockColumns,
    BlockData,
    NullResponses,
    SetsChoice,
    SetsSettings,
    choose_tau_and_mu,
    outer_and_inner_data,
    weighted_blocks,
)

if TYPE_CHECKING:
    import pandas as pd


MAX_SHARED_SETS = 10_000
"""Training sets that share a matrix without a learned reference; they are fitted one by one."""

LOG_INTERVAL_SECONDS = 10.0  # seconds after which a long job reports its progress

log = logging.getLogger(__name__)


def cross_validate_sets(
    study: PreparedStudy, sets: GeneSets, settings: SetsSettings, *, labels: str, batch: str
) -> ModelFits:
    """Fit a batch of the outer splits, under the observed labels or a range of permutations.

    labels: ``observed`` or ``permuted-FIRST-LAST``. batch: ``2of3``: every third split, from the
    second on.

    The weights of the sets are learned on the training rows of an outer split and serve its inner
    folds, as a quantile reference does. Each fold learns its own centring and scaling.
    """
    training_sets = study.make_training_sets(
        batch_of(study.splits.outer, batch), permutation_numbers(labels)
    )
    models = SetsStudy(study, sets, settings).models(training_sets)
    return ModelFits.from_rows([_fit_row(model) for model in models])


def fit_sets_final(
    study: PreparedStudy, sets: GeneSets, settings: SetsSettings
) -> tuple[ModelFits, pd.DataFrame]:
    """Fit all samples; also return sets_genes.tsv, the genes of each set of this model."""
    training_sets = study.make_training_sets([study.splits.final])
    (model,) = SetsStudy(study, sets, settings).models(training_sets)
    return ModelFits.from_rows([_fit_row(model)]), genes_table(study.dataset, sets, model)


def fit_sets_half_samples(
    study: PreparedStudy, sets: GeneSets, settings: SetsSettings
) -> ModelFits:
    """Fit every half-subsample to the observed labels, as an outer training set is fitted."""
    training_sets = study.make_training_sets(study.splits.subsamples)
    models = SetsStudy(study, sets, settings).models(training_sets)
    return ModelFits.from_rows([_fit_row(model) for model in models])


@dataclass(frozen=True)
class SetsModel:
    """The model of one training set: its path ends at the chosen tau."""

    training_set: TrainingSet
    genes: Array  # (n_columns,) int: gene of each column that `block_columns.columns` numbers
    block_columns: BlockColumns
    block_data: BlockData
    design: Columns
    path: BlockPath
    choice: SetsChoice
    settings: SetsSettings

    @property
    def last_fit(self) -> int:
        """Number of the last fit of the path, -1 without any."""
        return len(self.path.tau) - 1

    def sizes(self) -> tuple[Array, Array]:
        """Return the selected blocks by set number, and the norm of each block's scores.

        The norm is ``||A_k v_k||``, of the columns A_k and the weights v_k of block k. The path
        numbers the blocks of one matrix; `BlockColumns.blocks` has their numbers in the study.
        """
        if self.last_fit < 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        chosen = self.path.support(self.last_fit)
        design = self.design
        parts = [design.X[:, design.columns(k)] @ self.path.piece(self.last_fit, k) for k in chosen]
        return self.block_columns.blocks[chosen], np.array([np.linalg.norm(part) for part in parts])

    def weights(self, block: int) -> Array:
        """Return the weights v_k (m, T) of a block's columns; of several classes for the margins.

        `block` is its number in the path.
        """
        piece = self.path.piece(self.last_fit, block)
        means = self.choice.threshold  # with several classes (T, T): mean scores of each class
        return piece @ discriminant(means)[0] if np.ndim(means) == 2 else piece


@dataclass(frozen=True)
class SetsStudy:
    """Study, gene sets and settings that all fits share."""

    study: PreparedStudy
    sets: GeneSets
    settings: SetsSettings

    def models(self, training_sets: list[TrainingSet]) -> Iterator[SetsModel]:
        """Yield the model of each training set, with tau and mu chosen by its inner folds."""
        start_time = time.monotonic()
        n_done = 0
        last_log = start_time
        for matrix in self.study.group_by_matrix(training_sets, MAX_SHARED_SETS):
            block_columns = self._block_columns(matrix.genes, matrix.training_sets[0].split)
            set_columns = np.ascontiguousarray(matrix.X[:, block_columns.columns])
            for training_set in matrix.training_sets:
                yield self._model(set_columns, training_set, block_columns, matrix.genes)
                n_done += 1
                is_last = n_done == len(training_sets)
                if is_last or time.monotonic() - last_log > LOG_INTERVAL_SECONDS:
                    last_log = time.monotonic()
                    log.info(
                        "%d of %d fits, %.0f s", n_done, len(training_sets), last_log - start_time
                    )

    def _block_columns(self, genes: Array, split: str) -> BlockColumns:
        """Return the sets among the genes of a matrix; an error names the split."""
        try:
            return BlockColumns.from_sets(self.sets, genes, self.settings.others)
        except GenesigError as error:
            raise GenesigError(f"gene sets, split {split}: {error}") from error

    def _model(
        self, X: Array, training_set: TrainingSet, block_columns: BlockColumns, genes: Array
    ) -> SetsModel:
        """Return the model of one training set; X has the columns of `block_columns` alone."""
        outer, inner_data = outer_and_inner_data(
            X, training_set, **moment_settings(self.study.fold_steps)
        )
        responses = self._null_responses(training_set, outer.Y)
        blocks = weighted_blocks(
            self.settings.weights,
            outer.Z[training_set.train],
            responses,
            block_columns.members,
            block_columns.starts,
        )
        choice = choose_tau_and_mu(training_set, inner_data, blocks, self.settings)
        design = outer.design(blocks)
        path = outer.path(
            design,
            self.settings.tau_fractions()[: choice.tau + 1],
            float(self.settings.mu_grid()[choice.mu]),
            tolerance=self.settings.tolerance,
            max_blocks=self.settings.most,
        )
        return SetsModel(
            training_set, genes, block_columns, outer, design, path, choice, self.settings
        )

    def _null_responses(self, training_set: TrainingSet, Y: Array) -> NullResponses:
        """Return the training response Y (n, T), permutations of it, and the strata of its rows.

        Rows change places only within a stratum, as groups and batches allow. Y is permuted by the
        numbers of its distinct rows.
        """
        groups, batches = (
            None if labels is None else labels[training_set.train]
            for labels in (self.study.dataset.groups(), self.study.dataset.batches())
        )
        _, first_rows, response_code = np.unique(Y, axis=0, return_index=True, return_inverse=True)
        response_code = response_code.ravel()
        key = spawn_key(SET_WEIGHTS, permutation=training_set.permutation)
        rng = generator(self.study.splits.seed, key)
        permuted_codes = permute_responses(
            response_code, groups, batches, N_WEIGHT_PERMUTATIONS, rng
        ).astype(int)
        return NullResponses(
            Y, Y[first_rows[permuted_codes]], response_strata(response_code, groups, batches)
        )


def _fit_row(model: SetsModel) -> dict[str, Any]:
    """Return the fields of one fit for `ModelFits.from_rows`."""
    training_set = model.training_set
    path = model.path
    last_fit = model.last_fit
    block_data = model.block_data
    blocks, sizes = model.sizes()
    order = np.argsort(blocks)
    tau = model.settings.tau_fractions()
    mu = model.settings.mu_grid()
    # A path without fits predicts the mean.
    scores = block_data.without_single_column(np.tile(block_data.mean, (len(training_set.test), 1)))
    if last_fit >= 0:
        scores = block_data.scores(model.design, path, training_set.test)[last_fit]
    return {
        "split": training_set.split,
        "permutation": training_set.permutation,
        "message": path.message,
        "tau": tau[max(last_fit, 0)],
        "mu": mu[model.choice.mu],
        "gap": path.gap[last_fit] if last_fit >= 0 else np.nan,
        "indices": blocks[order],
        "sizes": sizes[order],
        "test_rows": training_set.label_rows,
        "scores": FITTINGS[training_set.kind].decision_scores(scores, model.choice.threshold),
    }


def genes_table(dataset: Dataset, sets: GeneSets, model: SetsModel) -> pd.DataFrame:
    """Return sets_genes.tsv: the genes of each set of a model, largest weight first.

    ``weight`` is what the gene adds to the score as a member of the set, for one standard deviation
    of the gene (one unit without ``unit_variance``); a gene of several sets has one in each. For
    several classes it is the norm of its weights, which follow, ``weight CLASS``. The set with
    the largest share of the score comes first.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    blocks, sizes = model.sizes()
    # The same blocks by their numbers in the path; `blocks` is empty if the path is.
    path_blocks = model.path.support(model.last_fit) if model.last_fit >= 0 else blocks
    for position in np.argsort(-sizes, kind="stable"):
        columns = model.block_columns.columns[model.design.columns(path_blocks[position])]
        class_weights = model.weights(int(path_blocks[position]))
        gene_weights = np.linalg.norm(class_weights, axis=1)
        if class_weights.shape[1] == 1:  # no classes
            gene_weights = class_weights[:, 0]
            class_weights = class_weights[:, :0]
        genes = model.genes[columns]
        name = block_name(dataset, sets, int(blocks[position]))
        rows += [
            (
                name,
                dataset.genes[genes[j]],
                dataset.var["symbol"].iloc[genes[j]],
                gene_weights[j],
                *class_weights[j],
            )
            for j in np.lexsort((genes, -np.abs(gene_weights)))
        ]
    several = [f"weight {name}" for name in _class_names(dataset)]
    return pd.DataFrame(rows, columns=["set", "gene", "symbol", "weight", *several])


def _class_names(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of several classes; none for another response."""
    return (dataset.design.classes or ()) if dataset.design.kind == SEVERAL_CLASSES else ()


def block_name(dataset: Dataset, sets: GeneSets, block: int) -> str:
    """Return the name of a set, or the id of a gene by itself, see `BlockColumns.blocks`."""
    return str(sets.names[block]) if block < len(sets) else dataset.genes[block - len(sets)]
