"""Checked reading, and writing, of HDF5 files of annotated matrices (.h5ad).

Every job of a study reads one, and the import of anndata would be a tenth of a small study's time.
So `write_h5ad` and `read_h5ad` need h5py alone for a data set: a dense X, two tables, one text.
In all functions `location` names the file in messages, and a node is an HDF5 group or array.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import InvalidInput, did_you_mean, input_error
from genesig.machine import check_size
from genesig.results.files import whole_file
from genesig.words import listing

if TYPE_CHECKING:
    import anndata
    import h5py
    import pandas as pd

READING_COPIES = 4  # memory for reading, in sizes of a file's arrays, which may be packed

MAX_PARTS = 10_000  # groups and arrays in a file; checking more would take minutes

MAX_ROWS = 2_000_000  # genes or samples in a file, twice those of the largest arrays

TEXT_BLOCK_BYTES = 1 << 20  # about the bytes of text that are checked at once

REWRITE_ADVICE = "write it again by AnnData.write_h5ad"


# Attributes of a sparse matrix with its format and its shape, of today and of anndata before 0.7.
SPARSE_ATTRIBUTES = ("encoding-type", "h5sparse_format")
SHAPE_ATTRIBUTES = ("shape", "h5sparse_shape")
ORIENTATIONS = {"csr_matrix": "csr", "csr": "csr", "csc_matrix": "csc", "csc": "csc"}
"""Value of such an attribute -> orientation of the matrix."""


@contextmanager
def checked_file(source: BytesIO | Path, location: str) -> Iterator[h5py.File]:
    """Open an AnnData file whose every array has been checked.

    Raises InvalidInput: a link, or an array in another file; more than fits into memory; complex
        numbers; a sparse matrix whose parts contradict each other; any error while the file is
        read.
    """
    import warnings

    import h5py

    is_checked = False
    try:
        with warnings.catch_warnings():  # of old versions and of names that occur twice
            warnings.simplefilter("ignore")
            with h5py.File(source, "r") as file:
                _check_contents(file, location)
                is_checked = True
                yield file
    except InvalidInput:
        raise
    except Exception as error:  # h5py and anndata raise what they like for a damaged file
        if isinstance(error, TypeError) and not is_checked:  # a fault of the check, not of the file
            raise
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise input_error(
            location,
            f"is HDF5, but AnnData cannot read it ({reason}); is it truncated? Copy "
            "it again, or write it by AnnData.write_h5ad",
        ) from None


def read_annotated(source: BytesIO | Path, location: str) -> anndata.AnnData:
    """Read an AnnData file after the checks of `checked_file`."""
    import anndata

    with checked_file(source, location):
        return anndata.read_h5ad(source)


def values_of(data: anndata.AnnData, part: str | None, location: str) -> Any:
    """Return X, or the layer that `part` names.

    Raises InvalidInput: there is no X, or no such layer.
    """
    layers = [name for name in data.layers if name is not None]  # anndata 0.13 lists X as None
    if part is not None and part not in layers:
        suggestion = did_you_mean(part, layers) or f" (layers: {', '.join(layers) or 'none'})"
        raise input_error(
            location, f"data.part '{part}' is not one of its layers{suggestion}", key="data.part"
        )
    values = data.X if part is None else data.layers[part]
    if values is None:
        remedy = f"; choose a layer by data.part: {listing(layers)}" if layers else ""
        advice = remedy or ", and no layers; write the expression into X"
        raise input_error(location, f"has no X{advice}", key="data.part")
    return values


def save_annotated(path: Path, data: anndata.AnnData) -> None:
    """Write X, layers, obs and var of an AnnData.

    A file with the same content keeps its time stamp, so that results made from it stay up to date.

    Raises InvalidInput: it holds what no h5ad file can, such as a column of lists.
    """
    import anndata

    layers = {name: layer for name, layer in data.layers.items() if name is not None}
    parts = {"X": data.X, "obs": data.obs, "var": data.var, "layers": layers}
    with whole_file(path) as temporary_path:
        try:
            anndata.AnnData(**parts).write_h5ad(temporary_path)
        except (TypeError, ValueError, NotImplementedError) as error:
            message = (
                f"cannot be written as h5ad ({' '.join(str(error).split())[:160]}); keep text "
            )
            raise input_error(
                "the AnnData", f"{message}and numbers alone in X, obs and var"
            ) from None
        if path.is_file() and filecmp.cmp(path, temporary_path, shallow=False):
            shutil.copystat(path, temporary_path)


def dense(values: Any, location: str) -> Array:
    """Return a matrix of an AnnData as float64, (n_samples, n_genes).

    Raises InvalidInput: it holds no real numbers.
    """
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise input_error(location, "X does not hold real numbers; write the expression into X")
    return np.asarray(values, dtype=np.float64)


def _check_contents(file: h5py.File, location: str) -> None:
    """Raise InvalidInput if a part of a file is linked or damaged, or if the file is too large.

    Arrays must be in this file and real, sparse parts and table columns must agree, and the text
    must not be longer than the file.
    """
    import h5py

    dense_size = stored_size = 0
    for node in _walk_nodes(file, location):
        if isinstance(node, h5py.Group):
            dense_size += _checked_dense_size(node, location) if _is_sparse(node) else 0
            _check_frame(node, location)
        else:
            # A chunk is unpacked whole, however little of it belongs to the array; a null array,
            # as scanpy's log1p leaves in uns, has no size.
            stored_size += max(node.size or 0, prod(node.chunks or ())) * node.dtype.itemsize
            node_location = f"{location}, {node.name}"
            if node.external or node.is_virtual:
                raise input_error(node_location, f"lies in another file; {REWRITE_ADVICE}")
            if node.dtype.kind == "c":
                message = "holds complex numbers; write real ones, or take it out"
                raise input_error(node_location, message)
        file_size = file.id.get_filesize()
        check_size(location, stored_size, packed_size=file_size, reading_copies=READING_COPIES)
        # Sparse matrices may have few entries, so memory alone limits their dense size.
        check_size(location, dense_size, packed_size=dense_size, reading_copies=READING_COPIES)
    _check_texts(file, location)


def _check_texts(file: h5py.File, location: str) -> None:
    """Raise if the texts are longer than the file: many cells may point to one long text."""
    import h5py

    text_size = 0
    for node in _walk_nodes(file, location):
        text_type = isinstance(node, h5py.Dataset) and h5py.check_string_dtype(node.dtype)
        # Text of a fixed length lies in the array itself, whose size has been checked.
        if not text_type or text_type.length is not None or node.ndim != 1:
            continue
        # Texts have any length: the next block has more of them, or fewer, by the size of the last.
        start = 0
        n_read = 1
        while start < len(node):
            read_size = sum(map(len, node[start : start + n_read]))
            start = start + n_read
            text_size = text_size + read_size
            n_read = 2 * n_read if read_size < TEXT_BLOCK_BYTES else max(1, n_read // 2)
            if text_size > file.id.get_filesize():
                node_location = f"{location}, {node.name}"
                raise input_error(
                    node_location, f"holds more text than the file; it is damaged, {REWRITE_ADVICE}"
                )


def _walk_nodes(group: h5py.Group, location: str) -> Iterator[h5py.Group | h5py.Dataset]:
    """Yield a group and all nodes below it, each once; raise at a soft or external link."""
    import h5py

    visited: set[int] = set()
    pending: list[h5py.Group | h5py.Dataset] = [group]
    while pending:
        node = pending.pop()
        # h5py hashes an id by the address of its object, which several hard links may share.
        if hash(node.id) in visited:
            continue
        visited.add(hash(node.id))
        n_children = len(node) if isinstance(node, h5py.Group) else 0
        if n_children + len(pending) + len(visited) > MAX_PARTS:
            raise input_error(
                location, f"has more than {MAX_PARTS} parts; take out what is in its uns"
            )
        names = list(node) if n_children else []
        for name in names:
            if not isinstance(node.get(name, getlink=True), h5py.HardLink):
                child_location = f"{location}, {node.name.rstrip('/')}/{name}"
                raise input_error(child_location, f"is a link to elsewhere; {REWRITE_ADVICE}")
        yield node
        pending += [node[name] for name in names]


def _check_frame(group: h5py.Group, location: str) -> None:
    """Raise if a column of a table has another length; pandas would repeat a single value."""
    if _attribute_text(group, "encoding-type") != "dataframe":
        return
    index_arrays = _value_arrays(group.get(_attribute_text(group, "_index")))
    row_shape = index_arrays[0].shape if index_arrays else None
    columns = list(np.ravel(group.attrs.get("column-order", ())))
    if row_shape is not None and max(row_shape, default=0) > MAX_ROWS:
        message = (
            f"has {row_shape[0]} rows, and at most {MAX_ROWS} are read; keep those of the study"
        )
        raise input_error(f"{location}, {group.name}", message)
    if len(set(columns)) < len(columns):
        raise input_error(
            f"{location}, {group.name}", f"has two columns of one name; {REWRITE_ADVICE}"
        )
    for name in group:
        column = group[name]
        if (
            row_shape is None
            or len(row_shape) != 1
            or any(part.shape != row_shape for part in _value_arrays(column))
        ):
            message = f"has another number of values than {group.name} has rows; {REWRITE_ADVICE}"
            raise input_error(f"{location}, {column.name}", message)


def _value_arrays(column: Any) -> list[h5py.Dataset]:
    """Return the arrays of a column (or None) with a value for each row; some columns have two."""
    if hasattr(column, "keys"):
        return [
            column[name]
            for name in ("codes", "values", "mask")
            if hasattr(column.get(name), "shape")
        ]
    return [] if column is None else [column]


def _attribute_text(group: h5py.Group, name: str) -> str:
    """Return an attribute, which may be bytes, as text."""
    value = group.attrs.get(name, "")
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _is_sparse(group: h5py.Group) -> bool:
    """Tell whether a group is a sparse matrix, by its parts or by an attribute."""
    formats = {_attribute_text(group, name) for name in SPARSE_ATTRIBUTES}
    return {"indptr", "indices"} <= {*group} or bool(formats & {*ORIENTATIONS})


def _checked_dense_size(group: h5py.Group, location: str) -> int:
    """Return the bytes of a sparse matrix as dense float64; raise if it contradicts itself."""
    group_location = f"{location}, {group.name}"
    orientation, shape = _orientation_and_shape(group)
    data, indices, indptr = parts = [group.get(name) for name in ("data", "indices", "indptr")]
    dtype_kinds = ("biuf", "iu", "iu")  # of numpy: any real number, integers, integers
    if not orientation or any(
        part is None or getattr(part, "ndim", 0) != 1 or part.dtype.kind not in kind
        for part, kind in zip(parts, dtype_kinds, strict=True)
    ):
        raise input_error(
            group_location, f"is no sparse matrix as AnnData writes it; {REWRITE_ADVICE}"
        )
    size = int(shape[0]) * int(shape[1]) * 8
    stored = sum(stored_part.size * stored_part.dtype.itemsize for stored_part in parts)
    file_size = group.file.id.get_filesize()
    check_size(group_location, stored, packed_size=file_size, reading_copies=READING_COPIES)
    # Few entries may make a large matrix, so no ratio to the file limits its dense size.
    check_size(group_location, size, packed_size=size, reading_copies=READING_COPIES)
    major, minor = shape if orientation == "csr" else shape[::-1]
    if fault := _index_fault(data, indices, indptr, int(major), int(minor)):
        raise input_error(group_location, f"{fault}; the file is damaged, {REWRITE_ADVICE}")
    return size


def _orientation_and_shape(group: h5py.Group) -> tuple[str, Array]:
    """Return "csr" or "csc", and the shape; "" if attributes are missing or do not agree."""
    orientations = {
        ORIENTATIONS.get(_attribute_text(group, name), "")
        for name in SPARSE_ATTRIBUTES
        if name in group.attrs
    }
    shapes = [np.asarray(group.attrs[name]) for name in SHAPE_ATTRIBUTES if name in group.attrs]
    shape = shapes[0] if shapes else np.empty(0)
    is_consistent = len(orientations) == 1 and all(
        np.array_equal(shape, shape_attribute) for shape_attribute in shapes
    )
    is_shape = shape.shape == (2,) and shape.dtype.kind in "iu" and (shape >= 0).all()
    return orientations.pop() if is_consistent and is_shape else "", shape


def _index_fault(data: Any, indices: Any, indptr: Any, major: int, minor: int) -> str:
    """Return the fault of a compressed matrix, or "" if it has none.

    major: number of its lines, rows of "csr" or columns of "csc"; minor: length of a line.
    """
    if len(indptr) != major + 1 or len(data) != len(indices):
        return (
            f"indptr has {len(indptr)} entries, data {len(data)} and indices {len(indices)}, "
            f"for {major} lines"
        )
    starts = indptr[()].astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(indices) or (np.diff(starts) < 0).any():
        return f"indptr does not grow from 0 to {len(indices)}"
    minor_indices = indices[()].astype(np.int64)
    if minor_indices.size and not (minor_indices.min() >= 0 and minor_indices.max() < minor):
        outside_index = minor_indices[(minor_indices < 0) | (minor_indices >= minor)][0]
        return f"indices holds {outside_index}, where 0 to {minor - 1} are"
    line_numbers = np.repeat(np.arange(major), np.diff(starts))
    if len(np.unique(line_numbers * minor + minor_indices)) < len(minor_indices):
        return "indices names one cell twice"
    return ""


class H5adContent(NamedTuple):
    """The parts of an AnnData file that `read_h5ad` reads."""

    X: Array  # float64
    obs: pd.DataFrame
    var: pd.DataFrame
    note: str  # the text under ``uns/genesig``
    layers: dict[str, Array]  # those that exist, by name


def read_h5ad(path: str | Path, layers: Sequence[str] = ()) -> H5adContent:
    """Return the content of a file that genesig wrote, with some of its layers.

    Raises InvalidInput: see `checked_file`: results may have been changed by other programs.
    """
    with checked_file(Path(path), str(path)) as file:
        note = file["uns/genesig"].asstr()[()]
        layer_values = {
            name: dense(file[f"layers/{name}"][()], str(path))
            for name in layers
            if f"layers/{name}" in file
        }
        X = dense(file["X"][()], str(path))
        return H5adContent(X, _table(file["obs"]), _table(file["var"]), note, layer_values)


def write_h5ad(
    path: Path,
    X: Array,
    obs: pd.DataFrame,
    var: pd.DataFrame,
    note: str,
    layers: Mapping[str, Array],
) -> None:
    """Write what `read_h5ad` reads, in AnnData's on-disk format."""
    import h5py

    with h5py.File(path, "w") as file:
        _set_encoding(file, "anndata", "0.1.0")
        _set_encoding(file.create_dataset("X", data=X), "array")
        for name, table in (("obs", obs), ("var", var)):
            _write_table(file.create_group(name), table)
        for name in ("obsm", "varm", "obsp", "varp", "layers", "uns"):
            _set_encoding(file.create_group(name), "dict", "0.1.0")
        for name, values in layers.items():
            _set_encoding(file["layers"].create_dataset(name, data=values), "array")
        _set_encoding(file["uns"].create_dataset("genesig", data=note), "string")


