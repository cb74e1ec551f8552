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
from genesig.data.files.cells import end_of_name, parse_cells, split_row
from genesig.errors import refuse
from genesig.results.files import plain
from genesig.words import counted, is_number

if TYPE_CHECKING:
    import pandas as pd

PIECE = 1 << 18
"""Bytes or letters at a time: neither a second text nor all its lines are ever there at once."""


def lines_of(text: str | bytes) -> Iterator[str]:
    """Return the lines of a string, or those of UTF-8 whatever their ends, without its mark."""
    if isinstance(text, str):
        pieces = pieces_of(text, "\n")
    else:
        mark = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        pieces = (unix(piece.decode()) for piece in pieces_of(text, b"\n", mark))
    return chain.from_iterable(piece.removesuffix("\n").split("\n") for piece in pieces)


def pieces_of(text: AnyStr, end: AnyStr, start: int = 0) -> Iterator[AnyStr]:
    """Yield a text in pieces that end where a line does."""
    while start < len(text):
        stop = text.find(end, start + PIECE) + 1 or len(text)
        yield text[start:stop]
        start = stop


def unix(text: str) -> str:
    """Make each line end that of Unix; a carriage return at the end has to have its line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


MOST = 30
"""Lines above a header that are looked at."""


def above_header(
    lines: Iterable[tuple[int, str]], delimiters: str, where: str
) -> tuple[list[int], Iterator[tuple[int, str]]]:
    """Return the numbers of the titles above the header, and the lines from the header on.

    A title is a line with one cell alone, a comment begins with # and has another width than what
    follows. R leaves the corner of a header out, so that of one sample looks like a title: it
    is one only where what follows it has no number, as headers have none. Two or more comments as
    wide as the header, as cBioPortal writes them above its clinical tables, are comments, too.
    """
    rest = iter(lines)
    top = list(islice(rest, MOST + 2))
    at = next(
        (
            k
            for k, (one, below) in enumerate(pairwise(top))
            if not _is_title(one[1], below[1], delimiters, where)
        ),
        0,
    )
    n_comments = _wide_comments([line for _, line in top[at:]], delimiters, where)
    if n_comments:
        at += n_comments
    elif at and not _is_header(top[at][1], top[at + 1][1], delimiters, where):
        at = 0
    titles = [number for number, line in top[:at] if not line.startswith("#")]
    return titles, chain(top[at:], rest)


def _wide_comments(lines: Sequence[str], delimiters: str, where: str) -> int:
    """Count the comments, two or more and as wide as the header, that the lines begin with."""
    n_comments = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    if n_comments < 2:
        return 0
    widths = {_cells_of(line, delimiters, where) for line in lines[: n_comments + 1]}
    header = _cells(lines[n_comments], delimiters, where)
    return n_comments if len(widths) == 1 and not any(map(is_number, header)) else 0


def _is_title(line: str, below: str, delimiters: str, where: str) -> bool:
    filled = [bool(cell) for cell in _cells(line, delimiters, where)]
    if sum(filled) == 1 and (filled[0] or len(filled) > 2):
        return True
    return line.startswith("#") and _cells_of(line, delimiters, where) != _cells_of(
        below, delimiters, where
    )


def _is_header(line: str, below: str, delimiters: str, where: str) -> bool:
    """Tell whether a line has names alone, and as many as what follows, or one less."""
    wider = _cells_of(below, delimiters, where) - _cells_of(line, delimiters, where)
    return wider in (0, 1) and not any(map(is_number, _cells(line, delimiters, where)[1:]))


def _cells_of(line: str, delimiters: str, where: str) -> int:
    return len(_cells(line, delimiters, where))


def _cells(line: str, delimiters: str, where: str) -> list[str]:
    delimiter = max(delimiters, key=line.count)
    return [cell.strip() for cell in split_row(line, delimiter, where)]


# The first one is what the ending promises; the European CSV has semicolons.
DELIMITERS = {
    **dict.fromkeys((".tsv", ".txt", ".tab", ".chip"), "\t"),
    ".csv": ",;",
    # Of htseq-count, RSEM and Salmon.
    **dict.fromkeys((".counts", ".count", ".results", ".sf"), "\t"),
}
WITH_SPACES = ".txt with spaces"
"""Stands for the ending of such a text; no file has it."""


def delimiters_of(ending: str) -> str:
    """Return the delimiters that an ending promises, the usual one first."""
    return " " if ending == WITH_SPACES else DELIMITERS[ending]


# Whole cells of a table with semicolons, the first one left aside: it is a name.
WITH_POINT = re.compile(r';"?[-+]?\d*\.\d')
WITH_COMMA = re.compile(r'(;"?[-+]?\d*),(\d+(?:[eE][-+]?\d+)?"?)(?=;|$)')
# Commas that are not those of thousands, cells that may have one, and numbers without any.
DECIMALS = re.compile(r';"?[-+]?(0|\d{4,}|),|,\d{1,2}(?!\d)|,\d{4,}|,\d+[eE]')
THOUSAND = re.compile(r';"?([-+]?\d{1,3},\d{3})"?(?=;|$)')
WHOLE = re.compile(r';"?[-+]?[1-9]\d{0,2}"?(?=;|$)')
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "spaces", "|": "bars"}

MOST_GENES = 1_000_000
"""Arrays of methylation have 930,000 probes."""
MOST_OF_LINES = 0.9
"""Share of the lines that are of one width, so that a header of another is none."""
SHORT = 9
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
    turned : bool
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
    turned: bool = False
    line_word: str = "line"
    doubt: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    annotation: tuple[str, ...] = ()
    corner: str = ""
    headers: tuple[tuple[str, ...], ...] = ()
    has_counts: bool = False

    def whole(self) -> Matrix:
        """Leave the samples out that lack a part; they are rows of this record."""
        if not self.partial:
            return self
        lacks = set(self.partial)
        kept = [row for row, name in enumerate(self.rows) if name not in lacks]
        what = f"only {counted(len(kept), 'sample')} of {len(self.rows)} are in every modality; the"
        return replace(
            self,
            rows=tuple(self.rows[row] for row in kept),
            cells=self.cells[kept],
            texts={},
            lines=tuple(self.lines[row] for row in kept),
            partial=(),
            doubt=f"{what} others are left out",
        )

    def text(self, row: int, column: int) -> str:
        """Return a cell as it stands in the file."""
        place = (column, row) if self.turned else (row, column)
        return self.texts.get(place, f"{self.cells[row, column]:g}")

    def chosen(
        self,
        rows: Sequence[int],
        columns: Sequence[int] | None = None,
        genes: tuple[str, ...] | None = None,
    ) -> Matrix:
        """Copy rows, and columns under other names; what is no number keeps its text."""
        columns = range(len(self.columns)) if columns is None else columns
        at_row, at_column = ({old: new for new, old in enumerate(o)} for o in (rows, columns))
        texts = {}
        for place, text in self.texts.items():
            row, column = reversed(place) if self.turned else place
            if row in at_row and column in at_column:
                texts[at_row[row], at_column[column]] = text
        cells = self.cells[np.ix_(list(rows), list(columns))]
        names = tuple(self.rows[row] for row in rows)
        return Matrix(
            names,
            self.columns if genes is None else genes,
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
        for place, text in self.texts.items():
            row, column = reversed(place) if self.turned else place
            if row in new_row and column in new_column:
                cell = (new_row[row], new_column[column])
                texts[cell[::-1] if self.turned else cell] = text
        return replace(
            self,
            rows=tuple(self.rows[row] for row in rows),
            columns=tuple(self.columns[column] for column in columns),
            cells=self.cells[np.ix_(list(rows), list(columns))],
            texts=texts,
            lines=tuple(self.lines[k] for k in (columns if self.turned else rows)),
        )

    def turn(self) -> Matrix:
        """Exchange rows and columns."""
        return replace(
            self, rows=self.columns, columns=self.rows, cells=self.cells.T, turned=not self.turned
        )


@dataclass(frozen=True)
class _Lines:
    """A delimited text: names of its header, lines and quotes of the rows that are not blank.

    `rows` goes through them once more; `quoted` tells whether one has quotes elsewhere than around
    its first field; `above` are the numbers of the titles above the header.
    """

    rows: Callable[[], Iterator[str]]
    delimiter: str
    names: list[str]
    numbers: list[int]
    quoted: bool
    above: list[int]


def parse_table(text: str | bytes, suffix: str, where: str) -> pd.DataFrame:
    """Parse a table of strings, be it of names alone; ``attrs["lines"]`` holds each row's line."""
    import pandas as pd

    lines = _lines(text, suffix, where, alone=True)
    rows = (split_row(row, lines.delimiter, where) for row in lines.rows())
    cells = [[plain(cell.strip()) for cell in row] for row in rows]
    # Spreadsheets leave empty columns at the right-hand side.
    width = max(k for row in [lines.names, *cells] for k, cell in enumerate(row, 1) if cell)
    table = pd.DataFrame([r[1:width] for r in cells], columns=lines.names[1:width], dtype=object)
    table.index = pd.Index([row[0] for row in cells], name=lines.names[0], dtype=object)
    table.attrs["lines"] = lines.numbers
    return table


