"""Rows and columns of an expression file that are no genes and no samples.

Samples are rows here, genes are columns.

Counters, portals and programs write more than genes and samples into one table: sums of reads,
control probes, spike-ins, decoys, ids and positions of the genes, columns of the sample table.
Every way that a matrix comes in (training, external cohorts, several studies, new samples) leaves
these out by the functions of this file, before anything is computed from the values.

Names decide where a program has fixed names; elsewhere the values decide and a name is a hint.
Columns of short numbers (few decimals or none, fewer than the genes have) may be ages or codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_clinical
from genesig.data.files.delimited import Matrix
from genesig.data.files.non_gene_kinds import (
    ANNOTATION_COLUMNS,
    CLINICAL_ROWS,
    CONTAMINANTS,
    CONTROLS,
    KINDS_BY_VALUES,
    MAX_KIND_SHARE,
    MIN_DIFFERENT_VALUES,
    MIN_EQUAL_SHARE,
    MIN_SAMPLES_FOR_VALUES,
    NAMELESS_ROWS,
    ROW_NUMBERS,
    SHEET_COLUMNS,
    SUM_TOLERANCE,
    SUMMARIES,
    TOTALS,
    WORD_ROWS,
    NonGeneKind,
    find_annotation_rows,
    is_nameless,
    is_number_with_thousands,
    kinds_by_name,
)
from genesig.errors import Problem
from genesig.words import as_read, counted, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

MIN_NONZERO_SHARE = 0.2  # share of samples with a value other than 0; unexpressed genes have fewer
MAX_SHORT_COLUMNS = 20  # columns of fewer decimals than others; if there are more, they are genes
MAX_SHORT_SHARE = 0.2  # largest share of such columns in a small matrix
MAX_CELLS_FOR_DIGITS = 1000  # cells of which the number of digits is counted
MAX_FIRST_SAMPLES = 10  # samples by which columns of few decimals are looked for
MAX_DECIMALS = 2  # of ages and times that are not whole
MAX_WITH_DECIMALS = 1e9  # numbers from here on are taken for whole: their decimals are rounded
MAX_CHANCE = 0.05
"""Expected number of genes whose numbers are all short by chance, up to which a column is none."""
DECIMAL_TOLERANCE = 1e-6  # of a number that is multiplied by 10 or 100, by rounding

MIN_SAMPLES_FOR_TOTALS = 3  # samples from which on a column is compared with the sum of the genes
MIN_GENES_FOR_TOTALS = 10  # genes from which on it is
MAX_TOTAL_COLUMNS = 2  # more columns that equal a sum of all others are not taken for totals

RAW_PROBE = "probe"
"""`Matrix.line_word` of raw arrays, whose control probes the background correction needs."""

# Code of a warning -> words for the short numbers of columns that may describe samples.
SHORT_NUMBERS = {
    "whole_numbers": "of whole numbers where the genes have decimals",
    "few_decimals": "of fewer decimals than the genes have",
}


@dataclass(frozen=True)
class Surroundings:
    """Sample table, genes and settings that help to tell genes from other rows."""

    table: pd.DataFrame | None = None  # sample table of strings, index = sample names
    config_columns: Collection[str] = ()  # columns of the sample table in the config: no genes
    genes: Collection[str] = ()  # genes of a study or a model, of which none is left out
    kept_kinds: Collection[str] = ()  # names of kinds that stay: `data.keep` of the config


def leave_out_non_genes(
    matrix: Matrix, file_name: str, surroundings: Surroundings
) -> tuple[Matrix, list[dict[str, str]], list[Problem]]:
    """Return a matrix without rows and columns that are no genes or samples, and what was left out.

    matrix: samples in rows, as `layouts.orient` gives it.
    file_name: for messages.

    Returns matrix: the same object if nothing is left out; dropped: {kind, name, reason} of each
    row and column that is left out; problems: a note on what was left out, or a warning if values
    decided; warnings of short numbers, which stay; an error alone if no column is a gene.
    """
    annotation = find_annotation_rows(matrix, surroundings.table)  # rows here are samples
    samples = [row for row in range(len(matrix.rows)) if row not in annotation]
    kind_of_column = _find_named_columns(matrix, surroundings)
    kind_of_column |= _find_sample_table_columns(matrix, samples, surroundings, kind_of_column)
    if TOTALS.name not in surroundings.kept_kinds:
        kind_of_column |= dict.fromkeys(
            _find_total_columns(matrix, samples, kind_of_column, surroundings), TOTALS
        )
    short_numbers = _unclassified_short_numbers(matrix, samples, surroundings, kind_of_column)
    if not (kind_of_column or annotation or matrix.annotation or any(short_numbers.values())):
        return matrix, [], []
    genes = [column for column in range(len(matrix.columns)) if column not in kind_of_column]
    if not genes and matrix.columns:
        message = (
            f"no row has a gene id, but {listing(dict.fromkeys(matrix.columns))}; write the ids "
        )
        return matrix, [], [Problem(file_name, f"{message}into the first column", code="non_genes")]
    names_by_kind: dict[NonGeneKind, list[str]] = {}
    for column, kind in sorted(kind_of_column.items()):
        names_by_kind.setdefault(kind, []).append(matrix.columns[column])
    dropped = [
        {"kind": "non-gene row", "name": name or "(blank)", "reason": kind.noun}
        for kind, rows in names_by_kind.items()
        for name in rows
    ]
    annotation_names = [*matrix.annotation, *(matrix.rows[row] for row in sorted(annotation))]
    dropped += [
        {"kind": "annotation column", "name": name, "reason": ANNOTATION_COLUMNS.noun}
        for name in annotation_names
    ]
    if annotation_names:
        names_by_kind[ANNOTATION_COLUMNS] = annotation_names
    if kind_of_column or annotation:
        matrix = matrix.subset(samples, genes)
    genes_in_rows = matrix.transposed
    problems = []
    if names_by_kind:
        problems.append(_left_out_problem(names_by_kind, file_name, genes_in_rows=genes_in_rows))
    noun = "row" if genes_in_rows else "column"
    problems += [
        _short_number_warning(code, names, noun, file_name)
        for code, names in short_numbers.items()
        if names
    ]
    return matrix, dropped, problems


def _short_number_warning(code: str, names: Sequence[str], noun: str, file_name: str) -> Problem:
    """Return the warning that genes of short numbers may be data of the samples.

    code: a key of `SHORT_NUMBERS`. noun: "row" or "column", of the file.
    """
    message = (
        f"{counted(len(names), noun)} {SHORT_NUMBERS[code]}: {listing(names)}; take out what "
        "describes the samples and is no gene"
    )
    return Problem(file_name, message, "warning", code=code)


def _left_out_problem(
    names_by_kind: dict[NonGeneKind, list[str]], file_name: str, *, genes_in_rows: bool
) -> Problem:
    """Return the note or warning that counts and names the rows and columns left out."""
    parts = []
    for kind, names in names_by_kind.items():
        count = f"{len(names)} {kind.noun if len(names) == 1 else kind.plural}"
        # These kinds speak of rows, as a file mostly has genes in rows.
        if not genes_in_rows and kind in (CLINICAL_ROWS, WORD_ROWS):
            count = count.replace("row", "column")
        parts.append(f"{count}: {listing(names)}")
    message = f"left out, neither genes nor samples: {'; '.join(parts)}"
    if settings := dict.fromkeys(kind.name for kind in names_by_kind if kind.name):
        message += f"; to keep them: data.keep: [{', '.join(settings)}]"
    level = "note" if names_by_kind.keys().isdisjoint(KINDS_BY_VALUES) else "warning"
    return Problem(file_name, message, level, code="non_genes", key="data.keep")  # type: ignore[arg-type]


def _find_named_columns(matrix: Matrix, surroundings: Surroundings) -> dict[int, NonGeneKind]:
    """Return column -> kind of each column that is no gene by its name, but for kinds that stay."""
    genes = set(surroundings.genes)
    excluded = set(surroundings.kept_kinds)
    if matrix.line_word == RAW_PROBE:
        excluded.add(CONTROLS.name)
    n_columns_of_name = Counter(matrix.columns)
    # "na" and "nan" are genes of the fly, each once.
    kind_of_column = {
        column: NAMELESS_ROWS
        for column, name in enumerate(matrix.columns)
        if is_nameless(name) and not (name in ("na", "nan") and n_columns_of_name[name] == 1)
    }
    kind_of_column |= kinds_by_name(matrix.columns, excluded)
    if CONTAMINANTS.name not in excluded:
        kind_of_column |= {
            column: CONTAMINANTS
            for column, name in enumerate(matrix.columns)
            if name in matrix.marked
        }
    return {
        column: kind
        for column, kind in kind_of_column.items()
        if matrix.columns[column] not in genes
    }


def _find_sample_table_columns(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings, classified: Collection[int]
) -> dict[int, NonGeneKind]:
    """Return column -> kind of each column that describes the samples, but for `classified` ones.

    These are row numbers, columns of words, clinical whole numbers, and the columns of
    `_columns_in_table`. {} if they are more than half of the unclassified columns, as genes are.

    `WORD_ROWS` and `CLINICAL_ROWS` are kinds of columns here, as samples are the rows of a matrix;
    their names speak of a file, which mostly has genes in rows.
    """
    # A user who keeps columns that describe samples keeps all kinds of them.
    if SHEET_COLUMNS.name in surroundings.kept_kinds or len(samples) < MIN_SAMPLES_FOR_VALUES:
        return {}
    genes = set(surroundings.genes)
    open_columns = {
        k for k, name in enumerate(matrix.columns) if k not in classified and name not in genes
    }
    table = surroundings.table
    # `as_read` makes names equal that differ in case or blanks only. A later kind replaces others.
    headers = set() if table is None else {as_read(str(name)) for name in table.columns}
    kind_of_column = dict.fromkeys(_find_row_numbers(matrix, samples), ROW_NUMBERS)
    kind_of_column |= dict.fromkeys(_columns_of_words(matrix, samples), WORD_ROWS)
    # Whole numbers without the name of an age or a time may be a gene: these get only a warning,
    # unless matrix and sample table are one file, which is sure to have columns of the samples.
    kind_of_column |= dict.fromkeys(find_clinical_columns(matrix, samples), CLINICAL_ROWS)
    if table is not None and _is_same_file(matrix, headers):
        kind_of_column |= dict.fromkeys(columns_of_whole_numbers(matrix, samples), CLINICAL_ROWS)
    kind_of_column |= {
        column: SHEET_COLUMNS
        for column in kind_of_column
        if as_read(matrix.columns[column]) in headers
    }
    kind_of_column |= dict.fromkeys(_columns_in_table(matrix, samples, surroundings), SHEET_COLUMNS)
    kind_of_column = {
        column: kind for column, kind in kind_of_column.items() if column in open_columns
    }
    return kind_of_column if len(kind_of_column) <= MAX_KIND_SHARE * len(open_columns) else {}


def _is_same_file(matrix: Matrix, headers: Collection[str]) -> bool:
    """Tell whether a file is matrix and sample table in one: most genes are in both."""
    n_shared = sum(as_read(name) in headers for name in matrix.columns)
    return n_shared > MAX_KIND_SHARE * len(matrix.columns)


def _columns_of_words(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns in which no sample has a number and most have a word."""
    rows = set(samples)
    numeric: set[int] = set()
    n_words: Counter[int] = Counter()
    for place, text in matrix.texts.items():
        row, column = reversed(place) if matrix.transposed else place
        if row not in rows or is_missing(text):
            continue
        if is_number_with_thousands(text):
            numeric.add(column)
        else:
            n_words[column] += 1
    return [
        column
        for column, n_texts in n_words.items()
        if column not in numeric
        and 2 * n_texts > len(samples)
        and not np.isfinite(matrix.cells[samples, column]).any()
    ]


