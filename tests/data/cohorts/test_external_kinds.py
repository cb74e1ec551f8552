"""Faulty external cohorts of survival and several classes give one line for each fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_labels import STATUS, YEARS, survival
from small_study import NAMES, Other, Study

from genesig.data.files.readers import load_schema, read_config
from genesig.data.validate import examine

SCHEMA = load_schema()
TIMES = YEARS[: len(NAMES)]
EVENTS = STATUS[: len(NAMES)]
Change = Callable[[Other, Study], object]


def lay_survival_cohort(other_study: Other, study: Study) -> None:
    survival(study)
    rows = zip(NAMES, TIMES, EVENTS, strict=True)
    other_study.sheet = [["id", "years", "status"], *map(list, rows)]
    other_study.item |= {"label": None, "classes": {}}


def lay_cohort_of_classes(other_study: Other, study: Study) -> None:
    study.column("diagnosis", ["a", "b", "c"] * 4)
    study.set("splits", {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0})
    words = [["x", "b", "c"][k % 3] for k in range(len(NAMES))]
    other_study.sheet = [["id", "kind"], *map(list, zip(NAMES, words, strict=True))]
    other_study.item |= {"label": "kind", "classes": {"x": "a"}}


def _change_cells(column: int, cells: list[str]) -> Change:
    def changed(other_study: Other, study: Study) -> None:
        for row, cell in zip(other_study.sheet[1:], cells, strict=True):
            row[column] = cell

    return changed


def _change_settings(**changes: Any) -> Change:
    return lambda other_study, study: other_study.item.update(changes)


def _rename_column(column: int, name: str) -> Change:
    return lambda other_study, study: other_study.sheet[0].__setitem__(column, name)


SURVIVAL: dict[str, tuple[Change, str, str]] = {
    "a time in words": (
        _change_cells(1, ["soon", *TIMES[1:]]),
        "error",
        "the time of 'X1' is 'soon'",
    ),
    "a time before the start": (
        _change_cells(1, ["-1", *TIMES[1:]]),
        "error",
        "is -1, before the start",
    ),
    "no event": (
        _change_cells(2, ["0"] * 8),
        "error",
        "no event, as no sample is '1', so there is",
    ),
    "their word for an event": (
        _change_cells(2, ["dead" if cell == "1" else "alive" for cell in EVENTS]),
        "error",
        "name their word in event, found 'dead' (5), 'alive' (3)",
    ),
    "an event of no sample": (_change_settings(event="gone"), "error", "no sample is 'gone'"),
    "an event that nobody outlived": (
        _change_cells(2, ["1" if cell == max(TIMES, key=float) else "0" for cell in TIMES]),
        "error",
        "have no event that anyone outlived",
    ),
    "no times": (_change_cells(1, [""] * 8), "error", "no sample has a time and an event"),
    "no column of times": (_rename_column(1, "yeers"), "error", "label 'years' is not a column of"),
    "no column of events": (
        _rename_column(2, "state"),
        "error",
        "label 'status' is not a column of",
    ),
    "one column": (
        _change_settings(label="years"),
        "error",
        "write label: {time: COLUMN, event: COLUMN}",
    ),
    "classes": (_change_settings(classes={"1": "yes"}), "error", "classes: is for classification"),
    "times in days": (
        _change_cells(1, [str(365 * float(cell)) for cell in TIMES]),
        "warning",
        "in another unit",
    ),
    "times in months, some of them short": (
        _change_cells(1, ["0.1", *(str(12 * float(cell)) for cell in TIMES[1:])]),
        "warning",
        "and the horizon of the study is ",
    ),
    "a missing time": (
        _change_cells(1, ["NA", *TIMES[1:]]),
        "warning",
        "no label ('NA') for 'X1'; left",
    ),
}
FAULTS_OF_CLASSES: dict[str, tuple[Change, str, str]] = {
    "no class of the study": (
        _change_cells(1, ["q", "r", "s", "q", "r", "s", "q", "r"]),
        "error",
        "no label is a class of the study: found 'q' (3 samples)",
    ),
    "a class that the model does not know": (
        _change_cells(1, ["x", "b", "c", "z"] * 2),
        "warning",
        "no class of the study: 'z' (2 samples)",
    ),
    "a class of no sample": (
        _change_cells(1, ["x", "b"] * 4),
        "warning",
        "no sample is 'c', so AUC and",
    ),
    "a wrong class": (
        _change_settings(classes={"x": "aa"}),
        "error",
        "'aa' is no class of the study",
    ),
    "no label": (_change_cells(1, [""] * 8), "error", "no sample has a label"),
    "an event": (_change_settings(event="x"), "error", "event: is for survival; take it away"),
    "two columns": (
        _change_settings(label={"time": "kind", "event": "id"}),
        "error",
        "for classification name one column",
    ),
}


def _lines_of_check(tmp_path: Path, lay: Change, change: Change) -> list[str]:
    study = Study(tmp_path)
    other_study = Other()
    lay(other_study, study)
    change(other_study, study)
    other_study.write(study)
    return list(map(str, examine(read_config("config.yaml"), SCHEMA, "config.yaml").problems))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("lay", [lay_survival_cohort, lay_cohort_of_classes])
def test_sound_cohort_has_no_problem(lay: Change, tmp_path: Path) -> None:
    lines = _lines_of_check(tmp_path, lay, lambda other_study, study: None)
    assert [line for line in lines if "distinguished by one list" not in line] == []


@pytest.mark.parametrize("name", [*SURVIVAL, *FAULTS_OF_CLASSES])
def test_faulty_cohort_gives_one_line(name: str, tmp_path: Path) -> None:
    lay = lay_survival_cohort if name in SURVIVAL else lay_cohort_of_classes
    change, level, words = (SURVIVAL | FAULTS_OF_CLASSES)[name]
    lines = [
        line
        for line in _lines_of_check(tmp_path, lay, change)
        if "distinguished by one" not in line
    ]
    lines_of_level = [line for line in lines if line.startswith(f"{level}: ")]
    assert len(lines_of_level) == 1, lines
    assert words in lines_of_level[0]
