"""Check the expression matrix: orientation, cells, names of genes, and samples.

A `Matrix` has samples in rows and genes in columns, after `orient` has turned it; `transposed` says
that the file has genes in rows. `file` is its file, and problems are appended to `problems`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import converted_names, with_single_ids, without_version
from genesig.data.files.layouts import name_advice, orient
from genesig.data.files.non_genes import Surroundings, leave_out_non_genes
from genesig.data.files.table_shape import ENSEMBL_TRANSCRIPT, TRANSCRIPTS_ADVICE
from genesig.data.steps.scale import genes_standardised, missing_codes
from genesig.errors import Problem, has_errors
from genesig.words import (
    MAX_VALUE,
    MIN_SPREAD,
    counted,
    equal_looking,
    further_in_brackets,
    further_text,
    listing,
    number_fault,
    number_fault_kind,
    overlooked_differences,
)


def check_gene_names(matrix: Matrix, file: str) -> list[Problem]:
    """Return warnings of transcripts, of mangled names, of names nearly alike, of ids' versions."""
    warnings = []
    transcripts = [name for name in matrix.columns if ENSEMBL_TRANSCRIPT.fullmatch(name)]
    if 2 * len(transcripts) > len(matrix.columns):
        transcript = transcripts[0].split("|")[0]
        message = f"the genes are transcripts ('{transcript}'); {TRANSCRIPTS_ADVICE}"
        warnings.append(Problem(file, message, "warning", code="transcripts"))
    if names := converted_names(matrix.columns):
        message = (
            f"turned into dates or numbers by a spreadsheet: {counted(len(names), 'gene')}, "
            f"{listing(names)}; write the names again, as text"
        )
        warnings.append(Problem(f"{file}{_gene_place(matrix, names[0])}", message, "warning"))
    if alike_names := equal_looking(matrix.columns):
        first_name, second_name = alike_names[0][:2]
        message = (
            f"gene '{second_name}' differs from '{first_name}' only in "
            f"{overlooked_differences([[first_name, second_name]])}"
            f"{further_text(_n_repeats(alike_names) - 1, 'name')}; if it is one gene, "
            "keep one of them"
        )
        warnings.append(Problem(f"{file}{_gene_place(matrix, second_name)}", message, "warning"))
    if versions := equal_looking(matrix.columns, without_version):
        first_name, second_name = versions[0][:2]
        message = (
            f"gene '{second_name}' is '{first_name}' in another version"
            f"{further_text(_n_repeats(versions) - 1, 'gene')}; both count as genes: "
            "keep one of them"
        )
        warnings.append(Problem(f"{file}{_gene_place(matrix, second_name)}", message, "warning"))
    return warnings


def _n_repeats(groups: Sequence[Sequence[str]]) -> int:
    """Return the number of names in groups of equal ones, without the first ones."""
    return sum(len(group) - 1 for group in groups)


def check_symbols(symbols: Mapping[str, str], file: str) -> list[Problem]:
    """Return a warning if a spreadsheet turned symbols of a gene table into dates or numbers.

    symbols: gene id -> symbol. file: the gene table's.
    """
    names = set(converted_names(list(symbols.values())))
    genes_of_mangled = [gene for gene, symbol in symbols.items() if symbol in names]
    if not genes_of_mangled:
        return []
    message = (
        "turned into dates or numbers by a spreadsheet: "
        f"{counted(len(genes_of_mangled), 'symbol')}, '{symbols[genes_of_mangled[0]]}' for "
        f"'{genes_of_mangled[0]}'; write the symbols again, as text"
    )
    return [Problem(file, message, "warning")]


def _gene_place(matrix: Matrix, gene: str) -> str:
    """Return line or column of a gene in the file, ", line 5", to follow the file's name."""
    column = matrix.columns.index(gene)
    # Columns of the file count from 1, and the first one has the sample names.
    return (
        f", {matrix.line_word} {matrix.lines[column]}"
        if matrix.transposed
        else f", column {column + 2}"
    )


NEVER_MEASURED = "no value in any sample"  # why a gene is left out that was never measured

MIN_RELATIVE_RANGE = 1e-9  # range of a gene, as a share of its size, with six digits in doubles


