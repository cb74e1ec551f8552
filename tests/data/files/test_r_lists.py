"""R lists and data frames with a matrix and a factor are read as a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from places import SHARED

from genesig.cli import main
from genesig.data.files.formats import rdata
from genesig.data.files.readers import read_matrix, read_samples
from genesig.errors import InvalidInput

xarray = pytest.importorskip("xarray")
rda = pytest.importorskip("rdata")

N = 24
D = 150
TUMOUR_LABELS = ["t", "n"] * (N // 2)
MATRIX_GENES = [f"X{k}" for k in range(1, D + 1)]
CELLS = np.random.default_rng(0).normal(8, 1, (N, D))
FACTOR = pd.Categorical(TUMOUR_LABELS)
MATRIX_SAMPLES = [f"S{k}" for k in range(N)]
ROW_NUMBERS = [str(k) for k in range(1, N + 1)]


def r_matrix(cells: Any, rows: list[str] | None, columns: list[str] | None) -> Any:
    """Return an R matrix as rdata gives it, with dimnames or with some of them only."""
    coords = {f"dim_{k}": names for k, names in enumerate((rows, columns)) if names}
    return xarray.DataArray(cells, dims=["dim_0", "dim_1"], coords=coords)


FRAME = pd.DataFrame(CELLS, columns=MATRIX_GENES, index=MATRIX_SAMPLES)
PHENO = pd.DataFrame({"y": TUMOUR_LABELS, "age": range(N)}, index=MATRIX_SAMPLES)
OBJECTS: dict[str, tuple[Any, list[str]]] = {
    # what a file holds, and the names of its samples
    "a list": (
        {"alon": {"x": r_matrix(CELLS, MATRIX_SAMPLES, MATRIX_GENES), "y": FACTOR}},
        MATRIX_SAMPLES,
    ),
    "samples without names": (
        {"khan": {"x": r_matrix(CELLS, None, MATRIX_GENES), "y": FACTOR}},
        ROW_NUMBERS,
    ),
    "the other way round": (
        {"x": r_matrix(CELLS.T, MATRIX_GENES, MATRIX_SAMPLES), "y": FACTOR},
        MATRIX_SAMPLES,
    ),
    "columns without names": (
        {"x": r_matrix(CELLS.T, MATRIX_GENES, None), "y": FACTOR},
        ROW_NUMBERS,
    ),
    "words in place of a factor": (
        {"x": r_matrix(CELLS, MATRIX_SAMPLES, MATRIX_GENES), "y": np.array(TUMOUR_LABELS)},
        MATRIX_SAMPLES,
    ),
    "a vector with names in another order": (
        {
            "x": r_matrix(CELLS, MATRIX_SAMPLES, MATRIX_GENES),
            "y": xarray.DataArray(
                np.array(TUMOUR_LABELS)[::-1],
                dims=["dim_0"],
                coords={"dim_0": MATRIX_SAMPLES[::-1]},
            ),
        },
        MATRIX_SAMPLES,
    ),
    "a list of a data.frame": (
        {"one": {"x": FRAME, "y": FACTOR, "about": np.array(["by me"])}},
        MATRIX_SAMPLES,
    ),
    "two data.frames": (
        {"one": {"x": r_matrix(CELLS, MATRIX_SAMPLES, MATRIX_GENES), "p": PHENO}},
        MATRIX_SAMPLES,
    ),
    "classes in the data.frame": (FRAME.assign(y=FACTOR), MATRIX_SAMPLES),
    "classes first": (pd.concat([PHENO[["y"]], FRAME], axis=1), MATRIX_SAMPLES),
}


def write_r_data(monkeypatch: pytest.MonkeyPatch, folder: Path, value: Any) -> Path:
    monkeypatch.setattr(rdata, "read_objects", lambda content, location: value)
    (folder / "e.rda").write_bytes(b"R")
    return folder / "e.rda"


@pytest.mark.parametrize("name", OBJECTS)
def test_a_published_object_is_a_study(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, samples = OBJECTS[name]
    path = write_r_data(monkeypatch, tmp_path, value)
    matrix = read_matrix(path)
    table = read_samples(path, None, None)
    matrix = matrix if matrix.columns == tuple(MATRIX_GENES) else matrix.transpose()
    assert (list(matrix.rows), list(matrix.columns)) == (samples, MATRIX_GENES)
    np.testing.assert_array_equal(matrix.cells, CELLS)
    assert table["y"].to_dict() == dict(zip(samples, TUMOUR_LABELS, strict=True))
    assert len(table.columns) == len(value["one"]["p"].columns if "two" in name else ["y"])
    assert main(["init", str(tmp_path / "s"), "-e", str(path)]) == 0
    config = yaml.safe_load((tmp_path / "s/config.yaml").read_text())
    assert config["samples"] == config["expression"] == "../e.rda"
    assert config["label"] == "y"
    monkeypatch.chdir(tmp_path / "s")
    assert main(["validate", "config.yaml"]) == 0


def test_a_part_chooses_among_matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them has the classes of its own length beside it."""
    train = r_matrix(CELLS[:8], None, MATRIX_GENES)
    test = r_matrix(CELLS[8:], None, MATRIX_GENES)
    split_data = {"x": train, "y": FACTOR[:8], "xtest": test, "ytest": FACTOR[8:]}
    path = write_r_data(monkeypatch, tmp_path, {"khan": split_data})
    with pytest.raises(InvalidInput, match="holds 4 objects: 'x', 'y', 'xtest', 'ytest'; choose"):
        read_matrix(path)
    assert len(read_matrix(path, "xtest").rows) == N - 8
    assert read_samples(path, None, "xtest")["ytest"].tolist() == TUMOUR_LABELS[8:]
    assert list(read_samples(path, None, "x").columns) == ["y"]
    with pytest.raises(InvalidInput, match="did you mean 'xtest'"):
        read_matrix(path, "xtes")


