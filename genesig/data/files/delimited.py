"""Text with columns: from one string to a table of strings or a matrix of numbers."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress, islice, pairwise
from typing import TYPE_CHECKING, AnyStr

import numpy as np

from genesig.arrays import Array
from genesig.data.files.cells import end_of_quoted_name, parse_cells, split_row
from genesig.errors import refuse
from genesig.results.files import plain
from genesig.words import THOUSANDS_BY_COMMA, counted, is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

PIECE_LENGTH = 1 << 18
"""Bytes or letters at a time: neither a second text nor all its lines are ever there at once."""


def lines_of(text: str | bytes) -> Iterator[str]:
    """Return the lines of a string, or those of UTF-8 whatever their ends, without its mark."""
    if isinstance(text, str):
        pieces = pieces_of(text, "\n")
    else:
        mark = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        pieces = (with_unix_line_ends(piece.decode()) for piece in pieces_of(text, b"\n", mark))
    return chain.from_iterable(piece.removesuffix("\n").split("\n") for piece in pieces)


def pieces_of(text: AnyStr, end: AnyStr, start: int = 0) -> Iterator[AnyStr]:
    """Yield a text in pieces that end where a line does."""
    while start < len(text):
        stop = text.find(end, start + PIECE_LENGTH) + 1 or len(text)
        yield text[start:stop]
        start = stop


def with_unix_line_ends(text: str) -> str:
    """Make each line end that of Unix; a carriage return at the end has to have its line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


MAX_LINES_ABOVE_HEADER = 30
"""Lines above a header that are looked at."""


def split_at_header(
    lines: Iterable[tuple[int, str]], delimiters: str, file_name: str
) -> tuple[list[int], Iterator[tuple[int, str]]]:
    """Return the numbers of the titles above the header, and the lines from the header on.

    A title is a line with one cell alone, a comment begins with # and has another width than what
    follows. R leaves the corner of a header out, so that of one sample looks like a title: it
    is one only where what follows it has no number, as headers have none. Two or more comments as
    wide as the header, as cBioPortal writes them above its clinical tables, are comments, too.
    """
    remaining = iter(lines)
    first_lines = list(islice(remaining, MAX_LINES_ABOVE_HEADER + 2))
    n_above = next(
        (
            k
            for k, (numbered_line, next_line) in enumerate(pairwise(first_lines))
            if not _is_title(numbered_line[1], next_line[1], delimiters, file_name)
        ),
        0,
    )
    n_comments = _wide_comments([line for _, line in first_lines[n_above:]], delimiters, file_name)
    if n_comments:
        n_above += n_comments
    elif n_above and not _is_header(
        first_lines[n_above][1], first_lines[n_above + 1][1], delimiters, file_name
    ):
        n_above = 0
    titles = [number for number, line in first_lines[:n_above] if not line.startswith("#")]
    return titles, chain(first_lines[n_above:], remaining)


def _wide_comments(lines: Sequence[str], delimiters: str, file_name: str) -> int:
    """Count the comments, two or more and as wide as the header, that the lines begin with."""
    n_comments = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    if n_comments < 2:
        return 0
    widths = {_n_cells(line, delimiters, file_name) for line in lines[: n_comments + 1]}
    header = _split_cells(lines[n_comments], delimiters, file_name)
    return n_comments if len(widths) == 1 and not any(map(is_number, header)) else 0


def _is_title(line: str, next_line: str, delimiters: str, file_name: str) -> bool:
    filled = [bool(cell) for cell in _split_cells(line, delimiters, file_name)]
    if sum(filled) == 1 and (filled[0] or len(filled) > 2):
        return True
    return line.startswith("#") and _n_cells(line, delimiters, file_name) != _n_cells(
        next_line, delimiters, file_name
    )


def _is_header(line: str, next_line: str, delimiters: str, file_name: str) -> bool:
    """Tell whether a line has names alone, and as many as what follows, or one less."""
    wider = _n_cells(next_line, delimiters, file_name) - _n_cells(line, delimiters, file_name)
    return wider in (0, 1) and not any(
        map(is_number, _split_cells(line, delimiters, file_name)[1:])
    )


def _n_cells(line: str, delimiters: str, file_name: str) -> int:
    return len(_split_cells(line, delimiters, file_name))


def _split_cells(line: str, delimiters: str, file_name: str) -> list[str]:
    delimiter = max(delimiters, key=line.count)
    return [cell.strip() for cell in split_row(line, delimiter, file_name)]


