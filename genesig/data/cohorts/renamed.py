"""Genes that another study calls otherwise: found by HGNC's table, and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from genesig.data.files.delimited import Matrix
from genesig.data.files.hgnc import other_names, read_hgnc, rows_by_name
from genesig.errors import Problem
from genesig.words import ENSEMBL, counted


def other_versions(needed: Sequence[str], found: Sequence[str]) -> str:
    """Tell that ids of Ensembl differ by their versions; '' where that is not why one is absent."""
    bare = {_without_version(gene): gene for gene in found if ENSEMBL.fullmatch(gene)}
    for gene in needed:
        other = bare.get(_without_version(gene), gene)
        if other != gene and ENSEMBL.fullmatch(gene):
            what = f"; '{gene}' is '{other}' here, the same gene in another version: write the ids "
            return f"{what}as the study has them"
    return ""


def _without_version(gene: str) -> str:
    return gene.partition(".")[0]


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
