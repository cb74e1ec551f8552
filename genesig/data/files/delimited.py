"""Delimited text: find titles, header, delimiter and rows; make a table or a `Matrix` of them."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress, islice, pairwise
from typing import TYPE_CHECKING, AnyStr, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.cells import end_of_quoted_name, parse_cells, split_row
from genesig.errors import input_error
from genesig.results.files import unmark_formula
from genesig.words import THOUSANDS_BY_COMMA, counted, is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

PIECE_LENGTH = 1 << 18  # bytes or letters at a time, so that memory never holds a second text


def lines_of(text: str | bytes) -> Iterator[str]:
    """Return the lines of a text without their ends; bytes are UTF-8, with any line ends.

    A byte order mark is left out.
    """
    if isinstance(text, str):
        pieces = pieces_of(text, "\n")
    else:
        mark = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        pieces = (with_unix_line_ends(piece.decode()) for piece in pieces_of(text, b"\n", mark))
    return chain.from_iterable(piece.removesuffix("\n").split("\n") for piece in pieces)


def pieces_of(text: AnyStr, line_end: AnyStr, start: int = 0) -> Iterator[AnyStr]:
    """Yield consecutive pieces of a text, of about `PIECE_LENGTH`, each up to a line end."""
    while start < len(text):
        stop = text.find(line_end, start + PIECE_LENGTH) + 1 or len(text)
        yield text[start:stop]
        start = stop


def with_unix_line_ends(text: str) -> str:
    """Return a text with Unix line ends; it must not be cut within a CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


MAX_LINES_ABOVE_HEADER = 30  # largest number of titles and comments above the header


def split_at_header(
    lines: Iterable[tuple[int, str]], delimiters: str, file_name: str
) -> tuple[list[int], Iterator[tuple[int, str]]]:
    """Return the line numbers of titles above the header, and the lines from the header on.

    `lines` are (number, line), `delimiters` the letters that may be the delimiter. Without a header
    within `MAX_LINES_ABOVE_HEADER` lines the first line counts as the header. A title is a line of
    which one cell alone is filled; a comment begins with # and has another number of cells than the
    next line. R writes no corner, so that the header of a matrix of one sample looks like a title.
    Lines are therefore titles only if a line without numbers, the header, follows them. Two or more
    comments that are as wide as the header are left out, too: cBioPortal writes them above its
    clinical tables. The line numbers are only those of titles.
    """
    remaining = iter(lines)
    first_lines = list(islice(remaining, MAX_LINES_ABOVE_HEADER + 2))
    texts = [line for _, line in first_lines]
    are_titles = (_is_title(*pair, delimiters, file_name) for pair in pairwise(texts))
    n_above = next((k for k, is_title in enumerate(are_titles) if not is_title), 0)
    n_comments = _count_wide_comments(texts[n_above:], delimiters, file_name)
    if n_comments:
        n_above += n_comments
    elif n_above and not _is_header(texts[n_above], texts[n_above + 1], delimiters, file_name):
        n_above = 0
    titles = [number for number, line in first_lines[:n_above] if not line.startswith("#")]
    return titles, chain(first_lines[n_above:], remaining)


def _count_wide_comments(lines: Sequence[str], delimiters: str, file_name: str) -> int:
    """Return the number of leading comments if two or more are as wide as the header, else 0."""
    n_comments = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    if n_comments < 2:
        return 0
    widths = {len(_split_cells(line, delimiters, file_name)) for line in lines[: n_comments + 1]}
    header = _split_cells(lines[n_comments], delimiters, file_name)
    return n_comments if len(widths) == 1 and not any(map(is_number, header)) else 0


def _is_title(line: str, next_line: str, delimiters: str, file_name: str) -> bool:
    """Tell whether a line above the header is a title or a comment (see `split_at_header`)."""
    filled = [bool(cell) for cell in _split_cells(line, delimiters, file_name)]
    # A header of two columns whose corner is blank has its second cell alone filled.
    if sum(filled) == 1 and (filled[0] or len(filled) > 2):
        return True
    if not line.startswith("#"):
        return False
    return len(filled) != len(_split_cells(next_line, delimiters, file_name))


def _is_header(line: str, next_line: str, delimiters: str, file_name: str) -> bool:
    """Tell whether a line has names alone, as many as the next line has cells or one less."""
    cells = _split_cells(line, delimiters, file_name)
    n_further_cells = len(_split_cells(next_line, delimiters, file_name)) - len(cells)
    return n_further_cells in (0, 1) and not any(map(is_number, cells[1:]))