def _find_row_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns that count the rows of the file, from 0 or 1 on."""
    counts = np.arange(len(samples), dtype=float)
    first_row = matrix.cells[samples[0]] if samples else np.empty(0)
    candidates = np.flatnonzero((first_row == 0) | (first_row == 1))
    return [
        int(column)
        for column in candidates
        if np.array_equal(matrix.cells[samples, column] - matrix.cells[samples[0], column], counts)
    ]


def _columns_in_table(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings
) -> Iterator[int]:
    """Yield the columns of a matrix that the sample table has, too, by name and values.

    Three different values or more decide without the name. A column may be yielded twice.
    """
    table = surroundings.table
    if table is None or table.empty or not table.index.is_unique:
        return
    header_of_key = {as_read(str(name)): str(name) for name in table.columns}
    shared_columns = {
        k: header_of_key[key]
        for k, name in enumerate(matrix.columns)
        if (key := as_read(name)) in header_of_key
    }
    # A file that is matrix and sample table in one has every gene in both.
    if len(shared_columns) > MAX_KIND_SHARE * len(matrix.columns):
        named_keys = {as_read(name) for name in surroundings.config_columns}
        yield from (k for k in shared_columns if as_read(matrix.columns[k]) in named_keys)
        return
    row_of_sample = {name: row for row, name in enumerate(map(str, table.index))}
    pairs = [
        (row, row_of_sample[matrix.rows[row]])
        for row in samples
        if matrix.rows[row] in row_of_sample
    ]
    if len(pairs) < MIN_SAMPLES_FOR_VALUES:
        return
    rows, table_rows = map(list, zip(*pairs, strict=True))
    for name in dict.fromkeys(map(str, table.columns)):
        if list(table.columns).count(name) != 1:
            continue
        cells = table[name].iloc[table_rows]
        values = numbers_of(cells)
        with_number = np.isfinite(values)
        yield from (
            k
            for k, header in shared_columns.items()
            if header == name and _are_codes_of(matrix.cells[rows, k], cells)
        )
        if with_number.sum() < MIN_SAMPLES_FOR_VALUES or len(np.unique(values[with_number])) < 2:
            continue
        same_name = [k for k, header in shared_columns.items() if header == name]
        yield from (k for k in same_name if _have_equal_values(matrix.cells[rows, k], values))
        if len(np.unique(values[with_number])) >= MIN_DIFFERENT_VALUES:
            yield from _equal_columns(matrix, rows, values)


def numbers_of(cells: Iterable[object]) -> Array:
    """Return texts as float64, NaN for a text that is no number."""
    texts = [str(cell) for cell in cells]
    return np.array([float(text) if is_number(text) else np.nan for text in texts])


def _have_equal_values(x: Array, values: Array) -> bool:
    """Tell whether two columns (n_samples,) are equal in nearly all samples that have both values.

    They are not if x lacks more than half of the `values`.
    """
    both_known = np.isfinite(x) & np.isfinite(values)
    if 2 * both_known.sum() < np.isfinite(values).sum() or not both_known.any():
        return False
    return bool(
        np.mean(np.isclose(x[both_known], values[both_known], rtol=1e-6, atol=1e-9))
        >= MIN_EQUAL_SHARE
    )


def _are_codes_of(x: Array, cells: Iterable[object]) -> bool:
    """Tell whether the numbers x (n,) are codes for words (n,), one number for each word."""
    pairs = {
        (number, str(cell))
        for number, cell in zip(x.tolist(), cells, strict=True)
        if np.isfinite(number) and not is_missing(str(cell))
    }
    numbers = {number for number, _ in pairs}
    words = {word for _, word in pairs}
    return 1 < len(pairs) == len(numbers) == len(words) <= len(x) / MIN_DIFFERENT_VALUES


def _equal_columns(matrix: Matrix, rows: Sequence[int], values: Array) -> Iterator[int]:
    """Yield the columns with exactly these values, whatever their names; NaN are not compared.

    values (len(rows),): of a column of the sample table, at least one of them a number.
    """
    known_rows = np.flatnonzero(np.isfinite(values)).tolist()
    measured = [rows[k] for k in known_rows]
    for column in np.flatnonzero(matrix.cells[measured[0]] == values[known_rows[0]]).tolist():
        if np.array_equal(matrix.cells[measured, column], values[known_rows]):
            yield column


def _unclassified_short_numbers(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings, classified: Collection[int]
) -> dict[str, list[str]]:
    """Return key of `SHORT_NUMBERS` -> names of columns of such numbers that are not `classified`.

    If they are many, they are genes, and left out.
    """
    if SHEET_COLUMNS.name in surroundings.kept_kinds or len(samples) < MIN_SAMPLES_FOR_VALUES:
        return {}
    columns_by_code = {
        "whole_numbers": columns_of_whole_numbers(matrix, samples),
        "few_decimals": columns_of_few_decimals(matrix, samples),
    }
    excluded = set(surroundings.genes)
    names_by_code = {
        code: [
            matrix.columns[column]
            for column in columns
            if column not in classified and matrix.columns[column] not in excluded
        ]
        for code, columns in columns_by_code.items()
    }
    return {code: names for code, names in names_by_code.items() if len(names) <= MAX_SHORT_COLUMNS}


def _find_total_columns(
    matrix: Matrix,
    samples: Sequence[int],
    kind_of_column: dict[int, NonGeneKind],
    surroundings: Surroundings,
) -> list[int]:
    """Return the columns that are the sum or the mean of all other genes.

    A few samples find the candidates, all samples confirm them; more than `MAX_TOTAL_COLUMNS`
    candidates are genes. The sum may include the columns of `SUMMARIES`, which programs that count
    reads write, or not. Of the mean of n genes, n times the value is the sum.
    """
    genes = np.array(
        [column for column in range(len(matrix.columns)) if column not in kind_of_column], dtype=int
    )
    if len(samples) < MIN_SAMPLES_FOR_TOTALS or len(genes) < MIN_GENES_FOR_TOTALS:
        return []
    summaries = [column for column, kind in kind_of_column.items() if kind is SUMMARIES]
    candidates: dict[int, None] = {}
    first_samples = list(samples[:MIN_SAMPLES_FOR_TOTALS])
    for added_summaries in ([], summaries):
        # Scale 1 finds a sum of the others; their number finds a mean.
        for scale in (1.0, len(genes) + len(added_summaries) - 1.0):
            columns = _columns_equal_to_sum(matrix, first_samples, genes, added_summaries, scale)
            if 0 < len(columns) <= MAX_TOTAL_COLUMNS:
                confirmed = _columns_equal_to_sum(
                    matrix, samples, genes, added_summaries, scale, columns
                )
                candidates |= dict.fromkeys(confirmed.tolist())
    known_genes = set(surroundings.genes)
    return [column for column in candidates if matrix.columns[column] not in known_genes]


def _columns_equal_to_sum(
    matrix: Matrix,
    samples: Sequence[int],
    genes: Array,
    summaries: Sequence[int],
    scale: float,
    candidates: Array | None = None,
) -> Array:
    """Return the columns of which `scale` times the value is the sum of all others.

    genes: columns that are summed; so are `summaries`, columns of the summary rows of a counter.
    candidates: columns that are compared; None is all genes.
    """
    X = matrix.cells[samples]
    total = np.nansum(X[:, genes], axis=1) + np.nansum(X[:, list(summaries)], axis=1)
    columns = genes if candidates is None else candidates
    x = X[:, columns]
    with np.errstate(invalid="ignore"):
        is_close = np.abs(scale * x - (total[:, None] - x)) <= SUM_TOLERANCE * np.abs(scale * x)
        # Zeros are close to any sum of zeros.
        is_varied = (np.ptp(x, axis=0) > 0) & (np.abs(x) > 0).all(axis=0)
    return np.asarray(columns[is_close.all(axis=0) & is_varied])


def find_clinical_columns(matrix: Matrix, samples: Sequence[int]) -> Iterator[int]:
    """Yield columns of fewer decimals than the genes have, with the name of an age or a time.

    samples: rows of the matrix that are samples.
    """
    if not any(map(is_clinical, matrix.columns)):
        return
    X = matrix.cells[samples]
    short_columns = set(columns_of_few_decimals(matrix, samples))
    genes_have_decimals = _genes_have_decimals(matrix, X, _are_small_and_short(X))
    for column, name in enumerate(matrix.columns):
        x = X[np.isfinite(X[:, column]), column]
        is_whole = genes_have_decimals and x.size and (x % 1 == 0).all()
        if is_clinical(name) and (is_whole or column in short_columns):
            yield column


def columns_of_whole_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns of different whole numbers that would have decimals if they were genes."""
    X = matrix.cells[samples]
    candidates = _are_small_and_short(X)
    if not candidates.any() or not _genes_have_decimals(matrix, X, candidates):
        return []
    return [int(k) for k in np.flatnonzero(candidates) if _n_different(X[:, k]) > 1]


