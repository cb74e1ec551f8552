"""File formats, one file each; a text file's opening says which one it is."""

from __future__ import annotations

import re

from genesig.data.files.formats.agilent import AGILENT
from genesig.data.files.formats.gct import GCT
from genesig.data.files.formats.genomestudio import GENOMESTUDIO
from genesig.data.files.formats.geo_series import SERIES
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.soft import SOFT
from genesig.data.files.formats.text import opening

OPENINGS: dict[str, Format] = {
    r"!(Series|Sample)_": SERIES,
    r"#1\.[0-9]+\s*\n": GCT,
    r"\^(DATABASE|SERIES|PLATFORM|SAMPLE|DATASET|ANNOTATION)\s*=": SOFT,
    r"TYPE\t[^\n]*\nFEPARAMS\t": AGILENT,
    r"\[Header\]|Illumina Inc\.|[^\n]*AVG_Signal": GENOMESTUDIO,
}


def told_by_opening(content: bytes) -> Format | None:
    """Return the format whose opening words a text has; None for a plain table."""
    text = opening(content)
    for words, kind in OPENINGS.items():
        if re.match(r"\s*" + words, text, re.IGNORECASE):
            return kind
    return None