def _split_cells(line: str, delimiters: str, file_name: str) -> list[str]:
    """Return the cells of a line, split at its most frequent delimiter."""
    delimiter = max(delimiters, key=line.count)
    return [cell.strip() for cell in split_row(line, delimiter, file_name)]


# Delimiters that an ending promises, the usual one first; the European CSV has semicolons.
DELIMITERS = {
    **dict.fromkeys((".tsv", ".txt", ".tab", ".chip"), "\t"),
    ".csv": ",;",
    # Of htseq-count, RSEM, Salmon and Cufflinks.
    **dict.fromkeys((".counts", ".count", ".results", ".sf", ".fpkm_tracking"), "\t"),
}
SPACES_ENDING = ".txt with spaces"  # key of a .txt with spaces between cells; no ending of a file


def delimiters_of(ending: str) -> str:
    """Return the delimiters that an ending promises, the usual one first."""
    return " " if ending == SPACES_ENDING else DELIMITERS[ending]


# Cells of a row, each with the semicolon before it: the first cell, a name, never matches.
CELL_WITH_POINT = re.compile(r';"?[-+]?\d*\.\d')
CELL_WITH_COMMA = re.compile(r'(;"?[-+]?\d*),(\d+(?:[eE][-+]?\d+)?"?)(?=;|$)')
# A comma that cannot be one of thousands: behind it are not three digits, before it is 0 or more
# than three digits.
DECIMAL_COMMA = re.compile(r';"?[-+]?(0|\d{4,}|),|,\d{1,2}(?!\d)|,\d{4,}|,\d+[eE]')
# Cells that a separator of thousands may be in, and whole numbers that need none.
CELL_WITH_THOUSANDS = re.compile(r';"?([-+]?\d{1,3},\d{3})"?(?=;|$)')
CELL_BELOW_THOUSAND = re.compile(r';"?[-+]?[1-9]\d{0,2}"?(?=;|$)')
DELIMITER_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces", "|": "bars"}

MAX_GENES = 1_000_000  # most rows or columns of a matrix; arrays of methylation have 930,000 probes
USUAL_WIDTH_SHARE = 0.9  # share of lines of one width above which the header is at fault
MAX_BYTES_PER_CELL = 9
"""Mean bytes of a cell up to which the rows of a text stay in memory.

Text, rows and numbers then take less than four matrices. A text with longer cells is gone through
twice, to be checked and to be parsed.
"""


