"""Tables of nonlinear selection, and of the Feature Vector Machine (fvm), its control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import CrossValidation, Dataset, Fits, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.assessment import compare_errors
from genesig.selection.assess.held_out import (
    collect_held_out,
    model_errors,
    model_predictions,
    model_scores,
)
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.genes.frequency import round_sizes, rows_of_list, smallest_count

if TYPE_CHECKING:
    import pandas as pd

# Fields of `ModelFits`, explained there, in the order of the columns of nonlinear_model.tsv.
CHOICE_FIELDS = (
    "screened",
    "tau",
    "nu",
    "width",
    "lam",
    "explained_by_none",
    "cut",
    "paths",
    "gap",
    "ended_early",
    "message",
)


def gather_nonlinear(
    linear: CrossValidation,
    batches: Sequence[ModelFits],
    final: ModelFits,
    nested: pd.DataFrame,
    signature: pd.DataFrame,
    *,
    cv_frequency: float,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    linear: the linear fits, on the same splits.
    batches, final: the batches, in any order, and the fit on all samples.
    nested, signature: nested_lists.tsv and signature.tsv.
    cv_frequency: share of the splits that makes a list, ``signature.cv_frequency``.
    """
    import pandas as pd

    dataset = linear.dataset
    splits = linear.splits
    names = [split.name for split in splits.outer]
    fits = ModelFits.joined(batches, names)
    linear_fits = linear.fits.with_chosen()
    is_chosen_list = nested["mu"].isna()  # a nested list names its mu, the chosen list does not
    genes = genes_table(
        dataset, fits, final, nested[is_chosen_list], signature, cv_frequency=cv_frequency
    )
    arrays_of_final = final.arrays()
    held_out_scores = method_scores(dataset, splits, fits)
    linear_scores = collect_held_out(dataset, splits, linear_fits)
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline  # the reported error
    return {
        "nonlinear": genes,
        "nonlinear_scores": scores_table(dataset, splits, fits),
        "nonlinear_model": pd.DataFrame(
            {
                "n_genes": np.diff(final.indptr),
                **{key: arrays_of_final[key] for key in CHOICE_FIELDS},
            }
        ),
        "nonlinear_predictions": model_predictions(dataset, splits, held_out_scores),
        "nonlinear_agreement": agreement_table(fits, linear_fits, nested, genes),
        "nonlinear_difference": pd.DataFrame(
            [
                (
                    model,
                    # column -1: the chosen list, see `Fits.with_chosen`
                    *compare_errors(scores, linear_scores, column=-1, headline=headline),
                )
                for model, scores in held_out_scores.items()
            ],
            # the five fields of `ErrorDifference` behind the model
            columns=["model", "error", "linear", "difference", "low", "high"],
        ),
    }


def genes_table(
    dataset: Dataset,
    fits: ModelFits,
    final: ModelFits,
    linear: pd.DataFrame,
    signature: pd.DataFrame,
    *,
    cv_frequency: float,
) -> pd.DataFrame:
    """Return nonlinear.tsv: the genes that any split selects.

    ``mean_norm`` is the mean size of the derivative over the splits that select the gene, in the
    response's units per standard deviation of the gene; ``final_norm`` that of the model of all
    samples, 0 if it is not in it; ``linear_cv_frequency`` is that of the chosen linear lists, and
    ``in_signature`` says that the final linear model has the gene. Rows fall by frequency, then by
    mean_norm. linear: rows of nested_lists.tsv of the chosen lists.
    """
    import pandas as pd

    n = len(fits)
    n_genes = len(dataset.genes)
    n_selected = np.bincount(fits.indices, minlength=n_genes)
    norm_sums = np.bincount(fits.indices, weights=fits.sizes, minlength=n_genes)
    final_norms = np.bincount(final.indices, weights=final.sizes, minlength=n_genes)
    selected = np.flatnonzero(n_selected)
    mean_norms = norm_sums[selected] / n_selected[selected]
    order = np.lexsort((selected, -round_sizes(mean_norms), -n_selected[selected]))
    selected = selected[order]
    mean_norms = mean_norms[order]
    ids = [dataset.genes[gene] for gene in selected]
    signature_genes = set(signature["gene"])
    linear_cv_frequency = dict(zip(linear["gene"], linear["cv_frequency"], strict=True))
    return pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[selected],
            "cv_frequency": n_selected[selected] / n,
            "mean_norm": mean_norms,
            "in_list": n_selected[selected] >= smallest_count(cv_frequency, n),
            "in_signature": [gene in signature_genes for gene in ids],
            "linear_cv_frequency": [linear_cv_frequency.get(gene, 0.0) for gene in ids],
            "final_norm": final_norms[selected],
        }
    )


