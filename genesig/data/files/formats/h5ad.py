"""AnnData's .h5ad: X or one of its layers, with obs as sample table and var as gene table."""

from __future__ import annotations

from io import BytesIO
from math import prod
from typing import TYPE_CHECKING, Any

from genesig.data.files.content import check_size
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.strings import number_matrix, text_table
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

HDF5 = b"\x89HDF\r\n\x1a\n"


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read samples × genes: X, or the layer that `part` names.

    Raises
    ------
    InvalidInput
        No HDF5, no AnnData, no X, no such layer, no numbers.
    """
    data = _load(content, where)
    layers = list(data.layers)
    if part is not None and part not in layers:
        near = did_you_mean(part, layers) or f" (layers: {', '.join(layers) or 'none'})"
        raise refuse(where, f"data.part '{part}' is not one of its layers{near}")
    values = data.X if part is None else data.layers[part]
    if values is None:
        found = f"; choose a layer by data.part: {listing(layers)}" if layers else ""
        raise refuse(where, f"has no X{found or ', and no layers; write the expression into X'}")
    dense = values.toarray() if hasattr(values, "toarray") else values
    try:
        return number_matrix(data.obs_names, data.var_names, dense)
    except (TypeError, ValueError):
        raise refuse(where, "X does not hold real numbers; write the expression into X") from None


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read obs."""
    return text_table(_load(content, where).obs, "sample")


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read var."""
    return text_table(_load(content, where).var, "gene")


def _load(content: bytes, where: str) -> Any:
    import warnings

    import anndata

    if not content.startswith(HDF5):
        raise refuse(where, "is no HDF5 file, whatever its ending says; write it again by "
                     "AnnData.write_h5ad")  # fmt: skip
    try:
        _check_sizes(content, where)
        with warnings.catch_warnings():  # of old versions and of names that occur twice
            warnings.simplefilter("ignore")
            return anndata.read_h5ad(BytesIO(content))
    except InvalidInput:
        raise
    except Exception as error:  # h5py and anndata raise what they like for a damaged file
        why = " ".join(str(error).split())[:160] or type(error).__name__
        raise refuse(where, f"is HDF5, but AnnData cannot read it ({why}); is it truncated? Copy "
                     "it again, or write it by AnnData.write_h5ad") from None  # fmt: skip


def _check_sizes(content: bytes, where: str) -> None:
    """Refuse arrays that a small file only declares, and sparse ones too large as dense ones."""
    import h5py

    arrays, dense = [0], [0]

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays.append(int(item.size or 0) * item.dtype.itemsize)
        elif "shape" in item.attrs:
            dense.append(prod(map(int, item.attrs["shape"])) * 8)

    with h5py.File(BytesIO(content), "r") as file:
        file.visititems(note)
    check_size(where, sum(arrays), len(content))
    check_size(where, max(dense), max(dense))


H5AD = Format("an AnnData file", matrix, samples, genes, (".h5ad",), parts="layer", binary=True)