def parse_matrix(text: str | bytes, suffix: str, where: str, first: int = 1) -> Matrix:
    """Parse names and numbers; what is not a number stays as text beside a NaN.

    A table with semicolons, as spreadsheets write it where the comma is the decimal sign, may have
    decimal commas if it has no decimal point; elsewhere they are no numbers. `first` is the line
    of the file on which the text begins.
    """
    _check_count(text, where)
    lines = _lines(text, suffix, where, first)
    rows, doubt = _with_points(lines, where)
    shape = (len(lines.numbers), len(lines.names))
    names, cells, texts = parse_cells(rows, shape, lines.delimiter, where, at_once=lines.quoted)
    if lines.above:
        first = lines.above[0]
        last = lines.above[-1]
        at = f"line {first}" if first == last else f"lines {first} to {last}"
        title = f"what stands above the header is taken for a title ({at})"
        doubt = "; ".join([*filter(None, [doubt]), title])
    return Matrix(
        names,
        tuple(lines.names[1:]),
        cells,
        texts,
        tuple(lines.numbers),
        doubt=doubt,
        corner=lines.names[0],
    )


def _check_count(text: str | bytes, where: str) -> None:
    """Refuse more genes than any platform measures, before their numbers are read."""
    if isinstance(text, str):
        count = max(text.count("\n"), *map(text[: text.find("\n")].count, "\t,;"))
    else:
        first = text[: text.find(b"\n")]
        count = max(text.count(b"\n"), *map(first.count, (b"\t", b",", b";")))
    if count > MOST_GENES:
        what = f"has about {count:,} rows or columns, and at most {MOST_GENES:,} genes are read: "
        raise refuse(where, f"{what}leave out those that hardly vary, or sum them up to genes")


