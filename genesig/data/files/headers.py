"""Find the numbers of a table among corners, further lines of names, footnotes and blank columns.

Laboratories write sample data above the numbers and gene data at their left, so that a corner stays
blank. People write the class above the name of a sample, and a legend below the numbers. Samples
are columns here. The first column of the file is `Matrix.rows`, the others have numbers from 0 on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.words import is_missing, is_number, listing

MAX_HEADER_ROWS = 40  # rows below the header among which the names of the samples are looked for
MAX_ROWS_OF_CLASSES = 5  # lines of classes, centres and the like above the names of samples
MIN_WORDS_OF_FOOTNOTE = 3  # words from which on a row name is a sentence and no gene id
SAMPLE_LABEL = re.compile(
    r".*(sample|client|subject|patient|specimen)[ _.-]*(name|id(entifier)?|number|no)?",
    re.IGNORECASE,
)
"""Label at the left of a line with the names of the samples."""


def select_numbers(matrix: Matrix) -> Matrix:
    """Return a table without corner and footnotes; ``doubt`` names what was left out."""
    if not matrix.texts:
        return matrix
    matrix = _without_footnotes(_without_blank_columns(matrix))
    header_row = _row_below_corner(matrix)
    if header_row is None:
        return _with_distinct_names(matrix)
    return _without_corner(matrix, header_row)


def choose_header(matrix: Matrix, names: Collection[str]) -> Matrix:
    """Return a matrix whose columns are named by the line that has the names of the sample table.

    A matrix is unchanged if its rows or columns have any of the names, if no line has half of them,
    or if it is transposed, so that its columns are no columns of the file.
    """
    listed = set(names)
    if (
        not listed.isdisjoint(matrix.columns)
        or not listed.isdisjoint(matrix.rows)
        or matrix.transposed
    ):
        return matrix
    min_names = min(len(listed), len(matrix.columns)) / 2
    for header in matrix.headers:
        if header and len(listed.intersection(header)) >= min_names:
            return replace(matrix, columns=header)
    for row in range(min(MAX_HEADER_ROWS, len(matrix.rows) - 1)):
        header = _row_texts(matrix, row, range(len(matrix.columns)))
        if len(listed.intersection(header)) >= min_names:
            return _select_below_row(matrix, row, header)
    return matrix


def _select_below_row(matrix: Matrix, row: int, header: tuple[str, ...]) -> Matrix:
    """Return the part of a matrix below a row, whose cells (`header`) become the sample names.

    The lines above it stay headers, among which `choose_header` may choose.

    A blank row behind it is left out: pandas writes the header of the gene ids there, alone.
    """
    first_row = row + 1
    while first_row < len(matrix.rows) - 1 and _is_blank(matrix, first_row):
        first_row += 1
    numbers = matrix.subset(range(first_row, len(matrix.rows)), range(len(matrix.columns)))
    rows_above = [_row_texts(matrix, number, range(len(header))) for number in range(row)]
    headers = (matrix.columns, *rows_above, *matrix.headers)
    numbers = replace(numbers, columns=header, headers=headers)
    return numbers.with_doubt(
        f"{matrix.line_word} {matrix.lines[row]} has the names of the samples; what stands above "
        f"it is left out ({listing(dict.fromkeys(matrix.columns))})"
    )


def _with_distinct_names(matrix: Matrix) -> Matrix:
    """Return the part below a line of distinct words, if the header repeats few words (classes).

    The matrix itself if there is no such line.
    """
    if 2 * len(set(matrix.columns)) > len(matrix.columns):
        return matrix
    for row in range(min(MAX_ROWS_OF_CLASSES, len(matrix.rows) - 1)):
        header = _row_texts(matrix, row, range(len(matrix.columns)))
        if all(map(_is_word, header)) and len(set(header)) == len(header):
            return _select_below_row(matrix, row, header)
    return matrix


def _row_texts(matrix: Matrix, row: int, columns: Iterable[int]) -> tuple[str, ...]:
    """Return the texts of the cells of a row, without blanks around them."""
    return tuple(matrix.text(row, column).strip() for column in columns)


def _column_texts(matrix: Matrix, column: int, rows: Iterable[int]) -> list[str]:
    """Return the texts of the cells of a column, without blanks around them."""
    return [matrix.text(row, column).strip() for row in rows]


def _is_word(text: str) -> bool:
    """Tell whether a text is neither missing nor a number."""
    return not is_missing(text) and not is_number(text)


def _without_blank_columns(matrix: Matrix) -> Matrix:
    """Return a matrix without blank columns at the right, as spreadsheets leave them."""
    end = len(matrix.columns)
    rows = range(len(matrix.rows))
    while end > 1 and not (matrix.columns[end - 1] or any(_column_texts(matrix, end - 1, rows))):
        end -= 1
    return matrix if end == len(matrix.columns) else matrix.subset(rows, range(end))


def _without_footnotes(matrix: Matrix) -> Matrix:
    """Return a matrix without last rows that have no value, and a sentence or nothing as name."""
    end = len(matrix.rows)
    while end > 1 and _is_footnote(matrix, end - 1):
        end -= 1
    if end == len(matrix.rows):
        return matrix
    notes = [name for name in matrix.rows[end:] if name]
    doubt = f"{matrix.line_word} {matrix.lines[end]} and what follows" if notes else ""
    if len(matrix.rows) - end == 1:
        doubt = doubt.removesuffix(" and what follows")
    doubt = doubt and f"{doubt}, {listing(notes)}, has no values and is taken for a footnote"
    return matrix.subset(range(end), range(len(matrix.columns))).with_doubt(doubt)


def _is_footnote(matrix: Matrix, row: int) -> bool:
    """Tell whether a row has no value, and a sentence, a mark (*, #) or nothing as its name."""
    name = matrix.rows[row]
    if name and len(name.split()) < MIN_WORDS_OF_FOOTNOTE and not name.startswith(("*", "#")):
        return False
    return _is_blank(matrix, row)


def _is_blank(matrix: Matrix, row: int) -> bool:
    """Tell whether a row has no number and no text but its name."""
    if np.isfinite(matrix.cells[row]).any():
        return False
    return not any(_row_texts(matrix, row, range(len(matrix.columns))))


def _count_left_columns(matrix: Matrix) -> int:
    """Return how many columns stand left of the numbers, the first not counted; 0 without corner.

    Their headers are blank, as the corner mostly is. If it is, a column behind them may belong to
    them, with the labels of the lines above the numbers.
    """
    n_blank = 0
    while n_blank < len(matrix.columns) and not matrix.columns[n_blank]:
        n_blank += 1
    if not n_blank or n_blank == len(matrix.columns):
        return 0
    return n_blank if matrix.corner or not _has_labels(matrix, n_blank) else n_blank + 1


def _has_labels(matrix: Matrix, column: int) -> bool:
    """Tell whether a column has the labels of the lines above the numbers, and no sample.

    A label says "sample", or stands above words or ids. A class stands above the numbers of a
    sample, and is repeated or followed by blanks (merged cells).
    """
    texts = _column_texts(matrix, column, range(len(matrix.rows)))
    label = matrix.columns[column]
    if any(SAMPLE_LABEL.fullmatch(text) for text in (label, *texts[:MAX_HEADER_ROWS])):
        return True
    values = matrix.cells[np.isfinite(matrix.cells[:, column]), column]
    if sum(map(_is_word, texts)) > len(values):
        return True
    are_ids = bool((values % 1 == 0).all()) and len(np.unique(values)) == len(values)
    names = matrix.columns[column:]
    return are_ids and names.count(label) == 1 and all(names[:2])


def _row_below_corner(matrix: Matrix) -> int | None:
    """Return the row with the headers of the columns at the left; None if there is no blank corner.

    It is the first row with words in all of these columns and without numbers at the right.
    """
    n_left = _count_left_columns(matrix)
    if n_left == 0 or n_left >= len(matrix.columns):
        return None
    for row in range(min(MAX_HEADER_ROWS, len(matrix.rows) - 1)):
        if not all(map(_is_word, _left_texts(matrix, row, n_left))):
            continue
        # Shares of numbers, at the right of this row and of the next one.
        share_here = np.isfinite(matrix.cells[row, n_left:]).mean()
        share_below = np.isfinite(matrix.cells[row + 1, n_left:]).mean()
        return row if share_here < 1 / 2 <= share_below else None
    return None


def _without_corner(matrix: Matrix, header_row: int) -> Matrix:
    """Return the numbers with sample names from above and gene ids from the left.

    Samples are named by the first line of distinct names, one labelled as samples' if there is one.
    header_row: the row with the headers of the columns at the left, from `_row_below_corner`.
    """
    n_left = _count_left_columns(matrix)
    sample_columns = range(n_left, len(matrix.columns))
    body_rows = range(header_row + 1, len(matrix.rows))
    header_lines = [matrix.columns[n_left:]]
    header_lines += [_row_texts(matrix, row, sample_columns) for row in range(header_row + 1)]
    labels = [_line_label(matrix, row, n_left) for row in (None, *range(header_row + 1))]
    usable_lines = [
        k for k, line in enumerate(header_lines) if all(line) and len(set(line)) == len(line)
    ]
    labelled_lines = [k for k in usable_lines if SAMPLE_LABEL.fullmatch(labels[k])]
    sample_line = next(iter(labelled_lines or usable_lines), 0)
    gene_headers = _left_texts(matrix, header_row, n_left)
    columns = [[matrix.rows[row] for row in body_rows]]
    columns += [_column_texts(matrix, column, body_rows) for column in range(n_left)]
    id_column = _column_of_ids(columns)
    numbers = matrix.subset(body_rows, sample_columns)
    line = f"{matrix.line_word} {numbers.lines[0]}"
    doubt = (
        f"the numbers begin at {line}, column {n_left + 2}: samples are called by the line "
        f"'{labels[sample_line]}', genes by the column '{gene_headers[id_column]}'"
    )
    named_numbers = replace(
        numbers,
        rows=tuple(columns[id_column]),
        columns=header_lines[sample_line],
        headers=tuple(header for k, header in enumerate(header_lines) if k != sample_line),
        annotation=tuple(name for k, name in enumerate(gene_headers) if k != id_column),
        corner=gene_headers[id_column],
    )
    return named_numbers.with_doubt(doubt)


def _left_texts(matrix: Matrix, row: int, n_left: int) -> list[str]:
    """Return the name of a row and its cells left of the numbers."""
    return [matrix.rows[row], *_row_texts(matrix, row, range(n_left))]


def _line_label(matrix: Matrix, row: int | None, n_left: int) -> str:
    """Return the label of a line above the numbers, written at its left.

    row: None is the first line, the columns' names. The label is beside the numbers if there is a
    column of labels, else in the first column.
    """
    if row is None:
        return matrix.corner or matrix.columns[n_left - 1]
    cells = _left_texts(matrix, row, n_left)
    filled = [cell for cell in cells if cell]
    return filled[-1] if filled and matrix.columns[n_left - 1] else cells[0]


def _column_of_ids(columns: Sequence[Sequence[str]]) -> int:
    """Return the column of gene ids: first distinct words, else distinct cells, else column 0."""
    distinct_columns = [
        column
        for column, cells in enumerate(columns)
        if all(cells) and len(set(cells)) == len(cells)
    ]
    word_columns = [
        column for column in distinct_columns if not all(map(is_number, columns[column]))
    ]
    return next(iter(word_columns or distinct_columns), 0)
