"""Tables of the selection of gene sets, from the fits of splits, of halves and of all samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

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

if TYPE_CHECKING:
    import pandas as pd

ERROR = [
    "error",
    "low",
    "high",
    "auc",
    "auc_low",
    "auc_high",
    "p_value",
    "permutations",
    "gene_error",
    "difference",
    "difference_low",
    "difference_high",
]


def gather_sets(
    dataset: Dataset,
    splits: Splits,
    sets: GeneSets,
    fits: Sequence[Sequence[ModelFits]],
    final: ModelFits,
    subsamples: ModelFits,
    linear: Sequence[Fits],
    *,
    cv_frequency: float,
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
    cv_frequency : float
        Share of the splits that makes a list, ``signature.cv_frequency``.
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
        "sets": sets_table(dataset, sets, observed, final, cv_frequency=cv_frequency),
        "sets_scores": scores_table(dataset, splits, observed),
        "sets_predictions": model_predictions(dataset, splits, {"sets": own}),
        "sets_stability": stability_table(dataset, splits, sets, observed, halves),
        "sets_error": error.assign(sets=len(sets)),
    }


def sets_table(
    dataset: Dataset, sets: GeneSets, fits: ModelFits, final: ModelFits, *, cv_frequency: float
) -> pd.DataFrame:
    """Return sets.tsv: the sets that any split, or the final model, selects.

    ``genes`` is the number of its genes that were measured, of so many ``named`` in the file;
    ``mean_share`` the mean share of the score, ||A_k v_k|| over the sum of these of all selected
    sets, over the splits that select it, ``final_share`` that in the model of all samples, 0 if it
    is not in it. A gene that is a block by itself stands under its id. Rows fall by frequency, then
    by mean_share.
    """
    import pandas as pd

    n = len(fits)
    size = len(sets) + len(dataset.genes)
    times = np.zeros(size)
    total = np.zeros(size)
    own = np.zeros(size)
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
        cv_frequency=times[found] / n,
        in_list=times[found] >= least_count(cv_frequency, n),
        mean_share=np.where(times[found] > 0, total[found] / np.maximum(times[found], 1), np.nan),
        final_share=own[found],
    )


def _described(dataset: Dataset, sets: GeneSets, block: int) -> tuple[str, str, int, int]:
    if block < len(sets):
        return (
            str(sets.names[block]),
            str(sets.about[block]),
            int(sets.measured[block]),
            int(sets.named[block]),
        )
    gene = block - len(sets)
    return dataset.genes[gene], str(dataset.var["symbol"].iloc[gene]), 1, 1


def scores_table(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return sets_scores.tsv: choice, number of sets and errors of each split."""
    table = model_errors(dataset, splits, fits)
    head = list(table.columns[:4])
    tail = list(table.columns[4:])
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
