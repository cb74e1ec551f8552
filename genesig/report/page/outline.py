"""The parts of the page with their sections, and the numbers of figures and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from genesig.report.page.section import PARTS, Group, Item, Section
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Table

FIRST = 2
"""Number of the first part after the summary."""


@dataclass(frozen=True)
class Part:
    """A part with what stands in it; the supplement has no number."""

    key: str
    number: str
    title: str
    sections: Sequence[Section]


def outline(sections: Sequence[Section]) -> list[Part]:
    """Put each section into the part that it names; parts without any are left out."""
    of_part = {key: [one for one in sections if one.part == key] for key in PARTS}
    there = [key for key, mine in of_part.items() if mine]
    return [
        Part(key, "" if key == "supplement" else str(number), PARTS[key], of_part[key])
        for number, key in enumerate(there, start=FIRST)
    ]


def labels(summary: Sequence[Item], parts: Sequence[Part]) -> dict[str, str]:
    """Return ``"Figure 3"``, ``"Table S1"`` of every picture and table, by kind and name.

    What is seen without opening anything is numbered as it is seen, all else with an S before it.
    """
    found: dict[str, str] = {}
    count: dict[str, int] = {}
    placed = [(item, True) for item in summary]
    for part in parts:
        for section in part.sections:
            seen = bool(part.number) and not section.folded
            placed += [(item, seen) for item in section.items]
    for outer, seen in placed:
        for item in each([outer]):
            kind = kind_of(item)
            if kind:
                here = seen and item is outer and getattr(item, "shown", True)
                name = f"{kind} {'' if here else 'S'}"
                count[name] = count.get(name, 0) + 1
                found[anchor(item)] = f"{name}{count[name]}"
    return found


def each(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, and those inside groups, in the order of the page."""
    for item in items:
        if isinstance(item, Group):
            yield from each(item.items)
        else:
            yield item


def kind_of(item: Item) -> str:
    """Return what is counted; nothing for facts and folded text."""
    return {Picture: "Figure", Table: "Table"}.get(type(item), "")


def anchor(item: Item) -> str:
    """Return the id that the item has on the page."""
    return f"{kind_of(item).lower()}-{getattr(item, 'name', '')}"
