"""Workbooks with merged or hidden cells, formulas, dates and several sheets are read or refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from genesig.cli import main
from genesig.data.files.formats.excel import _parse_range

openpyxl = pytest.importorskip("openpyxl")

SHEET_SAMPLES = [f"S{k:02}" for k in range(1, 25)]
SHEET_CLASSES = ["control"] * 6 + ["case"] * 6 + ["control"] * 6 + ["case"] * 6
Validate = Callable[..., tuple[str, str]]


@pytest.fixture
def validate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Validate:
    """Return the function that runs ``genesig validate`` on a workbook."""
    monkeypatch.chdir(tmp_path)

    def run(book: Any, samples: list[str] = SHEET_SAMPLES, **data: Any) -> tuple[str, str]:
        """Return the problems and the last sentence; the workbook is the sample table."""
        values = np.random.default_rng(0).normal(8, 1, (20, 24))
        rows = [[f"G{k}", *(f"{value:.3f}" for value in line)] for k, line in enumerate(values)]
        text = "\n".join("\t".join(row) for row in [["gene", *samples], *rows])
        Path("e.tsv").write_text(text + "\n")
        book.save("s.xlsx")
        config = {"expression": "e.tsv", "samples": "s.xlsx", "label": "diagnosis", "data": data}
        Path("c.yaml").write_text(yaml.safe_dump(config))
        capsys.readouterr()
        main(["validate", "c.yaml"])
        printed = capsys.readouterr()
        return printed.err, printed.out

    return run


def sample_book(classes: list[Any] = SHEET_CLASSES, names: list[Any] = SHEET_SAMPLES) -> Any:
    """Return a workbook with a sheet 's' of samples and their classes."""
    book = openpyxl.Workbook()
    book.active.title = "s"
    book.active.append(["sample", "diagnosis"])
    for name, word in zip(names, classes, strict=True):
        book.active.append([name, word])
    return book


def test_merged_cells_are_filled_with_their_first_value(validate: Validate) -> None:
    book = sample_book()
    for first_row in (2, 8, 14, 20):
        book.active.merge_cells(f"B{first_row}:B{first_row + 5}")
    problems, sentence = validate(book)
    assert problems == (
        "warning: s.xlsx: 4 merged ranges of cells: each cell got the value of the first\n"
    )
    assert "24 samples (12 control, 12 case" in sentence


def test_hidden_rows_are_warned_of_once_with_their_number(validate: Validate) -> None:
    book = sample_book()
    for row in range(21, 26):
        book.active.row_dimensions[row].hidden = True
    problems, sentence = validate(book)
    (line,) = problems.splitlines()
    assert line.startswith("warning: s.xlsx: 5 rows hidden in the workbook (lines 21 to 25)")
    assert "24 samples" in sentence


def test_formulas_without_stored_results_are_counted(validate: Validate) -> None:
    formulas = [f'="{word}"' if k % 2 else word for k, word in enumerate(SHEET_CLASSES)]
    problems, _ = validate(sample_book(formulas))
    assert problems.startswith(
        "error: s.xlsx: 12 cells ('B3', 'B5', 'B7' and 9 more) hold formulas"
    )
    assert "whose results are not stored" in problems


def test_formulas_of_a_matrix_are_counted(
    validate: Validate, capsys: pytest.CaptureFixture[str]
) -> None:
    validate(sample_book())
    book = openpyxl.Workbook()
    book.active.append(["gene", *SHEET_SAMPLES])
    for k in range(20):
        book.active.append([f"G{k}", "=LOG(2^8,2)", *(8 + k + j / 7 for j in range(23))])
    book.save("e.xlsx")
    config = {"expression": "e.xlsx", "samples": "s.xlsx", "label": "diagnosis"}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    main(["validate", "c.yaml"])
    problems = capsys.readouterr().err
    assert "error: e.xlsx: 20 cells ('B2', 'B3', 'B4' and 17 more) hold formulas" in problems


def test_part_goes_to_the_sample_workbook_beside_a_text_matrix(validate: Validate) -> None:
    book = sample_book()
    old = book.create_sheet("old")
    old.append(["sample", "diagnosis"])
    for name in SHEET_SAMPLES:
        old.append([name, "case"])
    problems, _ = validate(book)
    assert problems.count("error") == 1
    assert "holds several sheets: 's', 'old'; set data.part" in problems
    problems, sentence = validate(book, part="s")
    assert problems == ""
    assert "24 samples (12 control, 12 case" in sentence


BESIDE_THE_TABLE = {
    "a hidden table": (
        "hidden",
        [["sample", "diagnosis"], *([name, "case"] for name in SHEET_SAMPLES)],
    ),
    "a legend": ("visible", [["legend"], ["case: patients"], ["control: volunteers"], ["2024"]]),
    "a matrix": ("visible", [["gene", *SHEET_SAMPLES], *([f"G{k}", *range(24)] for k in range(9))]),
}


@pytest.mark.parametrize("name", BESIDE_THE_TABLE)
def test_only_sheet_that_may_be_a_sample_table_is_read(validate: Validate, name: str) -> None:
    state, rows = BESIDE_THE_TABLE[name]
    book = sample_book()
    second_sheet = book.create_sheet("other")
    second_sheet.sheet_state = state
    for row in rows:
        second_sheet.append(row)
    problems, sentence = validate(book)
    assert problems == "warning: s.xlsx: sheet 's' is read, of 's', 'other'\n"
    assert "24 samples (12 control, 12 case" in sentence


def test_sample_names_that_became_dates_are_named(validate: Validate) -> None:
    names = [f"{k % 12 + 1}-{k // 12 + 1}" for k in range(24)]
    dates = [datetime(2024, k // 12 + 1, k % 12 + 1) for k in range(24)]
    problems, _ = validate(sample_book(names=dates), samples=names)
    assert "turned into dates or numbers by a spreadsheet: '2024-01-01 00:00:00'" in problems
    assert "write the names of the samples again, as text" in problems


@pytest.mark.parametrize(
    ("reference", "corners"),
    [
        ("B2:B5", (1, 1, 4, 1)),
        ("Z1:AA3", (0, 25, 2, 26)),
        ("$AZ$1:$BA$1", (0, 51, 0, 52)),
        ("B2", None),
    ],
)
def test_reference_of_merged_cells_gives_rows_and_columns(
    reference: str, corners: tuple[int, int, int, int] | None
) -> None:
    assert _parse_range(reference) == corners


def test_errors_of_formulas_are_counted_and_filled_from_genes_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(8, 1, (60, 24)) + np.arange(60)[:, None] / 10
    book = openpyxl.Workbook()
    book.active.append(["gene", *SHEET_SAMPLES])
    for k, line in enumerate(values.round(3).tolist()):
        book.active.append([f"G{k}", *line])
    # The first genes are low, by chance.
    book.active["C3"] = book.active["F5"] = "#N/A"
    book.active["K7"] = "#DIV/0!"
    book.save("e.xlsx")
    rows = zip(["sample", *SHEET_SAMPLES], ["diagnosis", *SHEET_CLASSES], strict=True)
    Path("s.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    assert main(["init", "new", "-e", "e.xlsx", "-s", "s.tsv"]) == 0
    text = Path("new/config.yaml").read_text()
    assert "3 cells with an error of a spreadsheet, '#N/A', '#DIV/0!'" in text
    assert yaml.safe_load(text)["normalise"]["folds"][0] == {"step": "knn_impute"}
    capsys.readouterr()
    monkeypatch.chdir("new")
    assert main(["validate", "config.yaml"]) == 0
    assert (
        "warning: ../e.xlsx, line 3, gene 'G1', sample 'S02': the value is '#N/A', an error of a "
        "spreadsheet (2 further cells), read as missing" in capsys.readouterr().err
    )