def _with_points(lines: _Lines, where: str) -> tuple[Iterator[str], str]:
    """Return the rows with decimal points, and what speaks against that.

    Raises
    ------
    InvalidInput
        The commas are those of thousands: three digits follow each of them, at most three stand
        before it and not a zero, and other numbers have none.
    """
    if lines.delimiter != ";" or any(map(WITH_POINT.search, lines.rows())):
        return lines.rows(), ""
    commas = map(WITH_COMMA.search, lines.rows())
    at = next((k for k, found in enumerate(commas) if found), None)
    if at is None:
        return lines.rows(), ""
    points = (WITH_COMMA.sub(r"\1.\2", row) for row in lines.rows())
    if any(map(DECIMALS.search, lines.rows())):
        return points, ""
    example = THOUSAND.search(next(islice(lines.rows(), at, None)))
    text = example[1] if example else ""
    what = f"'{text}' and every comma here may be one of thousands ({text.replace(',', '')}) or "
    if any(map(WHOLE.search, lines.rows())):
        what += "a decimal one; export the table without the former and with decimal points"
        raise refuse(where, what, line=lines.numbers[at])
    return points, f"{what}decimal: it is read as {text.replace(',', '.')}"


def ending_by_content(text: str | bytes, suffix: str, where: str) -> str:
    """Return the ending whose delimiters a text has, which only for a .txt may be another one.

    Without tabs it is .csv, as the run table of NCBI's SRA, or `WITH_SPACES`, as R writes by
    default: names in quotes, and a header that is as wide as the rows or one field less.
    """
    if suffix != ".txt":
        return suffix
    lines = [line for _, line in islice(_filled(text, suffix), MOST + 2)]
    if not lines or any("\t" in line for line in lines):
        return suffix
    if _has_spaces(lines, where):
        return WITH_SPACES
    return ".csv" if any(sign in lines[-1] for sign in DELIMITERS[".csv"]) else suffix


