"""GEO series matrices, GCT and CLS files are read with their values, genes and classes."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import yaml
from broken_formats import GCT, SERIES
from broken_formats import GEO_NUMBERS as NUMBERS
from format_files import gct12, gct13, series_matrix
from places import SHARED

from genesig.cli import main
from genesig.data.files.readers import read_genes, read_matrix, read_sample_table, read_samples
from genesig.errors import InvalidInput


def test_the_head_of_a_series_matrix_is_a_sample_table(tmp_path: Path) -> None:
    (tmp_path / SERIES).write_text(series_matrix(NUMBERS))
    table = read_samples(tmp_path / SERIES, None, None)
    assert table.index.tolist() == NUMBERS.samples
    assert table["disease state"].tolist() == NUMBERS.labels
    assert table["age"].tolist() == ["40", "", *[str(40 + k) for k in range(2, 8)]]
    assert table["title"].tolist() == [f'Title of "{name}"' for name in NUMBERS.samples]
    assert set(table["genotype_variation"]) == {"wt"}
    assert "status" not in table  # the same for all, so it says nothing of a sample
    assert read_sample_table(tmp_path / SERIES, None, None).lines == [5] * 8


def test_a_characteristic_named_like_a_tag_keeps_both(tmp_path: Path) -> None:
    text = series_matrix(NUMBERS).replace("genotype/variation: wt", "title: mine")
    (tmp_path / SERIES).write_text(text)
    table = read_samples(tmp_path / SERIES, None, None)
    assert table["title"].iloc[0] == 'Title of "S0"'
    assert set(table["title (characteristic)"]) == {"mine"}


def test_old_bytes_in_the_head_of_a_series_are_latin_1(tmp_path: Path) -> None:
    text = series_matrix(NUMBERS).replace("A study", "50 µg é")
    (tmp_path / SERIES).write_bytes(text.encode("latin-1"))
    assert read_matrix(tmp_path / SERIES).cells.tolist() == NUMBERS.rows


def test_gene_columns_of_a_gct_are_a_gene_table(tmp_path: Path) -> None:
    (tmp_path / GCT).write_text(gct13(NUMBERS))
    table = read_genes(tmp_path / GCT, None)
    assert table["symbol"].to_dict() == {gene: f"sym{gene}" for gene in NUMBERS.genes}


def _numbered(text: str, first: int) -> str:
    """Return a GCT 1.2 with a column before the names, as GTEx writes it."""
    version, size, header, *rows = text.replace("NAME", "Name").splitlines()
    rows = [f"{number}\t{row}" for number, row in enumerate(rows, first)]
    return "\n".join([version, size, f"id\t{header}", *rows])


def test_numbers_of_the_rows_before_the_names_of_a_gct_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / GCT).write_text(_numbered(gct12(NUMBERS), 0))
    matrix = read_matrix(tmp_path / GCT)
    assert list(matrix.rows) == NUMBERS.genes
    assert list(matrix.columns) == NUMBERS.samples
    assert matrix.cells.tolist() == NUMBERS.rows
    assert read_genes(tmp_path / GCT, None).columns.tolist() == ["Description"]


def test_other_numbers_before_the_names_of_a_gct_are_refused(tmp_path: Path) -> None:
    (tmp_path / GCT).write_text(_numbered(gct12(NUMBERS), 7))
    with pytest.raises(InvalidInput, match="header has 9 samples where line 2 says 8"):
        read_matrix(tmp_path / GCT)


def test_rows_about_samples_of_one_name_are_both_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = gct13(NUMBERS).replace("\t2\t1\n", "\t2\t2\n")
    head, row, rest = text.partition("class\tna")
    second = f"class\tna\tna{8 * chr(9)}\n"
    (tmp_path / GCT).write_text(head + second + row + rest)
    table = read_samples(tmp_path / GCT, None, None)
    assert table.columns.tolist() == ["class", "class"]
    assert table.iloc[:, 1].tolist() == NUMBERS.labels
    study = {"expression": str(tmp_path / GCT), "samples": str(tmp_path / GCT), "label": "class"}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(study))
    assert main(["validate", str(tmp_path / "c.yaml")]) == 1
    problems = capsys.readouterr().err
    assert "column name 'class' occurs more than once" in problems
    assert "label 'class': 2 columns have this name" in problems


needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


@needs_data
@pytest.mark.parametrize(
    ("name", "key", "counts"),
    [
        ("GSE55235", "disease state", {"healthy control": 10, "rheumatoid arthritis": 10}),
        ("GSE55457", "clinical status", {"normal control": 10, "rheumatoid arthritis": 13}),
    ],
)
def test_a_realseries_study(name: str, key: str, counts: dict[str, int]) -> None:
    path = SHARED / "geo" / f"{name}_series_matrix.txt.gz"
    matrix = read_matrix(path)
    table = read_samples(path, None, None)
    assert matrix.cells.shape == (22283, len(table))
    assert list(matrix.columns) == table.index.tolist()
    counted = table[key].value_counts().to_dict()
    assert {word: counted[word] for word in counts} == counts
    with gzip.open(path, "rt", encoding="utf-8") as stream:  # one row, by hand
        row = next(line for line in stream if line.startswith('"1053_at"')).split("\t")
    place = matrix.rows.index("1053_at")
    np.testing.assert_array_equal(matrix.cells[place], np.array(row[1:], dtype=float))


@needs_data
def test_a_real_series_of_rna_seq_is_empty() -> None:
    path = SHARED / "geo" / "GSE99709_series_matrix.txt.gz"
    with pytest.raises(InvalidInput, match=r"table is empty.*GSE99709_Stat3RNA-Seq-counts\.csv"):
        read_matrix(path)
    table = read_samples(path, None, None)
    assert set(table["viral treatment"]) == {"Ad5CMV-eGFP", "Ad5CMVCre-eGFP"}


@needs_data
@pytest.mark.parametrize(
    ("name", "shape", "first_row"),
    [
        ("older_version_v1_2", (5, 3), [280.53, 271.48, 113.57]),
        ("test_v1point2_n5x10", (10, 5), [11.3819, 11.3336, 11.4486, 11.3117, 11.6321]),
        ("Leukemia_hgu95av2.trim", (9020, 48), None),
    ],
)
def test_a_realgct_study(name: str, shape: tuple[int, int], first_row: list[float] | None) -> None:
    path = SHARED / "gct" / f"{name}.gct"
    matrix = read_matrix(path)
    assert matrix.cells.shape == shape
    assert first_row is None or matrix.cells[0].tolist() == first_row
    if shape == (9020, 48):
        table = read_samples(path.with_name("Leukemia.cls"), matrix.columns, None)
        assert [name.split("_")[0] for name in table.index] == table["class"].tolist()