def columns_of_few_decimals(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns with one or two decimals that would have more if they were genes."""
    X = matrix.cells[samples]
    columns: set[int] = set()
    for n_decimals in range(1, MAX_DECIMALS + 1):
        # The first samples show fast that all genes have more decimals, or many as few.
        possible = ~_have_decimals(X[:MAX_FIRST_SAMPLES], n_decimals).any(axis=0)
        if not 0 < possible.sum() <= _max_candidates(X.shape[1]):
            continue
        candidates = _are_small_and_short(X, n_decimals)
        if candidates.any() and _genes_have_decimals(matrix, X, candidates, n_decimals):
            columns |= set(np.flatnonzero(candidates & _have_decimals(X).any(axis=0)).tolist())
    return sorted(k for k in columns if _n_different(X[:, k]) >= MIN_DIFFERENT_VALUES)


def without_short_numbers(matrix: Matrix) -> Matrix:
    """Return a matrix of samples without the columns that have fewer decimals than its genes."""
    rows = range(len(matrix.rows))
    short = {*columns_of_whole_numbers(matrix, rows), *columns_of_few_decimals(matrix, rows)}
    if not short:
        return matrix
    return matrix.subset(rows, [k for k in range(len(matrix.columns)) if k not in short])


def _genes_have_decimals(matrix: Matrix, X: Array, candidates: Array, n_decimals: int = 0) -> bool:
    """Tell whether nearly all genes have a number with more than `n_decimals` decimals.

    X (n_samples, n_columns). Genes are the columns that are neither `candidates` (n_columns,) nor
    called as ages and times.
    """
    genes = ~candidates & np.isfinite(X).any(axis=0)
    genes &= [not is_clinical(name) for name in matrix.columns]
    has_decimals = np.asarray(_have_decimals(X, n_decimals).any(axis=0))
    return bool(genes.any() and np.mean(has_decimals[genes]) >= MIN_EQUAL_SHARE)


def _are_small_and_short(X: Array, n_decimals: int = 0) -> Array:
    """Return for each column of X (n_samples, n_genes) whether its numbers are small and short.

    Short numbers have at most `n_decimals` decimals; they are whole by default.

    A program that writes four digits leaves the decimals of 1234 out, not those of 53.12: the
    numbers of such a column have fewer digits than those of the genes. If such columns are many,
    as among estimated counts, they are genes, and none is returned.
    """
    has_decimals = _have_decimals(X, n_decimals)
    n_columns = X.shape[1]
    if not has_decimals.any():
        return np.zeros(n_columns, dtype=bool)
    digits = [_significant_digits(value) for value in X[has_decimals][:MAX_CELLS_FOR_DIGITS]]
    n_digits = np.median(digits)
    is_known = np.isfinite(X)
    largest = np.max(np.where(is_known, np.abs(X), 0), axis=0, initial=0)
    n_nonzero = (is_known & (X != 0)).sum(axis=0)
    candidates = ~has_decimals.any(axis=0) & (largest < 10 ** (n_digits - 1 - n_decimals))
    candidates &= n_nonzero >= MIN_NONZERO_SHARE * len(X)
    # Among estimated counts, few cells of a gene have decimals, and of some genes none.
    is_measured = n_nonzero > 0
    share = float(np.median(has_decimals.sum(axis=0)[is_measured] / n_nonzero[is_measured]))
    n_expected = n_columns * (1 - share) ** n_nonzero  # genes that are short by chance
    candidates &= n_expected <= MAX_CHANCE
    return np.asarray(candidates & (candidates.sum() <= _max_candidates(n_columns)))


def _max_candidates(n_columns: int) -> float:
    """Return the number of columns of short numbers above which they are genes."""
    return max(
        (1 - MIN_EQUAL_SHARE) * n_columns, min(MAX_SHORT_COLUMNS, MAX_SHORT_SHARE * n_columns)
    )


def _have_decimals(X: Array, n_decimals: int = 0) -> Array:
    """Return for each cell whether it is a number with more than `n_decimals` decimals."""
    if not n_decimals:
        return np.asarray(np.isfinite(X) & (np.floor(X) != X))
    scaled = np.where(np.abs(X) < MAX_WITH_DECIMALS, X, 0) * 10**n_decimals
    rounded = np.rint(scaled)
    is_tiny = (rounded == 0) & (scaled != 0)  # as 1e-9, whose difference is below the tolerance
    return np.asarray((np.abs(scaled - rounded) > DECIMAL_TOLERANCE) | is_tiny)


def _n_different(x: Array) -> int:
    """Return the number of different values of a column, without missing ones."""
    return len(np.unique(x[np.isfinite(x)]))


def _significant_digits(value: float) -> int:
    """Return the number of significant digits, ten at most; zeros at the end do not count."""
    digits = f"{abs(value):.9e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits)
