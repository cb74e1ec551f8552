"""`read_dataset` returns the written values in any orientation and counts dropped genes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings import study_settings

from genesig.data.study.dataset import read_dataset
from genesig.errors import InvalidInput
from genesig.results import Dataset, Design

NUMBERS = st.floats(-1e100, 1e100, allow_nan=False, allow_subnormal=False)


def _write(path: Path, rows: list[list[str]]) -> str:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def _study(folder: Path, X: Any, labels: list[str], *, transposed: bool = False) -> Dataset:
    names = [f"{k:03d}" for k in range(len(labels))]
    genes = [f"g{k}" for k in range(len(X[0]))]
    rows = [["", *genes], *([n, *map(repr, map(float, x))] for n, x in zip(names, X, strict=True))]
    matrix = [list(column) for column in zip(*rows, strict=True)] if transposed else rows
    sheet = [["id", "class"], *([n, k] for n, k in zip(names, labels, strict=True))]
    files = (_write(folder / "e.tsv", matrix), _write(folder / "s.tsv", sheet))
    return read_dataset(study_settings(*files, "class"))


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[list[float]], list[str]]:
    n = draw(st.integers(2, 6))
    d = draw(st.integers(1, 5))
    X = draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n))
    # one gene varies
    X[0][0] = 0.0
    X[1][0] = 1.0
    labels = ["a", "b", *draw(st.lists(st.sampled_from("ab"), min_size=n - 2, max_size=n - 2))]
    return X, labels


@given(table=_tables(), transposed=st.booleans())
def test_values_come_back_exactly_and_constant_genes_are_counted(
    table: tuple[list[list[float]], list[str]],
    transposed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    values, labels = table
    X = np.array(values)
    data = _study(tmp_path_factory.mktemp("study"), X, labels, transposed=transposed)
    varies = (X[0] != X).any(axis=0)
    np.testing.assert_array_equal(data.X, X[:, varies])
    assert data.genes == [f"g{k}" for k in np.flatnonzero(varies)]
    assert data.response().tolist() == [1.0 if label == "b" else -1.0 for label in labels]
    dropped = [note["name"] for note in data.provenance["dropped"]]
    assert dropped == [f"g{k}" for k in np.flatnonzero(~varies)]


@given(
    order=st.permutations(range(6)),
    sheet_order=st.permutations(range(6)),
    columns=st.permutations(range(3)),
)
def test_samples_and_genes_are_sorted_by_name(
    order: list[int],
    sheet_order: list[int],
    columns: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("study")
    X = np.random.default_rng(0).normal(size=(6, 3))
    data = _study(folder, X, list("ababab"))
    names = [f"P{k}" for k in range(6)]
    rows = [[f"g{j}", *(repr(float(X[k, j])) for k in order)] for j in columns]
    matrix = _write(folder / "e2.tsv", [["gene", *(names[k] for k in order)], *rows])
    sheet = _write(
        folder / "s2.tsv", [["id", "class"], *([names[k], "ab"[k % 2]] for k in sheet_order)]
    )
    reordered_dataset = read_dataset(study_settings(matrix, sheet, "class"))
    assert reordered_dataset.samples == names
    assert reordered_dataset.genes == [f"g{j}" for j in range(3)]
    assert reordered_dataset.response().tolist() == [-1.0, 1.0] * 3
    np.testing.assert_array_equal(reordered_dataset.X, data.X)


def _files(folder: Path) -> tuple[str, str, str]:
    values = [["1", "2", "3", "4", "9"], ["2", "2", "2", "2", "5"], ["5", "1", "7", "2", "8"]]
    rows = [[gene, *row] for gene, row in zip(("g1", "g2", "<g3>"), values, strict=True)]
    matrix = _write(folder / "e.tsv", [["", "s1", "s2", "s3", "s4", "extra"], *rows])
    sheet = [
        ["id", "kind", "who"],
        ["s4", "b", "x"],
        ["s3", "", "x"],
        ["s2", "c", "y"],
        ["s1", "a", "y"],
    ]
    genes = [["probe", "name", "symbol"], ["g1", "long name", "TP53"], ["<g3>", "other", ""]]
    return matrix, _write(folder / "s.tsv", sheet), _write(folder / "g.tsv", genes)


def test_every_drop_has_its_reason(tmp_path: Path) -> None:
    matrix, sheet, genes = _files(tmp_path)
    data = read_dataset(
        study_settings(matrix, sheet, "kind", classes=["b", "a"], group="who", annotation=genes)
    )
    reasons = {note["name"]: note["reason"] for note in data.provenance["dropped"]}
    assert reasons == {
        "s3": "no label in column 'kind'",
        "s2": "class 'c' is not in data.classes",
        "extra": f"not in {sheet}",
        "g2": "constant",
    }
    assert Counter(note["kind"] for note in data.provenance["dropped"]) == {"sample": 3, "gene": 1}
    assert len(data.provenance["warnings"]) == 4
    assert sorted(data.provenance["inputs"]) == sorted([matrix, sheet, genes])
    assert data.provenance["steps"] == []
    assert data.samples == ["s1", "s4"]
    assert data.response().tolist() == [1.0, -1.0], "classes are [negative, positive]"
    assert data.design.group == "who"
    assert list(data.obs["who"]) == ["y", "x"]


@pytest.mark.parametrize(
    ("symbol", "expected_names"), [(None, ["other", "long name"]), ("symbol", ["<g3>", "TP53"])]
)
def test_a_gene_without_symbol_goes_by_its_id(
    symbol: str | None, expected_names: list[str], tmp_path: Path
) -> None:
    matrix, sheet, genes = _files(tmp_path)
    words = {"classes": ["b", "a"], "annotation": genes, "symbol": symbol}
    assert (
        list(read_dataset(study_settings(matrix, sheet, "kind", **words)).var["symbol"])
        == expected_names
    )


def test_a_pair_is_the_group(tmp_path: Path) -> None:
    matrix, sheet, _ = _files(tmp_path)
    design = read_dataset(
        study_settings(matrix, sheet, "kind", classes=["a", "b"], pair="who")
    ).design
    assert (design.pair, design.group) == ("who", "who")


def test_a_regression_has_real_responses(tmp_path: Path) -> None:
    matrix, _, _ = _files(tmp_path)
    sheet = _write(tmp_path / "r.tsv", [["id", "age"], ["s1", "1.5"], ["s2", "-2"], ["s3", "1e3"]])
    data = read_dataset(study_settings(matrix, sheet, "age", task="regression"))
    assert data.response().tolist() == [1.5, -2.0, 1000.0]
    assert data.design.classes is None


def test_all_errors_of_all_files_are_raised_together(tmp_path: Path) -> None:
    _, sheet, _ = _files(tmp_path)
    absent = str(tmp_path / "e3.tsv")
    missing_file = str(tmp_path / "e4.tsv")
    with pytest.raises(InvalidInput) as caught:
        read_dataset(study_settings(absent, sheet, "knd", annotation=missing_file))
    assert [problem.location for problem in caught.value.problems] == [absent, sheet, missing_file]


@pytest.mark.parametrize("corner", ["id", "", "_index"])
def test_a_data_set_survives_its_file(corner: str, tmp_path: Path) -> None:
    matrix, _, genes = _files(tmp_path)
    rows = [["s4", "b", "x", "1", "2", "3"], ["s1", "a", "y", "4", "5", "6"]]
    names = [corner, "kind", "who", "IC50 (mg/ml)", "_index", ""]
    sheet = _write(tmp_path / "s.tsv", [names, *rows])
    words = {"classes": ["b", "a"], "group": "who", "annotation": genes}
    data = read_dataset(study_settings(matrix, sheet, "kind", **words))
    assert list(data.obs.columns) == ["kind", "who"]
    assert "column 'IC50 (mg/ml)', '_index', '' is left out" in data.provenance["warnings"][0]
    data.save(tmp_path / "d.h5ad")
    reloaded = Dataset.load(tmp_path / "d.h5ad")
    np.testing.assert_array_equal(reloaded.X, data.X)
    assert (reloaded.samples, reloaded.genes, reloaded.design) == (
        data.samples,
        data.genes,
        data.design,
    )
    assert reloaded.provenance == data.provenance
    assert list(reloaded.var["symbol"]) == list(data.var["symbol"])
    assert reloaded.obs.astype(str).to_dict() == data.obs.to_dict()


def test_gene_names_are_computed_once():
    n_genes = 2000
    var = pd.DataFrame({"symbol": "s"}, index=[f"g{k}" for k in range(n_genes)])
    obs = pd.DataFrame({"class": ["a", "b"]}, index=["s1", "s2"])
    design = Design("class", "classification", ("a", "b"), None, None)
    data = Dataset(np.zeros((2, n_genes)), obs, var, design, {})
    assert data.genes is data.genes
    assert data.samples is data.samples
