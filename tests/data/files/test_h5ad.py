"""AnnData files whose arrays contradict their description are refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import h5py
import numpy as np
import pytest
from format_files import Numbers, h5ad
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_matrix

from genesig.data.files.formats.h5ad import H5AD
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput

MATRIX_NUMBERS = Numbers()
DENSE = np.array(MATRIX_NUMBERS.rows).T
LINES = {"csr": DENSE.shape[0], "csc": DENSE.shape[1]}
SPARSE = {
    kind: h5ad(MATRIX_NUMBERS, X=form(DENSE), layers={})
    for kind, form in (("csr", csr_matrix), ("csc", csc_matrix))
}
PLAIN_FILE = h5ad(MATRIX_NUMBERS, layers={})


def changed_file(content: bytes, change: Callable[[h5py.File], None]) -> bytes:
    """Return a file after a change to its arrays."""
    buffer = BytesIO(content)
    with h5py.File(buffer, "r+") as file:
        change(file)
    return buffer.getvalue()


def set_value(path: str, at: int, value: float) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[path][at] = value

    return change


def replace_array(
    path: str, values: object, **changed_attributes: object
) -> Callable[[h5py.File], None]:
    """Return a change that replaces an array and keeps its attributes."""

    def change(file: h5py.File) -> None:
        attributes = dict(file[path].attrs)
        del file[path]
        file.create_dataset(
            path, **({"data": values} if values is not None else {}), **changed_attributes
        )
        file[path].attrs.update(attributes)

    return change


def attribute(path: str, name: str, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[path].attrs[name] = value

    return change


def replace_by_link(path: str, to: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[path]
        file[path] = to

    return change


def replace_by_virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(shape=DENSE.shape, dtype="f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", shape=DENSE.shape)
    del file["X"]
    file.create_virtual_dataset("X", layout)


def claim_encoding(
    word: object, *changes: Callable[[h5py.File], None], path: str = "X"
) -> Callable[[h5py.File], None]:
    """Return a change of the encoding type of a group, with further changes."""

    def change(file: h5py.File) -> None:
        del file[path].attrs["encoding-type"]
        if word is not None:
            file[path].attrs["encoding-type"] = word
        for change_file in changes:
            change_file(file)

    return change


def same_text(file: h5py.File) -> None:
    """Store 3000 texts as references to one object of a megabyte."""
    texts = file.create_dataset("uns/t", (3000,), dtype=TEXT, chunks=(3000,))
    texts[0] = "a" * 2**20
    file.flush()
    _, places = texts.id.read_direct_chunk((0,))
    texts.id.write_direct_chunk((0,), places[:16] * 3000)


def many_parts(file: h5py.File) -> None:
    for k in range(10_001):
        file["uns"].create_group(f"g{k}")


N, D = DENSE.shape
GENE_NAMES = MATRIX_NUMBERS.genes
TEXT = h5py.string_dtype()
BROKEN_H5AD_FILES = {
    "index past the last": ("csr", set_value("X/indices", 2, D), f"indices holds {D}"),
    "index below the first": ("csr", set_value("X/indices", 2, -3), "indices holds -3"),
    "index far away": ("csr", set_value("X/indices", 2, 1000000), "indices holds 1000000"),
    "index past the last row": ("csc", set_value("X/indices", 2, N), f"indices holds {N}"),
    "one cell twice": ("csr", set_value("X/indices", 1, 0), "names one cell twice"),
    "pointer past the end": (
        "csr",
        set_value("X/indptr", -1, 10**6),
        "indptr does not grow from 0",
    ),
    "pointer goes back": ("csr", set_value("X/indptr", 2, 1), "indptr does not grow from 0"),
    "pointer starts late": ("csr", set_value("X/indptr", 0, 1), "indptr does not grow from 0"),
    "too few pointers": ("csr", replace_array("X/indptr", [0, 1]), "indptr has 2 entries"),
    "too few data": ("csr", replace_array("X/data", [1.0]), "data 1 and indices"),
    "indices with fractions": (
        "csr",
        replace_array("X/indices", [0.5]),
        "no sparse matrix as AnnData",
    ),
    "data of text": ("csr", replace_array("X/data", ["a"] * N * D), "no sparse matrix as AnnData"),
    "two-dimensional data": (
        "csr",
        replace_array("X/data", [[1.0]]),
        "no sparse matrix as AnnData",
    ),
    "no indices": ("csr", lambda file: file.pop("X/indices"), "no sparse matrix as AnnData"),
    "negative shape": ("csr", attribute("X", "shape", [-1, D]), "no sparse matrix as AnnData"),
    "vast shape": ("csr", attribute("X", "shape", [10**9, 10**9]), "reading takes 4 times"),
    "vast array": (
        "plain",
        replace_array("X", None, shape=(10**6, 10**6), dtype="f8", chunks=(10, 10)),
        "reading takes 4 times",
    ),
    "a link outside": (
        "plain",
        replace_by_link("X", h5py.ExternalLink("o.h5", "X")),
        "X: is a link",
    ),
    "a link inside": ("plain", replace_by_link("X", h5py.SoftLink("/obs/age")), "X: is a link"),
    "a column is a link": (
        "plain",
        replace_by_link("obs/age", h5py.ExternalLink("o.h5", "X")),
        "obs/age: is a link",
    ),
    "a virtual array": ("plain", replace_by_virtual, "X: lies in another file"),
    "bytes of another file": (
        "plain",
        replace_array("X", None, shape=DENSE.shape, dtype="f8", external=[("o.raw", 0, 800)]),
        "X: lies in another file",
    ),
    "complex numbers": ("plain", replace_array("X", DENSE + 1j), "X: holds complex numbers"),
    "complex data": (
        "csr",
        replace_array("X/data", DENSE.ravel() + 1j),
        "no sparse matrix as AnnData",
    ),
    "a complex column": (
        "plain",
        replace_array("obs/age", np.arange(N) * 1j),
        "age: holds complex",
    ),
    "numbers as text": (
        "plain",
        replace_array("X", DENSE.astype("S5")),
        "does not hold real numbers",
    ),
    "a cube": ("plain", replace_array("X", DENSE[None]), "AnnData cannot read it"),
    "a column of one": (
        "plain",
        replace_array("obs/age", [1.0]),
        "age: has another number of values",
    ),
    "a column of rows": (
        "plain",
        replace_array("obs/age", np.ones((N, 2))),
        "obs/age: has another",
    ),
    "codes of one": (
        "plain",
        replace_array("obs/class/codes", np.zeros(1, "i1")),
        "class: has another",
    ),
    "a column twice": ("plain", attribute("obs", "column-order", ["age"] * 2), "two columns"),
    "too few names": (
        "plain",
        replace_array("var/_index", GENE_NAMES[:2], dtype=TEXT),
        "has another number",
    ),
    "more names than any": (
        "plain",
        replace_array("var/_index", np.zeros(2_000_001, "S1"), compression="gzip"),
        "/var: has 2000001 rows, and at most 2000000 are read; keep those of the study",
    ),
    "other samples": ("plain", replace_array("X", DENSE[1:]), "AnnData cannot read it"),
    "a class that is none": (
        "plain",
        set_value("obs/class/codes", 0, 99),
        "AnnData cannot read it",
    ),
    "said in bytes, index below the first": (
        "csr",
        claim_encoding(np.bytes_("csr_matrix"), set_value("X/indices", 2, -3)),
        "indices holds -3",
    ),
    "said as it was, in bytes": (
        "csr",
        claim_encoding(
            None,
            attribute("X", "h5sparse_format", np.bytes_("csr")),
            attribute("X", "h5sparse_shape", [N, D]),
            set_value("X/indices", 2, D),
        ),
        f"indices holds {D}",
    ),
    "said in two ways": ("csr", attribute("X", "h5sparse_format", "csc"), "X: is no sparse matrix"),
    "of two shapes": ("csr", attribute("X", "h5sparse_shape", [D, N]), "X: is no sparse matrix"),
    "not said": ("csr", claim_encoding(None), "X: is no sparse matrix as AnnData"),
    "a table said in bytes": (
        "plain",
        claim_encoding(np.bytes_("dataframe"), replace_array("obs/age", [1.0]), path="obs"),
        "age: has another number of values",
    ),
    "a vast chunk": (
        "plain",
        replace_array(
            "X",
            None,
            shape=DENSE.shape,
            dtype="f8",
            chunks=(8000, 8000),
            maxshape=(None, None),
            compression="gzip",
        ),
        "unpacks to more than 100 times",
    ),
    "one long text many times": ("plain", same_text, "uns/t: holds more text than the file"),
    "many parts": ("plain", many_parts, "has more than 10000 parts"),
    "a loop": ("plain", lambda file: file["uns"].__setitem__("u", file["uns"]), "cannot read it"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", BROKEN_H5AD_FILES)
def test_crafted_file_is_refused_in_one_line(name: str) -> None:
    kind, change, words = BROKEN_H5AD_FILES[name]
    content = changed_file(PLAIN_FILE if kind == "plain" else SPARSE[kind], change)
    with pytest.raises(InvalidInput) as error_info:
        H5AD.matrix(content, "e.h5ad", None)
    (line,) = str(error_info.value).splitlines()
    assert line.startswith("error: e.h5ad")
    assert words in line


@pytest.mark.parametrize("kind", SPARSE)
@given(part=st.sampled_from(["indices", "indptr"]), at=st.integers(0, N), data=st.data())
def test_a_sparse_matrix_is_refused_or_every_value_is_in_its_place(
    kind: str, part: str, at: int, data: st.DataObject
) -> None:
    """Whatever one number says; the law is scipy's own on the numbers that are left alone."""
    value = data.draw(st.one_of(st.integers(-N, N * D + 1), st.integers(-(2**31), 2**31 - 1)))
    content = changed_file(SPARSE[kind], set_value(f"X/{part}", min(at, LINES[kind]), value))
    try:
        cells = H5AD.matrix(content, "e.h5ad", None).cells
    except InvalidInput:
        return
    np.testing.assert_array_equal(cells, DENSE)


