"""Selection of gene sets inside the outer splits, on all samples and on halves, and its tables."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from genesig.arrays import Array
from genesig.data.splits.folds import SET_WEIGHTS, generator, spawn_key
from genesig.data.splits.permute import shuffled
from genesig.data.steps.normalise import learned_steps, moments
from genesig.errors import GenesigError
from genesig.optim.multitask import discriminant
from genesig.optim.structured.columns import Columns
from genesig.optim.structured.solution import BlockPath
from genesig.response.design import SEVERAL
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.assess.assessment import assess, difference, study_errors
from genesig.selection.assess.controls import p_value
from genesig.selection.assess.held_out import (
    held_out,
    model_errors,
    model_predictions,
    model_scores,
)
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.assess.stability import Pairs, of_lists
from genesig.selection.genes.frequency import least_count, rounded
from genesig.selection.linear.kinds.known import FITTED
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

    def weights(self, block: int) -> Array:
        """Return the weights (m, T) of the columns of a block; of classes those of the margins."""
        piece, means = self.path.piece(self.last, block), self.choice.threshold
        return piece @ discriminant(means)[0] if np.ndim(means) == 2 else piece


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
        every = grounds(X, task, **moments(self.folds))
        ground = next(every)
        Z, turned = ground.Z[task.train], self._shuffled(task, ground.Y)
        blocks = weighted(self.protocol.weights, Z, turned, members.members, members.starts)
        choice = choose(task, every, blocks, self.protocol)
        tau, mu = self.protocol.tau_fractions(), self.protocol.mu_grid()
        design = ground.design(blocks)
        path = ground.path(design, tau[: choice.tau + 1], float(mu[choice.mu]),
                           self.protocol.tolerance, self.protocol.most)  # fmt: skip
        return Model(task, genes, members, ground, design, path, choice, self.protocol)

    def _shuffled(self, task: Task, Y: Array) -> Array:
        """Return training responses that have lost their samples, (n, P, T)."""
        groups, batches = (
            None if each is None else each[task.train]
            for each in (self.dataset.groups(), self.dataset.batches())
        )
        _, first, place = np.unique(Y, axis=0, return_index=True, return_inverse=True)
        rng = generator(self.splits.seed, spawn_key(SET_WEIGHTS, permutation=task.permutation))
        turned = shuffled(place.ravel(), groups, batches, PERMUTATIONS, rng).astype(int)
        return np.asarray(Y[first[turned]])


def _row(model: Model) -> dict[str, Any]:
    """Return what `ModelFits.of` takes."""
    task, path, last, ground = model.task, model.path, model.last, model.ground
    blocks, sizes = model.sizes()
    order = np.argsort(blocks)
    tau, mu = model.protocol.tau_fractions(), model.protocol.mu_grid()
    scores = ground.shaped(np.tile(ground.mean, (len(task.test), 1)))
    if last >= 0:
        scores = ground.scores(model.design, path, task.test)[last]
    return {
        "split": task.split, "permutation": task.permutation, "message": path.message,
        "tau": tau[max(last, 0)], "mu": mu[model.choice.mu],
        "gap": path.gap[last] if last >= 0 else np.nan, "indices": blocks[order],
        "sizes": sizes[order], "test_rows": task.positions,
        "scores": FITTED[task.kind].told(scores, model.choice.threshold),
    }  # fmt: skip


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
        genes, each = model.genes[columns], pieces if pieces.shape[1] > 1 else pieces[:, :0]
        name = name_of(dataset, sets, int(blocks[at]))
        rows += [(name, dataset.genes[genes[j]], dataset.var["symbol"].iloc[genes[j]], one[j],
                  *each[j]) for j in np.lexsort((genes, -np.abs(one)))]  # fmt: skip
    several = [f"weight of {name}" for name in _classes(dataset)]
    return pd.DataFrame(rows, columns=["set", "gene", "symbol", "weight", *several])


def _classes(dataset: Dataset) -> tuple[str, ...]:
    return (dataset.design.classes or ()) if dataset.design.kind == SEVERAL else ()


def name_of(dataset: Dataset, sets: GeneSets, block: int) -> str:
    """Return the name of a set, or the id of a gene that is a block by itself."""
    return str(sets.names[block]) if block < len(sets) else dataset.genes[block - len(sets)]


ERROR = [
    "error", "low", "high", "auc", "auc_low", "auc_high", "p_value", "permutations", "gene_error",
    "difference", "difference_low", "difference_high",
]  # fmt: skip


def gather_sets(
    dataset: Dataset,
    splits: Splits,
    sets: GeneSets,
    fits: Sequence[Sequence[ModelFits]],
    final: ModelFits,
    subsamples: ModelFits,
    linear: Sequence[Fits],
    *,
    frequency: float,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    sets : GeneSets
    fits : (list of ModelFits, list of ModelFits)
        Batches of the observed labels, and of the permuted ones, which may be none.
    final, subsamples : ModelFits
        The fit on all samples, and those on the halves.
    linear : list of Fits
        The gene lists of the observed labels, on the same splits.
    frequency : float
        Share of the splits that makes a list, ``signature.frequency``.
    """
    names = [split.name for split in splits.outer]
    observed, permuted = (ModelFits.joined(parts, names) for parts in fits)
    own = model_scores(dataset, splits, observed, observed.scores)
    null = None
    if len(permuted):
        null = model_scores(dataset, splits, permuted, permuted.scores)
    genes = held_out(dataset, splits, joined(linear, splits).with_chosen())
    halves = ModelFits.joined([subsamples], [half.name for half in splits.subsamples])
    error = error_table(dataset, own, null, genes)
    return {
        "sets": sets_table(dataset, sets, observed, final, frequency=frequency),
        "sets_scores": scores_table(dataset, splits, observed),
        "sets_predictions": model_predictions(dataset, splits, {"sets": own}),
        "sets_stability": stability_table(dataset, splits, sets, observed, halves),
        "sets_error": error.assign(sets=len(sets)),
    }


