"""Files named .xls: texts with tabs from many programs, and workbooks of today.

Sequencing companies and portals name tab-separated text .xls, so that spreadsheet programs open it.
Workbooks of before 2007 and web pages are refused, with advice.
"""

from __future__ import annotations

from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.excel import EXCEL, OLD_MAGIC, ZIP_MAGIC
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.table import TABLES
from genesig.data.files.formats.text import as_utf8, opening_text
from genesig.errors import input_error

SAVE_ADVICE = (
    "open it in a spreadsheet program, and save the sheet as .xlsx or as tab-separated text (.tsv)"
)
XML_NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"


def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
    """Return a text with tabs or commas, or a sheet of a workbook, as a matrix."""
    content, true_format = _content_and_format(content, file_name, part)
    return true_format.matrix(content, file_name, part)


def table(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return a text or a sheet of a workbook as a table of samples or genes."""
    content, true_format = _content_and_format(content, file_name, part)
    assert true_format.samples is not None
    return true_format.samples(content, file_name, part)


def _content_and_format(content: bytes, file_name: str, part: str | None) -> tuple[bytes, Format]:
    """Return the content, texts in UTF-8, and the true format of a file named .xls.

    Raises InvalidInput: an old workbook, a web page, or a part of a text.
    """
    if content.startswith(ZIP_MAGIC):
        return content, EXCEL
    if content.startswith(OLD_MAGIC):
        raise input_error(
            file_name, f"is a workbook of before 2007, or one with a password; {SAVE_ADVICE}"
        )
    content = as_utf8(content, file_name)
    start = opening_text(content).lstrip()
    if start.startswith(("<", "MIME-Version")):
        kind = "an XML sheet" if XML_NAMESPACE in start else "a web page (HTML)"
        raise input_error(file_name, f"is {kind} named .xls; {SAVE_ADVICE}")
    if part is not None:
        raise input_error(
            file_name,
            f"is text named .xls, which has no parts; take data.part '{part}' away",
            key="data.part",
        )
    if not any(delimiter in start for delimiter in "\t,;"):
        raise input_error(
            file_name, f"is text named .xls without tabs, commas or semicolons; {SAVE_ADVICE}"
        )
    return content, TABLES[".tsv" if "\t" in start else ".csv"]


XLS = Format(
    "a file named .xls",
    matrix,
    samples=table,
    genes=table,
    suffixes=(".xls",),
    parts="sheet",
    binary=True,
    either_way=True,
)
