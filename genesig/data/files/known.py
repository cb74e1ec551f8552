"""The registry of file formats; a new one is a file in formats/ and its line here."""

from __future__ import annotations

import re

from genesig.data.files.affy.folder import CEL
from genesig.data.files.formats.agilent import AGILENT
from genesig.data.files.formats.excel import EXCEL
from genesig.data.files.formats.gct import GCT
from genesig.data.files.formats.genomestudio import GENOMESTUDIO
from genesig.data.files.formats.geo_series import SERIES
from genesig.data.files.formats.h5ad import H5AD
from genesig.data.files.formats.h5mu import H5MU
from genesig.data.files.formats.idat import IDAT
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.rdata import RDATA
from genesig.data.files.formats.soft import SOFT
from genesig.data.files.formats.table import TABLES
from genesig.data.files.formats.text import opening_text
from genesig.data.files.formats.xls import XLS
from genesig.plugins import Registry

# In the order in which messages list their endings, and in which openings are tried.
FORMATS: tuple[Format, ...] = (
    *TABLES.values(),
    EXCEL,
    XLS,
    CEL,
    IDAT,
    SERIES,
    GCT,
    SOFT,
    H5AD,
    H5MU,
    RDATA,
    AGILENT,
    GENOMESTUDIO,
)
READERS: Registry[Format] = Registry(
    "formats", {suffix: kind for kind in FORMATS for suffix in kind.suffixes}
)


def format_by_opening(content: bytes) -> Format | None:
    """Return the format whose first words a text has; None for a plain table."""
    text = opening_text(content)
    for file_format in FORMATS:
        if file_format.opening and re.match(r"\s*" + file_format.opening, text, re.IGNORECASE):
            return file_format
    return None
