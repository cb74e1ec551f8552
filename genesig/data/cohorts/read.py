"""Read an external cohort: matrix and labels, with genes and classes named as in the study."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.labels import CohortLabelRequest, read_classes, read_numbers, read_times
from genesig.data.files.delimited import Matrix
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.headers import choose_header
from genesig.data.files.layouts import orient
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import assign_part, read_matrix
from genesig.data.files.sample_names import without_absent
from genesig.data.files.symbols import needed_names, read_hgnc, rows_by_name
from genesig.data.study.gene_columns import read_name_column
from genesig.data.study.matrix_check import check_samples, leave_out_other_columns
from genesig.data.study.settings import CohortSettings
from genesig.data.study.sheet_check import check_column, read_sheet
from genesig.errors import InvalidInput, Problem, has_errors, order_by_level, problems_appended_to
from genesig.response.design import SEVERAL_CLASSES, label_columns
from genesig.response.kinds import ByKind
from genesig.results import Design
from genesig.results.run import sha256
from genesig.words import (
    counted,
    equal_looking,
    further_text,
    is_missing,
    listing,
    number_fault,
    overlooked_differences,
)

if TYPE_CHECKING:
    import pandas as pd

LABEL_READERS = ByKind(
    {
        "classification": read_classes,
        SEVERAL_CLASSES: read_classes,
        "regression": read_numbers,
        "survival": read_times,
    }
)


@dataclass(frozen=True, eq=False)
class Cohort:
    """A labelled data set from outside the study."""

    matrix: Matrix  # samples in rows, only those with a label of the study; values as measured
    file: str  # file of the matrix
    cohort_words: tuple[str, ...]  # label of each sample as the cohort's table has it
    study_labels: tuple[str, ...]  # label of each sample in the words of the study
    response: Array  # (n_samples,) array: labels as the study codes its response
    batch: tuple[str, ...]  # batch of each sample
    dropped: list[dict[str, str]]  # {kind, name, reason} of each sample left out
    inputs: dict[str, str]  # file -> SHA-256
    problems: list[Problem]  # warnings
    # rows in the order of the samples; covariates in the words of the study
    sample_table: pd.DataFrame
    # group of each sample, such as its patient; None without a column of groups
    group: tuple[str, ...] | None = None
    group_column: str | None = None  # the column of groups


def read_cohort(design: Design, settings: CohortSettings, genes: Collection[str] = ()) -> Cohort:
    """Return an external cohort: its labelled samples, with labels in the words of the study.

    design: design of the study: its label, classes and covariates.
    genes: genes of the study; what has such a name is a gene, whatever its values look like.

    Raises InvalidInput: with all problems, warnings included, if one is an error.
    """
    problems: list[Problem] = []
    file = settings.expression
    table_file = settings.sample_file
    matrix_part, table_part = assign_part(settings.part, file, table_file)
    matrix = None
    with problems_appended_to(problems):
        matrix = read_matrix(file, matrix_part)
    # Each step goes on with the parts that could be read, to find the faults of all of them.
    file_table = read_sheet(table_file, table_part, matrix, settings.sample_names, problems)
    labels = None
    dropped = list[dict[str, str]]()
    not_measured = list[dict[str, str]]()
    if matrix is not None and file_table is not None:
        matrix = choose_header(matrix, list(map(str, file_table.cells.index)))
        file_table, not_measured = without_absent(file_table, matrix, table_file, file, problems)
    if matrix is not None and matrix.doubt:
        problems.append(Problem(file, matrix.doubt, "warning"))
    table = None
    if file_table is not None:
        table = file_table.cells
        columns = list(map(str, table.columns))
        index_name = str(table.index.name)
        check_column(settings.batch, "batch", columns, index_name, table_file, problems)
        check_column(settings.group, "group", columns, index_name, table_file, problems)
        request = CohortLabelRequest(file_table, table_file, design, settings, problems)
        labels = LABEL_READERS[design.kind](request)
        table = _translate_covariates(table, design, settings.covariate_words)
    if matrix is not None and settings.annotation is not None:
        matrix = rename_genes(matrix, settings.annotation, settings.symbol, problems)
    if matrix is not None and table is not None and labels is not None:
        samples = list(table.index)
        matrix = orient(matrix, file, samples, table_file, problems)
        if matrix is not None:
            label = design.label if settings.label is None else settings.label
            surroundings = Surroundings(table, label_columns(label), genes)
            matrix, other_columns = leave_out_other_columns(matrix, file, surroundings, problems)
            unlisted = check_samples(matrix, file, samples, labels.names, table_file, problems)
            dropped = unlisted + other_columns
    if matrix is None or table is None or labels is None or has_errors(problems):
        raise InvalidInput(order_by_level(problems))
    labelled_table = table.loc[list(labels.names)]
    group_column = _group_column(design, table, settings.group)
    group_of_sample = None
    if group_column is not None:
        group_of_sample = _read_groups(labelled_table[group_column], table_file, problems)
    batch_of_sample = ("",) * len(labels.names)
    if settings.batch:
        batch_of_sample = tuple(map(str, labelled_table[settings.batch]))
    files = [*paths_read(file), table_file, *filter(None, [settings.annotation])]
    return Cohort(
        matrix=select_rows(matrix, labels.names),
        file=file,
        cohort_words=labels.cohort_words,
        study_labels=labels.study_labels,
        response=labels.response,
        batch=batch_of_sample,
        dropped=labels.dropped + not_measured + dropped,
        inputs={path: sha256(path) for path in dict.fromkeys(files)},
        problems=order_by_level(problems),
        sample_table=labelled_table,
        group=group_of_sample,
        group_column=group_column,
    )


def _group_column(design: Design, table: pd.DataFrame, group: str | None) -> str | None:
    """Return the column of groups: the one set, else the study's if the table has it once."""
    columns = list(map(str, table.columns))
    group_column = design.group if group is None else group
    return group_column if group_column is not None and columns.count(group_column) == 1 else None


