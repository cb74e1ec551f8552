"""Repeated samples of a patient in an external cohort are grouped, or validation warns of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import NAMES, Other, Study

from genesig.data.cohorts.read import Cohort, read_cohort
from genesig.data.files.readers import load_schema, read_config
from genesig.data.validate import examine
from genesig.results import Design

SCHEMA = load_schema()
PATIENTS = ["a", "a", "b", "b", "c", "c", "d", "d"]
FAMILIES = Design("diagnosis", "classification", ("normal", "tumor"), "family", None)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def _study_with_column(name: str, words: list[str]) -> Other:
    other_study = Other()
    for row, word in zip(other_study.sheet, [name, *words], strict=True):
        row.append(word)
    return other_study


def _lines_of_check(study: Study, other_study: Other) -> list[str]:
    other_study.write(study)
    return list(map(str, examine(read_config("config.yaml"), SCHEMA, "config.yaml").problems))


def _read_cohort_of(
    study: Study, other_study: Other, design: Design, group: str | None = None
) -> Cohort:
    other_study.write(study)
    return read_cohort(design, other_study.settings(group=group))


def test_patients_without_a_group_are_warned_of(study: Study) -> None:
    assert _lines_of_check(study, _study_with_column("Patient ID", PATIENTS)) == [
        "warning: other_samples.tsv, column 'Patient ID': samples of one 'Patient ID' are not"
        " independent, so intervals would be too short; set group: Patient ID (external, other)"
    ]


def test_a_named_group_is_not_warned_of(study: Study) -> None:
    other_study = _study_with_column("patient", PATIENTS)
    other_study.item["group"] = "patient"
    assert _lines_of_check(study, other_study) == []


def test_a_group_column_that_is_missing_is_an_error(study: Study) -> None:
    other_study = _study_with_column("patient", PATIENTS)
    other_study.item["group"] = "patiend"
    assert _lines_of_check(study, other_study)[0] == (
        "error: other_samples.tsv: group 'patiend' is not a column of other_samples.tsv; did you"
        " mean 'patient'?"
    )


def test_the_group_of_the_study_is_inherited_where_the_column_exists(study: Study) -> None:
    inherited = _read_cohort_of(study, _study_with_column("family", PATIENTS), FAMILIES)
    assert inherited.group_column == "family"
    assert len(set(inherited.group or ())) == 4
    assert _read_cohort_of(study, Other(), FAMILIES).group is None


def test_a_group_of_the_cohort_precedes_that_of_the_study(study: Study) -> None:
    other_study = _study_with_column("family", PATIENTS)
    for row, word in zip(other_study.sheet, ["donor", *NAMES], strict=True):
        row.append(word)
    assert _read_cohort_of(study, other_study, FAMILIES, "donor").group_column == "donor"


def test_samples_without_a_group_are_groups_of_their_own(study: Study) -> None:
    words = ["a", "a", "", "NA", "b", "b", "X3", "X3"]
    cohort = _read_cohort_of(study, _study_with_column("family", words), FAMILIES)
    assert len(set(cohort.group or ())) == 5
    (problem,) = cohort.problems
    assert problem.level == "warning"
    assert problem.message == (
        "no group for 'X3', 'X4'; each such sample counts as a group of its own"
    )


def test_groups_alike_by_sight_are_warned_of(study: Study) -> None:
    cohort = _read_cohort_of(study, _study_with_column("family", ["a", "A", *NAMES[2:]]), FAMILIES)
    (problem,) = cohort.problems
    assert problem.message.startswith("group 'A' differs from 'a' only in upper and lower case")
