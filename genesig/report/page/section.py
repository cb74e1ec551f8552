"""What a section of the page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genesig.report.page.style import WIDE
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Table


@dataclass(frozen=True)
class Limits:
    """How much the page shows: genes with a plot of their own, rows of a table."""

    top_genes: int
    table_rows: int


@dataclass(frozen=True)
class Facts:
    """A list of (name, value) pairs."""

    name: str
    title: str
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Fold:
    """Preformatted text that opens on demand."""

    title: str
    text: str


Item = Picture | Table | Facts | Fold


@dataclass(frozen=True)
class Section:
    """One section: its words first, then pictures and tables in their order."""

    key: str
    title: str
    words: Sequence[str] = ()
    items: Sequence[Item] = ()

    @property
    def empty(self) -> bool:
        """Whether the study has nothing of this kind; the page leaves it out."""
        return not self.words and not self.items

    @property
    def rows(self) -> list[list[Item]]:
        """Items in rows: small pictures that follow one another stand side by side."""
        rows: list[list[Item]] = []
        for item in self.items:
            if rows and _small(item) and all(_small(other) for other in rows[-1]):
                rows[-1].append(item)
            else:
                rows.append([item])
        return rows


def _small(item: object) -> bool:
    return isinstance(item, Picture) and item.width < WIDE - 1
