"""Validation accepts, warns of or refuses covariates and sample weights in one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broken_labels import STATUS, survival
from small_study import Study

from genesig.cli import main
from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem
from genesig.response.covariates import Covariate, covariate_names, encode_covariates
from genesig.results import Dataset, Design

AGE = [str(40 + 3 * k) for k in range(12)]
SEX = ["f", "f", "m", "m"] * 3
# Of 12 samples halves are too small to choose settings in beside covariates.
HELD_COVARIATE = {"data__covariates": ["x"], "nonlinear__enabled": False, "splits__subsamples": 0}
AT_COVARIATE = "error: samples.tsv, column 'x': data.covariates"


def study(folder: Path, cells: list[str], **settings: Any) -> Study:
    """Return a study with a further column x of its sample table, held fixed."""
    study_files = Study(folder)
    for row, cell in zip(study_files.sheet, ["x", *cells], strict=True):
        row.append(cell)
    for key, value in {**HELD_COVARIATE, **settings}.items():
        study_files.set(key.replace("__", "."), value)
    for number, row in enumerate(study_files.sheet):
        row.append(str(1 + number % 3) if number else "v")
    return study_files


FINE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "numbers": (AGE, {}),
    "words": (SEX, {}),
    "other words": (
        ["Frau", *SEX[1:]],
        {"data__covariate_words": {"x": {"Frau": "f"}}},
    ),
    "both": (SEX, {"data__covariates": ["x", "age"], "splits__inner_folds": 4}),
    "balanced weights": (SEX, {"data__weights": "balanced"}),
    "weights of a column": (AGE, {"data__covariates": [], "data__weights": "x"}),
    "of three classes": (
        ["u", "v", "w"] * 4,
        {
            "data__covariates": ["age"],
            "data__weights": "balanced",
            "label": "x",
            "data__classes": ["u", "v", "w"],
            "splits__folds": 4,
            "splits__inner_folds": 3,
        },
    ),
    "weights of survival": (
        ["1", "0", "1", "1"] * 3,
        {
            "label": {"time": "age", "event": "x"},
            "data__task": "survival",
            "data__weights": "v",
            "data__covariates": [],
            "splits__folds": 2,
        },
    ),
    "missing, to be filled in": (["", *AGE[1:]], {"data__missing_covariates": "mean"}),
}

WRONG: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "no such column": (
        AGE,
        {"data__covariates": ["agee"]},
        "error: samples.tsv: data.covariates 'agee' is not a column of samples.tsv; did you mean"
        " 'age'?",
    ),
    "the sample names": (
        AGE,
        {"data__covariates": ["sample"]},
        "error: samples.tsv: data.covariates 'sample' is not a column of samples.tsv but its row"
        " names; name another one",
    ),
    "a value is missing": (
        ["", *AGE[1:-1], "NA"],
        {},
        f"{AT_COVARIATE}: no value for 2 samples of 12 ('P01', 'P12'); fill them in, or set"
        " data.missing_covariates: mean",
    ),
    "all are missing": ([""] * 12, {}, f"{AT_COVARIATE}: no sample has a value; take it out"),
    "constant": (
        ["63"] * 12,
        {},
        f"{AT_COVARIATE}: every sample is '63', which holds nothing fixed; take it out",
    ),
    "a number is a word": (
        [*AGE[:-1], "old"],
        {},
        f"{AT_COVARIATE}: the value of 'P12' is 'old', not a number; the others are numbers: "
        "correct it, or leave it blank",
    ),
    "a decimal comma": (
        ["40,5", *AGE[1:]],
        {},
        f"{AT_COVARIATE}: the value of 'P01' is '40,5', with a decimal comma; write 40.5; the "
        "others are numbers: correct it, or leave it blank",
    ),
    "decimal commas throughout": (
        [f"{age},5" for age in AGE],
        {},
        f"{AT_COVARIATE}: the value of 'P01' is '40,5', with a decimal comma; write 40.5; 11 "
        "further samples, too",
    ),
    "infinite": (
        [*AGE[:-1], "inf"],
        {},
        f"{AT_COVARIATE}: the value of 'P12' is infinite ('inf'); the others are numbers: correct "
        "it, or leave it blank",
    ),
    "a name for every sample": (
        [f"n{k}" for k in range(12)],
        {},
        f"{AT_COVARIATE}: 12 words for 12 samples; at most 4 can be adjusted for: put rare ones "
        "together, or take it out",
    ),
    "words that are none to YAML": (
        SEX,
        {"data__covariate_words": {"x": {True: "f"}}},
        "error: config.yaml, data.covariate_words: YAML reads a word of 'x' as true or false; put"
        " yes, no, on, off in quotes",
    ),
    "words of no covariate": (
        SEX,
        {"data__covariate_words": {"y": {"Frau": "f"}}},
        "error: config.yaml, data.covariate_words: 'y' is none of data.covariates; name it in"
        " data.covariates, or take it out",
    ),
    "the label by another name": (
        ["0", "1"] * 6,
        {},
        "error: samples.tsv: data.covariates: 'x' give the label exactly, so that expression has"
        " nothing to add; take out what is the label by another name",
    ),
    "too many columns": (
        list("aabbccddaabb"),
        {"data__covariates": ["x", "age"]},
        "error: samples.tsv: data.covariates make 4 columns for 12 samples; at most 3 can be"
        " adjusted for, so take some out",
    ),
    "more than a training set can tell": (
        SEX,
        {"data__covariates": ["x", "age"]},
        "error: samples.tsv: data.covariates make 2 columns, and the smallest training set has 4"
        " samples; at least 5 are needed: take some out, or set more splits.folds and"
        " splits.inner_folds",
    ),
    "the label": (
        AGE,
        {"data__covariates": ["diagnosis"]},
        "error: config.yaml, data.covariates, item 1: 'diagnosis' is the label; take it out",
    ),
    "the group": (
        AGE,
        {
            "data__covariates": ["family"],
            "data__group": "family",
            "splits__scheme": "stratified_group_kfold",
        },
        "error: config.yaml, data.covariates, item 1: 'family' is data.group; take it out",
    ),
    "named twice": (
        AGE,
        {"data__covariates": ["x", "x"]},
        "error: config.yaml, data.covariates: found ['x', 'x'], needs a list of at most 20"
        " different values, each text",
    ),
    "no list": (
        AGE,
        {"data__covariates": "x"},
        "error: config.yaml, data.covariates:",
    ),
    "matched pairs": (
        AGE,
        {"data__pair": "matched", "splits__scheme": "stratified_group_kfold"},
        "error: config.yaml, data.covariates: is not offered with data.pair; pairs are already"
        " adjusted for what their samples share, so remove one of the two settings",
    ),
    "the nonlinear part": (
        AGE,
        {"nonlinear__enabled": True},
        "error: config.yaml, data.covariates: is not offered with the nonlinear part; set"
        " nonlinear.enabled: false",
    ),
    "gene sets": (
        AGE,
        {"structured__sets": "sets.gmt", "structured__smallest": 1},
        "error: config.yaml, data.covariates: is not offered with gene sets; take structured.sets"
        " away",
    ),
    "means of nothing": (
        AGE,
        {"data__covariates": [], "data__missing_covariates": "mean"},
        "error: config.yaml, data.missing_covariates: is for data.covariates; name some, or take it"
        " away",
    ),
    "another word for missing": (
        AGE,
        {"data__missing_covariates": "median"},
        "error: config.yaml, data.missing_covariates:",
    ),
    "no column of weights": (
        AGE,
        {"data__weights": "balance"},
        "error: samples.tsv: data.weights 'balance' is not a column of samples.tsv",
    ),
    "the label as a weight": (
        AGE,
        {"data__weights": "diagnosis"},
        "error: config.yaml, data.weights: 'diagnosis' is the label; name a column of numbers, or"
        " balanced",
    ),
    "balanced numbers": (
        AGE,
        {
            "label": "age",
            "data__task": "regression",
            "data__weights": "balanced",
            "linear__criterion": "squared_error",
            "data__covariates": [],
        },
        "error: config.yaml, data.weights: 'balanced' weighs classes, and here are none; name a"
        " column, or null",
    ),
    "weights of survival": (
        ["1", "0"] * 6,
        {
            "label": {"time": "age", "event": "x"},
            "data__task": "survival",
            "data__covariates": [],
            "data__weights": "balanced",
        },
        "error: config.yaml, data.weights: 'balanced' weighs classes, and here are none; name a"
        " column, or null",
    ),
    "a negative weight": (
        ["-1", *AGE[1:]],
        {"data__covariates": [], "data__weights": "x"},
        "error: samples.tsv, column 'x': data.weights: the weight of 'P01' is -1, below 0; each"
        " sample needs a number, 0 or more",
    ),
    "a weight is missing": (
        [*AGE[:-1], ""],
        {"data__covariates": [], "data__weights": "x"},
        "error: samples.tsv, column 'x': data.weights: the weight of 'P12' is blank; each sample"
        " needs a number, 0 or more",
    ),
    "weights of 0": (
        ["0"] * 12,
        {"data__covariates": [], "data__weights": "x"},
        "error: samples.tsv, column 'x': data.weights: every weight is 0; some must be above",
    ),
    "weights of one class": (
        ["0", "1"] * 6,
        {"data__covariates": [], "data__weights": "x"},
        "error: samples.tsv, column 'x': data.weights: the samples with a weight above 0 are all"
        " 'tumor', and both classes are needed",
    ),
}

DOUBTFUL_COVARIATES: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "words alike": (
        ["F", *SEX[1:4], *SEX[:4], *SEX[8:]],
        {},
        "warning: samples.tsv, column 'x': data.covariates: 'F' is read as 'f', from which it"
        " differs only in upper and lower case",
    ),
    "a rare word": (
        ["f"] * 5 + ["m"] * 6 + ["x"],
        {"splits__inner_folds": 4},
        "warning: samples.tsv, column 'x': data.covariates: in 1 split of 3 no training sample is"
        " 'x', which counts as 'f' there",
    ),
    "one follows from the other": (
        [str(2 * int(age)) for age in AGE],
        {"data__covariates": ["age", "x"], "splits__inner_folds": 4},
        "warning: samples.tsv: data.covariates: 'x' follows from 'age'; their weights cannot be"
        " distinguished",
    ),
    "uneven weights": (
        ["1000", "900", *["1"] * 10],
        {"data__covariates": [], "data__weights": "x"},
        "warning: samples.tsv, column 'x': data.weights: so uneven that 12 samples are worth 2"
        " (Kish's effective sample size)",
    ),
}


def validate(
    study_files: Study, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> tuple[int, list[str]]:
    study_files.write()
    monkeypatch.chdir(study_files.root)
    code = main(["validate", "config.yaml"])
    return code, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("name", FINE)
def test_suitable_covariates_are_accepted(name, tmp_path, monkeypatch, capsys):
    cells, settings = FINE[name]
    assert validate(study(tmp_path, cells, **settings), monkeypatch, capsys) == (0, [])


@pytest.mark.parametrize("name", WRONG)
def test_unsuitable_covariate_gives_one_line(name, tmp_path, monkeypatch, capsys):
    cells, settings, words = WRONG[name]
    study_files = study(tmp_path, cells, **settings)
    study_files.files["sets.gmt"] = "\t".join(
        ["s", "", *(f"gene{k}" for k in range(1, 9))]
    ).encode()
    code, lines = validate(study_files, monkeypatch, capsys)
    assert code == 1
    errors = [line for line in lines if line.startswith("error")]
    assert len(errors) == 1, lines
    assert errors[0].startswith(words)


@pytest.mark.parametrize("name", DOUBTFUL_COVARIATES)
def test_doubtful_covariate_is_warned_of(name, tmp_path, monkeypatch, capsys):
    cells, settings, words = DOUBTFUL_COVARIATES[name]
    code, lines = validate(study(tmp_path, cells, **settings), monkeypatch, capsys)
    assert (code, lines) == (0, [words])


def test_covariate_word_without_event_is_warned_of(tmp_path, monkeypatch, capsys):
    cells = ["a" if died == "1" else "b" for died in STATUS]
    cells[0] = "b"
    cells[4] = "c"
    study_files = survival(study(tmp_path, cells))
    study_files.set("splits", {"folds": 4, "inner_folds": 5, "repeats": 1, "subsamples": 0})
    code, lines = validate(study_files, monkeypatch, capsys)
    messages = [line for line in lines if "no finite value" in line]
    assert code == 0, lines
    assert [line for line in messages if "'c'" in line] == [
        "warning: samples.tsv, column 'x': data.covariates: 'c' has 1 sample and 0 events; in 4 of"
        " 5 training sets its weight has no finite value, and a small ridge holds the covariates"
        " there: give its samples another word, leave them out, or leave their cells blank and set"
        " data.missing_covariates: mean"
    ]


def test_weights_that_leave_a_training_set_without_an_event_are_refused(
    tmp_path, monkeypatch, capsys
):
    first_event = STATUS.index("1")
    cells = ["0" if died == "1" and at != first_event else "1" for at, died in enumerate(STATUS)]
    study_files = survival(study(tmp_path, cells, data__covariates=[], data__weights="x"))
    study_files.set("splits", {"folds": 4, "inner_folds": 5, "repeats": 1, "subsamples": 0})
    code, lines = validate(study_files, monkeypatch, capsys)
    assert code == 1
    assert [line for line in lines if line.startswith("error")] == [
        "error: samples.tsv, column 'x': data.weights: in 10 of 30 training sets the samples with a"
        " weight above 0 have no event; give more of the samples a weight above 0, or set"
        " data.weights: null"
    ]


def test_numbers_and_words_become_columns():
    covariates = [
        Covariate.from_cells("age", ["3", "NA", "-1.5"]),
        Covariate.from_cells("sex", ["m", "f", ""]),
    ]
    assert covariate_names(covariates) == ["age", "sex: m"]
    table = {"age": ["3", "NA", "-1.5"], "sex": ["m", "f", ""]}
    import pandas as pd

    encoded_columns = encode_covariates(covariates, pd.DataFrame(table))
    np.testing.assert_array_equal(encoded_columns, [[3, 1], [np.nan, 0], [-1.5, np.nan]])
    assert covariates[1].encode(["unheard of"]).tolist() == [[0.0]]


def test_stored_data_set_keeps_covariates_and_weights(tmp_path):
    import pandas as pd

    obs = pd.DataFrame({"y": list("abab"), "age": list("1234"), "v": list("1112")}, list("stuv"))
    var = pd.DataFrame({"symbol": ["g"]}, ["g"])
    covariate_fields = {"covariates": (Covariate("age", None),), "filled": True, "weights": "v"}
    design = Design("y", "classification", ("a", "b"), None, None)
    for tried_design in (
        design,
        Design("y", "classification", ("a", "b"), None, None, **covariate_fields),
    ):
        Dataset(np.zeros((4, 1)), obs, var, tried_design, {}).save(tmp_path / "d.h5ad")
        assert Dataset.load(tmp_path / "d.h5ad").design == tried_design
    assert "covariates" not in design.notes()


def test_a_table_of_very_many_columns_is_not_told_as_a_whole():
    problems: list[Problem] = []
    check_column("zzz", "label", [f"G{k}" for k in range(5000)], "sample", "s.tsv", problems)
    assert str(problems[0]).endswith("G10, G11 and 4988 more)")


def test_halves_too_small_for_covariates_are_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = study(tmp_path, AGE, splits__subsamples=4).write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", str(config)]) == 1
    stderr = capsys.readouterr().err
    assert "the smallest training set of a half has" in stderr
    assert "or set splits.subsamples: 0 (no stability)" in stderr