def sets_table(
    dataset: Dataset, sets: GeneSets, fits: ModelFits, final: ModelFits, *, frequency: float
) -> pd.DataFrame:
    """Return sets.tsv: the sets that any split, or the final model, selects.

    ``genes`` is the number of its genes that were measured, of so many ``named`` in the file;
    ``mean_share`` the mean share of the score, ||A_k v_k|| over the sum of these of all selected
    sets, over the splits that select it, ``final_share`` that in the model of all samples, 0 if it
    is not in it. A gene that is a block by itself stands under its id. Rows fall by frequency, then
    by mean_share.
    """
    import pandas as pd

    n, size = len(fits), len(sets) + len(dataset.genes)
    times, total, own = np.zeros(size), np.zeros(size), np.zeros(size)
    for fit in range(n):
        blocks, sizes = fits.selected(fit)
        times[blocks] += 1
        total[blocks] += sizes / (sizes.sum() or 1.0)
    blocks, sizes = final.selected(0)
    own[blocks] = sizes / (sizes.sum() or 1.0)
    found = np.flatnonzero(times + own)
    mean = total[found] / np.maximum(times[found], 1)
    found = found[np.lexsort((found, -rounded(mean), -times[found]))]
    described = pd.DataFrame(
        [_described(dataset, sets, int(block)) for block in found],
        columns=["set", "about", "genes", "named"],
    )
    return described.assign(
        frequency=times[found] / n,
        in_list=times[found] >= least_count(frequency, n),
        mean_share=np.where(times[found] > 0, total[found] / np.maximum(times[found], 1), np.nan),
        final_share=own[found],
    )


def _described(dataset: Dataset, sets: GeneSets, block: int) -> tuple[str, str, int, int]:
    if block < len(sets):
        return (str(sets.names[block]), str(sets.about[block]), int(sets.measured[block]),
                int(sets.named[block]))  # fmt: skip
    gene = block - len(sets)
    return dataset.genes[gene], str(dataset.var["symbol"].iloc[gene]), 1, 1


def scores_table(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return sets_scores.tsv: choice, number of sets and errors of each split."""
    table = model_errors(dataset, splits, fits)
    head, tail = list(table.columns[:4]), list(table.columns[4:])
    chosen = {key: getattr(fits, key) for key in ("tau", "mu", "gap", "message")}
    table = table.assign(n_selected=np.diff(fits.indptr), **chosen)
    return table[[*head, "n_selected", "tau", "mu", "gap", *tail, "message"]]


def stability_table(
    dataset: Dataset, splits: Splits, sets: GeneSets, fits: ModelFits, halves: ModelFits
) -> pd.DataFrame:
    """Return sets_stability.tsv: lists of sets on pairs of halves, and on the outer splits.

    The columns are among those of stability.tsv; the index is corrected for chance, so that the
    number of sets in the file does not count.
    """
    import pandas as pd

    d = len(sets) + (len(dataset.genes) if (fits.indices >= len(sets)).any() else 0)
    rows = []
    for source, each in (("half_subsamples", halves), ("outer_splits", fits)):
        ones = np.ones(len(each.indices))
        wide = max(d, 1 + int(each.indices.max(initial=0)))
        lists = csr_array((ones, each.indices, each.indptr), shape=(len(each), wide))
        found = Pairs.of(lists).stability() if each is halves else of_lists(lists)
        mean = len(ones) / len(each) if len(each) else np.nan
        rows.append((source, found, len(each), mean))
    columns = ["source", "stability", "n_sets", "mean_size"]
    return pd.DataFrame(rows, columns=columns)


def error_table(
    dataset: Dataset, own: HeldOut, null: HeldOut | None, genes: HeldOut
) -> pd.DataFrame:
    """Return sets_error.tsv: one row, the error of sets and its difference to the gene lists.

    The p-value is that of the permutations, through the same procedure (see `p_value`);
    ``gene_error`` is the error of the chosen gene lists, ``difference`` that of sets less it, with
    the interval of `difference` over the same samples.
    """
    import pandas as pd

    headline = ASSESSED[dataset.design.kind].headline
    found = assess(own, headline)[0]
    errors = np.zeros(0) if null is None else study_errors(null, headline)[:, 0]
    _, of_genes, *apart = difference(own, genes, -1, headline)
    row = (*vars(found).values(), p_value(found.error, errors), len(errors), of_genes, *apart)
    return pd.DataFrame([row], columns=ERROR)
