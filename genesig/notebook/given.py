"""What a program hands over in place of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from genesig.data.cohorts.new_matrix import read_new
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.text import number_matrix
from genesig.errors import refuse
from genesig.results.annotated import dense, values_of


def matrix_of(given: Any, part: str | None, layout: str | Path | None = None) -> tuple[str, Matrix]:
    """Return the name in messages and the matrix of an AnnData, a DataFrame or a file.

    Raises
    ------
    InvalidInput
        It is none of the three, or holds no numbers; a layout stands beside what is no file.
    """
    if isinstance(given, str | Path):
        return str(given), read_new([str(given)], part, None if layout is None else str(layout))
    if layout is not None:
        raise refuse("layout", "is for files of arrays, and new is none; take it away")
    if hasattr(given, "obs_names"):
        where = "the AnnData"
        values = dense(values_of(given, part, where), where)
        return where, number_matrix(given.obs_names, given.var_names, values)
    if hasattr(given, "columns"):
        where = "the DataFrame"
        values = given.to_numpy()
        if np.asarray(values).dtype.kind not in "biuf":
            raise refuse(where, "holds more than numbers; take out the columns of words")
        return where, number_matrix(given.index, given.columns, values)
    raise refuse("new", f"is a {type(given).__name__}; give an AnnData, a DataFrame or a file")
