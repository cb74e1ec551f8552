"""AnnData's .h5ad: X or a layer as matrix, obs as sample table and var as gene table."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix, text_table
from genesig.errors import input_error
from genesig.results.annotated import dense, read_annotated, values_of

RAW_PART = "raw"  # name of the part with the values of `AnnData.raw`, unless a layer is called so
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
    """Return samples × genes: X, the layer that `part` names, or raw.

    Raises InvalidInput: no HDF5, no AnnData, no X, no such layer, no numbers.
    """
    data = _read_anndata(content, file_name)
    names = [*(name for name in data.layers if name is not None)]
    names += [] if data.raw is None else [RAW_PART]
    if _is_raw(data, part):
        matrix_of_part = number_matrix(
            data.obs_names, data.raw.var_names, dense(data.raw.X, file_name)
        )
    else:
        values = values_of(data, part, file_name)
        matrix_of_part = number_matrix(data.obs_names, data.var_names, dense(values, file_name))
    return replace(matrix_of_part, parts=tuple(name for name in names if name != part))


def samples(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return obs as the sample table."""
    return text_table(_read_anndata(content, file_name).obs, "sample")


def genes(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return var, or that of raw, as the gene table."""
    data = _read_anndata(content, file_name)
    return text_table(data.raw.var if _is_raw(data, part) else data.var, "gene")


def _is_raw(data: Any, part: str | None) -> bool:
    """Tell whether the part is ``AnnData.raw``, where scanpy keeps values before it scales X."""
    return part == RAW_PART and RAW_PART not in data.layers and data.raw is not None


def _read_anndata(content: bytes, file_name: str) -> Any:
    """Return the AnnData object; raise an error if the content is no HDF5."""
    if not content.startswith(HDF5_MAGIC):
        raise input_error(
            file_name,
            "is no HDF5 file, whatever its ending says; write it again by AnnData.write_h5ad",
        )
    return read_annotated(BytesIO(content), file_name)


H5AD = Format(
    "an AnnData file", matrix, samples, genes, suffixes=(".h5ad",), parts="layer", binary=True
)
