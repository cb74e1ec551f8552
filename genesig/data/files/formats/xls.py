"""Files named .xls: texts with tabs, as many programs write them, and workbooks of today.

Sequencing companies and portals name tab-separated text .xls, so that spreadsheet programs open it.
Workbooks of before 2007 and web pages are refused with a way on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.excel import EXCEL, OLD, ZIP
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.table import TABLES
from genesig.data.files.formats.text import as_utf8, opening
from genesig.errors import refuse

if TYPE_CHECKING:
    import pandas as pd

SAVE = (
    "open it in a spreadsheet program, and save the sheet as .xlsx or as tab-separated text (.tsv)"
)
XML_SHEET = "urn:schemas-microsoft-com:office:spreadsheet"


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read a text with tabs or commas, or a sheet of a workbook, that is named .xls."""
    content, kind = _content_and_format(content, where, part)
    return kind.matrix(content, where, part)


def table(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read the same as a table of samples or genes."""
    content, kind = _content_and_format(content, where, part)
    assert kind.samples is not None
    return kind.samples(content, where, part)


def _content_and_format(content: bytes, where: str, part: str | None) -> tuple[bytes, Format]:
    """Return what the file holds, texts in UTF-8, and its true format.

    Raises
    ------
    InvalidInput
        An old workbook, a web page, or a part of a text.
    """
    if content.startswith(ZIP):
        return content, EXCEL
    if content.startswith(OLD):
        raise refuse(where, f"is a workbook of before 2007, or one with a password; {SAVE}")
    content = as_utf8(content, where)
    start = opening(content).lstrip()
    if start.startswith(("<", "MIME-Version")):
        kind = "an XML sheet" if XML_SHEET in start else "a web page (HTML)"
        raise refuse(where, f"is {kind} named .xls; {SAVE}")
    if part is not None:
        raise refuse(where, f"is text named .xls, which has no parts; take data.part '{part}' away")
    if not any(delimiter in start for delimiter in "\t,;"):
        raise refuse(where, f"is text named .xls without tabs, commas or semicolons; {SAVE}")
    return content, TABLES[".tsv" if "\t" in start else ".csv"]


XLS = Format(
    "a file named .xls",
    matrix,
    table,
    table,
    (".xls",),
    parts="sheet",
    binary=True,
    either_way=True,
)
