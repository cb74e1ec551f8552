"""From bytes to text (UTF-8 or UTF-16), and from typed tables to tables of strings."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix, TextTable, pieces_of, with_unix_line_ends
from genesig.errors import input_error

if TYPE_CHECKING:
    import pandas as pd

CONFLICT_MARK = b"\n<<<<<<< "  # git writes it, and a name of a branch, where two versions differ
ADAT = (
    "an ADAT file of SomaScan; save its values as a table (.tsv), one row for each sample with its "
    "name first"
)
# First bytes of a file that is no text -> end of the message "is ...".
OTHER_FILE_TYPES = {
    b"PK\x03\x04": "an Excel workbook or zip file; name it .xlsx, or save the sheet as "
    "tab-separated text",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as tab-separated text",
    b"<!DOCTYPE html": "a web page (HTML); download the file itself",
    b"<html": "a web page (HTML); download the file itself",
    b"version https://git-lfs": "a pointer of Git LFS; get the file itself by git lfs pull",
    b"%PDF": "a PDF; export the table itself as tab-separated text",
    b"\x1f\x8b": "packed twice; unpack it once, by gunzip",
    b"BZh": "packed by bzip2; unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz; unpack it, or pack it by gzip",
    **dict.fromkeys((b"!Checksum", b"^HEADER"), ADAT),
    b"<Header>": "an RCC file of one NanoString lane; export all lanes as one table, by nSolver "
    "(.csv)",
    b"\x89HDF": "an HDF5 file; if it is an AnnData file, rename it to .h5ad",
}
UTF_16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
SAMPLED_BYTES = 200  # bytes of a text without a mark that tell if each letter takes two of them


def as_utf8(content: bytes, file_name: str) -> bytes:
    """Return the bytes of a text in UTF-8; UTF-16 (Excel's "Unicode text") is converted.

    Raises InvalidInput: UTF-16 that breaks off within a letter.
    """
    encoding = UTF_16_MARKS.get(content[:2]) or _unmarked_utf_16(content[:SAMPLED_BYTES])
    if not encoding:
        return content
    try:
        return content.decode(encoding).removeprefix("\N{BYTE ORDER MARK}").encode()
    except UnicodeError:
        message = "is UTF-16 text that is cut off or damaged; save it again, as UTF-8"
        raise input_error(file_name, message) from None


def _unmarked_utf_16(start: bytes) -> str:
    """Return the encoding of a text without a mark whose every second byte is zero; else ''."""
    even_bytes = start[::2]
    odd_bytes = start[1::2]
    if len(odd_bytes) < 2 or any(even_bytes) == any(odd_bytes):
        return ""
    letters = odd_bytes if any(odd_bytes) else even_bytes
    encoding = "utf-16-be" if letters is odd_bytes else "utf-16-le"
    return encoding if all(letters) else ""


def as_text(content: bytes, file_name: str, *, legacy_encoding: bool = False) -> str:
    """Return the text of bytes in UTF-8 or UTF-16, without its mark and with Unix line ends.

    If `legacy_encoding`, other bytes are Windows 1252 (µ, é, dashes and quotes), or Latin-1, as
    scanners and GEO wrote before UTF-8.
    """
    content = as_utf8(content, file_name)
    if not legacy_encoding:
        check_text(content, file_name)
        return with_unix_line_ends(content.decode("utf-8-sig"))
    _check_kind(content, file_name)
    for encoding in ("utf-8-sig", "cp1252"):
        with suppress(UnicodeDecodeError):
            return with_unix_line_ends(content.decode(encoding))
    return with_unix_line_ends(content.decode("latin-1"))


def check_text(content: bytes, file_name: str) -> None:
    """Raise InvalidInput for another kind of file, zero bytes, and bytes that are not UTF-8."""
    _check_kind(content, file_name)
    start = 0
    for piece in () if content.isascii() else pieces_of(content, b"\n"):
        try:
            piece.decode()
        except UnicodeDecodeError as error:
            message = f"byte {piece[error.start]:#04x} is not UTF-8; save the file as UTF-8 text"
            raise input_error(
                file_name, message, _line_number(content, start + error.start)
            ) from None
        start += len(piece)


def opening_text(content: bytes) -> str:
    """Return the first letters of a text, in which formats look for their first words."""
    return with_unix_line_ends(content[:100_000].decode("utf-8-sig", errors="replace"))


def _check_kind(content: bytes, file_name: str) -> None:
    """Raise InvalidInput for other file types, for marks of git's conflicts, for zero bytes."""
    content = content.removeprefix("\N{BYTE ORDER MARK}".encode())
    opening = content[:30].lstrip()
    for magic, description in OTHER_FILE_TYPES.items():
        # Tags of HTML in any case; the first cell of a table may be BZH001.
        is_tag = magic.startswith(b"<") and opening.lower().startswith(magic.lower())
        if is_tag or opening.startswith(magic):
            raise input_error(file_name, f"is {description}")
    begins_with_mark = content.startswith(CONFLICT_MARK[1:])
    start = 0 if begins_with_mark else content.find(CONFLICT_MARK) + 1
    if begins_with_mark or start:
        mark = content[start : start + 39].split(b"\n")[0].decode(errors="replace").strip()
        message = f"'{mark}' is git's mark of a conflict of two versions; choose one of them"
        raise input_error(file_name, message, _line_number(content, start))
    if b"\0" in content:
        raise input_error(
            file_name,
            "holds zero bytes, as after a download or a disk that failed; copy or download it "
            "again",
            _line_number(content, content.index(b"\0")),
        )


def _line_number(content: bytes, offset: int) -> int:
    """Return the number of the line, from 1, that holds a byte."""
    return content.count(b"\n", 0, offset) + 1


def text_of(value: Any) -> str:
    """Return a cell as text as in a sample table: '' for a missing one, 40 for 40.0."""
    if value is None or value != value or str(value) in ("<NA>", "NaT"):
        return ""
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value).strip()


def text_table(frame: pd.DataFrame, index: str) -> TextTable:
    """Return a table of strings, whose lines count its rows from 1.

    index: what a row is, which names the index: "sample" or "gene".
    """
    import pandas as pd

    cells = {str(name): list(map(text_of, frame[name].tolist())) for name in frame.columns}
    names = pd.Index([text_of(name) for name in frame.index], name=index, dtype=object)
    return TextTable(pd.DataFrame(cells, index=names, dtype=object), range(1, len(names) + 1))


def number_matrix(rows: Iterable[Any], columns: Iterable[Any], cells: Any) -> Matrix:
    """Return the matrix of a file without lines, such as a workbook: messages count its rows."""
    values = np.asarray(cells, dtype=np.float64)
    names = tuple(text_of(name) for name in rows)
    lines = tuple(range(1, len(names) + 1))
    return Matrix(names, tuple(map(text_of, columns)), values, {}, lines, line_word="row")