@dataclass(frozen=True)
class Matrix:
    """A matrix as it lies in its file: genes × samples or samples × genes.

    Without `texts`, a cell that is not finite in `cells` is missing.
    """

    rows: tuple[str, ...]  # names of the rows as the file writes them: '001' stays '001'
    columns: tuple[str, ...]
    cells: Array  # (n_rows, n_columns) float64; NaN for a text that is no number
    # Text of each cell that is no finite number, by row and column of the file, from 0. The key is
    # (column, row) of this record if it is `transposed`.
    texts: dict[tuple[int, int], str]
    lines: tuple[int, ...]  # line of the file of each of its rows
    transposed: bool = False  # whether the rows of this record are the columns of the file
    # what `lines` counts: "line" of a text, "row" of a file without lines, "probe" of raw arrays
    line_word: str = "line"
    # how the file was read, if it may have been meant otherwise; sentences joined by "; "
    doubt: str = ""
    # gene id -> symbol, if a column beside the ids has symbols
    symbols: Mapping[str, str] = field(default_factory=dict)
    # samples that lack a part of the file, with NaN there: a modality, for example
    partial: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()  # other matrices of the same file, such as layers
    # columns of the file that describe its genes and were left out
    annotation: tuple[str, ...] = ()
    # ids of rows that a column marks as decoys or contaminants
    marked: frozenset[str] = frozenset()
    corner: str = ""  # header of the column of the file with the names of its rows
    # further names of the columns of the file, from lines above or below the header
    headers: tuple[tuple[str, ...], ...] = ()
    has_counts: bool = False  # whether the file states that its values are counts

    def without_partial_samples(self) -> Matrix:
        """Return the matrix without its `partial` samples, which are in rows."""
        incomplete = set(self.partial)
        complete = [row for row, name in enumerate(self.rows) if name not in incomplete]
        n_complete = counted(len(complete), "sample")
        return replace(
            self,
            rows=tuple(self.rows[row] for row in complete),
            cells=self.cells[complete],
            texts={},  # binary files, which alone have modalities, have no texts
            lines=tuple(self.lines[row] for row in complete),
            partial=(),
            doubt=f"only {n_complete} of {len(self.rows)} are in every modality; the others are "
            "left out",
        )

    def with_doubt(self, doubt: str) -> Matrix:
        """Return the matrix with a further sentence about how it was read; '' adds none."""
        return replace(self, doubt="; ".join(filter(None, [self.doubt, doubt])))

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell; a number is written as Python writes it with six digits."""
        key = (column, row) if self.transposed else (row, column)
        return self.texts.get(key, f"{self.cells[row, column]:g}")

    def select(
        self,
        rows: Sequence[int],
        columns: Sequence[int] | None = None,
        column_names: tuple[str, ...] | None = None,
    ) -> Matrix:
        """Return rows and columns as a new matrix, whose rows count from 1 and which has no notes.

        rows, columns: indices in the new order; None is all columns. `column_names` are new names
        of the columns. Cells that are no numbers keep their texts.
        """
        part = self.subset(rows, range(len(self.columns)) if columns is None else columns)
        texts = part.texts
        if self.transposed:  # the new matrix is not, so its keys are (row, column)
            texts = {key[::-1]: text for key, text in texts.items()}
        names = part.columns if column_names is None else column_names
        lines = tuple(range(1, len(rows) + 1))
        return Matrix(part.rows, names, part.cells, texts, lines, line_word="row")

    def subset(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Return the rows and columns of these indices, with texts, lines of the file and notes."""
        file_rows, file_columns = (columns, rows) if self.transposed else (rows, columns)
        new_row = {old: new for new, old in enumerate(rows)}
        new_column = {old: new for new, old in enumerate(columns)}
        texts = {}
        for key, text in self.texts.items():
            row, column = reversed(key) if self.transposed else key
            if row in new_row and column in new_column:
                cell = (new_row[row], new_column[column])
                texts[cell[::-1] if self.transposed else cell] = text
        return replace(
            self,
            rows=tuple(self.rows[row] for row in rows),
            columns=tuple(self.columns[column] for column in columns),
            cells=self.cells[np.ix_(list(rows), list(columns))],
            texts=texts,
            lines=tuple(self.lines[k] for k in file_rows),
            headers=tuple(tuple(header[k] for k in file_columns) for header in self.headers),
        )

    def transpose(self) -> Matrix:
        """Return the matrix with rows and columns exchanged."""
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            cells=self.cells.T,
            transposed=not self.transposed,
        )


class RowPlace(NamedTuple):
    """Where a row of a joined table is."""

    file: str
    line: int
    columns: Mapping[str, str]  # column of the joined table -> column of the file


@dataclass(frozen=True, eq=False)
class TextTable:
    """A sample table or gene table of a file, and where its rows are."""

    cells: pd.DataFrame  # strings; the index has the names of the samples or genes
    lines: Sequence[int] = ()  # of the file, for each row; a gene table needs none
    doubts: tuple[str, ...] = ()  # sentences that warn of how the file was read
    partial: tuple[str, ...] = ()  # samples that lack a part of the file
    places: tuple[RowPlace, ...] = ()  # of each row, if the table joins those of several studies

    def with_cells(self, cells: pd.DataFrame) -> TextTable:
        """Return the table with other columns or names for the same rows."""
        return replace(self, cells=cells)

    def select(self, is_selected: Sequence[bool]) -> TextTable:
        """Return the rows that are selected, with their lines."""
        lines = list(compress(self.lines, is_selected))
        return replace(self, cells=self.cells[list(is_selected)], lines=lines)

    def without_partial_samples(self) -> TextTable:
        """Return the table without its `partial` samples."""
        complete = self.select([name not in self.partial for name in self.cells.index])
        return replace(complete, partial=())

    def place_of_cell(self, row: int, column: str, table_file: str) -> str:
        """Return file, line and column of a cell; in joined tables, of the study's own file."""
        if self.places:
            place = self.places[row]
            column = place.columns.get(column, column)
            return f"{place.file}, line {place.line}, column '{column}'"
        return f"{table_file}, line {self.lines[row]}, column '{column}'"