def _read_groups(column: pd.Series[Any], file: str, problems: list[Problem]) -> tuple[str, ...]:
    """Return the group of each sample; a sample without one is a group of its own.

    column: cells of the column of groups, index = sample names. file: for messages.
    """
    group_of_sample = {str(name): str(word).strip() for name, word in column.items()}
    column_location = f"{file}, column '{column.name}'"
    blank_samples = [name for name, word in group_of_sample.items() if is_missing(word)]
    if blank_samples:
        message = (
            f"no group for {listing(blank_samples)}; each such sample counts as a group of its own"
        )
        problems.append(Problem(column_location, message, "warning"))
    pairs = equal_looking(
        word for name, word in group_of_sample.items() if name not in set(blank_samples)
    )
    if pairs:
        first_name, second_name = pairs[0][:2]
        message = (
            f"group '{second_name}' differs from '{first_name}' only in "
            f"{overlooked_differences([[first_name, second_name]])}"
            f"{further_text(len(pairs) - 1, 'name')}; write them alike if they are one group"
        )
        problems.append(Problem(column_location, message, "warning"))
    # A prefix keeps the name of a sample without a group apart from the names of groups.
    return tuple(
        f"sample {name}" if name in set(blank_samples) else f"group {word}"
        for name, word in group_of_sample.items()
    )


def _translate_covariates(
    table: pd.DataFrame, design: Design, words: Mapping[str, Mapping[Any, str]]
) -> pd.DataFrame:
    """Return the sample table with covariates in the words of the study.

    words: column -> word of this table -> word of the study. A covariate that the table lacks is
    left to the check of the covariates.
    """
    for covariate in design.covariates:
        if covariate.column in table.columns:
            cohort_words = words.get(covariate.column, {}).items()
            word_pairs = [
                *covariate.words.items(),
                *((str(word), name) for word, name in cohort_words),
            ]
            cells = replace(covariate, words=dict(word_pairs)).spelt(table[covariate.column])
            table = table.assign(**{covariate.column: cells})
    return table


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
    matrix: Matrix, required_genes: Sequence[str], hgnc_file: str | None, file: str
) -> tuple[Matrix, list[Problem]]:
    """Return the matrix with columns named as the study names these genes, and a warning.

    matrix: samples in rows, of `file`. required_genes: genes of the study.
    hgnc_file: HGNC's table of symbols; None leaves the matrix as it is.

    Raises InvalidInput: the file is not HGNC's.
    """
    if hgnc_file is None:
        return matrix, []
    study_name = needed_names(  # name in the cohort -> name in the study
        matrix.columns, required_genes, rows_by_name(read_hgnc(hgnc_file))
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
