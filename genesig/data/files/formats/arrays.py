"""Join files of one array each into one matrix; samples and formats by file names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.errors import input_error
from genesig.words import counted, listing


def join_arrays(arrays: Sequence[tuple[str, Matrix]], folder: str) -> Matrix:
    """Return one matrix of arrays of the same probes, side by side.

    arrays: file and probes × one or more samples of each; the first has the order of the probes.
    folder: their folder, for messages.

    Raises InvalidInput: arrays of another design, or two files of one sample.
    """
    first_name, first_array = arrays[0]
    row_of_gene = {gene: row for row, gene in enumerate(first_array.rows)}
    cells: list[Array] = []
    texts: dict[tuple[int, int], str] = {}
    columns = [column for _, array in arrays for column in array.columns]
    if len(set(columns)) < len(columns):
        repeated = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
        raise input_error(folder, f"holds two files of sample {listing(repeated)}; keep one")
    for file_name, array in arrays:
        unknown_genes = [gene for gene in array.rows if gene not in row_of_gene]
        if unknown_genes or len(array.rows) != len(row_of_gene):
            difference = counted(
                abs(len(array.rows) - len(row_of_gene)) or len(unknown_genes), "probe"
            )
            raise input_error(
                file_name,
                f"is an array of another design than {first_name}: {difference} differ; keep "
                "arrays of one design in a folder",
            )
        start = sum(block.shape[1] for block in cells)
        rows = [row_of_gene[gene] for gene in array.rows]
        block = np.empty_like(array.cells)
        block[rows] = array.cells
        cells.append(block)
        texts |= {(rows[row], column + start): text for (row, column), text in array.texts.items()}
    return replace(first_array, columns=tuple(columns), cells=np.hstack(cells), texts=texts)


def sample_name(path: str | PurePath) -> str:
    """Return a file's name without folder, ``.gz``, ending and the colour of an IDAT file."""
    unpacked_path = _without_gz(path)
    colour = r"_(Grn|Red)$" if unpacked_path.suffix.lower() == ".idat" else r"$^"
    return re.sub(colour, "", unpacked_path.stem, flags=re.IGNORECASE)


def suffix_of(path: str | Path) -> str:
    """Return the ending of a file that tells its format, in lower case and without ``.gz``."""
    return _without_gz(path).suffix.lower()


def _without_gz(path: str | PurePath) -> PurePath:
    """Return the path without an ending .gz."""
    path = PurePath(path)
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
