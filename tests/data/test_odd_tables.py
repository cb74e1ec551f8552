"""Tables of spreadsheets, portals, laboratories and R pass through init and validate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r_files
import yaml

from genesig.cli import main
from genesig.data.files.readers import read_matrix

SAMPLE_NAMES = [f"P{k:02d}" for k in range(20)]
CLASS_OF_SAMPLE = ["control", "case"] * 10
GENE_NAMES = [f"G{k:03d}" for k in range(40)]
SUMMARY_LINE = "20 samples (10 control, 10 case; positive: case), 40 genes"
Text = pytest.CaptureFixture[str]
Rows = list[list[object]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write(
        "s.tsv", [["sample", "group"], *map(list, zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True))]
    )


def _logged(n_samples: int = len(SAMPLE_NAMES)) -> Any:
    return np.random.default_rng(0).normal(8, 1.3, (len(GENE_NAMES), n_samples)).round(3)


def _counts() -> Any:
    rng = np.random.default_rng(1)
    return rng.poisson(
        rng.lognormal(6, 1.5, (len(GENE_NAMES), 1)), (len(GENE_NAMES), len(SAMPLE_NAMES))
    )


def _lines(rows: Sequence[Sequence[object]], delimiter: str = "\t") -> str:
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def _write(
    name: str, rows: Sequence[Sequence[object]], delimiter: str = "\t", encoding: str = "utf-8"
) -> None:
    Path(name).write_bytes(_lines(rows, delimiter).encode(encoding))


def _table(values: Any, header: Sequence[object] = ("gene", *SAMPLE_NAMES)) -> Rows:
    return [list(header), *([gene, *row] for gene, row in zip(GENE_NAMES, values, strict=True))]


def _run_command(capsys: Text, arguments: list[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(arguments)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def _validate(
    capsys: Text,
    expression: str,
    samples: str = "s.tsv",
    label: str | dict[str, str] = "group",
    **config: Any,
) -> tuple[int, str]:
    files: dict[str, Any] = {"expression": expression, "samples": samples, "label": label}
    Path("c.yaml").write_text(yaml.safe_dump(files | config))
    return _run_command(capsys, ["validate", "c.yaml"])


def _init(capsys: Text, expression: str, samples: str | None = "s.tsv") -> tuple[int, str]:
    options = [] if samples is None else ["-s", samples]
    return _run_command(capsys, ["init", "new", "-e", expression, *options])


def _proposed() -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(Path("new/config.yaml").read_text())
    return config


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_xls_that_is_text_is_read_as_text(delimiter: str, capsys: Text) -> None:
    _write("e.xls", _table(_logged()), delimiter)
    _write(
        "s.xls", [["sample", "group"], *zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)], delimiter
    )
    assert _init(capsys, "e.xls", "s.xls")[0] == 0
    code, output = _validate(capsys, "e.xls", "s.xls")
    assert (code, SUMMARY_LINE in output, "warning:" in output) == (0, True, False), output


XLS = {
    "<html><table><tr><td>gene</td></tr></table></html>": "is a web page (HTML) named .xls",
    "<?xml version='1.0'?>\n"
    "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>": "is an XML sheet named .xls",
    "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is a workbook of before 2007",
    "MIME-Version: 1.0\n\n<html>": "is a web page (HTML) named .xls",
    "one word": "is text named .xls without tabs",
}


@pytest.mark.parametrize("content", XLS, ids=["page", "XML", "old", "archive", "words"])
def test_xls_that_is_no_text_is_refused_with_a_way_on(content: str, capsys: Text) -> None:
    Path("e.xls").write_bytes(content.encode("latin-1"))
    for code, output in (_init(capsys, "e.xls"), _validate(capsys, "e.xls")):
        assert code == 1
        assert output.count(f"error: e.xls: {XLS[content]}") == 1
        assert "save the sheet as .xlsx or as tab-separated text (.tsv)" in output


def test_part_of_an_xls_that_is_text_is_refused(capsys: Text) -> None:
    _write("e.xls", _table(_logged()))
    code, output = _validate(capsys, "e.xls", data={"part": "Sheet1"})
    assert code == 1
    assert "e.xls: is text named .xls, which has no parts; take data.part 'Sheet1' away" in output


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_text_is_read(encoding: str, capsys: Text) -> None:
    mark = "" if encoding == "utf-16-le" else "\N{BYTE ORDER MARK}" * (encoding == "utf-16-be")
    sheet = [[f"{mark}sample", "Größe"], *zip(SAMPLE_NAMES, ["groß", "klein"] * 10, strict=True)]
    _write("e.txt", _table(_logged(), [f"{mark}gene", *SAMPLE_NAMES]), encoding=encoding)
    _write("s.txt", sheet, encoding=encoding)
    assert _init(capsys, "e.txt", "s.txt")[0] == 0
    code, output = _validate(capsys, "e.txt", "s.txt", "Größe")
    assert (code, "20 samples (10 groß, 10 klein; positive: klein), 40 genes" in output) == (
        0,
        True,
    )


def test_utf_16_text_that_is_cut_off_is_refused(capsys: Text) -> None:
    content = _lines(_table(_logged())).encode("utf-16")
    Path("e.txt").write_bytes(content[:1001])
    code, output = _validate(capsys, "e.txt")
    assert code == 1
    assert "e.txt: is UTF-16 text that is cut off or damaged; save it again, as UTF-8" in output


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_txt_without_tabs_may_have_commas_or_semicolons(delimiter: str, capsys: Text) -> None:
    sheet = [
        ["Run", "Age", "state"],
        *(
            [name, f'"{40 + k} years{delimiter} at visit"', label]
            for k, (name, label) in enumerate(zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True))
        ),
    ]
    _write("SraRunTable.txt", sheet, delimiter)
    _write("e.txt", _table(_logged()), delimiter)
    code, output = _validate(capsys, "e.txt", "SraRunTable.txt", "state")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert _init(capsys, "e.txt", "SraRunTable.txt")[0] == 0


def test_txt_as_r_writes_by_default_has_spaces(capsys: Text) -> None:
    header = ['"about"', *[f'"{name}"' for name in SAMPLE_NAMES]]
    rows = [
        [f'"{gene}"', f'"see, of {gene}"', *row]
        for gene, row in zip(GENE_NAMES, _logged(), strict=True)
    ]
    _write("e.txt", [header, *rows], " ")
    _write(
        "s.txt",
        [
            ['"group"'],
            *(
                [f'"{name}"', f'"{label}"']
                for name, label in zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)
            ),
        ],
        " ",
    )
    code, output = _validate(capsys, "e.txt")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "1 column beside the genes: 'about'" in output


def test_title_with_commas_above_the_header_is_blamed(capsys: Text) -> None:
    Path("e.csv").write_text("Table S3, expression\n" + _lines(_table(_logged()), ","))
    code, output = _validate(capsys, "e.csv")
    assert code == 1
    assert "e.csv, line 1: 2 fields where 41 of 41 lines below have 21; take lines above" in output


def test_blank_columns_at_the_right_are_passed_over(capsys: Text) -> None:
    Path("e.csv").write_text(_lines(_table(_logged()), ",").replace("\n", ",,\n"))
    code, output = _validate(capsys, "e.csv")
    assert (code, SUMMARY_LINE in output, "warning:" in output) == (0, True, False), output


def test_txt_with_tabs_keeps_its_commas(capsys: Text) -> None:
    names = [f"{name}, left, upper" for name in SAMPLE_NAMES]
    _write("e.txt", _table(_logged(), ["gene", *names]))
    _write("s.txt", [["sample, as sent", "group"], *zip(names, CLASS_OF_SAMPLE, strict=True)])
    code, output = _validate(capsys, "e.txt", "s.txt")
    assert (code, SUMMARY_LINE in output) == (0, True), output


def test_comment_above_the_header_is_not_warned_of(capsys: Text) -> None:
    text = '# Program:featureCounts v2.0.1; Command:"featureCounts" "-a" "x.gtf"\n'
    Path("e.tsv").write_text(text + _lines(_table(_logged())))
    code, output = _validate(capsys, "e.tsv")
    assert (code, "warning:" in output) == (0, False), output


CLASSES_ABOVE = {
    "class": [["", *CLASS_OF_SAMPLE]],
    "class and centre": [["", *CLASS_OF_SAMPLE], ["centre", *[f"c{k % 3}" for k in range(20)]]],
    "class and age": [["", *CLASS_OF_SAMPLE], ["age", *range(40, 60)]],
    "batch": [["plate", *[1 + k % 2 for k in range(20)]]],
}


@pytest.mark.parametrize("line_above", CLASSES_ABOVE)
def test_names_below_a_row_of_classes_are_found_by_the_sample_table(
    line_above: str, capsys: Text
) -> None:
    rows = CLASSES_ABOVE[line_above]
    _write("e.csv", [*rows, *_table(_logged())], ",")
    code, output = _validate(capsys, "e.csv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    line = f"warning: e.csv: line {len(rows) + 1} has the names of the samples; what stands above"
    assert output.count(line) == 1
    assert _init(capsys, "e.csv")[0] == 0


def test_names_between_two_other_headers_are_found_by_the_sample_table(capsys: Text) -> None:
    _, *rows = _table(_logged())
    patients = range(100, 100 + len(CLASS_OF_SAMPLE))
    accessions = [f"GSM{patient}" for patient in patients]
    _write("e.csv", [["", *CLASS_OF_SAMPLE], ["", *patients], ["", *accessions], *rows], ",")
    _write("p.csv", [["patient", "group"], *zip(patients, CLASS_OF_SAMPLE, strict=True)], ",")
    code, output = _validate(capsys, "e.csv", "p.csv")
    assert (code, SUMMARY_LINE in output) == (0, True), output


def test_names_below_a_row_of_classes_are_found_without_a_sample_table(capsys: Text) -> None:
    _write("e.csv", [["", *CLASS_OF_SAMPLE], *_table(_logged())], ",")
    assert _init(capsys, "e.csv", None)[0] == 0
    assert Path("new/samples.tsv").read_text().split("\n")[1].startswith("P00\t")


def test_row_of_classes_below_the_names_is_left_out_as_words(capsys: Text) -> None:
    _write(
        "e.csv", [["gene", *SAMPLE_NAMES], ["Label", *CLASS_OF_SAMPLE], *_table(_logged())[1:]], ","
    )
    code, output = _validate(capsys, "e.csv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "neither genes nor samples: 1 row of words: 'Label'\n" in output


@pytest.mark.parametrize("padded", ["", "," * len(SAMPLE_NAMES)])
def test_legend_below_the_numbers_is_a_footnote(padded: str, capsys: Text) -> None:
    legend = [[f"Values are log2 CPM{padded}"]]
    blank = [[padded]] if padded else []
    _write("e.csv", [*_table(_logged()), *blank, *legend], ",")
    code, output = _validate(capsys, "e.csv")
    if not padded:  # as a line that is cut off
        assert (code, "e.csv, line 42: 1 field where the header has 21" in output) == (1, True)
        return
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "line 43, 'Values are log2 CPM', has no values and is taken for a footnote" in output
    assert _init(capsys, "e.csv")[0] == 0
    assert "missing" not in _proposed().get("data", {})


def test_gene_without_a_value_in_the_last_row_is_no_footnote(capsys: Text) -> None:
    _write("e.csv", [*_table(_logged()), ["ZZZ3", *[""] * len(SAMPLE_NAMES)]], ",")
    code, output = _validate(
        capsys, "e.csv", data={"missing": True}, normalise={"folds": [{"step": "knn_impute"}]}
    )
    assert (code, "blank in all samples, so left out: 1 gene, 'ZZZ3'" in output) == (0, True), (
        output
    )


def _lanes() -> Rows:
    """Return a NanoString export: attributes of the lanes above, code classes at the left."""
    head: Rows = [
        ["File Name", "", "", *[f"20201127_{name}.RCC" for name in SAMPLE_NAMES]],
        ["Sample Name", "", "", *SAMPLE_NAMES],
        ["Lane ID", "", "", *[1 + k % 12 for k in range(20)]],
        ["Binding Density", "", "", *[round(0.8 + k / 100, 2) for k in range(20)]],
        [
            "Code Class",
            "Gene Name",
            "Accession #",
            *[f"20201127_{name}.RCC" for name in SAMPLE_NAMES],
        ],
    ]
    controls: Rows = [
        ["Positive", f"POS_{x}({v})", "ERCC_1.1", *[v * 100] * 20]
        for x, v in (("A", 128), ("B", 32))
    ]
    genes: Rows = [
        ["Endogenous", gene, f"NM_{k}.2", *row]
        for k, (gene, row) in enumerate(zip(GENE_NAMES, _counts(), strict=True))
    ]
    return [*head, *controls, *genes]


LOG_CPM = {"normalise": {"samples": [{"step": "log_cpm"}]}}


@pytest.mark.parametrize("name", ["{}", "20201127_{}.RCC"])
def test_lanes_of_nanostring_are_read_under_either_line_of_names(name: str, capsys: Text) -> None:
    _write("e.csv", _lanes(), ",")
    names = [name.format(sample) for sample in SAMPLE_NAMES]
    _write("s.tsv", [["sample", "group"], *zip(names, CLASS_OF_SAMPLE, strict=True)])
    code, output = _validate(capsys, "e.csv", **LOG_CPM)
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "the numbers begin at line 6, column 4" in output
    assert "genes by the column 'Gene Name'" in output
    assert "2 control probes: 'POS_A(128)', 'POS_B(32)'" in output
    assert _init(capsys, "e.csv")[0] == 0


def test_lanes_of_nanostring_without_a_sample_table_are_called_by_sample(capsys: Text) -> None:
    _write("e.csv", _lanes(), ",")
    assert _init(capsys, "e.csv", None)[0] == 0
    assert Path("new/samples.tsv").read_text().split("\n")[1].startswith("P00\t")


def _metabolites() -> Rows:
    """Return Metabolon's sheet: sample data above, metabolite data left, a blank corner between."""
    head: Rows = [
        ["", "", "", "SAMPLE_NAME", *SAMPLE_NAMES],
        ["", "", "", "GROUP", *CLASS_OF_SAMPLE],
        ["", "", "", "BOX", *[1 + k // 10 for k in range(20)]],
        [
            "PATHWAY_SORTORDER",
            "BIOCHEMICAL",
            "SUPER_PATHWAY",
            "COMP_ID / CLIENT_ID",
            *[f"C-{k}" for k in range(20)],
        ],
    ]
    rows = zip(GENE_NAMES, _logged(), strict=True)
    return head + [
        [k + 1, f"acid {gene}", "Lipid", 1000 + k, *row] for k, (gene, row) in enumerate(rows)
    ]


@pytest.mark.parametrize("name", ["P{:02d}", "C-{}"])
def test_numbers_beside_a_blank_corner_are_read(name: str, capsys: Text) -> None:
    _write("e.tsv", _metabolites())
    names = [name.format(k) for k in range(20)]
    _write("s.tsv", [["sample", "group"], *zip(names, CLASS_OF_SAMPLE, strict=True)])
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "the numbers begin at line 5, column 5" in output
    assert "genes by the column 'BIOCHEMICAL'" in output
    assert _init(capsys, "e.tsv")[0] == 0


def test_numbers_beside_a_blank_corner_are_read_without_a_sample_table(capsys: Text) -> None:
    _write("e.tsv", _metabolites())
    assert _init(capsys, "e.tsv", None)[0] == 0
    assert "data" not in _proposed()
    assert Path("new/samples.tsv").read_text().split("\n")[1].startswith("P00\t")


CLASSES_OF_SAMPLES: dict[str, list[object]] = {
    "repeated": ["case"] * 10 + ["control"] * 10,
    "merged": ["case", *[""] * 9, "control", *[""] * 9],
}


@pytest.mark.parametrize("classes", CLASSES_OF_SAMPLES.values(), ids=CLASSES_OF_SAMPLES)
@pytest.mark.parametrize("values", [_logged(), _counts()], ids=["logged", "counts"])
def test_classes_above_two_columns_about_genes_leave_no_sample_out(
    classes: list[object], values: Any, capsys: Text
) -> None:
    rows = [[f"id {gene}", *row] for gene, row in zip(GENE_NAMES, values, strict=True)]
    head: Rows = [["", "", *classes], ["Symbol", "Id", *SAMPLE_NAMES]]
    _write("e.tsv", head + [[gene, *row] for gene, row in zip(GENE_NAMES, rows, strict=True)])
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output, "s.tsv:" in output) == (0, True, False), output
    line = "the numbers begin at line 3, column 3: samples are called by the line 'Symbol', genes"
    assert line in output


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_init_takes_the_column_of_words_beside_genes_for_the_label(
    delimiter: str, capsys: Text
) -> None:
    rows = zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, _logged().T, strict=True)
    lines = [[name, label, *values] for name, label, values in rows]
    text = _lines([["sample", "Diagnose", *GENE_NAMES], *lines], delimiter)
    Path("e.csv").write_text(text.replace(".", ",") if delimiter == ";" else text)
    assert _init(capsys, "e.csv", None)[0] == 0
    proposed = _proposed()
    assert (proposed["samples"], proposed["label"]) == ("../e.csv", "Diagnose")
    assert not Path("new/samples.tsv").exists()
    code, output = _validate(capsys, "e.csv", "e.csv", proposed["label"], data=proposed["data"])
    assert (code, SUMMARY_LINE in output) == (0, True), output


