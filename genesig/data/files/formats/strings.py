"""From typed tables (AnnData, R) to tables of text and matrices of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def text_of(value: Any) -> str:
    """Write a cell as a sample table has it: '' for a missing one, 40 for 40.0."""
    if value is None or value != value or str(value) in ("<NA>", "NaT"):
        return ""
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value).strip()


def text_table(frame: pd.DataFrame, index: str) -> pd.DataFrame:
    """Make a table of strings; ``attrs["lines"]`` counts rows from 1."""
    import pandas as pd

    cells = {str(name): list(map(text_of, frame[name].tolist())) for name in frame.columns}
    names = pd.Index([text_of(name) for name in frame.index], name=index, dtype=object)
    table = pd.DataFrame(cells, index=names, dtype=object)
    table.attrs["lines"] = list(range(1, len(table) + 1))
    return table


def number_matrix(rows: Iterable[Any], columns: Iterable[Any], cells: Any) -> Matrix:
    """Make the matrix of a file that has rows and no lines."""
    values = np.asarray(cells, dtype=np.float64)
    names = tuple(text_of(name) for name in rows)
    lines = tuple(range(1, len(names) + 1))
    return Matrix(names, tuple(map(text_of, columns)), values, {}, lines, line_word="row")
