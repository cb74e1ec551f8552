"""Tables of the selection of gene sets, from the fits of splits, of halves and of all samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from genesig.results import CrossValidation, Dataset, Splits
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.assess.assessment import assess, compare_errors, study_errors
from genesig.selection.assess.controls import p_value
from genesig.selection.assess.held_out import (
    collect_held_out,
    model_errors,
    model_predictions,
    model_scores,
)
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.assess.stability import PairAgreement, list_agreement
from genesig.selection.genes.frequency import round_sizes, smallest_count

if TYPE_CHECKING:
    import pandas as pd


def gather_sets(
    linear: CrossValidation,
    sets: GeneSets,
    observed_batches: Sequence[ModelFits],
    permuted_batches: Sequence[ModelFits],
    final: ModelFits,
    subsamples: ModelFits,
    *,
    cv_frequency: float,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    linear: the gene lists, on the same splits.
    observed_batches, permuted_batches: fits to observed and to permuted labels; the latter may be
        none.
    final, subsamples: the fit on all samples, and those on the halves.
    cv_frequency: share of the splits that makes a list, ``signature.cv_frequency``.
    """
    dataset = linear.dataset
    splits = linear.splits
    names = [split.name for split in splits.outer]
    observed = ModelFits.joined(observed_batches, names)
    permuted = ModelFits.joined(permuted_batches, names)
    set_scores = model_scores(dataset, splits, observed, observed.scores)
    permuted_scores = None
    if len(permuted):
        permuted_scores = model_scores(dataset, splits, permuted, permuted.scores)
    gene_scores = collect_held_out(dataset, splits, linear.fits.with_chosen())
    halves = ModelFits.joined([subsamples], [half.name for half in splits.subsamples])
    error = error_table(dataset, set_scores, permuted_scores, gene_scores)
    return {
        "sets": sets_table(dataset, sets, observed, final, cv_frequency=cv_frequency),
        "sets_scores": scores_table(dataset, splits, observed),
        "sets_predictions": model_predictions(dataset, splits, {"sets": set_scores}),
        "sets_stability": stability_table(dataset, splits, sets, observed, halves),
        "sets_error": error.assign(sets=len(sets)),
    }


def sets_table(
    dataset: Dataset, sets: GeneSets, fits: ModelFits, final: ModelFits, *, cv_frequency: float
) -> pd.DataFrame:
    """Return sets.tsv: the sets that any split, or the final model, selects.

    ``named`` is the number of genes that the file lists, ``genes`` of those measured. A set's share
    of the score is ||A_k v_k|| over the sum of these of all selected sets: ``mean_share`` is its
    mean over the splits that select it, ``final_share`` that of the final model, 0 outside it. A
    gene that is a block by itself has its id as name. Rows fall by frequency, then by mean_share.
    """
    import pandas as pd

    n_fits = len(fits)
    n_blocks = len(sets) + len(dataset.genes)
    n_selecting = np.zeros(n_blocks)
    share_sum = np.zeros(n_blocks)
    final_share = np.zeros(n_blocks)
    for fit in range(n_fits):
        blocks, sizes = fits.selected(fit)
        n_selecting[blocks] += 1
        share_sum[blocks] += sizes / (sizes.sum() or 1.0)  # all sizes may be 0
    blocks, sizes = final.selected(0)
    final_share[blocks] = sizes / (sizes.sum() or 1.0)
    mean_share = share_sum / np.maximum(n_selecting, 1)
    listed = np.flatnonzero(n_selecting + final_share)
    order = np.lexsort((listed, -round_sizes(mean_share[listed]), -n_selecting[listed]))
    listed = listed[order]
    descriptions = pd.DataFrame(
        [_set_description(dataset, sets, int(block)) for block in listed],
        columns=["set", "about", "genes", "named"],
    )
    return descriptions.assign(
        cv_frequency=n_selecting[listed] / n_fits,
        in_list=n_selecting[listed] >= smallest_count(cv_frequency, n_fits),
        mean_share=np.where(n_selecting > 0, mean_share, np.nan)[listed],
        final_share=final_share[listed],
    )


