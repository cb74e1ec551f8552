"""Names that a spreadsheet has turned into dates or numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

MONTH = (
    r"(?:jan|feb|mar|mär|apr|mai|may|jun|jul|aug|ago|sep|sept|oct|okt|nov|dec|dez|déc|mrz|mars|avr"
    r"|january|february|march|april|june|july|august|september|october|november|december)\.?"
)
YEAR = r"(?:19|20)\d\d"
# SEPT2, MARCH1 and DEC1 as a spreadsheet shows or exports them: 2-Sep, Mar-01, 01. Mrz, 2021-03-01,
# 01.03.2021, 3/1/21; RIKEN's 2310009E13 as 2.31E+19.
EATEN = re.compile(
    rf"\d{{1,2}}[-. /]+{MONTH}(?:[-. /]+\d{{2,4}})?|{MONTH}[-. /]\d{{1,4}}"
    rf"|{YEAR}(?P<a>[-/.])\d{{1,2}}(?P=a)\d{{1,2}}(?:[ T]00:00(?::00)?)?"
    rf"|\d{{1,2}}(?P<b>[-/.])\d{{1,2}}(?P=b)(?:{YEAR}|\d\d)"
    r"|\d(?:[.,]\d+)?E\+\d+",
    re.IGNORECASE,
)
# The day numbers of 1982 to 2036, as a spreadsheet counts: MARCH1 as 44256.
DAY = re.compile("[345]\\d{4}")
MOST_DAYS = 0.02  # of the names: where more are such numbers, they are numbers of genes


def eaten(names: Sequence[str]) -> list[str]:
    """Return the names that a spreadsheet has turned into dates or numbers."""
    days = [name for name in names if DAY.fullmatch(name)]
    if len(days) > max(2, MOST_DAYS * len(names)) or sum(map(str.isdigit, names)) > 2 * len(days):
        days = []
    return [name for name in names if EATEN.fullmatch(name)] + days