def _has_spaces(lines: Sequence[str], where: str) -> bool:
    """Tell whether a header and rows of one width have spaces between their fields."""
    if any(sign in lines[0] for sign in ",;"):
        return False
    header, *widths = (len(split_row(line, " ", where)) for line in lines)
    return len(set(widths)) == 1 and widths[0] > 2 and widths[0] - header in (0, 1)


def _lines(
    text: str | bytes, suffix: str, where: str, begin: int = 1, *, alone: bool = False
) -> _Lines:
    """Find out what the lines of a text are; `alone` allows a single column."""
    above, lines = above_header(_filled(text, suffix, begin), delimiters_of(suffix), where)
    first, header = next(lines, (begin, ""))
    if not header:
        raise refuse(where, "is empty; it needs a header line and at least one row")
    delimiter = _delimiter(header, suffix, f"{where}, line {first}", alone=alone)
    kept = list(lines) if _is_short(text, delimiter) else None
    quotes = '"' in text if isinstance(text, str) else b'"' in text
    numbers, widths, quoted = _shape(lines if kept is None else kept, delimiter, quotes, where)
    if not numbers:
        raise refuse(
            where,
            "has a header line but no rows below it; is it cut off? Copy or export it again",
        )
    names = [name.strip() for name in split_row(header, delimiter, where)]
    if set(widths) == {len(names) + 1}:  # R's write.table leaves the corner out
        names.insert(0, "")
    elif set(widths) != {len(names)}:
        _refuse_widths(len(names), first, numbers, widths, where)
    again = partial(_again, text, numbers, begin) if kept is None else partial(_kept, kept)
    return _Lines(again, delimiter, names, numbers, quoted, above)


def _shape(
    lines: Iterable[tuple[int, str]], delimiter: str, quotes: bool, where: str
) -> tuple[list[int], list[int], bool]:
    """Return the number and the width of each row, and whether one has quotes behind its name."""
    numbers = list[int]()
    widths = list[int]()
    quoted = False
    for number, row in lines:
        numbers.append(number)
        widths.append(_width(row, delimiter, where) if quotes else row.count(delimiter) + 1)
        quoted = quoted or (quotes and _is_quoted(row))
    return numbers, widths, quoted


def _is_short(text: str | bytes, delimiter: str) -> bool:
    """Tell, by what stands in its middle, whether the rows take little more than their numbers."""
    middle = len(text) // 2
    part = text[middle : middle + PIECE]
    cells = part.count(delimiter) if isinstance(part, str) else part.count(delimiter.encode())
    return len(part) <= SHORT * cells