@dataclass(frozen=True)
class Expression:
    """The expression matrix of a study's samples, checked."""

    # (n_samples, n_genes) float64: rows sorted by sample, columns by gene, without constant genes
    X: Array
    genes: list[str]
    dropped: list[dict[str, str]]  # {kind, name, reason} of every column and gene that was left out
    has_counts: bool = False  # the file says that its values are counts


def check_matrix(
    matrix: Matrix,
    file: str,
    *,
    table_samples: Sequence[str],
    study_samples: Sequence[str],
    table_file: str,
    missing: bool | None,
    surroundings: Surroundings,
    problems: list[Problem],
) -> Expression | None:
    """Return the study's samples × varying genes of a matrix, checked; None after an error.

    table_samples, study_samples: all samples of the sample table; those that are in the study.
    table_file: file of the sample table.
    missing: whether cells may be missing; they are NaN then. None if missing values cannot be
        imputed in such a study, so that no message advises it.
    surroundings: sample table and settings, by which rows and columns are recognised that are no
        genes or samples.
    """
    oriented = orient(matrix, file, table_samples, table_file, problems)
    if oriented is None:
        return None
    n_previous_problems = len(problems)
    if oriented.doubt:
        problems.append(Problem(file, oriented.doubt, "warning"))
    oriented, dropped = leave_out_other_columns(oriented, file, surroundings, problems)
    problems.extend(_check_standardised(oriented, file))
    dropped = (
        check_samples(oriented, file, table_samples, study_samples, table_file, problems) + dropped
    )
    problems.extend(check_gene_names(oriented, file))
    row_of_sample = {name: row for row, name in enumerate(oriented.rows)}
    rows = [row_of_sample[name] for name in study_samples if name in row_of_sample]
    if not rows:
        return None
    _check_cells(oriented, rows, file, missing, problems)
    _check_codes(oriented, rows, file, missing, problems)
    if has_errors(problems[n_previous_problems:]):
        return None
    X = np.ascontiguousarray(oriented.cells[rows])
    varying_genes, constant_drops = _varying_genes(X, oriented.columns, file, problems)
    if not varying_genes:
        return None
    _check_copied_samples(X, [oriented.rows[row] for row in rows], file, problems)
    genes = [oriented.columns[column] for column in varying_genes]
    X = np.ascontiguousarray(X[:, varying_genes])
    return Expression(X, genes, dropped + constant_drops, oriented.has_counts)


def _check_standardised(matrix: Matrix, file: str) -> Iterator[Problem]:
    """Warn of genes that were standardised over all samples of the file, test samples included."""
    if kind := genes_standardised(matrix.cells):
        advice = "name the values as they were before"
        if matrix.parts:
            advice = f"choose a layer by data.part: {listing(matrix.parts)}"
        message = (
            f"the genes are {kind} over all samples: no new sample can be put on this scale, and "
            f"test samples took part in it; {advice}"
        )
        key = "data.part" if matrix.parts else ""
        yield Problem(file, message, "warning", code="standardised_genes", key=key)


def leave_out_other_columns(
    matrix: Matrix, file: str, surroundings: Surroundings, problems: list[Problem]
) -> tuple[Matrix, list[dict[str, str]]]:
    """Return the matrix without columns that are no genes and without repeated ids, and the drops.

    Every matrix (samples × genes) goes through this: a study's, external cohorts', new samples'.
    """
    genes, dropped, notes = leave_out_non_genes(matrix, file, surroundings)
    with_unique_genes, repeated = with_single_ids(genes, file)
    problems.extend([*notes, *repeated])
    return with_unique_genes, dropped


def check_samples(
    matrix: Matrix,
    file: str,
    table_samples: Sequence[str],
    study_samples: Sequence[str],
    table_file: str,
    problems: list[Problem],
) -> list[dict[str, str]]:
    """Compare the samples with those of the sample table; return the drops {kind, name, reason}.

    table_samples, study_samples: all samples of the table; those of them that are in the study.
    Blank names are left to `check_ids`.
    """
    matrix_samples = set(matrix.rows)
    listed_samples = set(table_samples)
    absent_samples = [
        name for name in dict.fromkeys(study_samples) if name and name not in matrix_samples
    ]
    if absent_samples:
        unlisted_samples = [name for name in matrix.rows if name not in listed_samples]
        message = (
            f"{len(absent_samples)} of the {counted(len(listed_samples), 'sample')} in "
            f"{table_file} not found here: {listing(absent_samples)}; add them, or take them out "
            "of that table"
        )
        problems.append(
            Problem(
                file,
                message
                + (name_advice(absent_samples, unlisted_samples) if unlisted_samples else ""),
            )
        )
    n_occurrences = Counter(name for name in matrix.rows if name in listed_samples)
    if repeated_samples := [name for name, count in n_occurrences.items() if count > 1]:
        message = (
            f"sample {listing(repeated_samples)} occurs more than "
            "once; keep one column for each sample"
        )
        problems.append(Problem(file, message))
    if unlisted_samples := [name for name in matrix.rows if name not in listed_samples]:
        kind = counted(len(unlisted_samples), "column" if matrix.transposed else "row")
        names = listing(dict.fromkeys(unlisted_samples))
        message = f"not in {table_file}, so left out: {kind}, {names}"
        problems.append(Problem(file, message, "warning"))
    return [
        {"kind": "sample", "name": name, "reason": f"not in {table_file}"}
        for name in sorted(unlisted_samples)
    ]