# The first one is what the ending promises; the European CSV has semicolons.
DELIMITERS = {
    **dict.fromkeys((".tsv", ".txt", ".tab", ".chip"), "\t"),
    ".csv": ",;",
    # Of htseq-count, RSEM, Salmon and Cufflinks.
    **dict.fromkeys((".counts", ".count", ".results", ".sf", ".fpkm_tracking"), "\t"),
}
SPACES_ENDING = ".txt with spaces"
"""Stands for the ending of such a text; no file has it."""


def delimiters_of(ending: str) -> str:
    """Return the delimiters that an ending promises, the usual one first."""
    return " " if ending == SPACES_ENDING else DELIMITERS[ending]


# Whole cells of a table with semicolons, the first one left aside: it is a name.
CELL_WITH_POINT = re.compile(r';"?[-+]?\d*\.\d')
CELL_WITH_COMMA = re.compile(r'(;"?[-+]?\d*),(\d+(?:[eE][-+]?\d+)?"?)(?=;|$)')
# Commas that are not those of thousands, cells that may have one, and numbers without any.
DECIMAL_COMMA = re.compile(r';"?[-+]?(0|\d{4,}|),|,\d{1,2}(?!\d)|,\d{4,}|,\d+[eE]')
CELL_WITH_THOUSANDS = re.compile(r';"?([-+]?\d{1,3},\d{3})"?(?=;|$)')
CELL_BELOW_THOUSAND = re.compile(r';"?[-+]?[1-9]\d{0,2}"?(?=;|$)')
DELIMITER_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces", "|": "bars"}

MAX_GENES = 1_000_000
"""Arrays of methylation have 930,000 probes."""
USUAL_WIDTH_SHARE = 0.9
"""Share of the lines that are of one width, so that a header of another is none."""
MAX_BYTES_PER_CELL = 9
"""Bytes a cell up to which rows are kept: with the text and the numbers, less than four matrices.

Longer ones are cut twice, to be checked and to be read.
"""


@dataclass(frozen=True)
class Matrix:
    """A matrix as it lies in its file, either way round.

    Attributes
    ----------
    rows, columns : tuple of str
        Names as they stand in the file; '001' stays '001'.
    cells : (n_rows, n_columns) float64 array
        NaN where the text is no number.
    texts : dict
        Line and field in the file, from 0 -> text of each cell that is no finite number.
    lines : tuple of int
        Line of the file of each row.
    transposed : bool
        Rows of this record are columns of the file.
    line_word : str
        What `lines` counts: lines of text, or rows of a file that has no lines.
    doubt : str
        How its numbers were read, where they may have been meant otherwise.
    symbols : dict
        Gene -> symbol, where a column beside the ids has them.
    partial : tuple of str
        Samples that lack one of the file's parts altogether, whose cells there are NaN.
    parts : tuple of str
        Other matrices of the same file, such as layers.
    annotation : tuple of str
        Columns of the file that say something of its genes, and were taken away.
    corner : str
        Header of the first column.
    headers : tuple of tuple of str
        Other lines of names that the columns have, such as those above a header.
    has_counts : bool
        The file says that its values are counts.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Array
    texts: dict[tuple[int, int], str]
    lines: tuple[int, ...]
    transposed: bool = False
    line_word: str = "line"
    doubt: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    annotation: tuple[str, ...] = ()
    corner: str = ""
    headers: tuple[tuple[str, ...], ...] = ()
    has_counts: bool = False

    def without_partial_samples(self) -> Matrix:
        """Leave the samples out that lack a part; they are rows of this record."""
        if not self.partial:
            return self
        incomplete = set(self.partial)
        complete = [row for row, name in enumerate(self.rows) if name not in incomplete]
        n_complete = counted(len(complete), "sample")
        return replace(
            self,
            rows=tuple(self.rows[row] for row in complete),
            cells=self.cells[complete],
            texts={},
            lines=tuple(self.lines[row] for row in complete),
            partial=(),
            doubt=f"only {n_complete} of {len(self.rows)} are in every modality; the others are "
            "left out",
        )

    def text(self, row: int, column: int) -> str:
        """Return a cell as it stands in the file."""
        key = (column, row) if self.transposed else (row, column)
        return self.texts.get(key, f"{self.cells[row, column]:g}")

    def select(
        self,
        rows: Sequence[int],
        columns: Sequence[int] | None = None,
        column_names: tuple[str, ...] | None = None,
    ) -> Matrix:
        """Copy rows, and columns under other names; what is no number keeps its text."""
        columns = range(len(self.columns)) if columns is None else columns
        new_row, new_column = (
            {old: new for new, old in enumerate(positions)} for positions in (rows, columns)
        )
        texts = {}
        for key, text in self.texts.items():
            row, column = reversed(key) if self.transposed else key
            if row in new_row and column in new_column:
                texts[new_row[row], new_column[column]] = text
        cells = self.cells[np.ix_(list(rows), list(columns))]
        names = tuple(self.rows[row] for row in rows)
        return Matrix(
            names,
            self.columns if column_names is None else column_names,
            cells,
            texts,
            tuple(range(1, len(rows) + 1)),
            line_word="row",
        )

    def subset(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Return some rows and columns; each keeps its text and its line of the file."""
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
            lines=tuple(self.lines[k] for k in (columns if self.transposed else rows)),
        )

    def transpose(self) -> Matrix:
        """Exchange rows and columns."""
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            cells=self.cells.T,
            transposed=not self.transposed,
        )


