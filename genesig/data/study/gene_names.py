"""Names of genes that a spreadsheet has eaten, or that differ in upper and lower case only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from genesig.data.files.delimited import Matrix
from genesig.errors import Problem
from genesig.words import alike, counted, listing, too

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


def check_gene_names(matrix: Matrix, where: str) -> list[Problem]:
    """Warn of names of genes (columns of the matrix) that are no longer what they were."""
    found = []
    if names := eaten(matrix.columns):
        what = f"turned into dates or numbers by a spreadsheet: {counted(len(names), 'gene')}, "
        what += f"{listing(names)}; write the names again, as text"
        found.append(Problem(f"{where}{_place(matrix, names[0])}", what, "warning"))
    if pairs := alike(matrix.columns):
        one, other = pairs[0][:2]
        what = f"gene '{other}' is beside '{one}', with other upper and lower case"
        what += f"{too(len(pairs) - 1, 'name')}; if it is one gene, keep one of them"
        found.append(Problem(f"{where}{_place(matrix, other)}", what, "warning"))
    return found


def check_symbols(symbols: Mapping[str, str], where: str) -> list[Problem]:
    """Warn of symbols of a gene table that are no longer what they were."""
    names = set(eaten(list(symbols.values())))
    lost = [gene for gene, symbol in symbols.items() if symbol in names]
    if not lost:
        return []
    what = f"turned into dates or numbers by a spreadsheet: {counted(len(lost), 'symbol')}, "
    what += f"'{symbols[lost[0]]}' for '{lost[0]}'; write the symbols again, as text"
    return [Problem(where, what, "warning")]


def eaten(names: Sequence[str]) -> list[str]:
    """Return the names that a spreadsheet has turned into dates or numbers."""
    days = [name for name in names if DAY.fullmatch(name)]
    if len(days) > max(2, MOST_DAYS * len(names)) or sum(map(str.isdigit, names)) > 2 * len(days):
        days = []
    return [name for name in names if EATEN.fullmatch(name)] + days


def _place(matrix: Matrix, gene: str) -> str:
    k = matrix.columns.index(gene)
    return f", {matrix.line_word} {matrix.lines[k]}" if matrix.turned else f", column {k + 2}"
