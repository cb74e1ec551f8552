"""Selection of gene sets inside the outer splits, on all samples and on halves of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.splits.permute import shuffled
from genesig.data.splits.seeds import SET_WEIGHTS, generator, spawn_key
from genesig.data.steps.normalise import learned_steps, moments
from genesig.errors import GenesigError
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.solution import BlockPath
from genesig.results import Dataset, Splits
from genesig.results.gene_sets import GeneSets
from genesig.results.model_fits import ModelFits
from genesig.selection.linear.tasks import (
    Task,
    batch_of,
    permutation_numbers,
    shared_matrices,
    tasks,
)
from genesig.selection.sets.ground import (
    PERMUTATIONS,
    Choice,
    Ground,
    Members,
    SetsProtocol,
    choose,
    grounds,
    weighted,
)

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Steps = Sequence[Mapping[str, Any]]

MOST = 10_000
"""Training sets that share a matrix without a learned reference; they are fitted one by one."""

SAID = 10.0
"""Seconds after which a long job says how far it is."""

log = logging.getLogger(__name__)


def sets_loop(
    dataset: Dataset, splits: Splits, sets: GeneSets, *, labels: str, batch: str, folds: Steps,
    **structured: Any,
) -> ModelFits:  # fmt: skip
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
    todo = tasks(dataset, splits, batch_of(splits.outer, batch), permutation_numbers(labels))
    return ModelFits.of([_row(model) for model in study.models(todo)])


def sets_final(
    dataset: Dataset, splits: Splits, sets: GeneSets, *, folds: Steps, **structured: Any
) -> tuple[ModelFits, pd.DataFrame]:
    """Fit all samples; also return sets_genes.tsv, the genes of each set of this model."""
    study = Study(dataset, splits, sets, folds, SetsProtocol(**structured))
    (model,) = study.models(tasks(dataset, splits, [splits.final], [0]))
    return ModelFits.of([_row(model)]), genes_table(dataset, sets, model)


def sets_subsamples(
    dataset: Dataset, splits: Splits, sets: GeneSets, *, folds: Steps, **structured: Any
) -> ModelFits:
    """Select on every half-subsample, as on an outer training set."""
    study = Study(dataset, splits, sets, folds, SetsProtocol(**structured))
    todo = tasks(dataset, splits, splits.subsamples, [0])
    return ModelFits.of([_row(model) for model in study.models(todo)])


@dataclass(frozen=True)
class Model:
    """The model of one task: its path ends at the chosen tau.

    Attributes
    ----------
    genes : (n_columns,) int
        Gene of each column of the matrix that `members` counts.
    """

    task: Task
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
        chosen, design = self.path.support(self.last), self.design
        parts = [design.X[:, design.columns(k)] @ self.path.piece(self.last, k) for k in chosen]
        return self.members.blocks[chosen], np.array([np.linalg.norm(part) for part in parts])


@dataclass(frozen=True)
class Study:
    """What all fits share."""

    dataset: Dataset
    splits: Splits
    sets: GeneSets
    folds: Steps
    protocol: SetsProtocol

    def models(self, todo: list[Task]) -> Iterator[Model]:
        """Yield the model of each task, chosen by its inner folds."""
        steps, start, done = learned_steps(self.folds, self.dataset), time.monotonic(), 0
        said = start
        for X, reference, some in shared_matrices(self.dataset, todo, steps, MOST):
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

    def _model(self, X: Array, task: Task, members: Members, genes: Array) -> Model:
        inner = [np.setdiff1d(task.train, fold) for fold in task.inner]
        every = grounds(X, task.y, [task.train, *inner], **moments(self.folds))
        ground = next(every)
        Z, shuffled_y = ground.Z[task.train], self._shuffled(task)
        blocks = weighted(self.protocol.weights, Z, shuffled_y, members.members, members.starts)
        choice = choose(task, every, blocks, self.protocol)
        tau, mu = self.protocol.tau_fractions(), self.protocol.mu_grid()
        design = ground.design(blocks)
        path = ground.path(design, tau[: choice.tau + 1], float(mu[choice.mu]),
                           self.protocol.tolerance, self.protocol.most)  # fmt: skip
        return Model(task, genes, members, ground, design, path, choice, self.protocol)

    def _shuffled(self, task: Task) -> Array:
        """Return centred training responses that have lost their samples, (n, P)."""
        groups, batches = (
            None if each is None else each[task.train]
            for each in (self.dataset.groups(), self.dataset.batches())
        )
        y = task.y[task.train] - task.y[task.train].mean()
        rng = generator(self.splits.seed, spawn_key(SET_WEIGHTS, permutation=task.permutation))
        return shuffled(y, groups, batches, PERMUTATIONS, rng)


def _row(model: Model) -> dict[str, Any]:
    """Return what `ModelFits.of` takes."""
    task, path, last = model.task, model.path, model.last
    blocks, sizes = model.sizes()
    order = np.argsort(blocks)
    tau, mu = model.protocol.tau_fractions(), model.protocol.mu_grid()
    scores = np.full(len(task.test), model.ground.mean)
    if last >= 0:
        scores = model.ground.scores(model.design, path, task.test)[last]
    return {
        "split": task.split, "permutation": task.permutation, "message": path.message,
        "tau": tau[max(last, 0)], "mu": mu[model.choice.mu],
        "gap": path.gap[last] if last >= 0 else np.nan, "indices": blocks[order],
        "sizes": sizes[order], "test_rows": task.positions,
        "scores": scores - model.choice.threshold,
    }  # fmt: skip


def genes_table(dataset: Dataset, sets: GeneSets, model: Model) -> pd.DataFrame:
    """Return sets_genes.tsv: the genes of each set of a model, largest weight first.

    ``weight`` is the gene's part of the set's piece of the score, for one standard deviation of the
    gene (one unit without ``unit_variance``); a gene of several sets has one in each. Sets stand by
    falling share of the score.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    blocks, sizes = model.sizes()
    chosen = model.path.support(model.last) if model.last >= 0 else blocks
    for at in np.argsort(-sizes, kind="stable"):
        columns = model.members.columns[model.design.columns(chosen[at])]
        piece = model.path.piece(model.last, chosen[at])[:, 0]
        genes = model.genes[columns]
        name = name_of(dataset, sets, int(blocks[at]))
        rows += [(name, dataset.genes[genes[j]], dataset.var["symbol"].iloc[genes[j]], piece[j])
                 for j in np.lexsort((genes, -np.abs(piece)))]  # fmt: skip
    return pd.DataFrame(rows, columns=["set", "gene", "symbol", "weight"])


def name_of(dataset: Dataset, sets: GeneSets, block: int) -> str:
    """Return the name of a set, or the id of a gene that is a block by itself."""
    return str(sets.names[block]) if block < len(sets) else dataset.genes[block - len(sets)]