def test_clinical_table_with_a_sample_more_leaves_it_out(capsys: Text) -> None:
    names = [f"TCGA-BB-{2000 + k // 2}-{'01' if k % 2 else '11'}" for k in range(20)]
    _write("e.tsv", _table(_logged(21), ["gene", *names, "TCGA-BB-4000-01"]))
    rows = [*zip(names, CLASS_OF_SAMPLE, strict=True), ("TCGA-BB-3000-01", "case")]
    _write("s.tsv", [["sample", "group"], *rows])
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert (
        "warning: s.tsv: 1 of the 21 samples not in e.tsv, so left out: 'TCGA-BB-3000-01'" in output
    )
    assert "warning: e.tsv: not in s.tsv, so left out: 1 column, 'TCGA-BB-4000-01'" in output
    assert _init(capsys, "e.tsv")[0] == 0


@pytest.mark.parametrize("changed", ["many", "spelt otherwise"])
def test_clinical_table_whose_names_differ_is_refused(changed: str, capsys: Text) -> None:
    _write("e.tsv", _table(_logged()))
    names = list(SAMPLE_NAMES)
    names[:3] = [name.lower() for name in names[:3]]
    if changed == "many":
        names[:8] = [f"X{k}" for k in range(8)]
    _write("s.tsv", [["sample", "group"], *zip(names, CLASS_OF_SAMPLE, strict=True)])
    code, output = _validate(capsys, "e.tsv")
    assert code == 1
    assert "of the 20 samples in s.tsv not found here" in output


