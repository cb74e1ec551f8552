"""Genes that hold the label and patients on both sides of a split are warned of."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from broken_labels import STATUS, YEARS, survival
from small_study import Study

from genesig.cli import main
from genesig.data.study.label_genes_check import (
    CORRELATION_ROUNDING,
    check_label_genes,
    concordance,
    correlations,
    separates_classes,
)
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.results import Design

Array = np.ndarray[Any, Any]

AGES = [str(40 + 3 * k) for k in range(12)]
HOUSEHOLDS = [f"H{k // 3}" for k in range(12)]
AGE = {"label": "age", "data.task": "regression"}
HALF_MISSING = [*(repr(float(age) / 10) for age in AGES[:7]), *["NA"] * 5]
FILLED = [{"step": "knn_impute"}, {"step": "centre"}]


def _warnings(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    study.write()
    monkeypatch.chdir(study.root)
    assert main(["validate", "config.yaml"]) == 0
    return capsys.readouterr().err.splitlines()


GENES_LIKE_THE_LABEL: dict[str, tuple[dict[str, object], list[str], bool]] = {
    "the label as 0 and 1": ({}, ["0", "1"] * 6, True),
    "one value for each class": ({}, ["9.4", "7.25"] * 6, True),
    "one sample otherwise": ({}, ["0", "1"] * 5 + ["0", "1.5"], False),
    "a line through the response": (AGE, [repr(7 - 0.3 * float(age)) for age in AGES], True),
    "another curve": (AGE, [repr(((float(age) - 60) / 9) ** 3) for age in AGES], False),
    "known in most samples": (
        AGE | {"data.missing": True, "normalise.folds": FILLED},
        HALF_MISSING,
        True,
    ),
}


def _expression(X: Array) -> Expression:
    genes = [f"g{k}" for k in range(1, X.shape[1] + 1)]
    return Expression(X, genes, [])


def _sheet(y: Array, task: str = "classification") -> Sheet:
    classes = ("healthy", "ill") if task == "classification" else None
    label = [classes[int(v)] for v in y] if classes else [repr(float(v)) for v in y]
    obs = pd.DataFrame({"label": label}, index=[f"s{k}" for k in range(len(y))])
    return Sheet(obs, Design("label", task, classes, None, None), [])


def _messages(X: Array, y: Array, task: str = "classification") -> list[str]:
    problems = list(check_label_genes(_expression(X), _sheet(y, task), "e.tsv"))
    assert all(problem.level == "warning" for problem in problems)
    return [problem.message for problem in problems]


def _noise(seed: int, sizes: tuple[int, int], genes: int) -> tuple[Array, Array]:
    return np.random.default_rng(seed).standard_normal((sum(sizes), genes)), np.repeat(
        [0, 1], sizes
    )


def test_a_gene_that_nearly_equals_the_label_is_named() -> None:
    X, y = _noise(0, (15, 15), 50)
    X[:, 3] = y + 0.05 * X[:, 3]
    (line,) = _messages(X, y)
    assert line.startswith("gene 'g4' nearly equals the label 'label' (|correlation| above 0.98)")
    number = np.random.default_rng(1).standard_normal(30)
    X[:, 3:5] = -number[:, None] + 0.1 * X[:, 4:6]
    (line,) = _messages(X, number, "regression")
    assert line.startswith("genes 'g4', 'g5' nearly equal the label 'label'")
    X[:, 3:5] += 0.3 * X[:, 6:8]
    assert _messages(X, number, "regression") == []


def test_a_gene_that_separates_the_classes_is_named() -> None:
    """Such as one that the label was cut from: its correlation need not be high."""
    X, _ = _noise(2, (20, 20), 50)
    y = (X[:, 7] > np.median(X[:, 7])).astype(int)
    (line,) = _messages(X, y)
    assert line.startswith("gene 'g8' separates 'healthy' from 'ill' without error, and no")
    (same,) = _messages(-X, y)
    assert same == line
    lower = np.flatnonzero(y == 0)[0]
    X[lower, 7] = 5
    assert _messages(X, y) == []
    X[lower, 7] = np.nan  # the samples that have it
    assert _messages(X, y) == [line]
    X[:, 7] = y  # said once, as the label itself
    assert [word in message for message in _messages(X, y) for word in ("equals", "separates")] == [
        True,
        False,
    ]


def test_classes_that_many_genes_tell_apart_are_no_leak() -> None:
    X, y = _noise(6, (20, 20), 50)
    X[:, 7] = np.arange(40)
    assert len(_messages(X, y)) == 1
    X[:, 8] = np.arange(40)
    X[[19, 20], 8] = X[[20, 19], 8]
    assert _messages(X, y) == []  # area under the ROC curve 0.9975
    X[:, 8] = np.arange(40)
    (line,) = _messages(X, y)
    assert line.startswith("genes 'g8', 'g9' separate 'healthy' from 'ill' without error")


@pytest.mark.parametrize(
    ("sizes", "genes", "warned"),
    [
        ((10, 10), 450, True),
        ((10, 10), 500, False),
        ((13, 13), 20_000, True),
        ((12, 12), 20_000, False),
        ((4, 40), 300, True),
        ((3, 40), 500, False),
    ],
)
def test_chance_is_not_named(sizes: tuple[int, int], genes: int, warned: bool) -> None:
    """The bound: 2 d / C(n, n1) at most 0.005."""
    X, y = _noise(3, sizes, genes)
    X[:, 0] = np.arange(len(y))
    assert [line.startswith("gene 'g1' separates") for line in _messages(X, y)] == [True] * warned


@pytest.mark.slow
def test_noise_is_hardly_ever_warned_of() -> None:
    """At the bound itself, where the expected share of studies is 0.5 %."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 10)
    X = rng.standard_normal((20, 3000, 460))
    warned = [bool(_messages(X[:, k], y)) for k in range(3000)]
    assert 0 < np.mean(warned) < 0.01


