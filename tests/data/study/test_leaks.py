"""What makes errors look too small is warned of: genes that hold the label, patients torn apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_study import Study

from genesig.cli import main

AGES = [str(40 + 3 * k) for k in range(12)]
MANY = [f"H{k // 3}" for k in range(12)]
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


GENES: dict[str, tuple[dict[str, object], list[str], bool]] = {
    "the label as 0 and 1": ({}, ["0", "1"] * 6, True),
    "one value for each class": ({}, ["9.4", "7.25"] * 6, True),
    "one sample otherwise": ({}, ["0", "1"] * 5 + ["0", "1.001"], False),
    "a line through the response": (AGE, [repr(7 - 0.3 * float(age)) for age in AGES], True),
    "another curve": (AGE, [repr(float(age) ** 0.5) for age in AGES], False),
    "known in most samples": (
        AGE | {"data.missing": True, "normalise.folds": FILLED}, HALF_MISSING, True),
}  # fmt: skip


@pytest.mark.parametrize("name", GENES)
def test_a_gene_that_equals_the_label_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, values, leaks = GENES[name]
    study = Study(tmp_path)
    for key, value in settings.items():
        study.set(key, value)
    study.matrix[3][1:] = values
    label = settings.get("label", "diagnosis")
    found = [f"warning: expression.tsv: gene 'gene3' equals the label '{label}' (correlation 1"]
    lines = _warnings(study, monkeypatch, capsys)
    assert [line[: len(found[0])] for line in lines] == (found if leaks else [])


def test_all_genes_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("genesig.data.study.leak_check.GENES_AT_ONCE", 3)
    study = Study(tmp_path)
    for row in (study.matrix[1], study.matrix[8]):
        row[1:] = ["1", "2"] * 6
    assert "genes 'gene1', 'gene8' equal the label" in _warnings(study, monkeypatch, capsys)[0]


COLUMNS: dict[str, tuple[str, list[str], dict[str, object], bool]] = {
    "patient": ("patient", MANY, {}, True),
    "punctuation and case": ("Patient_ID", MANY, {}, True),
    "longer": ("bcr patient barcode", MANY, {}, True),
    "donor": ("Donor no.", MANY, {}, True),
    "case id": ("case id", MANY, {}, True),
    "some blank": ("subject", [*MANY[:9], "NA", "", "NA"], {}, True),
    "regression": ("animal", MANY, AGE, True),
    "declared as pairs of another column": (
        "individual", [*MANY[1:], "H9"],
        {"data.group": "family", "splits.scheme": "stratified_group_kfold"}, True),
    "each once": ("patient", [f"H{k}" for k in range(12)], {}, False),
    "blank otherwise": ("patient", [*AGES[:4], *["NA"] * 8], {}, False),
    "another name of the class": ("patient", ["healthy", "ill"] * 6, {}, False),
    "one for all": ("patient", ["yes"] * 12, {}, False),
    "something of the patient": ("patient age", MANY, {}, False),
    "case and control": ("case", MANY, {}, False),
    "declared": (
        "patient", MANY, {"data.group": "patient", "splits.scheme": "leave_one_group_out"}, False),
    "inside the declared groups": (
        "patient", [f"H{k // 2}" for k in range(12)],
        {"data.group": "family", "splits.scheme": "stratified_group_kfold"}, False),
}  # fmt: skip


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
    found = [
        f"warning: samples.tsv, column '{column}': samples of one '{column}' would stand on both "
        f"sides of a split; set data.group: {column} and splits.scheme: stratified_group_kfold"
    ]
    assert _warnings(study, monkeypatch, capsys) == (found if warned else [])


def test_real_numbers_are_no_label() -> None:
    """A gene that is merely good keeps its distance from 1 by more than rounding."""
    from genesig.data.study.leak_check import ROUNDING, correlations

    rng = np.random.default_rng(0)
    X, y = rng.normal(1e6, 1, (40, 9)), rng.standard_normal(40)
    X[:, 0] = 1e6 + 3 * y
    expected = [np.corrcoef(x, y)[0, 1] for x in X.T]
    np.testing.assert_allclose(correlations(X, y), expected, rtol=0, atol=1e-9)
    assert (np.abs(correlations(X, y)) >= 1 - ROUNDING).tolist() == [True] + [False] * 8
