"""What a section of the page is made of, the parts that sections stand in, and their numbers."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from genesig.report.page.style import PAGE_WIDTH
from genesig.report.page.svg import Marks, Picture, draw_picture
from genesig.report.page.tables import Table
from genesig.report.page.words import Link, clean

APPENDIX = "appendix"
PART_TITLES = {
    "cohorts": "External cohorts",
    "studies": "Left-out studies",
    "genes": "Genes",
    "prediction": "Prediction",
    "patients": "Patients and quality",
    "writeup": "For your paper",
    APPENDIX: "Technical appendix",
}
"""The parts after the summary, in their order; each section names its own."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the first screen, with the bold words it begins with."""

    lead: str
    text: str

    def __str__(self) -> str:
        """Return lead and text as plain words."""
        return f"{self.lead} {self.text}"


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
    subtitle: str
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

    A section that is ``folded`` is closed on screen and open on paper, as all of the appendix.
    ``files`` are the tables beside the page that say more, ``pictures`` are written to files only.
    """

    key: str
    title: str
    words: Sequence[str] = ()
    items: Sequence[Item] = ()
    part: str = APPENDIX
    folded: bool = False
    files: Sequence[str] = ()
    pictures: Sequence[Picture] = ()

    @property
    def empty(self) -> bool:
        """Return whether the study has nothing of this kind; the page leaves it out."""
        return not self.words and not self.items


def draw_section(section: Section) -> Section:
    """Return a section with all its pictures drawn."""
    return replace(
        section,
        items=[_draw_item(item) for item in section.items],
        pictures=[draw_picture(image) for image in section.pictures],
    )


def _draw_item(item: Item) -> Item:
    if isinstance(item, Group):
        return replace(item, items=[_draw_item(member) for member in item.items])
    return draw_picture(item) if isinstance(item, Picture) else item


def item_rows(items: Sequence[Item]) -> list[list[Item]]:
    """Return items in rows: small pictures, and cards, that follow one another stand together."""
    grouped: list[list[Item]] = []
    for item in items:
        if grouped and any(like(item) and like(grouped[-1][0]) for like in (_small, _card)):
            grouped[-1].append(item)
        else:
            grouped.append([item])
    return grouped


def _small(item: object) -> bool:
    return isinstance(item, Picture) and item.width < PAGE_WIDTH - 1


def _card(item: object) -> bool:
    return isinstance(item, Card)


def without_pictures(section: Section, names: Collection[str]) -> Section:
    """Return a section without the pictures of these names, which the first screen shows."""
    items = [
        item for item in section.items if not (isinstance(item, Picture) and item.name in names)
    ]
    return replace(section, items=items)


FIRST_PART_NUMBER = 2
"""Number of the first part after the summary."""


@dataclass(frozen=True)
class Part:
    """A part with its sections; all sections of the appendix are folded."""

    key: str
    number: str
    title: str
    sections: Sequence[Section]


def outline(sections: Sequence[Section]) -> list[Part]:
    """Put each section into the part that it names; parts without any are left out."""
    sections_of_part = {
        key: [section for section in sections if section.part == key] for key in PART_TITLES
    }
    keys = [key for key, members in sections_of_part.items() if members]
    return [
        Part(key, str(number), PART_TITLES[key], sections_of_part[key])
        for number, key in enumerate(keys, start=FIRST_PART_NUMBER)
    ]


def item_labels(summary: Sequence[Item], parts: Sequence[Part]) -> dict[str, str]:
    """Return ``"Figure 3"``, ``"Table S1"`` of every picture and table, by kind and name.

    What is seen without opening anything is numbered as it is seen, all else with an S before it.
    """
    labels: dict[str, str] = {}
    count: dict[str, int] = {}
    placed = [(item, True) for item in summary]
    for part in parts:
        for section in part.sections:
            is_open = part.key != APPENDIX and not section.folded
            placed += [(item, is_open) for item in section.items]
    for top_item, is_open in placed:
        for item in flat_items([top_item]):
            kind = numbered_kind(item)
            if kind:
                is_numbered = is_open and item is top_item and getattr(item, "is_open", True)
                name = f"{kind} {'' if is_numbered else 'S'}"
                count[name] = count.get(name, 0) + 1
                labels[anchor(item)] = f"{name}{count[name]}"
    return labels


def flat_items(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, and those inside groups, in the order of the page."""
    for item in items:
        if isinstance(item, Group):
            yield from flat_items(item.items)
        else:
            yield item


def numbered_kind(item: Item) -> str:
    """Return what is counted; nothing for facts and folded text."""
    return {Picture: "Figure", Table: "Table"}.get(type(item), "")


def anchor(item: Item) -> str:
    """Return the id that the item has on the page."""
    return f"{numbered_kind(item).lower()}-{getattr(item, 'name', '')}"


def embedded_data(items: Iterable[Item]) -> str:
    """Return base64 of gzip of JSON: ``tables``, their ``bars``, and ``figures`` by their names.

    A column has its label, its name in the file, whether it is numeric, its values and, where
    they differ from these, its texts. A figure has its data, columns of keys and values, and its
    marks; the drawing of a card has marks only. The same items give the same bytes.
    """
    value: dict[str, dict[str, Any]] = {"tables": {}, "figures": {}, "bars": {}}
    for item in items:
        if isinstance(item, Table):
            value["tables"][item.name] = _columns(item)
            if item.bars:
                value["bars"][item.name] = item.bars
        if isinstance(item, Picture):
            value["figures"][item.name] = {"data": _data(item), "marks": item.marks}
        if isinstance(item, Card):
            value["figures"][item.key] = {"data": [], "marks": [item.marks]}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _data(picture: Picture) -> list[Mapping[str, Any]]:
    return [{"key": clean(key), "values": list(values)} for key, values in picture.data.items()]


def _columns(table: Table) -> list[Mapping[str, Any]]:
    columns: list[Mapping[str, Any]] = []
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        values, texts = ([cell[k] for cell in cells] for k in (1, 0))
        entry: dict[str, Any] = {
            "label": column.label,
            "key": column.key or column.label,
            "numeric": column.numeric,
            "values": values,
        }
        columns.append(entry if values == texts else {**entry, "texts": texts})
    return columns
