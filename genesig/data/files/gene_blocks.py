"""Blocks of genes: the values of a column of a gene table, such as the layer that measured each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.gmt import NamedSet
from genesig.errors import did_you_mean, refuse
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

MOST = 10_000
"""Of different values; a column of more is one of names."""


def blocks_of(table: pd.DataFrame, column: str, where: str) -> list[NamedSet]:
    """Return the genes of each value of a column, in the order of the table.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids. Genes without a value are in no block.
    column, where : str
        One of its columns; its file, for messages.

    Raises
    ------
    InvalidInput
        No such column, or one without a value, or of names that differ from gene to gene.
    """
    columns = [str(name) for name in table.columns]
    if columns.count(column) != 1:
        found = "has no column" if column not in columns else "has twice the column"
        near = did_you_mean(column, columns) or f" (columns: {listing(columns, 6)})"
        raise refuse(where, f"{found} '{column}', which structured.column names{near}")
    genes: dict[str, dict[str, None]] = {}
    for gene, cell in zip(map(str, table.index), map(str, table[column]), strict=True):
        if not is_missing(cell):
            genes.setdefault(cell.strip(), {})[gene] = None
    if not genes:
        raise refuse(where, f"column '{column}' is blank; structured.column needs one with values")
    if len(genes) > MOST or len(genes) > 0.5 * sum(map(len, genes.values())):
        what = (
            f"column '{column}' has {len(genes)} values ({listing(genes)}), hardly two genes for "
        )
        raise refuse(where, what + "each; structured.column needs one that groups the genes")
    return [NamedSet(name, "", tuple(of), f"column '{column}'") for name, of in genes.items()]