def _check_cells(
    matrix: Matrix, rows: list[int], file: str, missing: bool | None, problems: list[Problem]
) -> None:
    """Append a problem for the first faulty cell of each kind, with the number of the others.

    missing: see `check_matrix`.
    """
    # Not `>`, so that NaN is faulty, too.
    faulty_cells = np.argwhere(~(np.abs(matrix.cells[rows].T) <= MAX_VALUE))
    cells_of_advice: dict[str, list[tuple[int, int, str]]] = {}  # advice -> (gene, row, fault)
    formula_errors: list[tuple[int, int, str]] = []  # gene, row, text of the cell
    for gene, position in faulty_cells:
        text = matrix.text(rows[position], gene)
        kind = number_fault_kind(text)
        if missing and kind == "missing" and text.strip().startswith("#"):
            formula_errors.append((gene, rows[position], text.strip()))
        if missing and kind in ("blank", "missing"):
            continue
        advice = ADVICE_OF_FAULT[kind]
        if missing is None and kind in ("blank", "missing"):
            advice = f"; fill it in, or {LEAVE_GENE_OUT}"
        cells_of_advice.setdefault(advice, []).append((gene, rows[position], number_fault(text)))
    if formula_errors:
        gene, row, text = formula_errors[0]
        message = (
            f"the value is '{text}', an error of a spreadsheet"
            f"{further_in_brackets(len(formula_errors) - 1, 'cell')}, read as missing; correct the "
            "formula if the value exists"
        )
        cell_location = _cell_place(matrix, gene, row, file)
        problems.append(Problem(cell_location, message, "warning", code="formula_errors"))
    for advice, cells in cells_of_advice.items():
        gene, row, fault = cells[0]
        cell_location = _cell_place(matrix, gene, row, file)
        n_genes = counted(len({gene for gene, _, _ in cells[1:]}), "gene")
        further_cells = counted(len(cells) - 1, "further cell")
        further_cells = f" ({further_cells} in {n_genes})" if len(cells) > 1 else ""
        problems.append(Problem(cell_location, f"the value {fault}{further_cells}{advice}"))


def _check_codes(
    matrix: Matrix, rows: list[int], file: str, missing: bool | None, problems: list[Problem]
) -> None:
    """Append a problem if numbers such as -999 seem to stand for missing values.

    It is a warning if there are other negative values. missing: see `check_matrix`.
    """
    X = matrix.cells[rows]
    negative = X[X < 0]
    codes = missing_codes(negative)
    if not codes:
        return
    cells = np.argwhere(np.isin(X.T, codes))
    gene = int(cells[0, 0])
    row = rows[int(cells[0, 1])]
    message = (
        f"the value {matrix.cells[row, gene]:g}{further_in_brackets(len(cells) - 1, 'cell')} looks "
        "as if it stood for a missing one; "
    )
    message += (
        f"fill it in, or {LEAVE_GENE_OUT}"
        if missing is None
        else f"write NA there, and {FILL_ADVICE}"
    )
    only_codes = bool(np.isin(negative, codes).all())
    cell_location = _cell_place(matrix, gene, row, file)
    problems.append(Problem(cell_location, message, "error" if only_codes else "warning"))


def _cell_place(matrix: Matrix, gene: int, row: int, file: str) -> str:
    """Return file, line, gene and sample of a cell."""
    line_text = f", {matrix.line_word} {matrix.lines[gene if matrix.transposed else row]}"
    return f"{file}{line_text}, gene '{matrix.columns[gene]}', sample '{matrix.rows[row]}'"