@pytest.mark.parametrize("row_names", ["column", "rows"])
def test_r_frame_with_columns_of_words_beside_the_genes_is_read(
    row_names: str, capsys: Text
) -> None:
    about = {
        "description": r_files.strings([f"about {gene}" for gene in GENE_NAMES]),
        "biotype": r_files.strings(["protein_coding"] * len(GENE_NAMES)),
    }
    numbers = {
        name: r_files.reals(column)
        for name, column in zip(SAMPLE_NAMES, _logged().T.tolist(), strict=True)
    }
    ids = {"gene": r_files.strings(GENE_NAMES)} if row_names == "column" else {}
    frame = r_files.data_frame(
        {**ids, **about, **numbers}, GENE_NAMES if row_names == "rows" else 40
    )
    Path("e.rds").write_bytes(r_files.saved(frame))
    code, output = _validate(capsys, "e.rds")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "2 columns beside the genes: 'description', 'biotype'" in output
    assert _init(capsys, "e.rds")[0] == 0


def test_text_of_an_r_frame_with_columns_of_words_is_read(capsys: Text) -> None:
    header = ['"remark"', *[f'"{name}"' for name in SAMPLE_NAMES]]
    body = [
        [f'"{gene}"', f'"see {gene}"', *row]
        for gene, row in zip(GENE_NAMES, _logged(), strict=True)
    ]
    _write("e.tsv", [header, *body])
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "1 column beside the genes: 'remark'" in output


