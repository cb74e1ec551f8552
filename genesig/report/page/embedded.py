"""All rows of tables, data and names of figures: one compressed value inside the page."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from genesig.report.page.section import Card, Item
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Table
from genesig.report.page.words import clean


def embedded(items: Iterable[Item]) -> str:
    """Return base64 of gzip of JSON: ``tables`` and ``figures`` by their names.

    A column has its label, its name in the file, whether it is numeric, its values and, where
    they differ from these, its texts. A figure has its data, columns of keys and values, and its
    marks; the drawing of a card has marks only. The same items give the same bytes.
    """
    value: dict[str, dict[str, Any]] = {"tables": {}, "figures": {}}
    for item in items:
        if isinstance(item, Table):
            value["tables"][item.name] = _columns(item)
        if isinstance(item, Picture):
            value["figures"][item.name] = {"data": _data(item), "marks": item.marks}
        if isinstance(item, Card):
            value["figures"][item.key] = {"data": [], "marks": [item.marks]}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _data(picture: Picture) -> list[Mapping[str, Any]]:
    return [{"key": clean(key), "values": list(values)} for key, values in picture.data.items()]


def _columns(table: Table) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        values, texts = ([cell[k] for cell in cells] for k in (1, 0))
        one: dict[str, Any] = {"label": column.label, "key": column.key or column.label,
               "numeric": column.numeric, "values": values}  # fmt: skip
        found.append(one if values == texts else {**one, "texts": texts})
    return found
