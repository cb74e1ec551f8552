"""Cells of text as correctly rounded numbers, read block by block.

Blocks of plain decimals (``-?[0-9]*[.]?[0-9]*``) go through SciPy's reader of Matrix Market files,
which takes one number a line by `fast_float`; all others go through pandas. SciPy would read
``1.5x`` as 1.5, and would read on behind the end of a text: so each line is compared with the
pattern above before. SciPy itself refuses lines without a digit. It adds each number to 0, so that
-0 needs its sign back.

Source: Lemire, Number parsing at a gigabyte per second, Softw. Pract. Exper. 51 (2021).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import input_error
from genesig.words import NUMBER

if TYPE_CHECKING:
    import pandas as pd

LINE_END = ord("\n")
MINUS = ord("-")


def parse_decimals(lines: str, n_numbers: int) -> Array | None:
    """Return the numbers of `n_numbers` lines as float64; None unless all are plain decimals.

    lines: each begins with a line end, and has one number. A number beyond float64 gives None, too.
    """
    text = lines.encode("utf-8")
    if not _has_only_decimals(text, n_numbers):
        return None
    import scipy.io

    header = b"%%%%MatrixMarket matrix array real general\n%d 1" % n_numbers
    try:
        cells: Array = scipy.io.mmread(BytesIO(b"".join([header, text, b"\n"])))[:, 0]
    except ValueError:
        return None
    _sign_zeros(cells, text)
    return cells if np.isfinite(cells).all() else None


def _has_only_decimals(text: bytes, n_numbers: int) -> bool:
    """Tell whether there are `n_numbers` lines of digits, each with a minus and a point at most."""
    other_letters = text.translate(None, b"0123456789")
    return (
        not other_letters.translate(None, b".-\n")
        and other_letters.count(b"\n") == n_numbers
        and b".." not in other_letters  # two points in one line, as its digits are gone
        and _signs_lead(text)
    )


def _signs_lead(text: bytes) -> bool:
    """Tell whether every minus begins a line; `text` begins with a line end, so is no minus."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return bool((letters[np.flatnonzero(letters == MINUS) - 1] == LINE_END).all())


def _sign_zeros(cells: Array, text: bytes) -> None:
    """Restore the sign of zeros that are written as -0, in place; text: as in `parse_decimals`."""
    zeros = np.flatnonzero(cells == 0)
    if zeros.size:
        letters = np.frombuffer(text, dtype=np.uint8)
        first_letters = letters[np.flatnonzero(letters == LINE_END)[zeros] + 1]
        cells[zeros[first_letters == MINUS]] = -0.0


# first field of each row, numbers (n_rows, width - 1), texts by (row, column): see `parse_cells`
ParsedBlock = tuple[list[str], Array, dict[tuple[int, int], str]]

CELLS_PER_BLOCK = 50_000  # cells at a time, so that intermediate texts take little memory
OPEN_QUOTE = "has a quote that is left open; close every quote, or export the table again"


def split_row(row: str, delimiter: str, file_name: str) -> list[str]:
    """Return the fields of a row; quotes around a field are taken off.

    Raises InvalidInput: a quote is left open.
    """
    if '"' not in row:
        return row.split(delimiter)
    try:
        return next(csv.reader([row], delimiter=delimiter))
    except csv.Error:
        raise input_error(file_name, OPEN_QUOTE) from None