LEAVE_GENE_OUT = "leave the gene out"
FILL_ADVICE = (
    "have it filled in: data.missing: true, and as the first step of normalise.folds {step: "
    "knn_impute}, from other genes, or {step: left_censored}, if it was too small to be measured"
)
FILL_IN = f"; fill it in, {LEAVE_GENE_OUT}, or {FILL_ADVICE}"
DECIMAL_POINTS = "; export the table with decimal points"
ADVICE_OF_FAULT = {
    "blank": FILL_IN,
    "missing": FILL_IN,
    "comma": DECIMAL_POINTS,
    "ambiguous comma": f"{DECIMAL_POINTS} and without signs of thousands",
    "thousands": "; export the table without them",
    "thousands and comma": DECIMAL_POINTS,
    "limit": f"; write NA, and {FILL_ADVICE}",
    "large": f"; correct it, or {LEAVE_GENE_OUT}",
    "infinite": "; write a finite number, or NA where nothing was measured",
    "word": "; write a finite number, or NA where nothing was measured",
}
"""Kind of a fault, as `number_fault_kind` returns it -> advice of the message."""


def _varying_genes(
    X: Array, gene_names: Sequence[str], file: str, problems: list[Problem]
) -> tuple[list[int], list[dict[str, str]]]:
    """Return the columns of X that vary, by the names of their genes, and the drops of the others.

    Drops are {kind, name, reason}. If no gene varies, a problem is appended, and both are empty.
    """
    range_of_gene = np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)
    constant = ~(range_of_gene > MIN_SPREAD)
    blank = np.isnan(X).all(axis=0)
    if constant.all():
        message = (
            "every gene has the same value in all samples, or differs by less than 1e-100, so "
            "that nothing can be learned; export the matrix again, or name another one"
        )
        problems.append(Problem(file, message))
        return [], []
    dropped: list[dict[str, str]] = []
    for in_group, message, reason in (
        (constant & ~blank, "with the same value", "constant"),
        (blank, "blank", NEVER_MEASURED),
    ):
        if not (
            names := sorted(gene_names[column] for column in np.flatnonzero(in_group).tolist())
        ):
            continue
        message += f" in all samples, so left out: {counted(len(names), 'gene')}, {listing(names)}"
        problems.append(Problem(file, message, "warning"))
        dropped += [{"kind": "gene", "name": name, "reason": reason} for name in names]
    if np.sum(~constant) == 1:
        gene = gene_names[int(np.argmin(constant))]
        message = (
            f"there is one gene only, '{gene}', so that there is none to select; is this the "
            "whole matrix?"
        )
        problems.append(Problem(file, message, "warning"))
    _check_relative_ranges(X[:, ~constant], range_of_gene[~constant], file, problems)
    # Where genes tie, the first one is taken: by name, so that it is the same in every file.
    columns = np.flatnonzero(~constant).tolist()
    return sorted(columns, key=lambda column: gene_names[column]), dropped


def _check_relative_ranges(
    X: Array, range_of_gene: Array, file: str, problems: list[Problem]
) -> None:
    """Warn of genes that vary so little, relative to their size, that rounding blurs them."""
    n_flat = int((range_of_gene < MIN_RELATIVE_RANGE * np.fmax.reduce(np.abs(X), axis=0)).sum())
    if n_flat:
        message = (
            f"{counted(n_flat, 'gene')} of {X.shape[1]} vary by less than a billionth of their "
            "size, where rounding blurs them; subtract what all samples have in common"
        )
        problems.append(Problem(file, message, "warning"))


def _check_copied_samples(X: Array, names: list[str], file: str, problems: list[Problem]) -> None:
    """Warn of samples with equal values, which would be in training and test set at once."""
    sample_of_values: dict[bytes, str] = {}
    pairs = [
        (sample_of_values.setdefault(row.tobytes(), name), name)
        for name, row in zip(names, X, strict=True)
    ]
    pairs = [(first, second) for first, second in pairs if first != second]
    if pairs:
        message = (
            f"samples '{pairs[0][0]}' and '{pairs[0][1]}' have the same "
            f"values{further_text(len(pairs) - 1, 'pair')}; is one a copy? It would be trained and "
            "tested on at once"
        )
        problems.append(Problem(file, message, "warning"))