def _set_description(dataset: Dataset, sets: GeneSets, block: int) -> tuple[str, str, int, int]:
    """Return name, description, measured and listed genes of a set, or of a gene by itself.

    Numbers from len(sets) on are genes.
    """
    if block < len(sets):
        return (
            str(sets.names[block]),
            str(sets.descriptions[block]),
            int(sets.n_measured[block]),
            int(sets.n_listed[block]),
        )
    gene = block - len(sets)
    return dataset.genes[gene], str(dataset.var["symbol"].iloc[gene]), 1, 1


def scores_table(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return sets_scores.tsv: choice, number of sets and errors of each split."""
    table = model_errors(dataset, splits, fits)
    head = list(table.columns[:4])  # split, repeat and both sizes; the errors follow
    tail = list(table.columns[4:])
    chosen = {key: getattr(fits, key) for key in ("tau", "mu", "gap", "message")}
    table = table.assign(n_selected=np.diff(fits.indptr), **chosen)
    return table[[*head, "n_selected", "tau", "mu", "gap", *tail, "message"]]


def stability_table(
    dataset: Dataset, splits: Splits, sets: GeneSets, fits: ModelFits, halves: ModelFits
) -> pd.DataFrame:
    """Return sets_stability.tsv: stability of the selected sets on halves and on the splits.

    fits, halves: fits of the splits, and of the half-subsamples, which come in pairs of halves.

    The columns are among those of stability.tsv; the index is corrected for chance, so that the
    number of sets in the file has no effect. Single genes are blocks after the sets, and count if
    any split selects one.
    """
    import pandas as pd

    n_blocks = len(sets) + (len(dataset.genes) if (fits.indices >= len(sets)).any() else 0)
    rows = []
    for source, source_fits in (("half_subsamples", halves), ("outer_splits", fits)):
        entries = np.ones(len(source_fits.indices))
        # Halves may select a single gene that no split does.
        n_columns = max(n_blocks, 1 + int(source_fits.indices.max(initial=0)))
        lists = csr_array(
            (entries, source_fits.indices, source_fits.indptr), shape=(len(source_fits), n_columns)
        )
        stability = (
            PairAgreement.from_lists(lists).stability()
            if source_fits is halves
            else list_agreement(lists)
        )
        mean_size = len(entries) / len(source_fits) if len(source_fits) else np.nan
        rows.append((source, stability, len(source_fits), mean_size))
    # As in stability.tsv, ``n_sets`` is the number of lists, here of gene sets, and ``mean_size``
    # their mean length.
    columns = ["source", "stability", "n_sets", "mean_size"]
    return pd.DataFrame(rows, columns=columns)


def error_table(
    dataset: Dataset,
    set_scores: HeldOutScores,
    permuted_scores: HeldOutScores | None,
    gene_scores: HeldOutScores,
) -> pd.DataFrame:
    """Return sets_error.tsv: one row, the error of sets and its difference to the gene lists.

    The p-value is that of the permutations, through the same procedure (see `p_value`);
    ``gene_error`` is the error of the chosen gene lists, ``difference`` that of sets less it, with
    the interval of `compare_errors` over the same samples.
    """
    import pandas as pd

    headline = ASSESSMENT_KINDS[dataset.design.kind].headline  # the reported error
    (assessment,) = assess(set_scores, headline)  # scores have one column
    errors = np.zeros(0)
    if permuted_scores is not None:
        errors = study_errors(permuted_scores, headline)[:, 0]
    comparison = compare_errors(set_scores, gene_scores, -1, headline)  # column -1: chosen lists
    row = {
        **vars(assessment),
        "p_value": p_value(assessment.error, errors),
        "permutations": len(errors),
        "gene_error": comparison.reference_error,
        **comparison.columns("difference"),
    }
    return pd.DataFrame([row])
