"""GEO series matrices, GCT and CLS: what they hold is read, what is broken is one line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from format_files import Numbers, cls, gct12, gct13, series_matrix

from genesig.cli import main
from genesig.data.readers import read_genes, read_matrix, read_samples
from genesig.errors import InvalidInput

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data"
SERIES, GCT = "GSE1_series_matrix.txt", "e.gct"
NUMBERS = Numbers()
SMALL = {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}


def _validate(folder: Path, files: dict[str, str], config: dict[str, object]) -> int:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "c.yaml").write_text(yaml.safe_dump({"splits": SMALL} | config))
    return main(["validate", "c.yaml"])


def _series(change: Callable[[str], str]) -> tuple[dict[str, str], dict[str, object]]:
    study = {"expression": SERIES, "samples": SERIES, "label": "disease state"}
    return {SERIES: change(series_matrix(NUMBERS))}, study


def _gct(change: Callable[[str], str], classes: str = cls(NUMBERS)) -> tuple[dict, dict]:  # type: ignore[type-arg]
    study = {"expression": GCT, "samples": "c.cls", "label": "class"}
    return {GCT: change(gct12(NUMBERS)), "c.cls": classes}, study


WHOLE = {
    "series matrix, its own sample table": _series(str),
    "GCT 1.2 with CLS": _gct(str),
    "GCT 1.2 named .txt": (
        {"e.txt": gct12(NUMBERS), "c.cls": cls(NUMBERS)},
        {"expression": "e.txt", "samples": "c.cls", "label": "class"},
    ),
    "GCT 1.3, its own sample and gene table": (
        {GCT: gct13(NUMBERS)},
        {"expression": GCT, "samples": GCT, "label": "class", "data": {"annotation": GCT}},
    ),
    "CLS with numbers": _gct(str, "8 2 1\n# normal tumor\n0 1 0 1 0 1 0 1\n"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file_is_a_study(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = _validate(tmp_path, *WHOLE[name])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.endswith("8 samples (4 normal, 4 tumor), 5 genes\n")


def _without(line: str) -> Callable[[str], str]:
    return lambda text: "".join(
        each for each in text.splitlines(keepends=True) if not each.startswith(line)
    )


BROKEN = {
    "series: cut before its table": (
        _series(lambda t: t[: t.index("!series_matrix")]),
        ["GSE1_series_matrix.txt: has no line !series_matrix_table_begin", "download"],
    ),
    "series: cut inside its table": (
        _series(lambda t: t[: t.index('"g3"')]),
        ["txt, line 16: has no line !series_matrix_table_end", "cut off", "download"],
    ),
    "series: empty table": (
        _series(lambda t: t[: t.index('"g0"')] + "!series_matrix_table_end\n"),
        ["txt, line 11: the table is empty", "'GSE1_counts.csv.gz'", "name it as 'expression'"],
    ),
    "series: two tables": (
        _series(lambda t: t + t),
        ["txt, line 29: holds two series matrix tables", "one file for each platform"],
    ),
    "series: two platforms": (
        _series(lambda t: series_matrix(NUMBERS, ["GPL96", "GPL97"])),
        ["holds samples of 2 platforms: 'GPL96', 'GPL97'", "one file for each"],
    ),
    "series: no samples": (
        _series(_without("!Sample_geo_accession")),
        ["has no line !Sample_geo_accession", "download"],
    ),
    "series: a sample twice": (
        _series(lambda t: t.replace('"S1"', '"S0"')),
        ["line 5: !Sample_geo_accession names a sample twice", "download"],
    ),
    "series: a tag with too few values": (
        _series(lambda t: t.replace('\t"age: 47"', "")),
        ["line 8: !sample_characteristics_ch1 has 7 values for 8 samples", "download"],
    ),
    "series: null": (
        _series(lambda t: t.replace('"g1"\t7.5', '"g1"\tnull')),
        ["txt, line 14, gene 'g1', sample 'S0': the value is missing ('null')", "fill it in"],
    ),
    "series: a line cut off": (
        _series(lambda t: t.replace('"g1"\t7.5\t', '"g1"\t')),
        ["txt, line 14: 8 fields where the header has 9", "cut off"],
    ),
    "series: a characteristic that is not there": (
        (_series(str)[0], _series(str)[1] | {"label": "diseasestate"}),
        ["label 'diseasestate' is not a column", "did you mean 'disease state'?"],
    ),
    "series: no gene table": (
        (_series(str)[0], _series(str)[1] | {"data": {"annotation": SERIES}}),
        ["is a GEO series matrix, which says nothing of genes", "name a gene table"],
    ),
    "gct: unknown version": (
        _gct(lambda t: t.replace("#1.2", "#1.4")),
        ["e.gct, line 1: the first line is '#1.4'", "#1.2 or #1.3"],
    ),
    "gct: no size": (
        _gct(lambda t: t.replace("5\t8\n", "NAME\n")),
        ["e.gct, line 2: needs the size here"],
    ),
    "gct: too few rows": (
        _gct(lambda t: t.replace("5\t8\n", "6\t8\n")),
        ["e.gct: has 5 rows of genes where line 2 says 6", "cut off"],
    ),
    "gct: too many samples": (
        _gct(lambda t: t.replace("5\t8\n", "5\t7\n")),
        ["e.gct, line 3: the header has 8 samples where line 2 says 7"],
    ),
    "gct: a row cut off": (
        _gct(lambda t: t.replace("g2\tabout g2\t", "g2\t")),
        ["e.gct, line 6: 9 fields where 10 are needed"],
    ),
    "gct: nothing below the size": (
        _gct(lambda t: "#1.2\n5\t8\n"),
        ["e.gct: ends before the line of names", "again"],
    ),
    "gct: a word for a number": (
        _gct(lambda t: t.replace("about g1\t7.5", "about g1\tabsent")),
        ["e.gct, line 5, gene 'g1', sample 'S0': the value is 'absent', not a number"],
    ),
    "gct: nothing about samples": (
        (_gct(str)[0], _gct(str)[1] | {"samples": GCT}),
        ["e.gct: says nothing of its samples (only GCT 1.3 can)", "CLS"],
    ),
    "cls: two lines": (
        _gct(str, "8 2 1\n# normal tumor\n"),
        ["c.cls: needs three lines"],
    ),
    "cls: numbers of a phenotype": (
        _gct(str, "#numeric\n#age\n1 2 3 4 5 6 7 8\n"),
        ["c.cls, line 1: holds numbers and not classes", "sample table"],
    ),
    "cls: another number of labels than it says": (
        _gct(str, cls(NUMBERS).replace("8 2", "9 2")),
        ["c.cls, line 3: has 8 labels where line 1 says 9"],
    ),
    "cls: another number of classes than it says": (
        _gct(str, cls(NUMBERS).replace("8 2", "8 3")),
        ["c.cls, line 2: names 2 classes where line 1 says 3"],
    ),
    "cls: of another matrix": (
        _gct(str, "4 2 1\n# normal tumor\nnormal normal tumor tumor\n"),
        ["c.cls, line 3: has 4 labels for the 8 samples of the matrix"],
    ),
    "cls: a class without samples": (
        _gct(str, cls(NUMBERS).replace("tumor\nnormal tumor normal tumor normal tumor normal tumor",
                                       "tumor\n" + "normal " * 8)),
        ["c.cls, line 3: has 1 different label where line 2 names 2"],
    ),
    "cls: classes in another order than the samples": (
        _gct(str, cls(NUMBERS).replace("# normal tumor", "# tumor normal")),
        ["c.cls, line 3: begins with 'normal'", "order of their first sample"],
    ),
    "cls: its matrix is broken": (
        _gct(lambda t: "#1.2\n", cls(NUMBERS)),
        ["c.cls: names no samples, and the matrix", "cannot be read"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study, words = BROKEN[name]
    assert _validate(tmp_path, *study) == 1
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if all(word in line for word in words)]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    assert all(line.startswith(("error: ", "warning: ")) for line in err.splitlines())


def test_the_head_of_a_series_matrix_is_a_sample_table(tmp_path: Path) -> None:
    (tmp_path / SERIES).write_text(series_matrix(NUMBERS))
    table = read_samples(tmp_path / SERIES, None, None)
    assert table.index.tolist() == NUMBERS.samples
    assert table["disease state"].tolist() == NUMBERS.labels
    assert table["age"].tolist() == ["40", "", *[str(40 + k) for k in range(2, 8)]]
    assert table["title"].tolist() == [f'Title of "{name}"' for name in NUMBERS.samples]
    assert set(table["genotype_variation"]) == {"wt"}
    assert "status" not in table  # the same for all, so it says nothing of a sample
    assert table.attrs["lines"] == [5] * 8


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


def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'\.gcf' is not known; did you mean '\.gct'\?.*\.tsv"):
        read_matrix(tmp_path / "e.gcf")


needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


@needs_data
@pytest.mark.parametrize(
    ("name", "key", "counts"),
    [
        ("GSE55235", "disease state", {"healthy control": 10, "rheumatoid arthritis": 10}),
        ("GSE55457", "clinical status", {"normal control": 10, "rheumatoid arthritis": 13}),
    ],
)
def test_a_real_series(name: str, key: str, counts: dict[str, int]) -> None:
    path = SHARED / "geo" / f"{name}_series_matrix.txt.gz"
    matrix, table = read_matrix(path), read_samples(path, None, None)
    assert matrix.cells.shape == (22283, len(table))
    assert list(matrix.columns) == table.index.tolist()
    found = table[key].value_counts().to_dict()
    assert {word: found[word] for word in counts} == counts
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
    ("name", "shape", "first"),
    [
        ("older_version_v1_2", (5, 3), [280.53, 271.48, 113.57]),
        ("test_v1point2_n5x10", (10, 5), [11.3819, 11.3336, 11.4486, 11.3117, 11.6321]),
        ("Leukemia_hgu95av2.trim", (9020, 48), None),
    ],
)
def test_a_real_gct(name: str, shape: tuple[int, int], first: list[float] | None) -> None:
    path = SHARED / "gct" / f"{name}.gct"
    matrix = read_matrix(path)
    assert matrix.cells.shape == shape
    assert first is None or matrix.cells[0].tolist() == first
    if shape == (9020, 48):
        table = read_samples(path.with_name("Leukemia.cls"), matrix.columns, None)
        assert [name.split("_")[0] for name in table.index] == table["class"].tolist()
