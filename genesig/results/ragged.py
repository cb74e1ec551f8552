"""Rows with lists in them, as a few arrays: what each adds one after the other, and pointers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """What a row has.

    Attributes
    ----------
    columns : mapping of str to type
        One value each.
    lists : mapping of str to (type, str)
        Several values each, and the name of the pointers that say where those of a row begin;
        lists with the same pointers are of one length.
    """

    columns: Mapping[str, Any]
    lists: Mapping[str, tuple[Any, str]]

    def arrays(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
        """Return the arrays of some rows."""
        joined = {name: np.array([row[name] for row in rows], dtype=kind)
                  for name, kind in self.columns.items()}  # fmt: skip
        for name, (kind, pointers) in self.lists.items():
            parts = [np.asarray(row[name], dtype=kind) for row in rows]
            joined[name] = np.concatenate([np.zeros(0, dtype=kind), *parts])
            joined[pointers] = np.cumsum([0, *map(len, parts)])
        return joined

    def rows(self, record: object) -> list[Row]:
        """Return the rows of a record whose attributes are `arrays`."""
        out = []
        for number in range(len(getattr(record, next(iter(self.columns))))):
            row = {name: getattr(record, name)[number] for name in self.columns}
            for name, (_, pointers) in self.lists.items():
                row[name] = getattr(record, name)[slice(*getattr(record, pointers)[number:][:2])]
            out.append(row)
        return out
