"""Tables of nonlinear selection, from the fits of all splits and of all samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.assessment import difference
from genesig.selection.assess.held_out import (
    held_out,
    model_errors,
    model_predictions,
    model_scores,
)
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.genes.frequency import least_count, of_list, rounded

if TYPE_CHECKING:
    import pandas as pd

CHOSEN = (
    "screened",
    "tau",
    "nu",
    "width",
    "lam",
    "explained_by_none",
    "cut",
    "paths",
    "gap",
    "message",
)


def gather_nonlinear(
    dataset: Dataset,
    splits: Splits,
    parts: Sequence[ModelFits],
    final: ModelFits,
    observed: Sequence[Fits],
    nested: pd.DataFrame,
    signature: pd.DataFrame,
    *,
    cv_frequency: float,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    parts, final : list of ModelFits, ModelFits
        The batches, in any order, and the fit on all samples.
    observed : list of Fits
        The linear fits of the observed labels, on the same splits.
    nested, signature : DataFrame
        nested_lists.tsv and signature.tsv.
    cv_frequency : float
        Share of the splits that makes a list, ``signature.cv_frequency``.
    """
    import pandas as pd

    names = [split.name for split in splits.outer]
    fits = ModelFits.joined(parts, names)
    linear = joined(observed, splits).with_chosen()
    chosen = nested["mu"].isna()
    genes = genes_table(dataset, fits, final, nested[chosen], signature, cv_frequency=cv_frequency)
    known = scored(dataset, splits, fits)
    of_linear = held_out(dataset, splits, linear)
    return {
        "nonlinear": genes,
        "nonlinear_scores": scores_table(dataset, splits, fits),
        "nonlinear_model": pd.DataFrame(
            {"n_genes": np.diff(final.indptr), **{key: getattr(final, key) for key in CHOSEN}}
        ),
        "nonlinear_predictions": model_predictions(dataset, splits, known),
        "nonlinear_agreement": agreement_table(fits, linear, nested, genes),
        "nonlinear_difference": pd.DataFrame(
            [
                (model, *difference(found, of_linear, -1, ASSESSED[dataset.design.kind].headline))
                for model, found in known.items()
            ],
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
    mean_norm.
    """
    import pandas as pd

    n = len(fits)
    n_genes = len(dataset.genes)
    times = np.bincount(fits.indices, minlength=n_genes)
    total = np.bincount(fits.indices, weights=fits.sizes, minlength=n_genes)
    own = np.bincount(final.indices, weights=final.sizes, minlength=n_genes)
    found = np.flatnonzero(times)
    mean = total[found] / times[found]
    order = np.lexsort((found, -rounded(mean), -times[found]))
    found = found[order]
    mean = mean[order]
    ids = [dataset.genes[gene] for gene in found]
    listed = set(signature["gene"])
    often = dict(zip(linear["gene"], linear["cv_frequency"], strict=True))
    return pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[found],
            "cv_frequency": times[found] / n,
            "mean_norm": mean,
            "in_list": times[found] >= least_count(cv_frequency, n),
            "in_signature": [gene in listed for gene in ids],
            "linear_cv_frequency": [often.get(gene, 0.0) for gene in ids],
            "final_norm": own[found],
        }
    )


def scored(dataset: Dataset, splits: Splits, fits: ModelFits) -> dict[str, HeldOut]:
    """Return the held-out scores of the two predictors, those that were run."""
    scores = {"nonlinear": fits.scores, "fvm": fits.fvm_scores}
    return {
        name: model_scores(dataset, splits, fits, score)
        for name, score in scores.items()
        if score is not None and not np.isnan(score).any()
    }


def scores_table(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return nonlinear_scores.tsv: choice, size and errors of each split."""
    table = model_errors(dataset, splits, fits)
    head = list(table.columns[:4])
    tail = list(table.columns[4:])
    chosen = {key: getattr(fits, key) for key in CHOSEN}
    table = table.assign(n_genes=np.diff(fits.indptr), fvm_genes=fits.fvm_genes, **chosen)
    return table[[*head, "n_genes", *CHOSEN[:-1], "fvm_genes", *tail, "message"]]


def agreement_table(
    fits: ModelFits, linear: Fits, nested: pd.DataFrame, genes: pd.DataFrame
) -> pd.DataFrame:
    """Return nonlinear_agreement.tsv: the genes shared with the linear list of each mu.

    ``jaccard`` is |A ∩ B| / |A ∪ B| of the two lists over all splits; ``jaccard_in_split`` that of
    the lists of one and the same split, from the same samples, mean over the splits. Empty where
    both lists are.
    """
    import pandas as pd

    ours = set(genes.loc[genes["in_list"], "gene"])
    rows = []
    core = nested[nested["in_list"].astype(bool)]
    place = {str(name): fit for fit, name in enumerate(linear.split)}
    for at, mu in enumerate(linear.mu):
        theirs = set(of_list(core, mu)["gene"])
        within = [
            jaccard(
                set(fits.selected(fit)[0].tolist()),
                set(linear.coef(place[str(name)], at)[0].tolist()),
            )
            for fit, name in enumerate(fits.split)
        ]
        known = [value for value in within if not np.isnan(value)]
        rows.append(
            (
                mu,
                len(theirs),
                len(ours),
                len(ours & theirs),
                jaccard(ours, theirs),
                float(np.mean(known)) if known else np.nan,
            )
        )
    columns = ["mu", "n_linear", "n_nonlinear", "shared", "jaccard", "jaccard_in_split"]
    return pd.DataFrame(rows, columns=columns)


def jaccard(one: set[Any], other: set[Any]) -> float:
    """Return |A ∩ B| / |A ∪ B|; NaN for two empty sets."""
    return len(one & other) / len(one | other) if one | other else np.nan
