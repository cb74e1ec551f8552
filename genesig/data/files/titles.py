"""Titles and comments above the header of a table, as spreadsheets and programs write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

from genesig.data.files.cells import split_row
from genesig.words import is_number

MOST = 30
"""Lines above a header that are looked at."""


def above_header(
    lines: Iterable[tuple[int, str]], delimiters: str, where: str
) -> tuple[list[int], Iterator[tuple[int, str]]]:
    """Return the numbers of the lines above the header, and the lines from the header on.

    A title is a line with one cell alone, a comment begins with # and has another width than what
    follows. R leaves the corner of a header out, so that of one sample looks like a title: it
    is one only where what follows it has no number, as headers have none.
    """
    rest = iter(lines)
    top = list(islice(rest, MOST + 2))
    at = next((k for k, (one, below) in enumerate(pairwise(top))
               if not _is_title(one[1], below[1], delimiters, where)), 0)  # fmt: skip
    if at and not _is_header(top[at][1], top[at + 1][1], delimiters, where):
        at = 0
    return [number for number, _ in top[:at]], chain(top[at:], rest)


def _is_title(line: str, below: str, delimiters: str, where: str) -> bool:
    filled = [bool(cell) for cell in _cells(line, delimiters, where)]
    if sum(filled) == 1 and (filled[0] or len(filled) > 2):
        return True
    return line.startswith("#") and _width(line, delimiters, where) != _width(
        below, delimiters, where
    )


def _is_header(line: str, below: str, delimiters: str, where: str) -> bool:
    """Tell whether a line has names alone, and as many as what follows, or one less."""
    wider = _width(below, delimiters, where) - _width(line, delimiters, where)
    return wider in (0, 1) and not any(map(is_number, _cells(line, delimiters, where)[1:]))


def _width(line: str, delimiters: str, where: str) -> int:
    return len(_cells(line, delimiters, where))


def _cells(line: str, delimiters: str, where: str) -> list[str]:
    delimiter = max(delimiters, key=line.count)
    return [cell.strip() for cell in split_row(line, delimiter, where)]
