"""Layouts of tables that programs write: columns that say something of the genes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.errors import refuse
from genesig.words import is_missing, listing

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