def test_few_samples_need_more_than_a_correlation_of_098() -> None:
    """Of 20,000 noise genes on 6 samples some have |r| > 0.98: 0.0006 of them, so 12."""
    X, y = _noise(5, (3, 3), 20_000)
    r = np.abs(correlations(X, y.astype(float)))
    assert np.sum(r > 0.98) > 3
    assert _messages(X, y) == []
    X[:, 0] = y + 1e-6 * X[:, 0]
    assert len(_messages(X, y)) == 1


@pytest.mark.parametrize("name", GENES_LIKE_THE_LABEL)
def test_a_gene_that_equals_the_label_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, values, leaks = GENES_LIKE_THE_LABEL[name]
    study = Study(tmp_path)
    for key, value in settings.items():
        study.set(key, value)
    study.matrix[3][1:] = values
    label = settings.get("label", "diagnosis")
    expected = [f"warning: expression.tsv: gene 'gene3' equals the label '{label}' (correlation 1"]
    messages = _warnings(study, monkeypatch, capsys)
    others = (
        "missing values are associated with the outcome",
        "whole numbers where the genes have decimals",
        "of fewer decimals than the genes have",
    )
    lines = [line for line in messages if not any(words in line for words in others)]
    assert [line[: len(expected[0])] for line in lines] == (expected if leaks else [])


def test_all_genes_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("genesig.data.study.label_genes_check.GENES_PER_BLOCK", 3)
    study = Study(tmp_path)
    for row in (study.matrix[1], study.matrix[8]):
        row[1:] = ["1", "2"] * 6
    assert "genes 'gene1', 'gene8' equal the label" in _warnings(study, monkeypatch, capsys)[0]


def test_low_counts_of_few_samples_equal_classes_by_chance() -> None:
    """Real counts of 7 samples have 6 such genes beside 235 with those values in other samples."""
    y = np.array([-1.0] * 4 + [1.0] * 3)
    rng = np.random.default_rng(0)
    others = np.array([rng.permutation(y > 0) for _ in range(150)]).T.astype(float)
    counts = np.column_stack([others, np.repeat(y[:, None] > 0, 3, axis=1)])
    measured = rng.normal(8, 1, (7, 150))
    names = [f"S{k}" for k in range(7)]
    obs = pd.DataFrame({"label": np.where(y > 0, "case", "control")}, index=names)
    sheet = Sheet(obs, Design("label", "classification", ("control", "case"), None, None), [])
    assert not list(check_label_genes(_expression(counts), sheet, "e.tsv"))
    (warning,) = check_label_genes(
        _expression(np.column_stack([measured, counts[:, -1]])), sheet, "e.tsv"
    )
    assert "gene 'g151' equals the label" in warning.message


