"""Everything that follows from the fits of the observed labels, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.results import Dataset, Fits, Splits
from genesig.results.joined import joined
from genesig.selection.assess.held_out import predictions_table, scores_table
from genesig.selection.assess.rejection import rejection_table
from genesig.selection.assess.stability import stability_table
from genesig.selection.genes.frequency import list_sizes, nested_lists
from genesig.selection.genes.ranking import block_tables
from genesig.selection.genes.stretches import stretches_table
from genesig.selection.genes.ties import rounded
from genesig.selection.genes.univariate import univariate_table

if TYPE_CHECKING:
    import pandas as pd


def gather(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    final: Fits,
    subsamples: Fits,
    *,
    frequency: float,
    clusters: Mapping[str, Any],
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed : list of Fits
        The batches of the observed labels, in any order.
    final, subsamples : Fits
        The fit on all samples, and those on the halves (which may be none).
    frequency : float
        Share of the outer splits that makes a gene core, ``signature.frequency``.
    clusters : mapping
        The config section of this name, see `block_tables`.

    Returns
    -------
    dict of DataFrame
        signature, nested_lists, lists, blocks, prototypes, scores, predictions, rejection,
        stability, univariate; stretches, where the study knows the places of its genes.
    """
    dataset, fits = described(dataset), joined(observed, splits).with_chosen()
    nested = nested_lists(dataset, fits, frequency=frequency)
    blocks, prototypes = block_tables(dataset, final, **clusters)
    univariate = univariate_table(dataset)
    placed = {"stretches": stretches_table(dataset, nested, final)} if dataset.placed else {}
    predictions = predictions_table(dataset, splits, fits)
    return {
        "signature": signature_table(dataset, nested, blocks, univariate, final),
        "nested_lists": nested,
        "lists": list_sizes(fits, nested),
        "blocks": blocks,
        "prototypes": prototypes,
        "scores": scores_table(dataset, splits, fits),
        "predictions": predictions,
        "rejection": rejection_table(predictions, dataset.design.classes),
        "stability": stability_table(splits, fits, subsamples.with_chosen(), len(dataset.genes)),
        "univariate": univariate,
        **placed,
    }


def signature_table(
    dataset: Dataset,
    nested: pd.DataFrame,
    blocks: pd.DataFrame,
    univariate: pd.DataFrame,
    final: Fits,
) -> pd.DataFrame:
    """Return signature.tsv: the genes of the final model, core genes first.

    ``coef`` is the gene's weight in that model, ``size`` that weight times the gene's standard
    deviation, what it contributes to the score; with several classes ``coef`` is the length of the
    gene's weights, which stand in a column for each class, ``class`` being that of the largest.
    ``frequency``, ``mean_coef`` and ``sign_consistency`` are those of the lists that the outer
    splits chose in the same way, and ``core`` says that at least ``signature.frequency`` of them
    have the gene. ``first_mu`` is the
    smallest mu at which the final model has the gene; p and q are those of the univariate test.
    Rows fall by frequency, then by size; genes alike in both stand by name.
    """
    import pandas as pd

    genes, rows = final.coef(0, int(final.choice[0, 2]))
    weights = rows if rows.ndim == 1 else np.sqrt(np.square(rows).sum(axis=1))
    ids = [dataset.genes[gene] for gene in genes]
    often = nested[nested["mu"].isna()].set_index("gene").reindex(ids)
    block, tests = blocks.set_index("gene").reindex(ids), univariate.set_index("gene").loc[ids]
    size = np.abs(weights) * dataset.X[:, genes].std(axis=0)
    table = pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            "core": often["in_list"].eq(True).to_numpy(),
            "frequency": often["frequency"].fillna(0.0).to_numpy(),
            "coef": weights,
            "size": size,
            "block": block["block"].astype("Int64").to_numpy(),
            "first_mu": block["first_mu"].to_numpy(),
            "mean_coef": often["mean_coef"].to_numpy(),
            "sign_consistency": often["sign_consistency"].to_numpy(),
            "p_value": tests["p_value"].to_numpy(),
            "q_value": tests["q_value"].to_numpy(),
        }
    )
    table = table.assign(**_of_classes(dataset, rows))
    order = np.lexsort((genes, -rounded(size), -table["frequency"]))
    table = table.iloc[order].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def _of_classes(dataset: Dataset, rows: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the columns of several classes: each gene's weight in each, and whom it speaks for."""
    names = dataset.design.classes or ()
    if rows.ndim == 1:
        return {}
    speaks = np.array(names, dtype=object)[np.argmax(rows, axis=1)] if len(rows) else []
    return {"class": speaks, **{f"coef {name}": rows[:, c] for c, name in enumerate(names)}}