def parse_cells(
    rows: Iterable[str], shape: tuple[int, int], delimiter: str, file_name: str, *, at_once: bool
) -> tuple[tuple[str, ...], Array, dict[tuple[int, int], str]]:
    """Return the first field of each row, the numbers of the others, and the texts of other cells.

    rows: taken block by block, and not kept.
    shape (n_rows, width): number of rows, and of fields of each.
    at_once: whether all rows are one block, as quoted cells may go on in the next row.

    Raises InvalidInput: a quote is left open.

    Returns names; cells (n_rows, width - 1): correctly rounded; NaN where the text is no number;
    texts: row and column -> text of each cell that is no finite number.
    """
    n_rows, width = shape
    rows_per_block = n_rows if at_once else max(1, CELLS_PER_BLOCK // width)
    rows = iter(rows)
    names = list[str]()
    cells = np.empty((n_rows, width - 1))
    texts: dict[tuple[int, int], str] = {}
    for start in range(0, n_rows, rows_per_block):
        block = list(islice(rows, rows_per_block))
        plain_block = None
        if n_rows * width > CELLS_PER_BLOCK:  # a small table is not worth the import of scipy.io
            plain_block = _parse_plain_decimals(block, delimiter, width)
        block_names, block_cells, block_texts = plain_block or _parse_with_pandas(
            block, delimiter, file_name
        )
        if block_cells.shape != (len(block), width - 1):  # a quote has joined cells or rows
            raise input_error(file_name, OPEN_QUOTE)
        names += block_names
        cells[start : start + rows_per_block] = block_cells
        texts |= {(start + row, column): text for (row, column), text in block_texts.items()}
    return tuple(names), cells, texts


def end_of_quoted_name(row: str) -> int:
    """Return the position behind a quoted first field; 0 if the first field is not quoted."""
    return row.find('"', 1) + 1 if row.startswith('"') else 0


def parse_numbers(frame: pd.DataFrame) -> tuple[Array, dict[tuple[int, int], str]]:
    """Return a table as float64, and {(row, column): text} of the cells that are no finite number.

    A column of the table has numbers, or texts and numbers, of which texts are parsed.
    """
    text_columns = np.array(
        [k for k, dtype in enumerate(frame.dtypes) if dtype.kind not in "if"], int
    )
    numeric_columns = np.setdiff1d(np.arange(frame.shape[1]), text_columns)
    cells = np.empty(frame.shape)
    cells[:, numeric_columns] = frame.iloc[:, numeric_columns].to_numpy(dtype=np.float64)
    for k in text_columns:
        # Not pd.to_numeric, which misses last digits and dies of hundreds of them.
        column = frame.iloc[:, k].astype(str)
        cells[:, k] = [float(text) if NUMBER.fullmatch(text) else np.nan for text in column]
    not_finite = ~np.isfinite(cells)
    texts: dict[tuple[int, int], str] = {}
    for k in map(int, np.flatnonzero(not_finite.any(axis=0))):
        column = frame.iloc[:, k].tolist()
        texts |= {(int(row), k): str(column[row]) for row in np.flatnonzero(not_finite[:, k])}
    return cells, texts


def exact_float_options() -> dict[str, Any]:
    """Return the options of `pandas.read_csv` for correct rounding, its default since 3.1."""
    import pandas as pd

    version = tuple(map(int, pd.__version__.split(".")[:2]))
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _parse_plain_decimals(rows: list[str], delimiter: str, width: int) -> ParsedBlock | None:
    """Return the cells of rows whose numbers are all plain decimals; None for other rows.

    width: fields of each row; another number of fields gives None.
    """
    names_and_values = [
        _split_quoted_name(row, delimiter) if row[:1] == '"' else row.split(delimiter, 1)
        for row in rows
    ]
    lines = delimiter.join(["", *(values for _, values in names_and_values)]).replace(
        delimiter, "\n"
    )
    cells = parse_decimals(lines, len(rows) * (width - 1))
    names = [name.strip() for name, _ in names_and_values]
    return None if cells is None else (names, cells.reshape(len(rows), -1), {})


def _split_quoted_name(row: str, delimiter: str) -> list[str]:
    """Return the name in the quotes of a first field, and the row behind the next delimiter."""
    end = end_of_quoted_name(row)
    delimiter_position = row.index(delimiter, end)
    # A text between quote and delimiter is kept, so that it makes the number behind it faulty.
    return [row[1 : end - 1], row[end + (delimiter_position == end) :]]


def _parse_with_pandas(rows: list[str], delimiter: str, file_name: str) -> ParsedBlock:
    """Return the cells of rows by pandas, which knows quotes and numbers of all forms."""
    import pandas as pd

    def read(dtypes: Any) -> pd.DataFrame:
        frame: pd.DataFrame = pd.read_csv(
            StringIO("\n".join(rows)),
            sep=delimiter,
            header=None,
            dtype=dtypes,
            keep_default_na=False,
            na_values=[],
            low_memory=False,
            **exact_float_options(),
        )
        return frame

    try:
        frame = read({0: str})
        if np.isinf(frame.select_dtypes("float")).any(axis=None):
            frame = read(str)  # as text, a number too large for float64 can be quoted in a message
    except pd.errors.ParserError as error:
        message = OPEN_QUOTE if "inside string" in str(error) else f"cannot be parsed: {error}"
        raise input_error(file_name, message) from None
    cells, texts = parse_numbers(frame.iloc[:, 1:])
    return list(frame[0].str.strip()), cells, texts
