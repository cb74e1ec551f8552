"""Reading the .h5ad files that genesig wrote, without the half second that importing anndata takes.

Every job of a study reads one, so that the import would be a tenth of a small study's time. What
`Dataset.save` writes with anndata is plain: a dense X, two tables of strings, one text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results.annotated import checked_file, dense

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def read_h5ad(path: str | Path) -> tuple[Array, pd.DataFrame, pd.DataFrame, str]:
    """Return X as float64, obs, var, and the text that is stored under ``uns/genesig``.

    Raises
    ------
    InvalidInput
        See `checked_file`: whoever may write the results may have changed it.
    """
    with checked_file(Path(path), str(path)) as file:
        note = file["uns/genesig"].asstr()[()]
        return dense(file["X"][()], str(path)), _table(file["obs"]), _table(file["var"]), note


def _table(group: Any) -> pd.DataFrame:
    """Read a data frame of AnnData's on-disk format, version 0.2.0."""
    import pandas as pd

    name = group.attrs["_index"]
    index = pd.Index(_column(group[name]), name=None if name == "_index" else name)
    columns = {name: _column(group[name]) for name in group.attrs["column-order"]}
    return pd.DataFrame(columns, index=index)


def _column(stored: Any) -> Any:
    kind = stored.attrs["encoding-type"]
    if kind == "string-array":
        return stored.asstr()[()]
    if kind == "array":
        return stored[()]
    if kind == "categorical" and (codes := stored["codes"][()]).min(initial=0) >= 0:
        return _column(stored["categories"])[codes]
    from anndata.io import read_elem  # missing values, and kinds that a later version may write

    return read_elem(stored)
