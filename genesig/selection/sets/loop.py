"""Selection of gene sets inside the outer splits, on all samples and on halves of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import SET_WEIGHTS, generator, spawn_key
from genesig.data.splits.permute import response_strata, shuffled
from genesig.data.steps.normalise import learned_steps, moment_settings
from genesig.errors import GenesigError
from genesig.optim.classes import discriminant
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.solution import BlockPath
from genesig.response.design import SEVERAL
from genesig.results import Dataset, Splits
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.linear.kinds.known import FITTINGS
from genesig.selection.linear.tasks import (
    TrainingSet,
    batch_of,
    group_by_matrix,
    make_training_sets,
    permutation_numbers,
)
from genesig.selection.sets.ground import (
    PERMUTATIONS,
    Choice,
    Ground,
    Members,
    NullResponses,
    SetsProtocol,
    choose,
    grounds,
    weighted,
)

if TYPE_CHECKING:
    import pandas as pd

Steps = Sequence[Mapping[str, Any]]

MOST = 10_000
"""Training sets that share a matrix without a learned reference; they are fitted one by one."""

SAID = 10.0
"""Seconds after which a long job says how far it is."""

log = logging.getLogger(__name__)


def sets_loop(
    dataset: Dataset,
    splits: Splits,
    sets: GeneSets,
    *,
    labels: str,
    batch: str,
    folds: Steps,
    **structured: Any,
) -> ModelFits:
    """Fit a batch of the outer splits, under the observed labels or a range of permutations.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    sets : GeneSets
    labels : str
        ``observed`` or ``permuted-FIRST-LAST``.
    batch : str
        ``2of3``: every third split, from the second on.
    folds : list of dict
        Steps learned on training rows: ``normalise.folds`` of the config.
    **structured
        The config section of this name, see `SetsProtocol`.

    Notes
    -----
    The weights of the sets are learned on the training rows of an outer split and serve its inner
    folds, as a quantile reference does; centring and scaling are learned in each fold anew.
    """
    study = Study(dataset, splits, sets, folds, SetsProtocol(**structured))
    todo = make_training_sets(
        dataset, splits, batch_of(splits.outer, batch), permutation_numbers(labels)
    )
    return ModelFits.from_rows([_row(model) for model in study.models(todo)])


def sets_final(
    dataset: Dataset, splits: Splits, sets: GeneSets, *, folds: Steps, **structured: Any
) -> tuple[ModelFits, pd.DataFrame]:
    """Fit all samples; also return sets_genes.tsv, the genes of each set of this model."""
    study = Study(dataset, splits, sets, folds, SetsProtocol(**structured))
    (model,) = study.models(make_training_sets(dataset, splits, [splits.final], [0]))
    return ModelFits.from_rows([_row(model)]), genes_table(dataset, sets, model)


def sets_subsamples(
    dataset: Dataset, splits: Splits, sets: GeneSets, *, folds: Steps, **structured: Any
) -> ModelFits:
    """Select on every half-subsample, as on an outer training set."""
    study = Study(dataset, splits, sets, folds, SetsProtocol(**structured))
    todo = make_training_sets(dataset, splits, splits.subsamples, [0])
    return ModelFits.from_rows([_row(model) for model in study.models(todo)])


@dataclass(frozen=True)
class Model:
    """The model of one task: its path ends at the chosen tau.

    Attributes
    ----------
    genes : (n_columns,) int
        Gene of each column of the matrix that `members` counts.
    """

    task: TrainingSet
    genes: Array
    members: Members
    ground: Ground
    design: Columns
    path: BlockPath
    choice: Choice
    protocol: SetsProtocol

    @property
    def last(self) -> int:
        """Return the number of the last fit of the path, -1 where there is none."""
        return len(self.path.tau) - 1

    def sizes(self) -> tuple[Array, Array]:
        """Return the selected blocks, ascending, and ||A_k v_k|| of each."""
        if self.last < 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        chosen = self.path.support(self.last)
        design = self.design
        parts = [design.X[:, design.columns(k)] @ self.path.piece(self.last, k) for k in chosen]
        return self.members.blocks[chosen], np.array([np.linalg.norm(part) for part in parts])

    def weights(self, block: int) -> Array:
        """Return the weights (m, T) of the columns of a block; of classes those of the margins."""
        piece = self.path.piece(self.last, block)
        means = self.choice.threshold
        return piece @ discriminant(means)[0] if np.ndim(means) == 2 else piece


@dataclass(frozen=True)
class Study:
    """What all fits share."""

    dataset: Dataset
    splits: Splits
    sets: GeneSets
    folds: Steps
    protocol: SetsProtocol

    def models(self, todo: list[TrainingSet]) -> Iterator[Model]:
        """Yield the model of each task, chosen by its inner folds."""
        steps = learned_steps(self.folds, self.dataset)
        start = time.monotonic()
        done = 0
        said = start
        for X, reference, some in group_by_matrix(self.dataset, todo, steps, MOST):
            members = self._members(reference.genes, some[0].split)
            mine = np.ascontiguousarray(X[:, members.columns])
            for task in some:
                yield self._model(mine, task, members, reference.genes)
                done += 1
                if time.monotonic() - said > SAID or done == len(todo):
                    said = time.monotonic()
                    log.info("%d of %d fits, %.0f s", done, len(todo), said - start)

    def _members(self, genes: Array, split: str) -> Members:
        try:
            return Members.of(self.sets, genes, self.protocol.others)
        except GenesigError as error:
            raise GenesigError(f"gene sets, split {split}: {error}") from error

    def _model(self, X: Array, task: TrainingSet, members: Members, genes: Array) -> Model:
        every = grounds(X, task, **moment_settings(self.folds))
        ground = next(every)
        responses = self._null_responses(task, ground.Y)
        blocks = weighted(
            self.protocol.weights, ground.Z[task.train], responses, members.members, members.starts
        )
        choice = choose(task, every, blocks, self.protocol)
        tau = self.protocol.tau_fractions()
        mu = self.protocol.mu_grid()
        design = ground.design(blocks)
        path = ground.path(
            design,
            tau[: choice.tau + 1],
            float(mu[choice.mu]),
            self.protocol.tolerance,
            self.protocol.most,
        )
        return Model(task, genes, members, ground, design, path, choice, self.protocol)

    def _null_responses(self, task: TrainingSet, Y: Array) -> NullResponses:
        """Permute the training response (n, T) as groups and batches allow."""
        groups, batches = (
            None if labels is None else labels[task.train]
            for labels in (self.dataset.groups(), self.dataset.batches())
        )
        _, first, code = np.unique(Y, axis=0, return_index=True, return_inverse=True)
        code = code.ravel()
        rng = generator(self.splits.seed, spawn_key(SET_WEIGHTS, permutation=task.permutation))
        codes = shuffled(code, groups, batches, PERMUTATIONS, rng).astype(int)
        return NullResponses(Y, Y[first[codes]], response_strata(code, groups, batches))


def _row(model: Model) -> dict[str, Any]:
    """Return what `ModelFits.from_rows` takes."""
    task = model.task
    path = model.path
    last = model.last
    ground = model.ground
    blocks, sizes = model.sizes()
    order = np.argsort(blocks)
    tau = model.protocol.tau_fractions()
    mu = model.protocol.mu_grid()
    scores = ground.shaped(np.tile(ground.mean, (len(task.test), 1)))
    if last >= 0:
        scores = ground.scores(model.design, path, task.test)[last]
    return {
        "split": task.split,
        "permutation": task.permutation,
        "message": path.message,
        "tau": tau[max(last, 0)],
        "mu": mu[model.choice.mu],
        "gap": path.gap[last] if last >= 0 else np.nan,
        "indices": blocks[order],
        "sizes": sizes[order],
        "test_rows": task.label_rows,
        "scores": FITTINGS[task.kind].decision_scores(scores, model.choice.threshold),
    }


def genes_table(dataset: Dataset, sets: GeneSets, model: Model) -> pd.DataFrame:
    """Return sets_genes.tsv: the genes of each set of a model, largest weight first.

    ``weight`` is the gene's part of the set's piece of the score, for one standard deviation of the
    gene (one unit without ``unit_variance``); a gene of several sets has one in each. Of several
    classes it is the length of the weights of all, which follow, ``weight of CLASS``. Sets stand by
    falling share of the score.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    blocks, sizes = model.sizes()
    chosen = model.path.support(model.last) if model.last >= 0 else blocks
    for at in np.argsort(-sizes, kind="stable"):
        columns = model.members.columns[model.design.columns(chosen[at])]
        pieces = model.weights(int(chosen[at]))
        one = pieces[:, 0] if pieces.shape[1] == 1 else np.linalg.norm(pieces, axis=1)
        genes = model.genes[columns]
        each = pieces if pieces.shape[1] > 1 else pieces[:, :0]
        name = name_of(dataset, sets, int(blocks[at]))
        rows += [
            (name, dataset.genes[genes[j]], dataset.var["symbol"].iloc[genes[j]], one[j], *each[j])
            for j in np.lexsort((genes, -np.abs(one)))
        ]
    several = [f"weight of {name}" for name in _classes(dataset)]
    return pd.DataFrame(rows, columns=["set", "gene", "symbol", "weight", *several])


def _classes(dataset: Dataset) -> tuple[str, ...]:
    return (dataset.design.classes or ()) if dataset.design.kind == SEVERAL else ()


def name_of(dataset: Dataset, sets: GeneSets, block: int) -> str:
    """Return the name of a set, or the id of a gene that is a block by itself."""
    return str(sets.names[block]) if block < len(sets) else dataset.genes[block - len(sets)]