def _set_encoding(node: Any, kind: str, version: str = "0.2.0") -> None:
    """Write which kind of AnnData's elements a group or an array is."""
    node.attrs["encoding-type"] = kind
    node.attrs["encoding-version"] = version


def _write_table(group: Any, table: pd.DataFrame) -> None:
    """Write a data frame, its text in categories where values are repeated or missing."""
    import pandas as pd

    _set_encoding(group, "dataframe")
    group.attrs["column-order"] = list(table.columns)
    # "_index" is AnnData's key of an index without a name.
    index_name = group.attrs["_index"] = table.index.name or "_index"
    columns: list[tuple[Any, Any]] = [(index_name, table.index.astype(str)), *table.items()]
    for name, values in columns:
        categorical = pd.Categorical(values)
        if pd.api.types.is_numeric_dtype(values):
            _set_encoding(group.create_dataset(name, data=values.to_numpy()), "array")
        elif len(categorical.categories) < len(values):
            column = group.create_group(name)
            column.attrs["ordered"] = False
            _set_encoding(column, "categorical")
            _set_encoding(column.create_dataset("codes", data=categorical.codes), "array")
            _write_text(column, "categories", categorical.categories)
        else:
            _write_text(group, name, values)


def _write_text(group: Any, name: str, values: Any) -> None:
    """Write an array of text of any length."""
    import h5py

    texts = np.asarray(values, dtype=object)
    _set_encoding(group.create_dataset(name, data=texts, dtype=h5py.string_dtype()), "string-array")


def _table(group: Any) -> pd.DataFrame:
    """Read a data frame that `write_h5ad` wrote."""
    import pandas as pd

    name = group.attrs["_index"]
    index = pd.Index(_column(group[name]), name=None if name == "_index" else name)
    columns = {name: _column(group[name]) for name in group.attrs["column-order"]}
    return pd.DataFrame(columns, index=index)


def _column(stored: Any) -> Any:
    """Return the values of a column of a stored data frame."""
    kind = stored.attrs["encoding-type"]
    if kind == "string-array":
        return stored.asstr()[()]
    if kind == "categorical":  # the code of a missing value is -1
        return np.append(_column(stored["categories"]).astype(object), np.nan)[stored["codes"][()]]
    return stored[()]
