"""Files of one array each, side by side in one matrix; what the name of a file says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.errors import refuse
from genesig.words import counted, listing


def join(arrays: Sequence[tuple[str, Matrix]], where: str) -> Matrix:
    """Put matrices of the same rows side by side.

    Parameters
    ----------
    arrays : sequence of (file, Matrix)
    where : str
        Their folder.

    Raises
    ------
    InvalidInput
        Arrays of another design, or two files of one sample.
    """
    name, first = arrays[0]
    place = {gene: row for row, gene in enumerate(first.rows)}
    cells: list[Array] = []
    texts: dict[tuple[int, int], str] = {}
    columns = [column for _, each in arrays for column in each.columns]
    if len(set(columns)) < len(columns):
        twice = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
        raise refuse(where, f"holds two files of sample {listing(twice)}; keep one")
    for other, each in arrays:
        odd = [gene for gene in each.rows if gene not in place]
        if odd or len(each.rows) != len(place):
            far = counted(abs(len(each.rows) - len(place)) or len(odd), "probe")
            raise refuse(
                other,
                f"is an array of another design than {name}: {far} differ; keep "
                "arrays of one design in a folder",
            )
        start = sum(block.shape[1] for block in cells)
        rows = [place[gene] for gene in each.rows]
        block = np.empty_like(each.cells)
        block[rows] = each.cells
        cells.append(block)
        texts |= {(rows[row], column + start): text for (row, column), text in each.texts.items()}
    return replace(first, columns=tuple(columns), cells=np.hstack(cells), texts=texts)


def sample_name(where: str | PurePath) -> str:
    """Return the name of a file without its folder, ``.gz``, its ending and an IDAT's colour."""
    plain = _plain(where)
    colour = r"_(Grn|Red)$" if plain.suffix.lower() == ".idat" else r"$^"
    return re.sub(colour, "", plain.stem, flags=re.IGNORECASE)


def suffix_of(path: str | Path) -> str:
    """Return the lower-case suffix that says the format, ``.gz`` left aside."""
    return _plain(path).suffix.lower()


def _plain(path: str | PurePath) -> PurePath:
    path = PurePath(path)
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
