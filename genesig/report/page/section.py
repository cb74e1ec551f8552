"""What a section of the page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genesig.report.page.gene_links import Link
from genesig.report.page.named import Marks
from genesig.report.page.style import WIDE
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Table

PARTS = {
    "cohorts": "In other patients",
    "signature": "Which genes",
    "evidence": "How well they predict",
    "stability": "Shorter, other and combined lists",
    "writeup": "For your paper",
    "supplement": "Supplement",
}
"""The parts after the summary, in their order; each section names its own."""


@dataclass(frozen=True)
class Limits:
    """How much the page shows at once: genes with a plot of their own, rows of a table."""

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
    """Preformatted text that opens on demand; ``look`` is how paper shows it, if at all.

    ``screen`` stays away from paper, ``settings`` are short lines in columns.
    """

    title: str
    text: str
    look: str = ""


@dataclass(frozen=True)
class Card:
    """One gene: a small drawing that is no figure of its own, its names, facts, pages about it."""

    key: str
    name: str
    beside: str
    svg: str
    marks: Marks
    pairs: Sequence[tuple[str, str]]
    links: Sequence[Link]


@dataclass(frozen=True)
class Group:
    """Words, pictures and tables that open together on demand."""

    key: str
    title: str
    words: Sequence[str]
    items: Sequence[Item]


Item = Picture | Table | Facts | Fold | Card | Group


@dataclass(frozen=True)
class Section:
    """One section of a part: its words first, then pictures and tables in their order.

    A section that is ``folded`` is closed on screen and open on paper, as all of the supplement.
    """

    key: str
    title: str
    words: Sequence[str] = ()
    items: Sequence[Item] = ()
    part: str = "supplement"
    folded: bool = False

    @property
    def empty(self) -> bool:
        """Whether the study has nothing of this kind; the page leaves it out."""
        return not self.words and not self.items


def rows(items: Sequence[Item]) -> list[list[Item]]:
    """Return items in rows: small pictures, and cards, that follow one another stand together."""
    found: list[list[Item]] = []
    for item in items:
        if found and any(like(item) and like(found[-1][0]) for like in (_small, _card)):
            found[-1].append(item)
        else:
            found.append([item])
    return found


def _small(item: object) -> bool:
    return isinstance(item, Picture) and item.width < WIDE - 1


def _card(item: object) -> bool:
    return isinstance(item, Card)