@dataclass(frozen=True)
class _TableLines:
    """A delimited text: names of its header, lines and quotes of the rows that are not blank.

    `iterate_rows` goes through them once more; `has_quoted_cells` tells whether one has quotes
    elsewhere than around its first field; `title_lines` are the numbers of the titles above the
    header.
    """

    iterate_rows: Callable[[], Iterator[str]]
    delimiter: str
    header: list[str]
    line_numbers: list[int]
    has_quoted_cells: bool
    title_lines: list[int]


def parse_table(text: str | bytes, suffix: str, file_name: str) -> pd.DataFrame:
    """Parse a table of strings, be it of names alone; ``attrs["lines"]`` holds each row's line."""
    import pandas as pd

    table_lines = _split_lines(text, suffix, file_name, single_column=True)
    rows = (split_row(row, table_lines.delimiter, file_name) for row in table_lines.iterate_rows())
    cells = [[plain(cell.strip()) for cell in row] for row in rows]
    if table_lines.delimiter == ";":
        cells = _with_decimal_points(cells)
    # Spreadsheets leave empty columns at the right-hand side.
    width = max(
        n_cells
        for row in [table_lines.header, *cells]
        for n_cells, cell in enumerate(row, 1)
        if cell
    )
    table = pd.DataFrame(
        [r[1:width] for r in cells], columns=table_lines.header[1:width], dtype=object
    )
    table.index = pd.Index([row[0] for row in cells], name=table_lines.header[0], dtype=object)
    table.attrs["lines"] = table_lines.line_numbers
    return table


def _with_decimal_points(rows: list[list[str]]) -> list[list[str]]:
    """Return rows with points in the columns of numbers that have decimal commas.

    Three digits behind every comma may be thousands, and stay.
    """
    for column in range(len(rows[0])):
        filled = [row[column] for row in rows if not is_missing(row[column])]
        commas = [cell for cell in filled if "," in cell]
        if not commas or any("." in cell for cell in filled):
            continue
        are_numbers = all(is_number(cell.replace(",", ".")) for cell in filled)
        if are_numbers and not all(map(THOUSANDS_BY_COMMA.fullmatch, commas)):
            for row in rows:
                row[column] = row[column].replace(",", ".")
    return rows


def parse_matrix(text: str | bytes, suffix: str, file_name: str, first_line: int = 1) -> Matrix:
    """Parse names and numbers; what is not a number stays as text beside a NaN.

    A table with semicolons, as spreadsheets write it where the comma is the decimal sign, may have
    decimal commas if it has no decimal point; elsewhere they are no numbers. `first_line` is
    the line of the file on which the text begins.
    """
    _check_gene_count(text, file_name)
    table_lines = _split_lines(text, suffix, file_name, first_line)
    rows, doubt = _rows_with_points(table_lines, file_name)
    shape = (len(table_lines.line_numbers), len(table_lines.header))
    names, cells, texts = parse_cells(
        rows, shape, table_lines.delimiter, file_name, at_once=table_lines.has_quoted_cells
    )
    if table_lines.title_lines:
        top = table_lines.title_lines[0]
        bottom = table_lines.title_lines[-1]
        place = f"line {top}" if top == bottom else f"lines {top} to {bottom}"
        title = f"what stands above the header is taken for a title ({place})"
        doubt = "; ".join([*filter(None, [doubt]), title])
    return Matrix(
        names,
        tuple(table_lines.header[1:]),
        cells,
        texts,
        tuple(table_lines.line_numbers),
        doubt=doubt,
        corner=table_lines.header[0],
    )


