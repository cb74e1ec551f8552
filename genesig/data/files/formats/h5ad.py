"""AnnData's .h5ad: X or one of its layers, with obs as sample table and var as gene table."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix, text_table
from genesig.errors import refuse
from genesig.results.annotated import dense, read_annotated, values_of

if TYPE_CHECKING:
    import pandas as pd

RAW = "raw"
"""Name of the part with the values of ``AnnData.raw``, unless a layer is called so."""
HDF5 = b"\x89HDF\r\n\x1a\n"


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read samples × genes: X, the layer that `part` names, or raw.

    Raises
    ------
    InvalidInput
        No HDF5, no AnnData, no X, no such layer, no numbers.
    """
    data = _load(content, where)
    names = [*(name for name in data.layers if name is not None)]
    names += [] if data.raw is None else [RAW]
    if _is_raw(data, part):
        found = number_matrix(data.obs_names, data.raw.var_names, dense(data.raw.X, where))
    else:
        values = values_of(data, part, where)
        found = number_matrix(data.obs_names, data.var_names, dense(values, where))
    return replace(found, parts=tuple(name for name in names if name != part))


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read obs."""
    return text_table(_load(content, where).obs, "sample")


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read var."""
    data = _load(content, where)
    return text_table(data.raw.var if _is_raw(data, part) else data.var, "gene")


def _is_raw(data: Any, part: str | None) -> bool:
    """Tell whether the values that scanpy puts aside before it scales X are wanted."""
    return part == RAW and RAW not in data.layers and data.raw is not None


def _load(content: bytes, where: str) -> Any:
    if not content.startswith(HDF5):
        raise refuse(
            where, "is no HDF5 file, whatever its ending says; write it again by AnnData.write_h5ad"
        )
    return read_annotated(BytesIO(content), where)


H5AD = Format("an AnnData file", matrix, samples, genes, (".h5ad",), parts="layer", binary=True)
