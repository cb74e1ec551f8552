"""Rename the genes of a matrix by a gene table or by HGNC's, and select its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.symbols import needed_names, read_hgnc, rows_by_name
from genesig.data.study.gene_columns import read_name_column
from genesig.errors import Problem
from genesig.words import counted, is_missing, listing, number_fault


def select_rows(matrix: Matrix, names: Sequence[str]) -> Matrix:
    """Return the rows of these names, all present, in this order; texts of cells are kept."""
    row_of_sample = {name: row for row, name in enumerate(matrix.rows)}
    return matrix.select([row_of_sample[name] for name in names])


def rename_genes(
    matrix: Matrix, annotation: str, symbol: str | None, problems: list[Problem]
) -> Matrix | None:
    """Return the matrix with gene names of a gene table, samples in rows; None without names.

    Several genes of one name become their median in each sample. Genes without a name are left
    out and counted. Errors, of words among the values too, and warnings are appended to `problems`.

    matrix: either way round; the side with more of the table's ids holds the genes.
    annotation, symbol: gene table; the column with the names, None for the second one.
    """
    new_names = _read_names(annotation, symbol, problems)
    if new_names is None:
        return None
    n_in_rows, n_in_columns = (
        len(set(new_names) & set(gene_names)) for gene_names in (matrix.rows, matrix.columns)
    )
    if not n_in_rows and not n_in_columns:
        message = f"no gene of the matrix is in its first column, which has {listing(new_names)}"
        problems.append(Problem(annotation, message))
        return None
    oriented = matrix.transpose() if n_in_rows > n_in_columns else matrix
    columns_of_name: dict[str, list[int]] = {}
    for column, gene in enumerate(oriented.columns):
        if gene in new_names:
            columns_of_name.setdefault(new_names[gene], []).append(column)
    n_unnamed = len(oriented.columns) - sum(map(len, columns_of_name.values()))
    if n_unnamed:
        message = f"{counted(n_unnamed, 'gene')} of the matrix without a name here, so left out"
        problems.append(Problem(annotation, message, "warning"))
    return _take_medians(oriented, columns_of_name, annotation, problems)


def _read_names(
    annotation: str, symbol: str | None, problems: list[Problem]
) -> dict[str, str] | None:
    """Return the new name of each gene id of a gene table; None after a problem."""
    cells = read_name_column(annotation, symbol, "the study's gene id", problems)
    if cells is None:
        return None
    return {str(gene): str(name) for gene, name in cells.items() if not is_missing(str(name))}


def _take_medians(
    matrix: Matrix, columns_of_name: dict[str, list[int]], annotation: str, problems: list[Problem]
) -> Matrix:
    """Return one column for each name: its gene, or the median of its genes in each sample.

    A word among the values of several genes is an error, after which medians are lacking.
    """
    first_columns = [gene_columns[0] for gene_columns in columns_of_name.values()]
    renamed_matrix = matrix.select(range(len(matrix.rows)), first_columns, tuple(columns_of_name))
    shared_names = [
        (position, gene_columns)
        for position, gene_columns in enumerate(columns_of_name.values())
        if len(gene_columns) > 1
    ]
    for position, gene_columns in shared_names:
        values = matrix.cells[:, gene_columns]
        for row, column in np.argwhere(~np.isfinite(values)).tolist():
            if not is_missing(cell_text := matrix.text(row, gene_columns[column])):
                message = (
                    f"the value {number_fault(cell_text)} (gene "
                    f"'{matrix.columns[gene_columns[column]]}')"
                )
                problems.append(Problem(f"{annotation}, sample '{matrix.rows[row]}'", message))
                return renamed_matrix
        is_missing_sample = ~np.isfinite(values).any(axis=1)
        values[is_missing_sample] = 0.0  # numpy would warn of medians of no value
        renamed_matrix.cells[:, position] = np.where(
            is_missing_sample, np.nan, np.nanmedian(values, axis=1)
        )
    if shared_names:
        message = (
            f"{counted(len(shared_names), 'name')} for more than one gene of the matrix; "
            "their median is taken in each sample"
        )
        problems.append(Problem(annotation, message, "warning"))
    return renamed_matrix


def take_study_names(
    matrix: Matrix, required_genes: Sequence[str], table: str | None, file: str
) -> tuple[Matrix, list[Problem]]:
    """Return the matrix with columns named as the study names these genes, and a warning.

    matrix: samples in rows, of `file`. required_genes: genes of the study.
    table: HGNC's table of symbols; None leaves the matrix as it is.

    Raises InvalidInput: the table is not HGNC's.
    """
    if table is None:
        return matrix, []
    study_name = needed_names(  # name in the cohort -> name in the study
        matrix.columns, required_genes, rows_by_name(read_hgnc(table))
    )
    if not study_name:
        return matrix, []
    first_cohort_name, first_name = next(iter(study_name.items()))
    message = (
        f"{counted(len(study_name), 'gene')} found under another name, such as '{first_name}' "
        f"as '{first_cohort_name}'"
    )
    columns = tuple(study_name.get(column, column) for column in matrix.columns)
    return replace(matrix, columns=columns), [Problem(file, message, "warning")]
