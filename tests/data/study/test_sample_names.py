"""The column of sample names is found by its values, whatever its position."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from odd_tables import OddStudy, odd_study, table_text, write_matrix

from genesig.cli import main
from genesig.data.files.delimited import TextTable
from genesig.data.files.sample_names import ON_ITS_SIDE, with_matrix_names
from genesig.errors import Problem

__all__ = ["odd_study"]

SAMPLE_NAMES = [f"S{k:02}" for k in range(1, 25)]
CLASS_OF_SAMPLE = ["control", "case"] * 12
SUMMARY_LINE = "24 samples (12 control, 12 case; positive: case), 30 genes"


def _columns(*columns: list[str]) -> list[list[str]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _sheet(header: list[str], *columns: list[str], delimiter: str = "\t") -> str:
    return table_text([header, *_columns(*columns)], delimiter)


ROW_NUMBERS = [str(k) for k in range(24)]
SHEETS = {
    "pandas' numbers first": (
        "s.csv",
        _sheet(
            ["", "sample_id", "diagnosis"],
            ROW_NUMBERS,
            SAMPLE_NAMES,
            CLASS_OF_SAMPLE,
            delimiter=",",
        ),
        "s.csv, column 'sample_id': read as sample names (24 of 24 rows are in the matrix)",
    ),
    "patients first": (
        "s.tsv",
        _sheet(
            ["patient", "diagnosis", "tube"],
            [f"P{k:02}" for k in range(24)],
            CLASS_OF_SAMPLE,
            SAMPLE_NAMES,
        ),
        "s.tsv, column 'tube': read as sample names (24 of 24 rows are in the matrix), and not "
        "column 'patient'",
    ),
    "words around the names": (
        "s.tsv",
        _sheet(
            ["accession", "title", "diagnosis"],
            [f"GSM{k}" for k in range(24)],
            [f"{name}: biopsy [rep 1]" for name in SAMPLE_NAMES],
            CLASS_OF_SAMPLE,
        ),
        "s.tsv, column 'title': read as sample names (24 of 24 rows), though no column has those "
        "of the matrix: the cell 'S01: biopsy [rep 1]' holds the name 'S01'",
    ),
    "names of files": (
        "s.tsv",
        _sheet(
            ["Source Name", "Array Data File", "diagnosis"],
            [f"donor {k}" for k in range(24)],
            [f"raw/{name}.CEL.gz" for name in SAMPLE_NAMES],
            CLASS_OF_SAMPLE,
        ),
        "s.tsv, column 'Array Data File': read as sample names (24 of 24 rows)",
    ),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sample_name_column_elsewhere_keeps_all_samples(odd_study: OddStudy, name: str) -> None:
    file, sheet, message = SHEETS[name]
    odd_study.write(SAMPLE_NAMES, sheet, file)
    summary, problems = odd_study.validate()
    assert message in problems
    assert SUMMARY_LINE in summary
    assert odd_study.init()["label"] == "diagnosis"


NAMES_AROUND = {
    "Spectronaut": "[{k}] {name}.raw.PG.Quantity",
    "Proteome Discoverer": "Abundance: F{k}: Sample, {name}",
    "MaxQuant": "LFQ intensity {name}",
}


@pytest.mark.parametrize("pattern", NAMES_AROUND.values(), ids=NAMES_AROUND)
def test_names_with_words_of_a_program_around_them_are_read(
    odd_study: OddStudy, pattern: str
) -> None:
    names = [pattern.format(k=k, name=name) for k, name in enumerate(SAMPLE_NAMES, 1)]
    odd_study.write(names, _sheet(["sample", "diagnosis"], SAMPLE_NAMES, CLASS_OF_SAMPLE))
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert f"the cell 'S01' is a word of the name '{names[0]}' in the matrix" in problems


def test_two_columns_with_the_name_of_each_sample_are_refused(odd_study: OddStudy) -> None:
    names = [f"{kind} {name}" for kind in ("Intensity", "LFQ intensity") for name in SAMPLE_NAMES]
    odd_study.write(names, _sheet(["sample", "diagnosis"], SAMPLE_NAMES, CLASS_OF_SAMPLE))
    summary, _ = odd_study.validate()
    assert "1 error" in summary


def test_names_as_r_writes_them_are_read_from_any_column(odd_study: OddStudy) -> None:
    patients = [f"TCGA-{name}" for name in SAMPLE_NAMES]
    samples = [f"{name}-01" for name in patients]
    odd_study.write(
        [name.replace("-", ".") for name in samples],
        _sheet(["PATIENT_ID", "SAMPLE_ID", "diagnosis"], patients, samples, CLASS_OF_SAMPLE),
    )
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert "the cell 'TCGA-S01-01' is 'TCGA.S01.01' in the matrix, as R writes names" in problems


def test_patient_table_names_are_continued_by_the_samples(odd_study: OddStudy) -> None:
    sheet = table_text([["PATIENT_ID", "diagnosis"], *_columns(SAMPLE_NAMES, CLASS_OF_SAMPLE)])
    odd_study.write([f"{name}-01" for name in SAMPLE_NAMES], sheet)
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert (
        "warning: s.tsv, column 'PATIENT_ID': read as sample names (24 of 24 rows), though no "
        "column has those of the matrix: the cell 'S01' is the beginning of the name 'S01-01' in "
        "the matrix; if that is wrong, write the names alike in both" in problems
    )


@pytest.mark.parametrize("n_repeated", [0, 1, 24])
def test_samples_in_the_table_continue_the_patients_of_the_matrix(
    odd_study: OddStudy, n_repeated: int
) -> None:
    patients = [f"TCGA-AB-{name}0" for name in SAMPLE_NAMES]
    samples = [f"{name}-01A-11R" for name in patients]
    samples += [f"{name}-11A-11R" for name in patients[:n_repeated]]
    classes = (2 * CLASS_OF_SAMPLE)[: len(samples)]
    odd_study.write(patients, _sheet(["barcode", "diagnosis"], samples, classes))
    summary, problems = odd_study.validate()
    if n_repeated == 24:
        assert "no sample of s.tsv is here" in problems
        return
    assert f"read as sample names ({24 - n_repeated} of {24 + n_repeated} rows), though" in problems
    assert "begins with the name 'TCGA-AB-S" in problems
    assert ("'TCGA-AB-S010-01A-11R', 'TCGA-AB-S010-11A-11R'" in problems) == (n_repeated == 1)
    assert n_repeated or SUMMARY_LINE in summary


def test_patient_with_two_samples_in_the_matrix_is_not_matched(odd_study: OddStudy) -> None:
    sheet = table_text([["PATIENT_ID", "diagnosis"], *_columns(SAMPLE_NAMES, CLASS_OF_SAMPLE)])
    odd_study.write([f"{name}-{k}" for name in SAMPLE_NAMES for k in ("01", "11")], sheet)
    summary, problems = odd_study.validate()
    assert "1 error" in summary
    assert "no sample of s.tsv is here" in problems


def test_setting_names_the_column_of_two_that_disagree(odd_study: OddStudy) -> None:
    rows = _columns([f"P{k}" for k in range(24)], SAMPLE_NAMES, SAMPLE_NAMES[::-1], CLASS_OF_SAMPLE)
    odd_study.write(SAMPLE_NAMES, table_text([["patient", "tumour", "blood", "diagnosis"], *rows]))
    _, problems = odd_study.validate()
    assert (
        "s.tsv: columns 'tumour', 'blood' name the same samples of the matrix in different"
        in problems
    )
    summary, problems = odd_study.validate(data={"sample_names": "blood"})
    assert SUMMARY_LINE in summary
    assert not problems


def test_first_column_stays_if_the_matrix_has_its_names(odd_study: OddStudy) -> None:
    rows = _columns(SAMPLE_NAMES, SAMPLE_NAMES[::-1], CLASS_OF_SAMPLE)
    odd_study.write(SAMPLE_NAMES, table_text([["sample", "matched sample", "diagnosis"], *rows]))
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert "sample names" not in problems


def test_row_numbers_that_are_gene_ids_are_not_sample_names(odd_study: OddStudy) -> None:
    """Entrez ids are small numbers, as are those with which pandas counts rows."""
    rows = _columns([str(k) for k in range(24)], SAMPLE_NAMES, CLASS_OF_SAMPLE)
    sheet = table_text([["", "sample_id", "diagnosis"], *rows], ",")
    odd_study.write(SAMPLE_NAMES, sheet, "s.csv", genes=[str(k) for k in range(30)])
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert "column 'sample_id': read as sample names" in problems


def test_ages_that_are_gene_ids_are_not_sample_names(odd_study: OddStudy) -> None:
    rows = _columns([f"X{k}" for k in range(24)], [str(k + 40) for k in range(24)], CLASS_OF_SAMPLE)
    genes = [str(k) for k in range(1, 101)]
    odd_study.write(SAMPLE_NAMES, table_text([["id", "age", "diagnosis"], *rows]), genes=genes)
    _, problems = odd_study.validate()
    assert "no sample of s.tsv is here: that table has 'X0', 'X1', 'X2'" in problems


def test_unknown_column_of_sample_names_is_an_error(odd_study: OddStudy) -> None:
    odd_study.write(
        SAMPLE_NAMES,
        table_text([["sample", "diagnosis"], *_columns(SAMPLE_NAMES, CLASS_OF_SAMPLE)]),
    )
    _, problems = odd_study.validate(data={"sample_names": "diagnose"})
    assert (
        "error: s.tsv: data.sample_names 'diagnose' is not a column of s.tsv; did you mean "
        "'diagnosis'?" in problems
    )


def test_external_cohort_and_studies_find_the_column_too(odd_study: OddStudy) -> None:
    odd_study.write(
        SAMPLE_NAMES,
        table_text([["sample", "diagnosis"], *_columns(SAMPLE_NAMES, CLASS_OF_SAMPLE)]),
    )
    cohort_names = [f"T{k:02}" for k in range(24)]
    write_matrix(Path("other.tsv"), cohort_names)
    rows = _columns([str(k) for k in range(24)], cohort_names, CLASS_OF_SAMPLE)
    Path("other.csv").write_text(table_text([["", "id", "diagnosis"], *rows], ","))
    files = {"name": "other", "expression": "other.tsv", "samples": "other.csv"}
    summary, problems = odd_study.validate(external=[files])
    assert "0 errors" in summary
    assert "note: other.csv, column 'id': read as sample names (24 of 24 rows" in problems
    first_study = {"name": "first", "expression": "e.tsv", "samples": "s.tsv"}
    several = {"studies": [first_study, files], "label": "diagnosis"}
    summary, problems = odd_study.validate_config(several)
    assert "note: other.csv, column 'id': read as sample names (24 of 24 rows" in problems


SHEET_ROWS = _columns(SAMPLE_NAMES, CLASS_OF_SAMPLE, [str(30 + k) for k in range(24)])
HEADER = ["sample", "diagnosis", "age"]
DESCRIPTIONS = {
    "units": ["", "", "(years)"],
    "descriptions": ["Sample ID", "Clinical diagnosis", "Age at diagnosis"],
    "types": ["STRING", "STRING", "NUMBER"],
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_second_line_of_headers_is_left_out(odd_study: OddStudy, name: str) -> None:
    odd_study.write(SAMPLE_NAMES, table_text([HEADER, DESCRIPTIONS[name], *SHEET_ROWS]))
    assert odd_study.init()["data"]["classes"] == ["control", "case"]
    summary, problems = odd_study.validate(data={"covariates": ["age"]})
    assert "24 samples (12 control, 12 case; positive: case), adjusted for: age" in summary
    assert problems.count("\n") == 1
    assert "warning: s.tsv, line 2: a second line of headers, so left out: " in problems


@pytest.mark.parametrize("headings", [["Patients", "Clinic", ""], ["Patients", "Clinic", "Clinic"]])
def test_header_below_headings_is_named(
    odd_study: OddStudy, headings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    odd_study.write(SAMPLE_NAMES, table_text([headings, HEADER, *SHEET_ROWS]))
    error = (
        "error: s.tsv, line 2: is the header ('sample', 'diagnosis', 'age') below a line of "
        "headings; take the headings out\n"
    )
    assert odd_study.validate() == ("c.yaml: 1 error, 0 warnings\n", error)
    assert main(["init", "new", "-e", "e.tsv", "-s", "s.tsv"]) == 1
    assert capsys.readouterr().err == error


def test_first_sample_that_was_not_measured_is_no_header(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES[1:], table_text([HEADER, *SHEET_ROWS]))
    _, problems = odd_study.validate()
    assert "1 of the 24 samples not in e.tsv, so left out: 'S01'" in problems
    assert "header" not in problems


COHORT = [f"ACH-{k:06}" for k in range(1000)]
COHORT_SHEET = _sheet(["ModelID", "diagnosis"], COHORT, ["case", "control"] * 500)


def test_table_of_a_larger_cohort_keeps_the_samples_of_the_matrix(odd_study: OddStudy) -> None:
    odd_study.write(["Entrez_Gene_Id", *COHORT[100:160]], COHORT_SHEET)
    summary, problems = odd_study.validate()
    assert "60 samples (30 control, 30 case; positive: case), 30 genes" in summary
    assert "warning: s.tsv: 940 of the 1000 samples not in e.tsv, so left out: 'ACH-0" in problems
    assert odd_study.init()["label"] == "diagnosis"


@pytest.mark.parametrize("other", ["S1", "ACH-001000"])
def test_table_of_another_cohort_with_few_samples_of_the_matrix_is_refused(
    odd_study: OddStudy, other: str
) -> None:
    odd_study.write([*COHORT[100:159], other], COHORT_SHEET)
    assert "1 error" in odd_study.validate()[0]


def test_numbered_genes_are_no_samples_of_a_larger_cohort(odd_study: OddStudy) -> None:
    numbers = [str(k) for k in range(1000)]
    sheet = _sheet(["id", "diagnosis"], numbers, ["case", "control"] * 500)
    odd_study.write(SAMPLE_NAMES, sheet, genes=numbers[:30])
    assert "1 error" in odd_study.validate()[0]


def test_files_named_after_all_samples_are_only_noted(odd_study: OddStudy) -> None:
    files = [f"{name}.CEL.gz" for name in SAMPLE_NAMES]
    odd_study.write(SAMPLE_NAMES, _sheet(["file", "diagnosis"], files, CLASS_OF_SAMPLE))
    _, problems = odd_study.validate()
    assert problems.startswith("note: s.tsv, column 'file': read as sample names")
    assert "the cell 'S01.CEL.gz' is the file of 'S01' in the matrix" in problems


def test_values_as_sample_names_are_refused(odd_study: OddStudy) -> None:
    values = [f"{k - 11.5:.2f}" for k in range(24)]
    odd_study.write(values, _sheet(["G000", "diagnosis"], values, CLASS_OF_SAMPLE))
    _, problems = odd_study.validate()
    assert (
        "error: s.tsv: the first column ('G000') has values such as -11.50, and no sample names; "
        "put a column of names before it" in problems
    )


@pytest.mark.parametrize(
    ("n_in_header", "n_samples", "is_on_its_side"),
    [(3, 6, True), (3, 7, False), (4, 7, True), (2, 4, False)],
)
def test_table_is_on_its_side_if_its_header_has_three_samples_and_half_of_all(
    n_in_header: int, n_samples: int, is_on_its_side: bool
) -> None:
    columns = {name: ["case", "41"] for name in SAMPLE_NAMES[:n_in_header]}
    table = TextTable(pd.DataFrame(columns, index=["group", "age"]))
    axes = (SAMPLE_NAMES[:n_samples], ["g1", "g2"])
    problems: list[Problem] = []
    with_matrix_names(table, axes, "s.tsv", None, problems)
    assert [problem.code for problem in problems] == [ON_ITS_SIDE] * is_on_its_side