@dataclass(frozen=True)
class _TableLines:
    """Header and rows of a delimited text."""

    iterate_rows: Callable[[], Iterator[str]]  # each call goes through all rows that are not blank
    delimiter: str
    header: list[str]
    line_numbers: list[int]  # of the rows
    has_quoted_cells: bool  # elsewhere than around the first cell of a row
    title_lines: list[int]  # numbers of the titles above the header


def parse_table(text: str | bytes, suffix: str, file_name: str) -> TextTable:
    """Return a delimited text as a table of strings; `suffix` is a key of `DELIMITERS`.

    The first column is the index. A table of names alone, without a delimiter, is accepted.
    """
    import pandas as pd

    table_lines = _split_lines(text, suffix, file_name, single_column=True)
    rows = (split_row(row, table_lines.delimiter, file_name) for row in table_lines.iterate_rows())
    cells = [[unmark_formula(cell.strip()) for cell in row] for row in rows]
    if table_lines.delimiter == ";":
        cells = _write_decimal_points(cells)
    # Spreadsheets leave empty columns at the right-hand side: the last filled column is the width.
    rows_with_header = [table_lines.header, *cells]
    width = max(column for row in rows_with_header for column, cell in enumerate(row, 1) if cell)
    table = pd.DataFrame(
        [row[1:width] for row in cells], columns=table_lines.header[1:width], dtype=object
    )
    table.index = pd.Index([row[0] for row in cells], name=table_lines.header[0], dtype=object)
    return TextTable(table, table_lines.line_numbers)


