"""An .h5ad file is a stranger's: what its arrays promise is checked before one of them is built."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.machine import check_size
from genesig.results.files import whole_file
from genesig.words import listing

if TYPE_CHECKING:
    import anndata
    import h5py

Array = np.ndarray[Any, Any]

COPIES = 4
"""Memory that reading takes, in sizes of a file's arrays; a few bytes can promise any number."""
AGAIN = "write it again by AnnData.write_h5ad"


@contextmanager
def checked_file(source: BytesIO | Path, where: str) -> Iterator[h5py.File]:
    """Open an AnnData file whose every array has been checked.

    Raises
    ------
    InvalidInput
        A link or an array that lies in another file; more than memory holds; complex numbers; a
        sparse matrix whose parts contradict each other; whatever fails while the file is read.
    """
    import warnings

    import h5py

    try:
        with warnings.catch_warnings():  # of old versions and of names that occur twice
            warnings.simplefilter("ignore")
            with h5py.File(source, "r") as file:
                _check(file, where)
                yield file
    except InvalidInput:
        raise
    except Exception as error:  # h5py and anndata raise what they like for a damaged file
        why = " ".join(str(error).split())[:160] or type(error).__name__
        raise refuse(where, f"is HDF5, but AnnData cannot read it ({why}); is it truncated? Copy "
                     "it again, or write it by AnnData.write_h5ad") from None  # fmt: skip


def read_annotated(source: BytesIO | Path, where: str) -> anndata.AnnData:
    """Read an AnnData file; see `checked_file` for what is refused."""
    import anndata

    with checked_file(source, where):
        return anndata.read_h5ad(source)


def values_of(data: anndata.AnnData, part: str | None, where: str) -> Any:
    """Return X, or the layer that `part` names.

    Raises
    ------
    InvalidInput
        There is no X, or no such layer.
    """
    layers = [name for name in data.layers if name is not None]  # anndata 0.13 lists X as None
    if part is not None and part not in layers:
        near = did_you_mean(part, layers) or f" (layers: {', '.join(layers) or 'none'})"
        raise refuse(where, f"data.part '{part}' is not one of its layers{near}")
    values = data.X if part is None else data.layers[part]
    if values is None:
        found = f"; choose a layer by data.part: {listing(layers)}" if layers else ""
        raise refuse(where, f"has no X{found or ', and no layers; write the expression into X'}")
    return values


def save_annotated(path: Path, data: anndata.AnnData) -> None:
    """Write X, layers, obs and var of an AnnData.

    Where the file says the same already, it keeps its time: what was made of it is still good.
    """
    import anndata

    layers = {name: layer for name, layer in data.layers.items() if name is not None}
    parts = {"X": data.X, "obs": data.obs, "var": data.var, "layers": layers}
    with whole_file(path) as part:
        anndata.AnnData(**parts).write_h5ad(part)
        if path.is_file() and filecmp.cmp(path, part, shallow=False):
            shutil.copystat(path, part)


def dense(values: Any, where: str) -> Array:
    """Return a matrix of an AnnData as float64, (n_samples, n_genes).

    Raises
    ------
    InvalidInput
        It holds no real numbers.
    """
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise refuse(where, "X does not hold real numbers; write the expression into X")
    return np.asarray(values, dtype=np.float64)


def _check(file: h5py.File, where: str) -> None:
    """Refuse what lies outside, is too large, complex, or sparse and contradicts itself."""
    import h5py

    size = arrays = 0
    for each in _inside(file, where):
        if isinstance(each, h5py.Group):
            size += _check_sparse(each, where) if _is_sparse(each) else 0
            _check_frame(each, where)
        else:
            arrays += each.size * each.dtype.itemsize
            if each.external or each.is_virtual:
                raise refuse(f"{where}, {each.name}", f"lies in another file; {AGAIN}")
            if each.dtype.kind == "c":
                what = "holds complex numbers; write real ones, or take it out"
                raise refuse(f"{where}, {each.name}", what)
        check_size(where, arrays, file.id.get_filesize(), COPIES)
        check_size(where, size, size, COPIES)