def test_a_matrix_alone_gets_its_samples_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples × genes as R has them: the genes were written as samples."""
    path = write_r_data(monkeypatch, tmp_path, {"x": r_matrix(CELLS, None, MATRIX_GENES)})
    assert main(["init", str(tmp_path / "s"), "-e", str(path)]) == 0
    rows = (tmp_path / "s/samples.tsv").read_text().splitlines()[1:]
    assert [row.split("\t")[0] for row in rows] == ROW_NUMBERS


REFUSED: dict[str, tuple[Any, str]] = {
    "no names at all": ({"x": CELLS, "y": FACTOR}, "has no names of rows and columns"),
    "an empty list": ({"x": {}}, "class 'list'"),
    "a factor alone": ({"y": FACTOR}, "class"),
    "a table of samples": (PHENO, "column 'y' of the data.frame is not numeric"),
    "half of its columns are words": (
        PHENO.assign(site=TUMOUR_LABELS, weight=range(N)),
        "column 'y'.* 'site' of the data.frame is not numeric",
    ),
    "symbols of genes without names": (
        pd.DataFrame(CELLS[:4], columns=MATRIX_GENES).assign(symbol=list("aabb")),
        "column 'symbol' of the data.frame is not numeric",
    ),
    "words only": (
        {"x": r_matrix(CELLS.astype(str), MATRIX_SAMPLES, MATRIX_GENES)},
        "holds text, not numbers",
    ),
    "a cube": ({"x": xarray.DataArray(CELLS[None])}, "not a matrix"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_file_without_a_matrix_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, words = REFUSED[name]
    path = write_r_data(monkeypatch, tmp_path, value)
    with pytest.raises(InvalidInput, match=words) as error_info:
        read_matrix(path)
    assert len(str(error_info.value).splitlines()) == 1


@pytest.mark.parametrize("n_samples", [99, 100])
def test_symbols_beside_any_number_of_samples_are_read(
    n_samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [f"S{k}" for k in range(n_samples)]
    values = pd.DataFrame(1.0, index=["ENSG1", "ENSG2"], columns=samples)
    frame = values.assign(symbol=["TP53", "EGFR"], biotype="coding")
    matrix = read_matrix(write_r_data(monkeypatch, tmp_path, frame))
    assert (matrix.rows, matrix.columns) == (("ENSG1", "ENSG2"), tuple(samples))
    assert dict(matrix.symbols) == {"ENSG1": "TP53", "ENSG2": "EGFR"}
    assert matrix.annotation == ("symbol", "biotype")


def test_a_table_of_samples_keeps_all_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_r_data(monkeypatch, tmp_path, PHENO)
    assert list(read_samples(path, None, None).columns) == ["y", "age"]


def test_data_frame_of_a_program_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: CELLS[:, k] for k, name in enumerate(MATRIX_GENES)}).assign(
        y=FACTOR
    )
    rda.write_rda(tmp_path / "e.rda", {"frame": frame})
    assert read_matrix(tmp_path / "e.rda").columns == tuple(MATRIX_GENES)
    assert read_samples(tmp_path / "e.rda", None, None)["y"].tolist() == TUMOUR_LABELS


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(("name", "shape"), [("alon", (62, 2000)), ("khan", (63, 2308))])
def test_published_r_files_are_read(name: str, shape: tuple[int, int]) -> None:
    path = SHARED / f"rdata/{name}.RData"
    matrix = read_matrix(path)
    table = read_samples(path, None, None)
    assert matrix.cells.shape == shape
    assert list(table.index) == list(matrix.rows) == [str(k) for k in range(1, shape[0] + 1)]
    assert list(table.columns) == ["y"]