def _check_gene_count(text: str | bytes, file_name: str) -> None:
    """Refuse more genes than any platform measures, before their numbers are read."""
    if isinstance(text, str):
        count = max(text.count("\n"), *map(text[: text.find("\n")].count, "\t,;"))
    else:
        header = text[: text.find(b"\n")]
        count = max(text.count(b"\n"), *map(header.count, (b"\t", b",", b";")))
    if count > MAX_GENES:
        message = f"has about {count:,} rows or columns, and at most {MAX_GENES:,} genes are read: "
        raise refuse(
            file_name, f"{message}leave out those that hardly vary, or sum them up to genes"
        )


def _rows_with_points(table_lines: _TableLines, file_name: str) -> tuple[Iterator[str], str]:
    """Return the rows with decimal points, and what speaks against that.

    Raises
    ------
    InvalidInput
        The commas are those of thousands: three digits follow each of them, at most three stand
        before it and not a zero, and other numbers have none.
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
        raise refuse(file_name, message, line=table_lines.line_numbers[first_row])
    return points, f"{message}decimal: it is read as {text.replace(',', '.')}"


def ending_by_content(text: str | bytes, suffix: str, file_name: str) -> str:
    """Return the ending whose delimiters a text has, which only for a .txt may be another one.

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
    """Tell whether a header and rows of one width have spaces between their fields."""
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
    """Find out what the lines of a text are; `single_column` allows a single column."""
    title_lines, lines = split_at_header(
        _filled_lines(text, suffix, first_line), delimiters_of(suffix), file_name
    )
    header_line, header = next(lines, (first_line, ""))
    if not header:
        raise refuse(file_name, "is empty; it needs a header line and at least one row")
    delimiter = _find_delimiter(
        header, suffix, f"{file_name}, line {header_line}", single_column=single_column
    )
    row_lines = list(lines) if _has_short_cells(text, delimiter) else None
    quotes = '"' in text if isinstance(text, str) else b'"' in text
    numbers, widths, quoted = _row_widths(
        lines if row_lines is None else row_lines, delimiter, quotes, file_name
    )
    if not numbers:
        raise refuse(
            file_name,
            "has a header line but no rows below it; is it cut off? Copy or export it again",
        )
    names = [name.strip() for name in split_row(header, delimiter, file_name)]
    if set(widths) == {len(names) + 1}:  # R's write.table leaves the corner out
        names.insert(0, "")
    elif set(widths) != {len(names)}:
        _refuse_widths(len(names), header_line, numbers, widths, file_name)
    reread = (
        partial(_reread_rows, text, numbers, first_line)
        if row_lines is None
        else partial(_stored_rows, row_lines)
    )
    return _TableLines(reread, delimiter, names, numbers, quoted, title_lines)


def _row_widths(
    lines: Iterable[tuple[int, str]], delimiter: str, quotes: bool, file_name: str
) -> tuple[list[int], list[int], bool]:
    """Return the number and the width of each row, and whether one has quotes behind its name."""
    numbers = list[int]()
    widths = list[int]()
    quoted = False
    for number, row in lines:
        numbers.append(number)
        widths.append(_n_fields(row, delimiter, file_name) if quotes else row.count(delimiter) + 1)
        quoted = quoted or (quotes and _has_quoted_cells(row))
    return numbers, widths, quoted


def _has_short_cells(text: str | bytes, delimiter: str) -> bool:
    """Tell, by what stands in its middle, whether the rows take little more than their numbers."""
    middle = len(text) // 2
    part = text[middle : middle + PIECE_LENGTH]
    cells = part.count(delimiter) if isinstance(part, str) else part.count(delimiter.encode())
    return len(part) <= MAX_BYTES_PER_CELL * cells


