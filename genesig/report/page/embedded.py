"""All rows of the page's tables as one compressed value inside the page, for its script."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from genesig.report.page.tables import Table


def embedded(tables: Iterable[Table]) -> str:
    """Return base64 of gzip of JSON: each table's columns, by the table's name.

    A column has its label, its name in the file, whether it is numeric, its values and, where
    they differ from these, its texts. The same tables give the same bytes.
    """
    value = {table.name: _columns(table) for table in tables}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _columns(table: Table) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        values, texts = ([cell[k] for cell in cells] for k in (1, 0))
        one: dict[str, Any] = {"label": column.label, "key": column.key or column.label,
               "numeric": column.numeric, "values": values}  # fmt: skip
        found.append(one if values == texts else {**one, "texts": texts})
    return found
