"""A matrix under other names: genes in the words of a gene table or of HGNC, samples by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.readers import read_genes
from genesig.data.files.symbols import needed_names, read_hgnc, rows_by_name
from genesig.data.study.sheet_check import check_column
from genesig.errors import InvalidInput, Problem
from genesig.words import counted, is_missing, listing, number_fault

Problems = list[Problem]


def rows_of(matrix: Matrix, names: Sequence[str]) -> Matrix:
    """Take the rows of these names, in this order; what is no number keeps its text."""
    place = {name: row for row, name in enumerate(matrix.rows)}
    return matrix.select([place[name] for name in names])


def translated(
    matrix: Matrix, annotation: str, symbol: str | None, problems: Problems
) -> Matrix | None:
    """Give the genes of a matrix their names in a column of a gene table.

    Several genes of one name become their median in each sample; those without a name are left
    out and counted.

    Parameters
    ----------
    matrix : Matrix
        Either way round; the side with more of the table's ids holds the genes.
    annotation, symbol : str, str or None
        Gene table; the column with the names, None for the second one.
    problems : list of Problem
        What is wrong is added here.
    """
    names = _names(annotation, symbol, problems)
    if names is None:
        return None
    in_rows, in_columns = (len(set(names) & set(side)) for side in (matrix.rows, matrix.columns))
    if not in_rows and not in_columns:
        message = f"no gene of the matrix is in its first column, which has {listing(names)}"
        problems.append(Problem(annotation, message))
        return None
    oriented = matrix.transpose() if in_rows > in_columns else matrix
    groups: dict[str, list[int]] = {}
    for column, gene in enumerate(oriented.columns):
        if gene in names:
            groups.setdefault(names[gene], []).append(column)
    left = len(oriented.columns) - sum(map(len, groups.values()))
    if left:
        message = f"{counted(left, 'gene')} of the matrix without a name here, so left out"
        problems.append(Problem(annotation, message, "warning"))
    return _medians(oriented, groups, annotation, problems)


def _names(annotation: str, symbol: str | None, problems: Problems) -> dict[str, str] | None:
    try:
        table = read_genes(annotation, None)
    except InvalidInput as error:
        problems.extend(error.problems)
        return None
    columns = list(map(str, table.columns))
    check_column(symbol, "symbol", columns, str(table.index.name), annotation, problems)
    column = symbol if symbol is not None else next(iter(columns), None)
    if column is None:
        problems.append(Problem(annotation, "needs two columns: gene id and the study's gene id"))
    if column not in columns or columns.count(column) > 1:
        return None
    first = table[~table.index.duplicated()][column]
    return {str(gene): str(name) for gene, name in first.items() if not is_missing(str(name))}


def _medians(
    matrix: Matrix, groups: dict[str, list[int]], annotation: str, problems: Problems
) -> Matrix:
    single = [columns[0] for columns in groups.values()]
    found = matrix.select(range(len(matrix.rows)), single, tuple(groups))
    several = [k for k, columns in enumerate(groups.values()) if len(columns) > 1]
    for k, columns in zip(several, [c for c in groups.values() if len(c) > 1], strict=True):
        values = matrix.cells[:, columns]
        for row, column in np.argwhere(~np.isfinite(values)).tolist():
            if not is_missing(text := matrix.text(row, columns[column])):
                message = (
                    f"the value {number_fault(text)} (gene '{matrix.columns[columns[column]]}')"
                )
                problems.append(Problem(f"{annotation}, sample '{matrix.rows[row]}'", message))
                return found
        none = ~np.isfinite(values).any(axis=1)
        values[none] = 0.0
        found.cells[:, k] = np.where(none, np.nan, np.nanmedian(values, axis=1))
    if several:
        message = (
            f"{counted(len(several), 'name')} for more than one gene of the matrix; their median"
            " is taken in each sample"
        )
        problems.append(Problem(annotation, message, "warning"))
    return found


def under_names(
    matrix: Matrix, needed: Sequence[str], table: str | None, place: str
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
    place : str
        File of the matrix, in messages.

    Raises
    ------
    InvalidInput
        The table is not HGNC's.
    """
    if table is None:
        return matrix, []
    found = needed_names(matrix.columns, needed, rows_by_name(read_hgnc(table)))
    if not found:
        return matrix, []
    here, name = next(iter(found.items()))
    message = (
        f"{counted(len(found), 'gene')} found under another name, such as '{name}' as '{here}'"
    )
    columns = tuple(found.get(column, column) for column in matrix.columns)
    return replace(matrix, columns=columns), [Problem(place, message, "warning")]
