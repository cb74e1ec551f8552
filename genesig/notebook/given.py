"""Matrices that a program passes instead of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from genesig.data.cohorts.new_matrix import read_new_samples
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.text import number_matrix
from genesig.errors import input_error
from genesig.results.annotated import dense, values_of


def matrix_of(
    source: Any, part: str | None, layout: str | Path | None = None
) -> tuple[str, Matrix]:
    """Return the name in messages and the matrix of an AnnData, a DataFrame or a file.

    Raises
    ------
    InvalidInput
        It is none of the three, or holds no numbers; a layout is given without a file.
    """
    if isinstance(source, str | Path):
        return str(source), read_new_samples(
            [str(source)], part, None if layout is None else str(layout)
        )
    if layout is not None:
        raise input_error("layout", "is for files of arrays, and new is none; take it away")
    if hasattr(source, "obs_names"):
        source_name = "the AnnData"
        values = dense(values_of(source, part, source_name), source_name)
        return source_name, number_matrix(source.obs_names, source.var_names, values)
    if hasattr(source, "columns"):
        source_name = "the DataFrame"
        values = source.to_numpy()
        if np.asarray(values).dtype.kind not in "biuf":
            raise input_error(source_name, "holds more than numbers; take out the columns of words")
        return source_name, number_matrix(source.index, source.columns, values)
    raise input_error(
        "new", f"is a {type(source).__name__}; give an AnnData, a DataFrame or a file"
    )