def _stored_rows(lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    return (line for _, line in lines)


def _reread_rows(text: str | bytes, line_numbers: list[int], first_line: int) -> Iterator[str]:
    """Cut the rows of a text once more; none is kept."""
    is_row = bytearray(line_numbers[-1] - first_line + 1)
    for number in line_numbers:
        is_row[number - first_line] = 1
    return compress(lines_of(text), is_row)


def _filled_lines(text: str | bytes, suffix: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank, each with its number."""
    blank = " " + delimiters_of(suffix)
    return ((n, line) for n, line in enumerate(lines_of(text), first_line) if line.strip(blank))


def _refuse_widths(
    expected: int, header_line: int, numbers: list[int], widths: list[int], file_name: str
) -> None:
    """Refuse lines of another width than the header, or a header that none is as wide as."""
    wrong_rows = [k for k, width in enumerate(widths) if width != expected]
    usual = Counter(widths).most_common(1)[0][0]
    n_usual = widths.count(usual)
    if usual > max(expected, 2) and n_usual >= USUAL_WIDTH_SHARE * len(widths):
        message = (
            f"{counted(expected, 'field')} where {n_usual} of {counted(len(widths), 'line')} "
            f"below have {usual}; take lines above the names of the columns out"
        )
        raise refuse(file_name, message, line=header_line)
    further_lines = (
        f" ({counted(len(wrong_rows) - 1, 'further line')})" if len(wrong_rows) > 1 else ""
    )
    raise refuse(
        file_name,
        f"{counted(widths[wrong_rows[0]], 'field')} where the header has "
        f"{expected}{further_lines}; the line "
        "is cut off, or a field holds the delimiter and needs quotes",
        line=numbers[wrong_rows[0]],
    )


def _find_delimiter(header: str, suffix: str, file_name: str, *, single_column: bool) -> str:
    """Return what the ending promises, or say what stands there instead."""
    declared = max(delimiters_of(suffix), key=header.count)
    promised = DELIMITER_NAMES[delimiters_of(suffix)[0]]
    most_frequent = max(DELIMITER_NAMES, key=header.count)
    if declared in header or (single_column and most_frequent not in header):
        return declared
    description = DELIMITER_NAMES[most_frequent] if most_frequent in header else "one column only"
    ending = {
        ",": " or rename it to .csv",
        ";": " or rename it to .csv",
        "\t": " or rename it to .tsv",
    }.get(most_frequent, "")
    raise refuse(
        file_name,
        f"the ending '{suffix}' promises {promised} between columns, but the header has "
        f"{description}; "
        f"save the file with {promised}{ending if most_frequent in header else ''}",
    )


def _n_fields(line: str, delimiter: str, file_name: str) -> int:
    end = end_of_quoted_name(line)
    if '"' in line[end:]:
        return len(split_row(line, delimiter, file_name))
    return line.count(delimiter, end) + 1


def _has_quoted_cells(line: str) -> bool:
    return line.find('"', end_of_quoted_name(line)) >= 0


ROWS_PER_BLOCK = 1000
"""Looked at together; the first ones tell nearly every other table."""
MIN_WHOLE_SHARE = 0.05
"""Least share of whole numbers; one in a thousand values of three decimals is whole."""
MIN_DIFFERENT_NUMBERS = 10
"""Least of different ones among them: -999 stands for a missing value."""
MIN_LARGEST_WHOLE = 500
MAX_SMALLEST_FRACTION = 2
"""Some lie on either side of a thousand: whole ones from 500 on, and fractions below 2."""
MIN_THIRD_DIGIT_SHARE = 0.8
"""Least share of fractions whose third digit is not 0; nine in ten if all digits are alike."""


def check_points(matrix: Matrix, file_name: str) -> None:
    """Refuse a table of which every point looks like one of thousands.

    Numbers below 1000 are whole then, and the others have three digits behind the point. A table of
    three decimals is told by the former, one of four digits by their third.

    Raises
    ------
    InvalidInput
        With one of the numbers, both ways.
    """
    cells = matrix.cells
    n_whole = 0
    n_third_digits = 0
    n_numbers = 0
    example = 0.0
    whole_numbers = set[float]()
    smallest_fraction = np.inf
    for start in range(0, len(cells), ROWS_PER_BLOCK):
        x = np.abs(cells[start : start + ROWS_PER_BLOCK])
        x = x[np.isfinite(x)]
        fractions = x[x % 1 > 0]
        thousands = np.rint(1000 * fractions)
        if (x >= 1000).any() or (fractions < 1).any() or (thousands / 1000 != fractions).any():
            return
        n_numbers = n_numbers + len(x)
        n_whole = n_whole + len(x) - len(fractions)
        n_third_digits += int((thousands % 10 > 0).sum())
        smallest_fraction = min(smallest_fraction, fractions.min(initial=np.inf))
        whole_numbers |= {*np.unique(x[x % 1 == 0]).tolist()}
        example = example or float(fractions.max(initial=0.0))
    is_varied = (
        len(whole_numbers) >= MIN_DIFFERENT_NUMBERS
        and max(whole_numbers) >= MIN_LARGEST_WHOLE
        and smallest_fraction < MAX_SMALLEST_FRACTION
    )
    if (
        is_varied
        and n_whole >= MIN_WHOLE_SHARE * n_numbers
        and n_third_digits > MIN_THIRD_DIGIT_SHARE * (n_numbers - n_whole)
    ):
        message = (
            f"{example:.3f} and every number with a point looks like one of thousands "
            f"({1000 * example:.0f}): three digits stand behind it, and the others are below "
        )
        raise refuse(file_name, f"{message}1000; export the table without such points")
