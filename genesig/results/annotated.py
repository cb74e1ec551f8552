"""HDF5 files of annotated matrices (.h5ad): what is read and written of them.

Every job of a study reads one, so that the import would be a tenth of a small study's time. What
`Dataset.save` writes with anndata is plain: a dense X, two tables of strings, one text.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.machine import check_size
from genesig.results.files import whole_file
from genesig.words import listing

if TYPE_CHECKING:
    import anndata
    import h5py
    import pandas as pd

COPIES = 4
"""Memory that reading takes, in sizes of a file's arrays; a few bytes can promise any number."""

PARTS = 10_000
"""Groups and arrays of a file; more would take minutes to go through."""

ROWS = 2_000_000
"""Genes or samples of a file: twice those of the largest arrays; names alone take 10 µs each."""

PIECE = 1 << 20
"""Bytes of text looked at together."""

AGAIN = "write it again by AnnData.write_h5ad"


SPARSE = ("encoding-type", "h5sparse_format")
SHAPES = ("shape", "h5sparse_shape")


LINES = {"csr_matrix": "csr", "csr": "csr", "csc_matrix": "csc", "csc": "csc"}
"""Attributes of a sparse matrix, today's and those before anndata 0.7, and what they say."""


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
        raise refuse(
            where,
            f"is HDF5, but AnnData cannot read it ({why}); is it truncated? Copy "
            "it again, or write it by AnnData.write_h5ad",
        ) from None


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

    Raises
    ------
    InvalidInput
        It holds what no h5ad file can, such as a column of lists.
    """
    import anndata

    layers = {name: layer for name, layer in data.layers.items() if name is not None}
    parts = {"X": data.X, "obs": data.obs, "var": data.var, "layers": layers}
    with whole_file(path) as part:
        try:
            anndata.AnnData(**parts).write_h5ad(part)
        except (TypeError, ValueError, NotImplementedError) as error:
            what = f"cannot be written as h5ad ({' '.join(str(error).split())[:160]}); keep text "
            raise refuse("the AnnData", f"{what}and numbers alone in X, obs and var") from None
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
            # A chunk is unpacked whole, however little of it belongs to the array.
            arrays += max(each.size, prod(each.chunks or ())) * each.dtype.itemsize
            if each.external or each.is_virtual:
                raise refuse(f"{where}, {each.name}", f"lies in another file; {AGAIN}")
            if each.dtype.kind == "c":
                what = "holds complex numbers; write real ones, or take it out"
                raise refuse(f"{where}, {each.name}", what)
        check_size(where, arrays, file.id.get_filesize(), COPIES)
        check_size(where, size, size, COPIES)
    _check_texts(file, where)


def _check_texts(file: h5py.File, where: str) -> None:
    """Refuse more text than the file has bytes: all may be one object, and none is packed."""
    import h5py

    size = 0
    for each in _inside(file, where):
        texts = isinstance(each, h5py.Dataset) and h5py.check_string_dtype(each.dtype)
        if not texts or texts.length is not None or each.ndim != 1:
            continue
        start = 0
        step = 1
        while start < len(each):
            read = sum(map(len, each[start : start + step]))
            start = start + step
            size = size + read
            step = 2 * step if read < PIECE else max(1, step // 2)
            if size > file.id.get_filesize():
                at = f"{where}, {each.name}"
                raise refuse(at, f"holds more text than the file; it is damaged, {AGAIN}")


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
        held = len(each) if isinstance(each, h5py.Group) else 0
        if held + len(waiting) + len(seen) > PARTS:
            raise refuse(where, f"has more than {PARTS} parts; take out what is in its uns")
        names = list(each) if held else []
        for name in names:
            if not isinstance(each.get(name, getlink=True), h5py.HardLink):
                at = f"{where}, {each.name.rstrip('/')}/{name}"
                raise refuse(at, f"is a link to elsewhere; {AGAIN}")
        yield each
        waiting += [each[name] for name in names]


def _check_frame(group: h5py.Group, where: str) -> None:
    """Refuse a table with a column of another length; pandas would repeat a single value."""
    if _said(group, "encoding-type") != "dataframe":
        return
    index = _arrays(group.get(_said(group, "_index")))
    rows = index[0].shape if index else None
    columns = list(group.attrs.get("column-order", ()))
    if rows is not None and max(rows, default=0) > ROWS:
        what = f"has {rows[0]} rows, and at most {ROWS} are read; keep those of the study"
        raise refuse(f"{where}, {group.name}", what)
    if len(set(columns)) < len(columns):
        raise refuse(f"{where}, {group.name}", f"has two columns of one name; {AGAIN}")
    for name in group:
        column = group[name]
        if rows is None or len(rows) != 1 or any(part.shape != rows for part in _arrays(column)):
            what = f"has another number of values than {group.name} has rows; {AGAIN}"
            raise refuse(f"{where}, {column.name}", what)


def _arrays(column: Any) -> list[h5py.Dataset]:
    """Return what a column, or none, has a value in for each row; since pandas 3 texts have two."""
    if hasattr(column, "keys"):
        return [column[k] for k in ("codes", "values", "mask") if hasattr(column.get(k), "shape")]
    return [] if column is None else [column]


def _said(group: h5py.Group, name: str) -> str:
    """Return an attribute as text: AnnData reads those in bytes, too."""
    value = group.attrs.get(name, "")
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _is_sparse(group: h5py.Group) -> bool:
    """Tell by its parts, since it may say what it is in several ways, or not at all."""
    words = {_said(group, name) for name in SPARSE}
    return {"indptr", "indices"} <= {*group} or bool(words & {*LINES})


def _check_sparse(group: h5py.Group, where: str) -> int:
    """Refuse pointers and indices that lead out of the matrix; return its size when dense."""
    at = f"{where}, {group.name}"
    lines, shape = _form(group)
    data, indices, indptr = parts = [group.get(name) for name in ("data", "indices", "indptr")]
    kinds = ("biuf", "iu", "iu")
    if not lines or any(
        part is None or getattr(part, "ndim", 0) != 1 or part.dtype.kind not in kind
        for part, kind in zip(parts, kinds, strict=True)
    ):
        raise refuse(at, f"is no sparse matrix as AnnData writes it; {AGAIN}")
    size = int(shape[0]) * int(shape[1]) * 8
    stored = sum(p.size * p.dtype.itemsize for p in parts)
    check_size(at, stored, group.file.id.get_filesize(), COPIES)
    check_size(at, size, size, COPIES)
    major, minor = shape if lines == "csr" else shape[::-1]
    if fault := _fault(data, indices, indptr, int(major), int(minor)):
        raise refuse(at, f"{fault}; the file is damaged, {AGAIN}")
    return size


def _form(group: h5py.Group) -> tuple[str, Array]:
    """Return what lies in lines, and the shape; '' where attributes are none or do not agree."""
    said = {LINES.get(_said(group, name), "") for name in SPARSE if name in group.attrs}
    shapes = [np.asarray(group.attrs[name]) for name in SHAPES if name in group.attrs]
    shape = shapes[0] if shapes else np.empty(0)
    one = len(said) == 1 and all(np.array_equal(shape, other) for other in shapes)
    whole = shape.shape == (2,) and shape.dtype.kind in "iu" and (shape >= 0).all()
    return said.pop() if one and whole else "", shape


def _fault(data: Any, indices: Any, indptr: Any, major: int, minor: int) -> str:
    """Say in which of its parts a compressed matrix (major, minor) leads out of itself."""
    if len(indptr) != major + 1 or len(data) != len(indices):
        return (
            f"indptr has {len(indptr)} entries, data {len(data)} and indices {len(indices)}, "
            f"for {major} lines"
        )
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


def read_h5ad(
    path: str | Path, layers: Sequence[str] = ()
) -> tuple[Array, pd.DataFrame, pd.DataFrame, str, dict[str, Array]]:
    """Return X as float64, obs, var, the text under ``uns/genesig``, and those layers it has.

    Raises
    ------
    InvalidInput
        See `checked_file`: whoever may write the results may have changed it.
    """
    with checked_file(Path(path), str(path)) as file:
        note = file["uns/genesig"].asstr()[()]
        found = {
            name: dense(file[f"layers/{name}"][()], str(path))
            for name in layers
            if f"layers/{name}" in file
        }
        X = dense(file["X"][()], str(path))
        return X, _table(file["obs"]), _table(file["var"]), note, found


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
    if kind == "nullable-string-array" and not stored["mask"][()].any():
        return stored["values"].asstr()[()]
    if kind == "array":
        return stored[()]
    if kind == "categorical" and (codes := stored["codes"][()]).min(initial=0) >= 0:
        return _column(stored["categories"])[codes]
    from anndata.io import read_elem  # missing values, and kinds that a later version may write

    return read_elem(stored)
