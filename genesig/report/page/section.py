"""Sections of the page and the items in them, the parts of the page, numbers of figures."""

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
"""Titles of the parts after the summary, in order of the page, by `Section.part`."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the first screen."""

    lead: str  # bold words at its beginning
    text: str

    def __str__(self) -> str:
        """Return lead and text as plain words."""
        return f"{self.lead} {self.text}"


@dataclass(frozen=True)
class Tile:
    """One number of the first screen."""

    name: str
    value: str
    words: str  # interval, chance level or a short explanation


@dataclass(frozen=True)
class Limits:
    """How much the page shows at once."""

    gene_cards: int  # genes with a card
    table_rows: int  # rows of a table


@dataclass(frozen=True)
class Facts:
    """A list of facts."""

    name: str  # stem of its id
    title: str
    pairs: Sequence[tuple[str, str]]  # name and text of each fact


@dataclass(frozen=True)
class Fold:
    """Preformatted text that is folded until a reader opens it."""

    title: str
    text: str


@dataclass(frozen=True)
class Card:
    """A gene of the signature, with a small drawing that has no number and no caption."""

    key: str  # id on the page
    name: str
    subtitle: str
    svg: str
    marks: Marks
    pairs: Sequence[tuple[str, str]]  # name and text of each fact
    links: Sequence[Link]


@dataclass(frozen=True)
class Group:
    """Paragraphs and items that are folded until a reader opens them."""

    key: str
    title: str
    words: Sequence[str]  # paragraphs
    items: Sequence[Item]


Item = Picture | Table | Facts | Fold | Card | Group


@dataclass(frozen=True)
class Section:
    """One section of a part of the page."""

    key: str
    title: str
    words: Sequence[str] = ()  # paragraphs, above the items
    items: Sequence[Item] = ()
    part: str = APPENDIX  # key of `PART_TITLES`
    folded: bool = False  # closed on screen and open on paper, like all of the appendix
    files: Sequence[str] = ()  # further tables, as files beside the page
    pictures: Sequence[Picture] = ()  # figures that are files only


def draw_section(section: Section) -> Section:
    """Return a section with all its pictures drawn."""
    return replace(
        section,
        items=[_draw_item(item) for item in section.items],
        pictures=[draw_picture(image) for image in section.pictures],
    )


def _draw_item(item: Item) -> Item:
    """Return an item with its picture, or the pictures inside it, drawn."""
    if isinstance(item, Group):
        return replace(item, items=[_draw_item(member) for member in item.items])
    return draw_picture(item) if isinstance(item, Picture) else item


def item_rows(items: Sequence[Item]) -> list[list[Item]]:
    """Return items in rows: successive small pictures, and successive cards, share a row."""
    rows: list[list[Item]] = []
    for item in items:
        shape = _shape(item)
        if rows and shape and shape == _shape(rows[-1][0]):
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


def _shape(item: Item) -> str:
    """Return the name of the shape of items that share a row; empty if the item has its own."""
    if isinstance(item, Picture) and item.width < PAGE_WIDTH - 1:  # such as of HALF_WIDTH
        return "small picture"
    return "card" if isinstance(item, Card) else ""


def without_pictures(section: Section, names: Collection[str]) -> Section | None:
    """Return a section without the pictures of these names; None if nothing is left."""
    items = [
        item for item in section.items if not (isinstance(item, Picture) and item.name in names)
    ]
    return replace(section, items=items) if section.words or items else None


FIRST_PART_NUMBER = 2  # the summary is part 1


@dataclass(frozen=True)
class Part:
    """A part of the page."""

    key: str  # key of `PART_TITLES`
    number: str
    title: str
    sections: Sequence[Section]


def outline(sections: Sequence[Section]) -> list[Part]:
    """Return the parts of the page with their sections; parts without a section are left out."""
    sections_of_part = {
        key: [section for section in sections if section.part == key] for key in PART_TITLES
    }
    keys = [key for key, members in sections_of_part.items() if members]
    return [
        Part(key, str(number), PART_TITLES[key], sections_of_part[key])
        for number, key in enumerate(keys, start=FIRST_PART_NUMBER)
    ]


def item_labels(summary: Sequence[Item], parts: Sequence[Part]) -> dict[str, str]:
    """Return ``"Figure 3"`` or ``"Table S1"`` of every picture and table, by `anchor`.

    Items that are visible without opening anything are numbered 1, 2, .., all others S1, S2, ..
    """
    labels: dict[str, str] = {}
    count: dict[str, int] = {}
    outer_items = [(item, True) for item in summary]
    for part in parts:
        for section in part.sections:
            is_open = part.key != APPENDIX and not section.folded
            outer_items += [(item, is_open) for item in section.items]
    for outer_item, is_open in outer_items:
        for item in flat_items([outer_item]):
            kind = numbered_kind(item)
            if kind:
                # Items of a group are folded; a picture, unlike a table, is open with its section.
                is_visible = is_open and item is outer_item and getattr(item, "is_open", True)
                prefix = f"{kind} {'' if is_visible else 'S'}"
                count[prefix] = count.get(prefix, 0) + 1
                labels[anchor(item)] = f"{prefix}{count[prefix]}"
    return labels


def flat_items(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items in the order of the page; the items of a group in place of the group."""
    for item in items:
        if isinstance(item, Group):
            yield from flat_items(item.items)
        else:
            yield item


def numbered_kind(item: Item) -> str:
    """Return ``"Figure"`` or ``"Table"``; empty for items without a number."""
    return {Picture: "Figure", Table: "Table"}.get(type(item), "")


def anchor(item: Item) -> str:
    """Return the id of a picture or table on the page."""
    return f"{numbered_kind(item).lower()}-{getattr(item, 'name', '')}"


def embedded_data(items: Iterable[Item]) -> str:
    """Return the data for the scripts of the page: base64 of gzip of JSON.

    The JSON has ``tables``, their ``bars``, and ``figures``, each by name. A column of a table has
    label, key (its name in the file), numeric, values and, if they differ from the values, texts.
    A figure has data (columns of key and values) and marks; the drawing of a card has marks only.
    The same items give the same bytes.
    """
    value: dict[str, dict[str, Any]] = {"tables": {}, "figures": {}, "bars": {}}
    for item in items:
        if isinstance(item, Table):
            value["tables"][item.name] = _table_columns(item)
            if item.bars:
                value["bars"][item.name] = item.bars
        if isinstance(item, Picture):
            data = [{"key": clean(k), "values": list(values)} for k, values in item.data.items()]
            value["figures"][item.name] = {"data": data, "marks": item.marks}
        if isinstance(item, Card):
            value["figures"][item.key] = {"data": [], "marks": [item.marks]}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _table_columns(table: Table) -> list[Mapping[str, Any]]:
    """Return the columns of a table, as `embedded_data` says."""
    columns: list[Mapping[str, Any]] = []
    for position, column in enumerate(table.columns):
        cells = [row[position] for row in table.rows]
        values = [cell.value for cell in cells]
        texts = [cell.text for cell in cells]
        entry: dict[str, Any] = {
            "label": column.label,
            "key": column.key or column.label,
            "numeric": column.numeric,
            "values": values,
        }
        columns.append(entry if values == texts else {**entry, "texts": texts})
    return columns
