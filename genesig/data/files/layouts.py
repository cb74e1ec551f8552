"""Columns of tables that say something of the genes, and the blocks of genes that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.gmt import NamedSet
from genesig.errors import did_you_mean, refuse
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

SYMBOLS = ("gene_name", "gene_symbol", "symbol", "hgnc_symbol", "external_gene_name", "genesymbol")
WORDS = {*SYMBOLS, "gene_biotype", "biotype", "gene_type", "description"}
"""Names of columns beside the ids, in tables of nf-core, DESeq2, biomaRt: words, no samples."""
PLACES = {"chr", "chromosome", "start", "end", "strand", "length"}
"""Those of featureCounts, three or more of them together: of numbers, too."""
TESTED = {
    "DESeq2": {"basemean", "log2foldchange"},
    "edgeR": {"logfc", "logcpm"},
    "limma": {"logfc", "aveexpr"},
}
"""Columns of tables that are a result of these, and no expression."""


def without_annotation(matrix: Matrix, where: str) -> Matrix:
    """Take away the columns that say something of the genes, and keep their symbols.

    Raises
    ------
    InvalidInput
        A table of tests, which has no expression.
    """
    names = [name.lower() for name in matrix.columns]
    for program, tested in TESTED.items():
        if tested <= set(names):
            what = f"is a table of tests as {program} writes it (columns {listing(matrix.columns)})"
            raise refuse(where, f"{what}; name the counts or the normalised values instead")
    several = len(PLACES & set(names)) > 2
    beside = [name in WORDS or (several and name in PLACES) for name in names]
    if not any(beside) or all(beside):
        return matrix
    kept = [k for k, out in enumerate(beside) if not out]
    symbols = next((k for word in SYMBOLS for k, name in enumerate(names) if name == word), None)
    found = {} if symbols is None else _symbols(matrix, symbols)
    place = {old: new for new, old in enumerate(kept)}
    texts = {(row, place[k]): text for (row, k), text in matrix.texts.items() if k in place}
    columns = _without_path([matrix.columns[k] for k in kept])
    return replace(matrix, columns=columns, cells=np.ascontiguousarray(matrix.cells[:, kept]),
                   texts=texts, symbols=found)  # fmt: skip


def _symbols(matrix: Matrix, column: int) -> dict[str, str]:
    pairs = ((gene, matrix.text(row, column)) for row, gene in enumerate(matrix.rows))
    return {gene: text.strip() for gene, text in pairs if not is_missing(text)}


def _without_path(names: Sequence[str]) -> tuple[str, ...]:
    """Call samples by their files, not by their folders, where all are files of alignments."""
    if not all(name.endswith(".bam") for name in names):
        return tuple(names)
    short = tuple(PurePosixPath(name).name.removesuffix(".bam") for name in names)
    return short if len(set(short)) == len(names) else tuple(names)


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
