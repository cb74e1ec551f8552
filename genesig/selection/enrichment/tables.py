"""The tables of enrichment, from the lists of a study and those of its permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.data.study.gene_sets import study_sets
from genesig.results import Dataset, Fits, Splits
from genesig.results.gene_sets import GeneSets
from genesig.results.joined import joined
from genesig.selection.enrichment.named import Named
from genesig.selection.enrichment.over import lists_table, rows_of, stacked
from genesig.selection.enrichment.ranking import ranking_table
from genesig.selection.genes.frequency import selection_counts

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


def selection_table(
    named: Named, sets: GeneSets, observed: Fits, permuted: Fits
) -> pd.DataFrame:  # fmt: skip
    """Return rows of enrichment.tsv: the chosen lists of all splits, against permuted labels.

    Genes of a set that go together are selected together, which a draw of single genes does not
    know. ``shared`` is the mean number of a set's genes in the chosen lists of the splits, and
    ``expected`` what the lists of the permuted labels would have at the same mean length ``size``;
    p = (1 + permutations with as large a share of the set)/(1 + permutations).
    """
    share, size = _shares(named, observed)
    null, _ = _shares(named, permuted)
    p = (1 + (null >= share[0] - 1e-12).sum(axis=0)) / (1 + len(null))
    table = rows_of(sets, share[0] * size[0], null.mean(axis=0) * size[0], p)
    return table.assign(
        list="chosen lists", reference="permuted labels", genes=named.sizes()[table.index],
        size=size[0], names="",
    )  # fmt: skip


def _shares(named: Named, fits: Fits) -> tuple[Array, Array]:
    """Return for each permutation the share of the chosen lists that each set has, and their size.

    (n_permutations, n_sets) and (n_permutations,).
    """
    n_mu, numbers = len(fits.mu), np.unique(fits.permutation)
    counts = selection_counts(fits, len(named.number))[n_mu - 1 :: n_mu]
    splits = len(fits) / max(1, len(numbers))
    often = np.zeros((len(numbers), len(named)))
    np.add.at(often.T, named.number, counts.toarray().T / splits)
    total = often.sum(axis=1)
    inside = (named.members @ often.T).T
    return inside / np.maximum(total, 1e-300)[:, None], total
