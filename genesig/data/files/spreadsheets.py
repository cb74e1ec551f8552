"""Recognise names that a spreadsheet has converted to dates or numbers."""

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
DATE_OR_NUMBER = re.compile(
    rf"\d{{1,2}}[-. /]+{MONTH}(?:[-. /]+\d{{2,4}})?|{MONTH}[-. /]\d{{1,4}}"
    rf"|{YEAR}(?P<a>[-/.])\d{{1,2}}(?P=a)\d{{1,2}}(?:[ T]00:00(?::00)?)?"
    rf"|\d{{1,2}}(?P<b>[-/.])\d{{1,2}}(?P=b)(?:{YEAR}|\d\d)"
    r"|\d(?:[.,]\d+)?E\+\d+",
    re.IGNORECASE,
)
# The day numbers of 1982 to 2036, as a spreadsheet counts: MARCH1 as 44256.
DAY_NUMBER = re.compile("[345]\\d{4}")
MAX_DAY_NUMBER_SHARE = 0.02  # of the names: where more are such numbers, they are numbers of genes


def converted_names(names: Sequence[str]) -> list[str]:
    """Return the names that a spreadsheet has converted to dates or numbers."""
    days = [name for name in names if DAY_NUMBER.fullmatch(name)]
    if len(days) > max(2, MAX_DAY_NUMBER_SHARE * len(names)) or sum(
        map(str.isdigit, names)
    ) > 2 * len(days):
        days = []
    return [name for name in names if DATE_OR_NUMBER.fullmatch(name)] + days