COLUMNS: dict[str, tuple[str, list[str], dict[str, object], bool]] = {
    "patient": ("patient", HOUSEHOLDS, {}, True),
    "punctuation and case": ("Patient_ID", HOUSEHOLDS, {}, True),
    "longer": ("bcr patient barcode", HOUSEHOLDS, {}, True),
    "donor": ("Donor no.", HOUSEHOLDS, {}, True),
    "case id": ("case id", HOUSEHOLDS, {}, True),
    "some blank": ("subject", [*HOUSEHOLDS[:9], "NA", "", "NA"], {}, True),
    "regression": ("animal", HOUSEHOLDS, AGE, True),
    "declared as pairs of another column": (
        "individual",
        [*HOUSEHOLDS[1:], "H9"],
        {"data.group": "family", "splits.scheme": "stratified_group_kfold"},
        True,
    ),
    "each once": ("patient", [f"H{k}" for k in range(12)], {}, False),
    "blank otherwise": ("patient", [*AGES[:4], *["NA"] * 8], {}, False),
    "another name of the class": ("patient", ["healthy", "ill"] * 6, {}, False),
    "one for all": ("patient", ["yes"] * 12, {}, False),
    "something of the patient": ("patient age", HOUSEHOLDS, {}, False),
    "case and control": ("case", HOUSEHOLDS, {}, False),
    "declared": (
        "patient",
        HOUSEHOLDS,
        {"data.group": "patient", "splits.scheme": "leave_one_group_out"},
        False,
    ),
    "inside the declared groups": (
        "patient",
        [f"H{k // 2}" for k in range(12)],
        {"data.group": "family", "splits.scheme": "stratified_group_kfold"},
        False,
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_patients_with_several_samples_need_a_group(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    column, values, settings, warned = COLUMNS[name]
    study = Study(tmp_path)
    for row, cell in zip(study.sheet, [column, *values], strict=True):
        row.append(cell)
    for key, value in settings.items():
        study.set(key, value)
    expected = [
        f"warning: samples.tsv, column '{column}': samples of one '{column}' would stand on both "
        f"sides of a split; set data.group: {column} and splits.scheme: stratified_group_kfold"
    ]
    assert _warnings(study, monkeypatch, capsys) == (expected if warned else [])


def test_one_sample_of_each_class_per_patient_is_advised_as_matched_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(tmp_path)
    for row, cell in zip(study.sheet, ["patient", *(f"P{k // 2}" for k in range(12))], strict=True):
        row.append(cell)
    (message,) = _warnings(study, monkeypatch, capsys)
    assert message.endswith("set data.pair: patient and splits.scheme: stratified_group_kfold")


@pytest.mark.parametrize("are_alike", [False, True])
def test_no_group_is_advised_that_survival_refuses(
    are_alike: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Samples of one patient that have other times are no group, see `check_patient_columns`."""
    study = survival(Study(tmp_path))
    for row, cell in zip(study.sheet, ["patient", *HOUSEHOLDS], strict=True):
        row.append(cell)
    if are_alike:
        first_row_of = {name: HOUSEHOLDS.index(name) for name in HOUSEHOLDS}
        for column, cells in (("years", YEARS), ("status", STATUS)):
            study.column(column, [cells[first_row_of[name]] for name in HOUSEHOLDS])
    (message,) = _warnings(study, monkeypatch, capsys)
    assert ("set data.group: patient" in message) == are_alike
    assert ("keep one sample of each" in message) == (not are_alike)


def test_real_numbers_are_no_label() -> None:
    """A gene that is merely good keeps its distance from 1 by more than rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(1e6, 1, (40, 9))
    y = rng.standard_normal(40)
    X[:, 0] = 1e6 + 3 * y
    expected = [np.corrcoef(x, y)[0, 1] for x in X.T]
    np.testing.assert_allclose(correlations(X, y), expected, rtol=0, atol=1e-9)
    assert (np.abs(correlations(X, y)) >= 1 - CORRELATION_ROUNDING).tolist() == [True] + [False] * 8


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_are_told_apart_as_by_all_pairs_of_samples(classes: int) -> None:
    """With ties, missing values and genes that separate; each pair of samples is looked at."""
    rng = np.random.default_rng(classes)
    y = np.tile(np.arange(classes), 8)
    X = rng.integers(0, 9, (len(y), 60)).astype(float)
    X[:, :20] += 10 * y[:, None]
    X[:, 10:20] *= -1
    X[:, 20] = y + np.arange(len(y)) // classes % 2  # one class ends where the next one begins
    X[rng.random(X.shape) < 0.1] = np.nan
    expected = []
    for x in X.T:
        right = pairs = 0
        for class_a, class_b in combinations(range(classes), 2):
            difference = x[y == class_a][:, None] - x[y == class_b]
            right += max((difference > 0).sum(), (difference < 0).sum())
            pairs += np.isfinite(difference).sum()
        expected.append(right / pairs)
    members = [y == number for number in range(classes)]
    np.testing.assert_array_equal(concordance(X, members), expected)
    np.testing.assert_array_equal(separates_classes(X, members), np.equal(expected, 1))
    assert 20 <= separates_classes(X, members).sum() < 60
