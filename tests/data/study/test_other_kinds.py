"""A label of another kind is refused with a setting that validation then accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from broken_labels import STATUS, YEARS, survival
from small_study import SAMPLES, Study

from genesig.data.files.config_text import merge_configs
from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.config_check import check_kind_of_table
from genesig.data.validate import Examination, examine, study_config

SCHEMA = load_schema()
LINE = re.compile(r"\b(label|data): (\{.*?\})(?=[ ,;]|$)", re.MULTILINE)
WORDS = ["Dead" if cell == "1" else "Alive" for cell in STATUS]
GRADES = ["1", "2", "3"] * 4


def _add(study: Study, **columns: list[str]) -> None:
    for name, cells in columns.items():
        for row, cell in zip(study.sheet, [name, *cells], strict=True):
            row.append(cell)


def _label(study: Study, label: Any, task: str | None = None, **columns: list[str]) -> None:
    _add(study, **columns)
    study.set("label", label)
    study.set("splits", {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0})
    if task is not None:
        study.set("data.task", task)


PAIR = {"os_time": YEARS, "os_event": STATUS}
CASES_OF_LABELS: dict[str, tuple[Callable[[Study], object], str]] = {
    # how a study is spoilt, and what the summary says of it once the lines are pasted
    "numbers as classes": (lambda s: _label(s, "age"), "12 samples, 8 genes"),
    "times as classes": (lambda s: _label(s, "os_time", **PAIR), "(8 events)"),
    "times with words as classes": (
        lambda s: _label(s, "years", years=YEARS, status=WORDS),
        "(8 events)",
    ),
    "times as numbers": (lambda s: _label(s, "os_time", "regression", **PAIR), "(8 events)"),
    "classes as numbers": (
        lambda s: _label(s, "diagnosis", "regression"),
        "(6 normal, 6 tumor; positive: tumor)",
    ),
    "one column for survival": (lambda s: _label(s, "os_time", "survival", **PAIR), "(8 events)"),
    "two columns for classes": (
        lambda s: _label(s, {"time": "os_time", "event": "os_event"}, "classification", **PAIR),
        "(8 events)",
    ),
    "time and event exchanged": (
        lambda s: _label(s, {"time": "os_event", "event": "os_time"}, "survival", **PAIR),
        "(8 events)",
    ),
    "words of an event": (
        lambda s: _label(
            s, {"time": "years", "event": "vital"}, "survival", years=YEARS, vital=WORDS
        ),
        "(8 events)",
    ),
    "too many classes": (
        lambda s: _label(s, "kind", kind=["a"] * 40 + ["b"] * 40 + [f"c{k}" for k in range(20)]),
        "(40 a, 40 b; positive: b)",
    ),
    "three numbers": (lambda s: _label(s, "grade", grade=GRADES), "(4 1, 4 2; positive: 2)"),
}


def _examined() -> Examination:
    return examine(read_config("config.yaml"), SCHEMA, "config.yaml")


def _write_response(study: Study, change: Callable[[Study], object]) -> None:
    if change is CASES_OF_LABELS["too many classes"][0]:
        names = [f"Q{k:03d}" for k in range(100)]
        study.sheet = [["sample"], *([name] for name in names)]
        study.matrix = [
            ["gene", *names],
            *(
                [f"g{g}", *(f"{7 + (13 * g + 7 * k * k) % 29 / 7:.3f}" for k in range(100))]
                for g in range(8)
            ),
        ]
    change(study)
    study.write()


@pytest.mark.parametrize("name", CASES_OF_LABELS)
def test_proposed_task_is_accepted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, summary = CASES_OF_LABELS[name]
    monkeypatch.chdir(tmp_path)
    _write_response(Study(tmp_path), change)
    lines = LINE.findall("\n".join(str(problem) for problem in _examined().problems))
    assert lines
    config = read_config("config.yaml")
    for key, value in lines:
        config = merge_configs(config, {key: yaml.safe_load(value)})
    Path("config.yaml").write_text(yaml.safe_dump(config))
    problems = _examined()
    assert list(map(str, problems.errors)) == []
    assert summary in problems.summary


def test_analysis_that_a_kind_lacks_is_off_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    three = Study(tmp_path)
    times = survival(Study(tmp_path))
    covariates = Study(tmp_path)
    three.column("diagnosis", ["a", "b", "c"] * 4)
    covariates.set("data.covariates", ["age"])
    weighted = Study(tmp_path)
    weighted.set("data.weights", "age")
    studies = {
        "for several classes": three,
        "for survival": times,
        "with covariates": covariates,
        "with sample weights (data.weights)": weighted,
    }
    for words, study in studies.items():
        study.set("splits", {"folds": 3, "inner_folds": 2, "repeats": 1, "subsamples": 0})
        study.write()
        problems = _examined()
        assert list(map(str, problems.errors)) == []
        assert problems.summary.endswith(f"; nonlinear selection is not offered {words}")
        config = study_config(read_config("config.yaml"), SCHEMA)
        assert config["nonlinear"]["enabled"] is False
        study.set("nonlinear.enabled", True)
        study.write()
        (error,) = _examined().errors
        assert "nonlinear" in str(error)


def test_two_classes_keep_nonlinear_selection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.write()
    assert study_config(read_config("config.yaml"), SCHEMA)["nonlinear"]["enabled"] is True
    assert "nonlinear" not in _examined().summary


def test_two_columns_as_label_are_survival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = survival(Study(tmp_path))
    del study.config["data"]
    study.write()
    problems = _examined()
    assert list(map(str, problems.errors)) == []
    assert problems.summary.startswith("12 samples (8 events), 8 genes; nonlinear")


def test_each_class_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.column("diagnosis", ["a", "b", "c", "c"] * 3)
    study.write()
    assert _examined().summary.startswith(f"{len(SAMPLES)} samples (3 a, 3 b, 6 c), 8 genes")


def test_a_series_that_has_just_come_is_decided_by_its_labels(tmp_path, monkeypatch) -> None:
    """Settings that were filled in before it was there are answered by: run it again."""
    monkeypatch.chdir(tmp_path)
    matrix = "data/geo/GSE1_series_matrix.txt.gz"
    raw = {"geo": "GSE1", "label": "diagnosis"}
    early = study_config(dict(raw), SCHEMA)
    assert early["nonlinear"]["enabled"]
    messages = [p.message for p in check_kind_of_table(early, "several_classes", "c.yaml")]
    assert messages[0].startswith(
        "is for two classes; choose two by data.classes, or set false; if the"
    )
    assert "run the same command again" in messages[0]
    early["samples"] = matrix.replace("data/geo", "mine")
    (plain, *_) = check_kind_of_table(early, "several_classes", "c.yaml")
    assert plain.message == "is for two classes; choose two by data.classes, or set false"
    assert check_kind_of_table(early, "classification", "c.yaml") == []