def test_missing_and_infinite_values_are_left_to_the_checks_of_the_matrix(tmp_path: Path) -> None:
    spoilt = np.where(np.arange(D) == 1, np.inf, DENSE)
    (tmp_path / "e.h5ad").write_bytes(h5ad(MATRIX_NUMBERS, X=csr_matrix(spoilt), layers={}))
    matrix = read_matrix(tmp_path / "e.h5ad")
    assert matrix.text(0, 1) == "inf"


def test_matrix_of_integers_is_read(tmp_path: Path) -> None:
    integers = np.arange(N * D).reshape(N, D)
    (tmp_path / "e.h5ad").write_bytes(h5ad(MATRIX_NUMBERS, X=integers, layers={}))
    np.testing.assert_array_equal(read_matrix(tmp_path / "e.h5ad").cells, integers)


def with_masks(path: str, rows: int | None = None) -> Callable[[h5py.File], None]:
    """Write an array of texts as anndata 0.13 does with pandas 3: values, and which are missing."""

    def change(file: h5py.File) -> None:
        texts = file[path]
        texts = (texts["values"] if isinstance(texts, h5py.Group) else texts)[()]
        del file[path]
        group = file.create_group(path)
        group.attrs.update(
            {
                "encoding-type": "nullable-string-array",
                "na-value": "NaN",
                "encoding-version": "0.1.0",
            }
        )
        parts = {"values": texts, "mask": np.zeros(len(texts) if rows is None else rows, bool)}
        for name, part in parts.items():
            group[name] = part
            kind = "string-array" if name == "values" else "array"
            group[name].attrs.update({"encoding-type": kind, "encoding-version": "0.2.0"})

    return change


def test_masked_texts_are_read_as_texts(tmp_path: Path) -> None:
    (tmp_path / "e.h5ad").write_bytes(PLAIN_FILE)
    plain = read_matrix(tmp_path / "e.h5ad")
    content = PLAIN_FILE
    for path in ("obs/_index", "var/_index", "var/symbol"):
        content = changed_file(content, with_masks(path))
    assert content != PLAIN_FILE
    (tmp_path / "e.h5ad").write_bytes(content)
    matrix = read_matrix(tmp_path / "e.h5ad")
    assert (matrix.rows, matrix.columns) == (plain.rows, plain.columns)
    np.testing.assert_array_equal(matrix.cells, plain.cells)
    shorter = changed_file(PLAIN_FILE, with_masks("var/_index", 2))
    (tmp_path / "e.h5ad").write_bytes(shorter)
    with pytest.raises(InvalidInput, match="has another number of values than /var has rows"):
        read_matrix(tmp_path / "e.h5ad")
