"""Headings of the columns of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genesig.report.page.words import clean

_WORDS = ("text", "name", "source", "model")


@dataclass(frozen=True)
class Column:
    """Heading of a column, what it means, how its values are written, its name in the file."""

    label: str
    kind: str
    help: str = ""
    key: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the values line up on the right."""
        return self.kind not in _WORDS

    @property
    def look(self) -> str:
        """Return the style class of its cells: number, name, or running words."""
        return "n" if self.numeric else "w" if self.kind == "text" else "t"


def unknown(name: str, rows: Sequence[Sequence[Any]], place: int) -> Column:
    """Return the heading of a column that a study names: the weights of a class, or words."""
    if all(isinstance(row[place], float | int | None) for row in rows):
        return Column(f"Weight, {clean(name.removeprefix('coef '))}", "signed")
    return Column(clean(name), "text")
