"""Lines of a text that is held once: a large one is decoded and cut piece by piece."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain
from typing import AnyStr

PIECE = 1 << 18
"""Bytes or letters at a time: neither a second text nor all its lines are ever there at once."""


def lines_of(text: str | bytes) -> Iterator[str]:
    """Return the lines of a string, or those of UTF-8 whatever their ends, without its mark."""
    if isinstance(text, str):
        pieces = pieces_of(text, "\n")
    else:
        mark = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        pieces = (unix(piece.decode()) for piece in pieces_of(text, b"\n", mark))
    return chain.from_iterable(piece.removesuffix("\n").split("\n") for piece in pieces)


def pieces_of(text: AnyStr, end: AnyStr, start: int = 0) -> Iterator[AnyStr]:
    """Yield a text in pieces that end where a line does."""
    while start < len(text):
        stop = text.find(end, start + PIECE) + 1 or len(text)
        yield text[start:stop]
        start = stop


def unix(text: str) -> str:
    """Make each line end that of Unix; a carriage return at the end has to have its line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