def _write_decimal_points(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows, with points in place of the decimal commas of columns of numbers.

    If three digits are behind every comma of a column, they may be thousands, and stay.
    """
    for column in range(len(rows[0])):
        filled = [row[column] for row in rows if not is_missing(row[column])]
        cells_with_comma = [cell for cell in filled if "," in cell]
        if not cells_with_comma or any("." in cell for cell in filled):
            continue
        are_numbers = all(is_number(cell.replace(",", ".")) for cell in filled)
        if are_numbers and not all(map(THOUSANDS_BY_COMMA.fullmatch, cells_with_comma)):
            for row in rows:
                row[column] = row[column].replace(",", ".")
    return rows


def parse_matrix(text: str | bytes, suffix: str, file_name: str, first_line: int = 1) -> Matrix:
    """Return a delimited text as a matrix of numbers; any other cell is NaN and keeps its text.

    A table with semicolons may have decimal commas if it has no decimal point: spreadsheets write
    both where the comma is the decimal sign. With other delimiters a number with a comma is no
    number. `first_line` is the line of the file on which the text begins.
    """
    _check_gene_count(text, file_name)
    table_lines = _split_lines(text, suffix, file_name, first_line)
    rows, doubt = _rows_with_points(table_lines, file_name)
    shape = (len(table_lines.line_numbers), len(table_lines.header))
    names, cells, texts = parse_cells(
        rows, shape, table_lines.delimiter, file_name, at_once=table_lines.has_quoted_cells
    )
    matrix = Matrix(
        names,
        tuple(table_lines.header[1:]),
        cells,
        texts,
        tuple(table_lines.line_numbers),
        doubt=doubt,
        corner=table_lines.header[0],
    )
    if not table_lines.title_lines:
        return matrix
    top = table_lines.title_lines[0]
    bottom = table_lines.title_lines[-1]
    place = f"line {top}" if top == bottom else f"lines {top} to {bottom}"
    return matrix.with_doubt(f"what stands above the header is taken for a title ({place})")


def _check_gene_count(text: str | bytes, file_name: str) -> None:
    """Raise InvalidInput for a text of more rows or columns than any platform has genes."""
    if isinstance(text, str):
        count = max(text.count("\n"), *map(text[: text.find("\n")].count, "\t,;"))
    else:
        header = text[: text.find(b"\n")]
        count = max(text.count(b"\n"), *map(header.count, (b"\t", b",", b";")))
    if count > MAX_GENES:
        message = f"has about {count:,} rows or columns, and at most {MAX_GENES:,} genes are read: "
        raise input_error(
            file_name, f"{message}leave out those that hardly vary, or sum them up to genes"
        )


def _rows_with_points(table_lines: _TableLines, file_name: str) -> tuple[Iterator[str], str]:
    """Return the rows with decimal points, and a doubt if commas may be thousands ('' if not).

    Raises InvalidInput: each comma may be one of thousands, by the digits around it, and a number
        below 1000 has none.
    """
    if table_lines.delimiter != ";" or any(map(CELL_WITH_POINT.search, table_lines.iterate_rows())):
        return table_lines.iterate_rows(), ""
    commas = map(CELL_WITH_COMMA.search, table_lines.iterate_rows())
    first_row = next((k for k, match in enumerate(commas) if match), None)
    if first_row is None:
        return table_lines.iterate_rows(), ""
    points = (CELL_WITH_COMMA.sub(r"\1.\2", row) for row in table_lines.iterate_rows())
    if any(map(DECIMAL_COMMA.search, table_lines.iterate_rows())):
        return points, ""
    example = CELL_WITH_THOUSANDS.search(next(islice(table_lines.iterate_rows(), first_row, None)))
    text = example[1] if example else ""
    message = f"'{text}' and every comma here may be one of thousands ({text.replace(',', '')}) or "
    if any(map(CELL_BELOW_THOUSAND.search, table_lines.iterate_rows())):
        message += "a decimal one; export the table without the former and with decimal points"
        raise input_error(file_name, message, line=table_lines.line_numbers[first_row])
    return points, f"{message}decimal: it is read as {text.replace(',', '.')}"


def choose_ending(text: str | bytes, suffix: str, file_name: str) -> str:
    """Return the ending whose delimiters a text has: `suffix`, unless a .txt has no tabs.

    Without tabs it is .csv, as the run table of NCBI's SRA, or `SPACES_ENDING`, as R writes by
    default: names in quotes, and a header that is as wide as the rows or one field less.
    """
    if suffix != ".txt":
        return suffix
    lines = [line for _, line in islice(_filled_lines(text, suffix), MAX_LINES_ABOVE_HEADER + 2)]
    if not lines or any("\t" in line for line in lines):
        return suffix
    if _is_separated_by_spaces(lines, file_name):
        return SPACES_ENDING
    return ".csv" if any(sign in lines[-1] for sign in DELIMITERS[".csv"]) else suffix


def _is_separated_by_spaces(lines: Sequence[str], file_name: str) -> bool:
    """Tell whether spaces separate the cells: rows of one width, and a header that fits them."""
    if any(sign in lines[0] for sign in ",;"):
        return False
    header, *widths = (len(split_row(line, " ", file_name)) for line in lines)
    return len(set(widths)) == 1 and widths[0] > 2 and widths[0] - header in (0, 1)


def _split_lines(
    text: str | bytes,
    suffix: str,
    file_name: str,
    first_line: int = 1,
    *,
    single_column: bool = False,
) -> _TableLines:
    """Return header, delimiter and rows of a text; every row must be as wide as the header.

    `single_column` accepts a text without a delimiter.
    """
    title_lines, lines = split_at_header(
        _filled_lines(text, suffix, first_line), delimiters_of(suffix), file_name
    )
    header_line, header = next(lines, (first_line, ""))
    if not header:
        raise input_error(file_name, "is empty; it needs a header line and at least one row")
    delimiter = _find_delimiter(
        header, suffix, f"{file_name}, line {header_line}", single_column=single_column
    )
    # Rows with long cells are not kept, but read again.
    kept_lines = list(lines) if _has_short_cells(text, delimiter) else None
    has_quotes = '"' in text if isinstance(text, str) else b'"' in text
    line_numbers, widths, has_quoted_cells = _measure_rows(
        lines if kept_lines is None else kept_lines, delimiter, has_quotes, file_name
    )
    if not line_numbers:
        raise input_error(
            file_name,
            "has a header line but no rows below it; is it cut off? Copy or export it again",
        )
    names = [name.strip() for name in split_row(header, delimiter, file_name)]
    if set(widths) == {len(names) + 1}:  # R's write.table leaves the corner out
        names.insert(0, "")
    elif set(widths) != {len(names)}:
        rows = _reread_rows(text, line_numbers, first_line)
        _refuse_widths(len(names), header_line, line_numbers, widths, file_name, rows)
    iterate_rows: Callable[[], Iterator[str]] = partial(
        _reread_rows, text, line_numbers, first_line
    )
    if kept_lines is not None:
        iterate_rows = [line for _, line in kept_lines].__iter__
    return _TableLines(iterate_rows, delimiter, names, line_numbers, has_quoted_cells, title_lines)


def _measure_rows(
    lines: Iterable[tuple[int, str]], delimiter: str, has_quotes: bool, file_name: str
) -> tuple[list[int], list[int], bool]:
    """Return line and width of each row, and whether any cell but the first of a row is quoted.

    has_quotes: whether the text has any quote; without one counting delimiters is enough.
    """
    line_numbers = list[int]()
    widths = list[int]()
    has_quoted_cells = False
    for number, row in lines:
        line_numbers.append(number)
        widths.append(
            _count_cells(row, delimiter, file_name) if has_quotes else row.count(delimiter) + 1
        )
        if has_quotes and not has_quoted_cells:  # quotes around the first cell do not count
            has_quoted_cells = row.find('"', end_of_quoted_name(row)) >= 0
    return line_numbers, widths, has_quoted_cells


def _has_short_cells(text: str | bytes, delimiter: str) -> bool:
    """Tell by the middle of a text whether cells are short enough to keep rows in memory."""
    middle = len(text) // 2
    part = text[middle : middle + PIECE_LENGTH]
    cells = part.count(delimiter) if isinstance(part, str) else part.count(delimiter.encode())
    return len(part) <= MAX_BYTES_PER_CELL * cells


def _reread_rows(text: str | bytes, line_numbers: list[int], first_line: int) -> Iterator[str]:
    """Return the rows of a text by going through its lines again; none stays in memory."""
    is_row = bytearray(line_numbers[-1] - first_line + 1)
    for number in line_numbers:
        is_row[number - first_line] = 1
    return compress(lines_of(text), is_row)


def _filled_lines(text: str | bytes, suffix: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Return number and text of each line that is not blank."""
    blank = " " + delimiters_of(suffix)
    return ((n, line) for n, line in enumerate(lines_of(text), first_line) if line.strip(blank))


def _refuse_widths(
    header_width: int,
    header_line: int,
    line_numbers: list[int],
    widths: list[int],
    file_name: str,
    rows: Iterator[str],
) -> None:
    """Raise InvalidInput about rows of another width than the header, or a header of another width.

    line_numbers, widths: line of the file and number of cells of each row, of which at least one
    has another width than the header. rows: their texts.
    """
    wrong_rows = [k for k, width in enumerate(widths) if width != header_width]
    usual_width = Counter(widths).most_common(1)[0][0]
    n_usual = widths.count(usual_width)
    if usual_width > max(header_width, 2) and n_usual >= USUAL_WIDTH_SHARE * len(widths):
        message = (
            f"{counted(header_width, 'field')} where {n_usual} of {counted(len(widths), 'line')} "
            f"below have {usual_width}; take lines above the names of the columns out"
        )
        raise input_error(file_name, message, line=header_line)
    further_lines = (
        f" ({counted(len(wrong_rows) - 1, 'further line')})" if len(wrong_rows) > 1 else ""
    )
    reason = "the line is cut off, or a field holds the delimiter and needs quotes"
    if next(islice(rows, wrong_rows[0], None)).count('"') % 2:
        reason = "a field between quotes holds a line break; take it out"
    raise input_error(
        file_name,
        f"{counted(widths[wrong_rows[0]], 'field')} where the header has "
        f"{header_width}{further_lines}; {reason}",
        line=line_numbers[wrong_rows[0]],
    )


def _find_delimiter(header: str, suffix: str, place: str, *, single_column: bool) -> str:
    """Return the delimiter of a header; raise an error if the ending promises another one.

    place: file and line of the header, for messages.
    """
    delimiter = max(delimiters_of(suffix), key=header.count)
    promised = DELIMITER_NAMES[delimiters_of(suffix)[0]]
    most_frequent = max(DELIMITER_NAMES, key=header.count)
    if delimiter in header or (single_column and most_frequent not in header):
        return delimiter
    description = DELIMITER_NAMES[most_frequent] if most_frequent in header else "one column only"
    ending = {",": ".csv", ";": ".csv", "\t": ".tsv"}.get(most_frequent)
    renaming = f" or rename it to {ending}" if ending and most_frequent in header else ""
    raise input_error(
        place,
        f"the ending '{suffix}' promises {promised} between columns, but the header has "
        f"{description}; save the file with {promised}{renaming}",
    )


def _count_cells(line: str, delimiter: str, file_name: str) -> int:
    """Return the number of cells of a line; only quotes behind its first cell need a full parse."""
    end = end_of_quoted_name(line)
    if '"' in line[end:]:
        return len(split_row(line, delimiter, file_name))
    return line.count(delimiter, end) + 1
