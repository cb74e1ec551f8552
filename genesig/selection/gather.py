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
from genesig.selection.genes.frequency import list_sizes, mu_number, nested_lists
from genesig.selection.genes.ranking import block_tables
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
    signature: Mapping[str, Any],
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
    signature, clusters : mapping
        The config sections of these names; see `signature_table` and `block_tables`.

    Returns
    -------
    dict of DataFrame
        signature, nested_lists, lists, blocks, prototypes, scores, predictions, rejection,
        stability, univariate.
    """
    dataset, fits = described(dataset), joined(observed, splits)
    nested = nested_lists(dataset, fits, frequency=signature["frequency"])
    blocks, prototypes = block_tables(dataset, nested, final, **clusters)
    univariate = univariate_table(dataset)
    predictions = predictions_table(dataset, splits, fits)
    return {
        "signature": signature_table(
            dataset, nested, blocks, univariate, final, mu=signature["mu"]
        ),
        "nested_lists": nested,
        "lists": list_sizes(fits, nested),
        "blocks": blocks,
        "prototypes": prototypes,
        "scores": scores_table(dataset, splits, fits),
        "predictions": predictions,
        "rejection": rejection_table(predictions, dataset.design.classes),
        "stability": stability_table(splits, fits, subsamples, len(dataset.genes)),
        "univariate": univariate,
    }


def signature_table(
    dataset: Dataset,
    nested: pd.DataFrame,
    blocks: pd.DataFrame,
    univariate: pd.DataFrame,
    final: Fits,
    *,
    mu: float | None,
) -> pd.DataFrame:
    """Return signature.tsv: the genes in the list of the signature's mu, in the list's order.

    ``first_mu`` is the smallest mu whose list has the gene; ``coef`` its weight in the final
    model at the signature's mu, 0 where that model leaves it out; ``block`` is empty when there
    is no block, because the minimal list is empty; p and q are those of the univariate test.
    """
    at = mu_number(final.mu, mu)
    chosen = nested[nested["in_list"]]
    table = chosen[chosen["mu"] == final.mu[at]].reset_index(drop=True)
    coef = {dataset.genes[gene]: weight for gene, weight in zip(*final.coef(0, at), strict=True)}
    tests = univariate.set_index("gene")
    table = table.assign(
        rank=np.arange(1, len(table) + 1),
        block=table["gene"].map(blocks.set_index("gene")["block"]).astype("Int64"),
        first_mu=table["gene"].map(chosen.groupby("gene")["mu"].min()),
        coef=[float(coef.get(gene, 0.0)) for gene in table["gene"]],
        p_value=table["gene"].map(tests["p_value"]),
        q_value=table["gene"].map(tests["q_value"]),
    )
    columns = [
        "rank", "gene", "symbol", "frequency", "block", "first_mu", "mean_coef",
        "sign_consistency", "coef", "p_value", "q_value",
    ]  # fmt: skip
    signature: pd.DataFrame = table[columns]
    return signature