def test_row_of_words_of_the_sample_table_is_called_a_column_of_it(capsys: Text) -> None:
    _write(
        "e.csv", [["gene", *SAMPLE_NAMES], ["group", *CLASS_OF_SAMPLE], *_table(_logged())[1:]], ","
    )
    code, output = _validate(capsys, "e.csv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "1 column of the sample table: 'group'; to keep them: data.keep: [sheet]" in output


def _edger(counts: Any) -> bytes:
    """Return a DGEList: counts, and a table of samples with their library sizes."""
    sizes = r_files.reals(counts.sum(axis=0).tolist())
    ones = r_files.reals([1.0] * len(SAMPLE_NAMES))
    table = r_files.data_frame(
        {
            "group": r_files.factor(CLASS_OF_SAMPLE, ["control", "case"]),
            "lib.size": sizes,
            "norm.factors": ones,
        },
        SAMPLE_NAMES,
    )
    matrix = r_files.matrix(counts.tolist(), (GENE_NAMES, SAMPLE_NAMES))
    return r_files.saved(r_files.listed([matrix, table], ["counts", "samples"]))


@pytest.mark.parametrize("depth", [1, 1000], ids=["usual", "large"])
def test_counts_of_a_dgelist_get_the_advice_of_counts(depth: int, capsys: Text) -> None:
    counts = (_counts() + 1) * depth  # the large ones have no zero, and none near it
    Path("e.rds").write_bytes(_edger(counts))
    code, output = _validate(capsys, "e.rds", "e.rds")
    assert code == 0
    assert "steps for counts are vst, size_factors and log_cpm" in output
    assert _init(capsys, "e.rds", None)[0] == 0
    assert _proposed()["normalise"] == {"samples": [{"step": "log_cpm"}]}


@pytest.mark.parametrize("lost", ["low", "anywhere"])
def test_init_and_validate_agree_on_missing_intensities(
    lost: str, capsys: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    size = rng.lognormal(16, 1.2, (200, 1))
    values = (size * rng.lognormal(0, 0.4, (200, len(SAMPLE_NAMES)))).round()
    logs = np.log2(values)
    threshold = np.quantile(logs, 0.3)
    chance = 1 / (1 + np.exp((logs - threshold) / 0.8)) if lost == "low" else 0.3
    values[rng.random(values.shape) < chance] = 0  # of nearly all proteins some
    rows = [[f"P{k:05d}", *map(int, row)] for k, row in enumerate(values)]
    _write("e.tsv", [["protein", *SAMPLE_NAMES], *rows])
    code, output = _validate(capsys, "e.tsv")
    step = "left_censored" if lost == "low" else "knn_impute"
    assert (code, f"and {{step: {step}}} first into normalise.folds" in output) == (0, True), output
    assert _init(capsys, "e.tsv")[0] == 0
    assert _proposed()["normalise"]["folds"][0] == {"step": step}
    monkeypatch.chdir("new")
    code, output = _run_command(capsys, ["validate", "config.yaml"])
    assert (code, "missing where genes are low" in output) == (0, False), output


def test_sample_table_with_semicolons_may_have_decimal_commas(capsys: Text) -> None:
    ages = np.random.default_rng(4).uniform(30, 80, len(SAMPLE_NAMES)).round(1)
    rows = zip(
        SAMPLE_NAMES, CLASS_OF_SAMPLE, [str(age).replace(".", ",") for age in ages], strict=True
    )
    _write("s.csv", [["sample", "group", "age"], *map(list, rows)], ";")
    _write("e.tsv", _table(_logged()))
    code, text = _validate(capsys, "e.tsv", "s.csv", data={"covariates": ["age"]})
    assert (code, "20 samples" in text, "comma" in text) == (0, True, False)
    numbers = [f"1,{k + 100}" for k in range(len(SAMPLE_NAMES))]
    rows = map(list, zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, numbers, strict=True))
    _write("s.csv", [["sample", "group", "age"], *rows], ";")
    code, text = _validate(capsys, "e.tsv", "s.csv", data={"covariates": ["age"]})
    assert (code, "with a decimal comma or one of thousands" in text) == (1, True)


@pytest.mark.parametrize("error", ["#REF!", "#DIV/0!", "#VALUE!", "#NAME?"])
def test_errors_of_a_spreadsheet_are_no_class(error: str, capsys: Text) -> None:
    labels = [error, *CLASS_OF_SAMPLE[1:]]
    _write("s.tsv", [["sample", "group"], *map(list, zip(SAMPLE_NAMES, labels, strict=True))])
    _write("e.tsv", _table(_logged()))
    code, text = _validate(capsys, "e.tsv")
    assert (code, f"no label ('{error}') for 'P00'; left out of the study (1 of 20)" in text) == (
        0,
        True,
    )


def test_init_says_that_a_frequent_word_may_be_a_missing_value(capsys: Text) -> None:
    values = _logged().astype(object)
    values[np.random.default_rng(6).random(values.shape) < 0.2] = "Filtered"
    _write("e.tsv", _table(values))
    code, text = _init(capsys, "e.tsv")
    advice = "if 'Filtered' says that nothing was measured, write NA instead"
    assert (code, advice in text) == (1, True)


def _with_commas(value: int) -> str:
    return f"{value:,}"


@pytest.mark.parametrize(("delimiter", "name"), [("\t", "e.tsv"), (",", "e.csv")])
def test_counts_with_commas_of_thousands_are_read(delimiter: str, name: str, capsys: Text) -> None:
    counts = _counts()
    quote = '"{}"' if delimiter == "," else "{}"
    cells = [[quote.format(_with_commas(value)) for value in row] for row in counts]
    _write(name, _table(cells), delimiter)
    np.testing.assert_array_equal(read_matrix(name).cells, counts)
    assert _init(capsys, name)[0] == 0
    code, output = _validate(capsys, name)
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert f"{int((counts >= 1000).sum())} cells: '" in output


def test_commas_behind_the_first_digit_of_logarithms_are_refused(capsys: Text) -> None:
    cells = _logged().astype(object)
    cells[3, 2] = "8,691"
    _write("e.tsv", _table(cells))
    code, output = _validate(capsys, "e.tsv")
    assert (code, "decimal comma or one of thousands; write 8.691 or 8691" in output) == (1, True)


def test_numbers_that_all_have_commas_are_refused_with_both_readings(capsys: Text) -> None:
    _write("e.tsv", _table([[_with_commas(value) for value in row] for row in _counts() + 1000]))
    code, output = _init(capsys, "e.tsv")
    assert code == 1
    assert output.endswith("export the table with decimal points and without signs of thousands\n")
    code, output = _validate(capsys, "e.tsv")
    assert code == 1
    assert "with decimal points and without signs of thousands" in output


UNKNOWN_WORDS = ["Undetermined", "unknown", "[Not Available]", "?", "not reported"]


@pytest.mark.parametrize("word", UNKNOWN_WORDS)
def test_init_and_validate_agree_that_a_word_is_no_class(word: str, capsys: Text) -> None:
    labels = [word if k % 5 == 4 else label for k, label in enumerate(CLASS_OF_SAMPLE)]
    _write("s.tsv", [["sample", "group"], *map(list, zip(SAMPLE_NAMES, labels, strict=True))])
    _write("e.tsv", _table(_logged()))
    assert _init(capsys, "e.tsv")[0] == 0
    assert _proposed()["data"] == {"classes": ["control", "case"]}
    assert f"no label: {word} (4)" in Path("new/config.yaml").read_text()
    code, output = _validate(capsys, "e.tsv", data=_proposed()["data"])
    assert (code, "16 samples (8 control, 8 case; positive: case)" in output) == (0, True), output
    code, output = _validate(capsys, "e.tsv")
    assert (code, f"'{word}' (4 samples) is taken for a class" in output) == (1, True), output


def test_classes_beside_an_unknown_one_are_all_named_by_init(capsys: Text) -> None:
    labels = [*["A", "B", "C"] * 9, "Unknown"]
    names = [f"P{k:02d}" for k in range(len(labels))]
    _write("s.tsv", [["sample", "group"], *map(list, zip(names, labels, strict=True))])
    _write("e.tsv", _table(_logged(len(names)), ["gene", *names]))
    assert _init(capsys, "e.tsv")[0] == 0
    assert _proposed()["data"] == {"classes": ["A", "B", "C"]}


def test_events_that_are_unknown_do_not_count_as_censored(capsys: Text) -> None:
    events = ["dead", "alive", "dead", "alive", "Unknown"] * 4
    days = range(100, 100 + len(SAMPLE_NAMES))
    rows = map(list, zip(SAMPLE_NAMES, days, events, strict=True))
    _write("s.tsv", [["sample", "os_days", "os_status"], *rows])
    _write("e.tsv", _table(_logged()))
    assert _init(capsys, "e.tsv")[0] == 0
    config = _proposed()
    assert config["data"] == {"task": "survival", "event": "dead"}
    code, output = _validate(capsys, "e.tsv", label=config["label"], data=config["data"])
    assert code == 1
    assert "'Unknown' (4 samples) would count as censored; leave these cells blank" in output


def test_folder_with_a_vanished_subfolder_is_refused_in_one_line(
    capsys: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs may delete a subfolder while it is listed."""
    Path("arrays/gone").mkdir(parents=True)
    glob = Path.glob

    def listed(folder: Path, pattern: str) -> Any:
        if folder.name == "gone":
            raise FileNotFoundError(folder)
        return glob(folder, pattern)

    monkeypatch.setattr(Path, "glob", listed)
    code, printed = _validate(capsys, "arrays")
    assert code == 1
    assert "is a folder without files of arrays" in printed


@pytest.mark.parametrize("file", ["matrix.mtx", "matrix.mtx.gz", "P00/matrix.mtx.gz"])
def test_folders_of_sparse_matrices_are_refused_with_the_remedy(file: str, capsys: Text) -> None:
    path = Path("cells", file)
    path.parent.mkdir(parents=True)
    path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 5\n")
    Path("cells/barcodes.tsv").write_text("AAAC-1\nAAAG-1\n")
    for code, output in (_init(capsys, "cells"), _validate(capsys, "cells")):
        assert code == 1
        assert output.count(f"cells: is a sparse matrix of Matrix Market ({file})") == 1
        assert "sum up those of each sample (pseudobulk); save the values as a table" in output


def test_values_beside_the_results_of_a_test_are_read(capsys: Text) -> None:
    tests = ["baseMean", "log2FoldChange", "lfcSE", "stat", "pvalue", "padj"]
    rng = np.random.default_rng(7)
    values = np.hstack([rng.normal(0, 2, (len(GENE_NAMES), len(tests))).round(4), _logged()])
    _write("e.tsv", _table(values, ["", *tests, *SAMPLE_NAMES]))
    assert _init(capsys, "e.tsv")[0] == 0
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output, "warning:" in output) == (0, True, False), output
    assert "6 columns beside the genes: 'baseMean', 'log2FoldChange'" in output
    _write("e.tsv", _table(values[:, : len(tests)], ["", *tests]))
    code, output = _validate(capsys, "e.tsv")
    assert (code, "is a table of tests as DESeq2 writes it" in output) == (1, True)


def test_patients_at_the_beginning_of_names_that_r_wrote_are_found(capsys: Text) -> None:
    patients = [f"TCGA-A{k}-{1000 + k}" for k in range(len(SAMPLE_NAMES))]
    aliquots = [f"{name}-01A-11R-A18S-07".replace("-", ".") for name in patients]
    rows = map(list, zip(patients, CLASS_OF_SAMPLE, strict=True))
    _write("s.tsv", [["bcr_patient_barcode", "group"], *rows])
    _write("e.tsv", _table(_logged(), ["", *aliquots]))
    assert _init(capsys, "e.tsv")[0] == 0
    code, output = _validate(capsys, "e.tsv")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "is, as R writes names, the beginning of 'TCGA.A0.1000.01A.11R.A18S.07'" in output


@pytest.mark.parametrize("samples", ["s.tsv", None])
def test_blank_line_below_two_headers_of_pandas_is_no_gene(
    samples: str | None, capsys: Text
) -> None:
    header = [["group", *CLASS_OF_SAMPLE], ["sample", *SAMPLE_NAMES], ["gene", *[""] * 20]]
    _write("e.csv", [*header, *_table(_logged())[1:]], ",")
    assert _init(capsys, "e.csv", samples)[0] == 0
    assert "missing" not in _proposed().get("data", {})
    code, output = _validate(capsys, "e.csv")
    assert (code, SUMMARY_LINE in output) == (0, True), output


def test_init_refuses_several_rows_of_a_sample_as_validate_does(capsys: Text) -> None:
    rows = [
        [name, f"{name}_L{lane}.fastq.gz", label]
        for name, label in zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)
        for lane in (1, 2)
    ]
    _write("s.tsv", [["sample", "fastq_1", "group"], *rows])
    _write("e.tsv", _table(_logged()))
    message = "s.tsv, line 3: sample 'P00' is already on line 2; 19 further lines, too"
    for code, output in (_init(capsys, "e.tsv"), _validate(capsys, "e.tsv")):
        assert (code, output.count(message)) == (1, 1), output


def test_abundances_of_proteome_discoverer_are_no_long_table(capsys: Text) -> None:
    names = [f"F{k + 1}" for k in range(len(SAMPLE_NAMES))]
    columns = [
        f"Abundances (Normalized): {name}: Sample, {label}"
        for name, label in zip(names, CLASS_OF_SAMPLE, strict=True)
    ]
    rows = [
        [gene, "Protein OS=Homo sapiens", k + 1, *row]
        for k, (gene, row) in enumerate(zip(GENE_NAMES, _logged().tolist(), strict=True))
    ]
    _write("e.txt", [["Accession", "Description", "# Peptides", *columns], *rows])
    sheet = [["file", "group"], *map(list, zip(names, CLASS_OF_SAMPLE, strict=True))]
    _write("s.tsv", sheet)
    assert _init(capsys, "e.txt")[0] == 0
    code, output = _validate(capsys, "e.txt")
    assert (code, SUMMARY_LINE in output) == (0, True), output


PANEL = ["IL6", "CXCL8", "TNF", "CCL2", "IFNG", "LEP", "CRP", "VEGFA", "IL1B", "ADIPOQ", "MIF"]


def _panel(corner: str, columns: dict[str, Sequence[object]]) -> Rows:
    """Return a table of samples in rows with fewer genes than samples, and further columns."""
    values = _logged()[: len(PANEL)].T.tolist()
    further = map(list, zip(*columns.values(), strict=True)) if columns else ([] for _ in values)
    rows = zip(SAMPLE_NAMES, further, values, strict=True)
    return [[corner, *columns, *PANEL], *([name, *left, *row] for name, left, row in rows)]


@pytest.mark.parametrize("corner", ["SampleID", "patient", ""])
def test_samples_in_rows_are_found_among_fewer_genes(corner: str, capsys: Text) -> None:
    _write("e.csv", _panel(corner, {}), ",")
    assert _init(capsys, "e.csv", None)[0] == 0
    template = Path("new/samples.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in template] == ["sample", *SAMPLE_NAMES]


def test_label_beside_fewer_genes_than_samples_is_proposed(capsys: Text) -> None:
    ages = np.random.default_rng(8).uniform(30, 80, len(SAMPLE_NAMES)).round(1).tolist()
    _write("e.csv", _panel("id", {"Cohort": CLASS_OF_SAMPLE, "age": ages}), ",")
    assert _init(capsys, "e.csv", None)[0] == 0
    config = _proposed()
    assert (config["label"], config["data"]) == ("Cohort", {"classes": ["control", "case"]})
    assert "normalise" not in config
    code, output = _validate(capsys, "e.csv", "e.csv", "Cohort")
    assert (code, "20 samples (10 control, 10 case; positive: case), 11 genes" in output) == (
        0,
        True,
    ), output


@pytest.mark.parametrize(
    ("corner", "n_genes"), [("gene", 10), ("sample", 40), ("", 40), ("ID_REF", 40)]
)
def test_genes_in_rows_stay_genes(corner: str, n_genes: int, capsys: Text) -> None:
    """UCSC Xena heads the column of the genes with the word sample."""
    names = [f"TCGA-{k % 7}{k}-01" for k in range(len(SAMPLE_NAMES))]
    genes = [*PANEL, *(f"{'ABCDEFGHIJ'[k % 10]}{'KLM'[k % 3]}T{k}" for k in range(40))]
    rows = zip(genes[:n_genes], _logged()[:n_genes].tolist(), strict=True)
    _write("e.tsv", [[corner, *names], *([gene, *row] for gene, row in rows)])
    assert _init(capsys, "e.tsv", None)[0] == 0
    template = Path("new/samples.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in template[1:]] == names


def test_decimal_ages_under_an_unusual_name_do_not_decide_about_the_scale(capsys: Text) -> None:
    ages = np.random.default_rng(8).uniform(30, 80, len(SAMPLE_NAMES)).round(1).tolist()
    _write("e.csv", _panel("sample", {"yrs_at_dx": ages}), ",")
    assert _init(capsys, "e.csv")[0] == 0
    assert "normalise" not in _proposed()
    code, output = _validate(capsys, "e.csv")
    warnings = [line for line in output.splitlines() if line.startswith("warning")]
    assert (code, len(warnings)) == (0, 1), output
    assert "1 column of fewer decimals than the genes have: 'yrs_at_dx'" in warnings[0]


def test_gene_of_few_values_is_not_warned_of_for_its_decimals(capsys: Text) -> None:
    values = _logged()
    values[3] = [5.25, 7.5] * 10
    _write("e.tsv", _table(values))
    code, output = _validate(capsys, "e.tsv")
    assert (code, "fewer decimals" in output) == (0, False), output


@pytest.mark.parametrize("word", ["<{}", "OOR <", "<LOD", "> {}"])
def test_values_beyond_a_limit_of_detection_are_named_with_the_remedy(
    word: str, capsys: Text
) -> None:
    values = _logged().astype(object)
    is_low = np.random.default_rng(9).random(values.shape) < 0.2
    for row, column in np.argwhere(is_low).tolist():
        values[row, column] = word.format(row + 1.5)
    _write("e.tsv", _table(values))
    code, output = _init(capsys, "e.tsv")
    assert (code, "write NA for a value beyond a limit of detection" in output) == (1, True), output
    code, output = _validate(capsys, "e.tsv")
    assert (code, "beyond a limit of detection" in output, "left_censored" in output) == (
        1,
        True,
        True,
    ), output


def test_columns_of_one_name_beside_the_samples_are_named_once(capsys: Text) -> None:
    """GEO's supplementary files of Illumina have a p-value of detection behind each signal."""
    header = ["ID_REF", *(name for sample in SAMPLE_NAMES for name in (sample, "Detection Pval"))]
    p_values = np.random.default_rng(2).random((len(GENE_NAMES), len(SAMPLE_NAMES))).round(4)
    pairs = np.stack([_logged(), p_values], axis=2).reshape(len(GENE_NAMES), -1)
    _write("e.txt", _table(pairs, header))
    assert _init(capsys, "e.txt")[0] == 0
    code, output = _validate(capsys, "e.txt")
    assert (code, SUMMARY_LINE in output) == (0, True), output
    assert "so left out: 20 columns, 'Detection Pval'\n" in output


def test_sample_names_in_a_later_column_of_the_matrix_are_pointed_out(capsys: Text) -> None:
    """DepMap has SequencingID and ModelID before the genes."""
    values = _logged().T
    rows = [
        [f"CDS-{number}", name, *row]
        for number, (name, row) in enumerate(zip(SAMPLE_NAMES, values, strict=True))
    ]
    _write("e.tsv", [["SequencingID", "ModelID", *GENE_NAMES], *rows])
    code, printed = _validate(capsys, "e.tsv")
    assert code == 1
    assert "they are in its column 'ModelID': make it the first column" in printed


def test_deaths_beside_dates_are_no_classes_without_a_warning(capsys: Text) -> None:
    rows = [
        [
            name,
            "Dead" if number % 2 else "Alive",
            f"1{number % 10}/02/2015",
            f"03/0{1 + number % 9}/2019",
        ]
        for number, name in enumerate(SAMPLE_NAMES)
    ]
    _write("d.tsv", [["sample", "vital_status", "date_of_diagnosis", "last_contact"], *rows])
    _write("e.tsv", _table(_logged()))
    _, printed = _validate(capsys, "e.tsv", "d.tsv", "vital_status")
    assert "'Dead' is an event, and 'date_of_diagnosis', 'last_contact' are dates" in printed
    rows = [row[:3] for row in rows]
    _write("d.tsv", [["sample", "vital_status", "date_of_diagnosis"], *rows])
    _, printed = _validate(capsys, "e.tsv", "d.tsv", "vital_status")
    assert "is an event" not in printed


@pytest.mark.parametrize("word", ["[Not Evaluated]", "not assessed", "[Discrepancy]"])
def test_words_of_tcga_for_no_value_are_no_classes(word: str, capsys: Text) -> None:
    classes = [word if number < 8 else name for number, name in enumerate(CLASS_OF_SAMPLE)]
    _write("d.tsv", [["sample", "group"], *map(list, zip(SAMPLE_NAMES, classes, strict=True))])
    _write("e.tsv", _table(_logged()))
    _init(capsys, "e.tsv", "d.tsv")
    assert word not in _proposed().get("classes", [])
    assert word not in _proposed().get("data", {}).get("classes", [])
    assert set(_proposed()["data"]["classes"]) == set(CLASS_OF_SAMPLE)