def _inside(group: h5py.Group, where: str) -> Iterator[h5py.Group | h5py.Dataset]:
    """Yield a group and all below it, each once; a link to elsewhere is refused, never followed."""
    import h5py

    seen: set[int] = set()
    waiting: list[h5py.Group | h5py.Dataset] = [group]
    while waiting:
        each = waiting.pop()
        if hash(each.id) in seen:
            continue
        seen.add(hash(each.id))
        names = list(each) if isinstance(each, h5py.Group) else []
        for name in names:
            if not isinstance(each.get(name, getlink=True), h5py.HardLink):
                at = f"{where}, {each.name.rstrip('/')}/{name}"
                raise refuse(at, f"is a link to elsewhere; {AGAIN}")
        yield each
        waiting += [each[name] for name in names]


def _check_frame(group: h5py.Group, where: str) -> None:
    """Refuse a table with a column of another length; pandas would repeat a single value."""
    if str(group.attrs.get("encoding-type")) != "dataframe":
        return
    index = group.get(str(group.attrs.get("_index")))
    rows, columns = getattr(index, "shape", None), list(group.attrs.get("column-order", ()))
    if len(set(columns)) < len(columns):
        raise refuse(f"{where}, {group.name}", f"has two columns of one name; {AGAIN}")
    for name in group:
        column = group[name]
        parts = [column[k] for k in ("codes", "values", "mask") if k in column] \
            if hasattr(column, "keys") else [column]  # fmt: skip
        if rows is None or len(rows) != 1 or any(part.shape != rows for part in parts):
            what = f"has another number of values than {group.name} has rows; {AGAIN}"
            raise refuse(f"{where}, {column.name}", what)


def _is_sparse(group: h5py.Group) -> bool:
    said = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", ""))
    return str(said) in ("csr_matrix", "csc_matrix", "csr", "csc")


def _check_sparse(group: h5py.Group, where: str) -> int:
    """Refuse pointers and indices that lead out of the matrix; return its size when dense."""
    at = f"{where}, {group.name}"
    shape = np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    data, indices, indptr = parts = [group.get(name) for name in ("data", "indices", "indptr")]
    kinds = ("biuf", "iu", "iu")
    whole = shape.shape == (2,) and shape.dtype.kind in "iu" and (shape >= 0).all()
    if not whole or any(part is None or getattr(part, "ndim", 0) != 1 or part.dtype.kind not in kind
                        for part, kind in zip(parts, kinds, strict=True)):  # fmt: skip
        raise refuse(at, f"is no sparse matrix as AnnData writes it; {AGAIN}")
    size, stored = int(shape[0]) * int(shape[1]) * 8, sum(p.size * p.dtype.itemsize for p in parts)
    check_size(at, stored, group.file.id.get_filesize(), COPIES)
    check_size(at, size, size, COPIES)
    rows = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format")))[:3] == "csr"
    major, minor = shape if rows else shape[::-1]
    if fault := _fault(data, indices, indptr, int(major), int(minor)):
        raise refuse(at, f"{fault}; the file is damaged, {AGAIN}")
    return size


def _fault(data: Any, indices: Any, indptr: Any, major: int, minor: int) -> str:
    """Say in which of its parts a compressed matrix (major, minor) leads out of itself."""
    if len(indptr) != major + 1 or len(data) != len(indices):
        return f"indptr has {len(indptr)} entries, data {len(data)} and indices {len(indices)}, " \
               f"for {major} lines"  # fmt: skip
    starts = indptr[()].astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(indices) or (np.diff(starts) < 0).any():
        return f"indptr does not grow from 0 to {len(indices)}"
    places = indices[()].astype(np.int64)
    if places.size and not (places.min() >= 0 and places.max() < minor):
        wrong = places[(places < 0) | (places >= minor)][0]
        return f"indices holds {wrong}, where 0 to {minor - 1} are"
    lines = np.repeat(np.arange(major), np.diff(starts))
    if len(np.unique(lines * minor + places)) < len(places):
        return "indices names one cell twice"
    return ""