def method_scores(dataset: Dataset, splits: Splits, fits: ModelFits) -> dict[str, HeldOutScores]:
    """Return name -> held-out scores of each method that was run; `fits` has NaN for another."""
    scores = {"nonlinear": fits.scores, "fvm": fits.arrays()["fvm_scores"]}
    return {
        name: model_scores(dataset, splits, fits, score)
        for name, score in scores.items()
        if not np.isnan(score).any()
    }


def scores_table(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return nonlinear_scores.tsv: choice, size and errors of each split."""
    table = model_errors(dataset, splits, fits)
    split_columns = list(table.columns[:4])  # split, repeat, n_train, n_test
    error_columns = list(table.columns[4:])
    arrays = fits.arrays()
    choices = {key: arrays[key] for key in (*CHOICE_FIELDS, "fvm_genes")}
    table = table.assign(n_genes=np.diff(fits.indptr), **choices)
    *choice_columns, message_column = CHOICE_FIELDS
    return table[
        [*split_columns, "n_genes", *choice_columns, "fvm_genes", *error_columns, message_column]
    ]


def agreement_table(
    fits: ModelFits, linear: Fits, nested: pd.DataFrame, genes: pd.DataFrame
) -> pd.DataFrame:
    """Return nonlinear_agreement.tsv: the genes shared with the linear list of each mu.

    ``jaccard`` is |A ∩ B| / |A ∪ B| of the two lists over all splits; ``jaccard_in_split`` that of
    the lists of one and the same split, from the same samples, mean over the splits. Empty where
    both lists are. linear: `Fits.with_chosen`. nested, genes: nested_lists.tsv and nonlinear.tsv.
    """
    import pandas as pd

    nonlinear_genes = set(genes.loc[genes["in_list"], "gene"])
    rows = []
    listed_rows = nested[nested["in_list"].astype(bool)]
    fit_of_split = {str(name): fit for fit, name in enumerate(linear.split)}
    for mu_index, mu in enumerate(linear.mu):
        linear_genes = set(rows_of_list(listed_rows, mu)["gene"])
        jaccard_of_splits = [
            jaccard(
                set(fits.selected(fit)[0].tolist()),
                set(linear.coef(fit_of_split[str(name)], mu_index)[0].tolist()),
            )
            for fit, name in enumerate(fits.split)
        ]
        defined = [value for value in jaccard_of_splits if not np.isnan(value)]
        rows.append(
            (
                mu,
                len(linear_genes),
                len(nonlinear_genes),
                len(nonlinear_genes & linear_genes),
                jaccard(nonlinear_genes, linear_genes),
                float(np.mean(defined)) if defined else np.nan,
            )
        )
    columns = ["mu", "n_linear", "n_nonlinear", "shared", "jaccard", "jaccard_in_split"]
    return pd.DataFrame(rows, columns=columns)


def jaccard(genes: set[Any], other_genes: set[Any]) -> float:
    """Return |A ∩ B| / |A ∪ B|; NaN for two empty sets."""
    return len(genes & other_genes) / len(genes | other_genes) if genes | other_genes else np.nan