def _kept(lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    return (line for _, line in lines)


def _again(text: str | bytes, numbers: list[int], begin: int) -> Iterator[str]:
    """Cut the rows of a text once more; none is kept."""
    filled = bytearray(numbers[-1] - begin + 1)
    for number in numbers:
        filled[number - begin] = 1
    return compress(lines_of(text), filled)


def _filled(text: str | bytes, suffix: str, begin: int = 1) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank, each with its number."""
    blank = " " + delimiters_of(suffix)
    return ((n, line) for n, line in enumerate(lines_of(text), begin) if line.strip(blank))


def _refuse_widths(
    expected: int, header_line: int, numbers: list[int], widths: list[int], where: str
) -> None:
    """Refuse lines of another width than the header, or a header that none is as wide as."""
    wrong = [k for k, width in enumerate(widths) if width != expected]
    usual = Counter(widths).most_common(1)[0][0]
    n_usual = widths.count(usual)
    if usual > max(expected, 2) and n_usual >= MOST_OF_LINES * len(widths):
        message = f"{counted(expected, 'field')} where {n_usual} of {counted(len(widths), 'line')} "
        message += f"below have {usual}; take lines above the names of the columns out"
        raise refuse(where, message, line=header_line)
    further = f" ({counted(len(wrong) - 1, 'further line')})" if len(wrong) > 1 else ""
    raise refuse(
        where,
        f"{counted(widths[wrong[0]], 'field')} where the header has {expected}{further}; the line "
        "is cut off, or a field holds the delimiter and needs quotes",
        line=numbers[wrong[0]],
    )


def _delimiter(header: str, suffix: str, where: str, *, alone: bool) -> str:
    """Return what the ending promises, or say what stands there instead."""
    declared = max(delimiters_of(suffix), key=header.count)
    needed = NAMES[delimiters_of(suffix)[0]]
    found = max(NAMES, key=header.count)
    if declared in header or (alone and found not in header):
        return declared
    what = NAMES[found] if found in header else "one column only"
    ending = {
        ",": " or rename it to .csv",
        ";": " or rename it to .csv",
        "\t": " or rename it to .tsv",
    }.get(found, "")
    raise refuse(
        where,
        f"the ending '{suffix}' promises {needed} between columns, but the header has {what}; "
        f"save the file with {needed}{ending if found in header else ''}",
    )


def _width(line: str, delimiter: str, where: str) -> int:
    end = end_of_name(line)
    if '"' in line[end:]:
        return len(split_row(line, delimiter, where))
    return line.count(delimiter, end) + 1


def _is_quoted(line: str) -> bool:
    return line.find('"', end_of_name(line)) >= 0


ROWS = 1000
"""Looked at together; the first ones tell nearly every other table."""
WHOLE_NUMBER = 0.05
"""Least share of whole numbers; one in a thousand values of three decimals is whole."""
DIFFERENT = 10
"""Least of different ones among them: -999 stands for a missing value."""
BELOW = 500
ABOVE = 2
"""Some lie on either side of a thousand: whole ones from 500 on, and fractions below 2."""
THIRD = 0.8
"""Least share of fractions whose third digit is not 0; nine in ten if all digits are alike."""


def check_points(matrix: Matrix, where: str) -> None:
    """Refuse a table of which every point looks like one of thousands.

    Numbers below 1000 are whole then, and the others have three digits behind the point. A table of
    three decimals is told by the former, one of four digits by their third.

    Raises
    ------
    InvalidInput
        With one of the numbers, both ways.
    """
    cells = matrix.cells
    whole = 0
    third = 0
    known = 0
    example = 0.0
    numbers = set[float]()
    least = np.inf
    for start in range(0, len(cells), ROWS):
        x = np.abs(cells[start : start + ROWS])
        x = x[np.isfinite(x)]
        parted = x[x % 1 > 0]
        thousands = np.rint(1000 * parted)
        if (x >= 1000).any() or (parted < 1).any() or (thousands / 1000 != parted).any():
            return
        known = known + len(x)
        whole = whole + len(x) - len(parted)
        third += int((thousands % 10 > 0).sum())
        least = min(least, parted.min(initial=np.inf))
        numbers |= {*np.unique(x[x % 1 == 0]).tolist()}
        example = example or float(parted.max(initial=0.0))
    varied = len(numbers) >= DIFFERENT and max(numbers) >= BELOW and least < ABOVE
    if varied and whole >= WHOLE_NUMBER * known and third > THIRD * (known - whole):
        what = f"{example:.3f} and every number with a point looks like one of thousands "
        what += f"({1000 * example:.0f}): three digits stand behind it, and the others are below "
        raise refuse(where, f"{what}1000; export the table without such points")
