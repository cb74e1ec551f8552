"""Table layouts of other programs are read, or refused with the layout named."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import numpy as np
import pytest
from small_study import Study

from genesig.cli import main
from genesig.data.files.delimited import Matrix
from genesig.data.files.readers import (
    load_schema,
    read_config,
    read_matrix,
    read_sample_table,
    read_samples,
)
from genesig.data.study.dataset import read_inputs
from genesig.data.study.settings import StudySettings
from genesig.data.validate import study_config
from genesig.errors import InvalidInput

FEATURE_COUNTS = (
    '# Program:featureCounts v2.0.6; Command:"featureCounts" "-a" "g.gtf" "-o" "c.txt"\n'
    "Geneid\tChr\tStart\tEnd\tStrand\tLength\tbam/s1.bam\tbam/s2.bam\n"
    "g1\t1;1\t11;90\t40;99\t+;+\t38\t7\t0\n"
    "g2\tX\t5\t80\t-\t76\t12\t3\n"
)
SALMON = "gene_id\tgene_name\ts1\ts2\ng1\tTP53\t7\t0\ng2\tEGFR\t12\t3\n"
DESEQ = "gene_id,s1,s2,gene_name,gene_biotype\ng1,7,0,TP53,protein_coding\ng2,12,3,,lncRNA\n"
TITLED = '"Table S2, raw"\n\n# by hand\ngene,s1,s2\ng1,7,0\ng2,12,3\n'
SHEET_TITLED = "Table S2\t\t\n\t\t\ngene\ts1\ts2\ng1\t7\t0\ng2\t12\t3\n"
CENTRED = "\tTable S2\t\ngene\ts1\ts2\ng1\t7\t0\ng2\t12\t3\n"
HASH_HEADER = "#gene\ts1\ts2\ng1\t7\t0\ng2\t12\t3\n"
ONE_SAMPLE_OF_R = "s1\ng1\t7\ng2\t12\n"
READ = {
    # text, file, symbols, whether a title is said
    "featureCounts": (FEATURE_COUNTS, "c.txt", {}, False),
    "salmon, by nf-core": (
        SALMON,
        "salmon.merged.gene_counts.tsv",
        {"g1": "TP53", "g2": "EGFR"},
        False,
    ),
    "DESeq2": (DESEQ, "normalised.csv", {"g1": "TP53"}, False),
    "titles": (TITLED, "t.csv", {}, True),
    "titles of a spreadsheet": (SHEET_TITLED, "t.tsv", {}, True),
    "a title in the middle of its row": (CENTRED, "t.tsv", {}, True),
    "a header with #": (HASH_HEADER, "t.tsv", {}, False),
}


def read(folder: Path, text: str, name: str) -> Matrix:
    (folder / name).write_text(text)
    return read_matrix(folder / name)


@pytest.mark.parametrize("kind", READ)
def test_table_layout_is_read(kind: str, tmp_path: Path) -> None:
    text, name, symbols, titled = READ[kind]
    matrix = read(tmp_path, text, name)
    assert (matrix.rows, matrix.columns) == (("g1", "g2"), ("s1", "s2"))
    np.testing.assert_array_equal(matrix.cells, [[7, 0], [12, 3]])
    assert matrix.texts == {}
    assert dict(matrix.symbols) == symbols
    assert ("title" in matrix.doubt) is titled
    assert not titled or "(line 1)" in matrix.doubt


def test_a_row_of_numbers_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="one column only"):
        read(tmp_path, ONE_SAMPLE_OF_R, "r.tsv")


def test_titles_of_a_sample_table_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("Patients of 2019\n\nsample\tage\nP1\t40\nP2\t50\n")
    table = read_sample_table(tmp_path / "s.tsv", None, None)
    assert (list(table.cells.index), list(table.cells.columns)) == (["P1", "P2"], ["age"])
    assert table.lines == [4, 5]


@pytest.mark.parametrize(
    ("header", "program"),
    [
        ("baseMean\tlog2FoldChange\tlfcSE\tpvalue", "DESeq2"),
        ("logFC\tlogCPM\tF\tFDR", "edgeR"),
        ("logFC\tAveExpr\tt\tB", "limma"),
    ],
)
def test_table_of_test_results_is_refused(header: str, program: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"is a table of tests as {program} writes it"):
        read(tmp_path, f"gene\t{header}\ng1\t1\t2\t3\t4\n", "r.tsv")


def test_symbols_beside_the_ids_are_those_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    for number, row in enumerate(study.matrix):
        row.insert(1, f"SYM{number}" if number else "gene_name")
    study.write()
    assert main(["validate", "config.yaml"]) == 0, capsys.readouterr().err
    config = study_config(read_config("config.yaml"), load_schema())
    inputs = read_inputs(StudySettings.from_config(config))
    assert inputs.gene_table(()).loc["gene1", "symbol"] == "SYM1"


MARKED = "gene\ts1\ts2\n<<<<<<< HEAD\ng1\t1\t2\n=======\ng1\t1\t3\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!DOCTYPE html>\n<html></html>\n", "is a web page"),
        ("<<<<<<< HEAD\ng1\t1\n", "line 1: '<<<<<<< HEAD' is git's mark of a conflict"),
    ],
)
def test_other_file_behind_a_byte_order_mark_is_named(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=words):
        read(tmp_path, f"\N{BYTE ORDER MARK}{text}", "f.tsv")


def test_further_headers_follow_the_columns_of_a_part() -> None:
    matrix = Matrix(("g",), ("s1", "s2"), np.ones((1, 2)), {}, (2,), headers=(("a", "b"),))
    assert matrix.subset([0], [1]).headers == (("b",),)
    assert matrix.transpose().subset([1], [0]).headers == (("b",),)


@pytest.mark.parametrize("kind", ["matrix", "sample table", "config"])
def test_git_conflict_marks_are_named(kind: str, tmp_path: Path) -> None:
    (tmp_path / "f.tsv").write_text(MARKED)
    reader = {
        "matrix": read_matrix,
        "config": read_config,
        "sample table": lambda path: read_samples(path, None, None),
    }[kind]
    with pytest.raises(InvalidInput, match=r"f.tsv, line 2: '<<<<<<< HEAD' is git's mark of a con"):
        reader(tmp_path / "f.tsv")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("label:diagnosis", "line 2: 'label:diagnosis' needs a blank behind the colon: "),
        ('samples: "C:\\data\\s.tsv"', "line 2: a backslash between double quotes begins a code"),
    ],
)
def test_usual_slips_in_a_config_are_named(line: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(f"expression: e.tsv\n{line}\n")
    with pytest.raises(InvalidInput) as caught:
        read_config(tmp_path / "c.yaml")
    assert words in str(caught.value)


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


ROWS: list[list[object]] = [["gene", "s1", "s2"], ["g1", 7.25, 0], ["g2", None, 3]]


def test_workbook_sheet_is_read_as_table(tmp_path: Path) -> None:
    path = tmp_path / "e.xlsx"
    workbook(path, {"values": ROWS, "empty": []})
    matrix = read_matrix(path)
    assert (matrix.rows, matrix.columns) == (("g1", "g2"), ("s1", "s2"))
    np.testing.assert_array_equal(matrix.cells, [[7.25, 0], [np.nan, 3]])
    workbook(path, {"values": ROWS, "people": [["sample", "age"], ["s1", 40], ["s2", "NA"]]})
    assert read_matrix(path).doubt == "sheet 'values' is read, of 'values', 'people'"
    workbook(path, {"notes": [["made in May"], ["by the core facility"]], "values": ROWS})
    assert read_matrix(path).doubt == "sheet 'values' is read, of 'notes', 'values'"
    workbook(path, {"values": ROWS, "logged": ROWS})
    with pytest.raises(InvalidInput, match=r"holds several sheets: 'values', 'logged'; set data.p"):
        read_matrix(path)
    workbook(path, {"values": ROWS, "people": [["sample", "age"], ["s1", 40], ["s2", "NA"]]})
    with pytest.raises(
        InvalidInput, match=r"has no sheet 'value' with cells; did you mean 'values'"
    ):
        read_matrix(path, "value")
    assert read_matrix(path, "values").columns == ("s1", "s2")
    for part in ("people", "values"):  # of two sheets the smaller one, whichever is named
        assert read_samples(path, None, part)["age"].tolist() == ["40", "NA"]
    intact = path.read_bytes()
    for place in range(40, len(intact), 97):  # inside what is packed: zip, XML or openpyxl find it
        path.write_bytes(intact[:place] + bytes([intact[place] ^ 0x55]) + intact[place + 1 :])
        with contextlib.suppress(InvalidInput):
            read_matrix(path, "values")
    path.write_bytes(intact[:300])
    with pytest.raises(InvalidInput, match="is no Excel workbook, or damaged"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"gene\ts1\ng1\t7\n", "is no Excel workbook, whatever its ending says; save its sheet as"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "is a workbook of before 2007, or one with a password"),
    ],
)
def test_file_that_is_no_workbook_is_refused(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # it would not help
    (tmp_path / "e.xlsx").write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_matrix(tmp_path / "e.xlsx")


def test_workbook_without_openpyxl_gives_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "e.xlsx").write_bytes(b"PK\3\4")
    with pytest.raises(InvalidInput, match=r"pip install 'genesig\[excel\]'"):
        read_matrix(tmp_path / "e.xlsx")


@pytest.mark.parametrize("wide", [True, False])
def test_more_genes_than_any_platform_has_are_refused_by_their_number(
    wide: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genesig.data.files.delimited.MAX_GENES", 50)
    rows = [["gene", "s1", "s2"], *([f"g{k}", "1", "2"] for k in range(60))]
    rows = [list(row) for row in zip(*rows, strict=True)] if wide else rows
    with pytest.raises(InvalidInput, match="rows or columns, and at most 50 genes are read"):
        read(tmp_path, "\n".join("\t".join(row) for row in rows) + "\n", "e.tsv")


def test_hundreds_of_digits_beside_a_word_are_texts(tmp_path: Path) -> None:
    """pandas.to_numeric dies of them."""
    matrix = read(tmp_path, f"gene\ts1\ts2\ng1\tx\t2\ng2\t{'9' * 400}\t3\n", "e.tsv")
    assert np.isnan(matrix.cells[0, 0])
    assert np.isinf(matrix.cells[1, 0])
    assert matrix.text(0, 0) == "x"
    assert matrix.text(1, 0) == "9" * 400
