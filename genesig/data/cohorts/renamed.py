"""Genes that another study calls otherwise: found by HGNC's table, and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from genesig.data.files.delimited import Matrix
from genesig.data.files.hgnc import other_names, read_hgnc, rows_by_name
from genesig.errors import Problem
from genesig.words import counted


def under_names(
    matrix: Matrix, needed: Sequence[str], table: str | None, where: str
) -> tuple[Matrix, list[Problem]]:
    """Give the columns of a matrix the names that a study has for the same genes.

    Parameters
    ----------
    matrix : Matrix
        Samples in rows.
    needed : sequence of str
        Genes of the study.
    table : str or None
        HGNC's; None leaves the matrix as it is.
    where : str
        File of the matrix, in messages.

    Raises
    ------
    InvalidInput
        The table is not HGNC's.
    """
    if table is None:
        return matrix, []
    found = other_names(matrix.columns, needed, rows_by_name(read_hgnc(table)))
    if not found:
        return matrix, []
    here, name = next(iter(found.items()))
    what = f"{counted(len(found), 'gene')} found under another name, such as '{name}' as '{here}'"
    columns = tuple(found.get(column, column) for column in matrix.columns)
    return replace(matrix, columns=columns), [Problem(where, what, "warning")]
