"""The tables of enrichment, from the lists of a study and those of its permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.data.study.gene_sets import study_sets
from genesig.results import Dataset, Fits, Splits
from genesig.results.joined import joined
from genesig.selection.enrichment.ranking import ranking_table
from genesig.selection.enrichment.representation import Named, lists_table, selection_table, stacked

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

READ = ("signature", "nested_lists", "blocks")
TEXT = ("gene", "symbol", "prototype")
"""Tables that are held against the sets, and their columns of names."""

FEWEST = 3
"""Genes of a block that is held against the sets."""


def enrichment(
    dataset: Dataset,
    splits: Splits,
    tables: dict[str, pd.DataFrame],
    fits: Sequence[Sequence[Fits]],
    *,
    sets: str,
    smallest: int,
    largest: int,
) -> dict[str, pd.DataFrame]:
    """Return enrichment.tsv and enrichment_ranking.tsv.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    tables : dict of DataFrame
        signature, nested_lists, blocks.
    fits : (list of Fits, list of Fits)
        Batches of the observed labels, and of the permuted ones, which may be none.
    sets : str
        File of gene sets.
    smallest, largest : int
        Sizes of the sets that take part.
    """
    symbols = dataset.var["symbol"].tolist()
    known = study_sets(
        sets, dataset.genes, symbols, column=None, smallest=smallest, largest=largest
    )
    named, dataset = Named.of(dataset, known), described(dataset)
    lists = lists_table(named, known, lists_of(dataset, tables))
    observed, permuted = fits
    if permuted:
        pair = [joined(part, splits).with_chosen() for part in (observed, permuted)]
        lists = stacked([lists, selection_table(named, known, *pair)])
    return {
        "enrichment": lists,
        "enrichment_ranking": ranking_table(dataset, splits, named, known),
    }


def lists_of(dataset: Dataset, tables: dict[str, pd.DataFrame]) -> dict[str, Array]:
    """Return the columns of each list: signature, named genes, the list at each mu, each block.

    Where no evidence was looked for, core genes stand in the place of named ones.
    """
    signature, nested, blocks = (tables[k] for k in ("signature", "nested_lists", "blocks"))
    first = "named" if "named" in signature else "core"
    inside = signature[first].astype(str).str.lower().isin(["true", "1"])
    found = {"signature": signature["gene"], f"{first} genes": signature["gene"][inside]}
    listed = nested[nested["in_list"].astype(bool) & nested["mu"].notna()]
    found |= {f"list at mu {mu:g}": part["gene"] for mu, part in listed.groupby("mu")}
    sized = blocks[blocks["block"].notna()].groupby("block")["gene"]
    found |= {f"block {k:g}": part for k, part in sized if len(part) >= FEWEST}
    place = {gene: j for j, gene in enumerate(dataset.genes)}
    return {name: np.array([place[str(g)] for g in genes], dtype=np.int64)
            for name, genes in found.items()}  # fmt: skip
