"""Broken studies of survival: its two columns, its settings, and what it does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broken_study import Broken, spoilt
from small_study import GENES, SAMPLES, Study

YEARS = ["1.5", "2", "0.7", "3", "4.2", "1", "2.5", "6", "0.4", "5", "3.3", "2.2"]
STATUS = ["1", "0", "1", "1", "0", "1", "1", "0", "1", "1", "0", "1"]
LABEL = {"time": "years", "event": "status"}


def survival(study: Study) -> Study:
    """Make a sound study of survival of the small one."""
    for name, cells in (("years", YEARS), ("status", STATUS)):
        study.sheet[0].append(name)
        for row, cell in zip(study.sheet[1:], cells, strict=True):
            row.append(cell)
    study.set("label", dict(LABEL))
    study.set("data.task", "survival")
    study.set("splits", {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0})
    return study


def _broken(change: Callable[[Study], object], words: list[str]) -> Broken:
    return spoilt(lambda study: change(survival(study)), words)


def _set(key: str, value: Any, words: list[str]) -> Broken:
    return _broken(lambda study: study.set(key, value), words)


def _cell(column: str, row: int, cell: str, words: list[str]) -> Broken:
    cells = {"years": YEARS, "status": STATUS}[column]
    new = [*cells[:row], cell, *cells[row + 1 :]]
    return _broken(lambda study: study.column(column, new), words)


def _column(column: str, cells: list[str], words: list[str]) -> Broken:
    return _broken(lambda study: study.column(column, cells), words)


def _of_all(study: Study) -> None:
    study.column("status", ["0"] * len(SAMPLES))


def _last(study: Study) -> None:
    study.column("status", ["1" if years == "6" else "0" for years in YEARS])


def _two(study: Study) -> None:
    study.column("status", ["1", "1", *["0"] * 10])


def _words(study: Study) -> None:
    study.column("status", ["Dead" if cell == "1" else "Alive" for cell in STATUS])


def _mistyped(study: Study) -> None:
    _words(study)
    study.set("data.event", "Daed")


def _classes(study: Study) -> None:
    study.set("data.task", "classification")


def _torn(study: Study) -> None:
    study.set("data.group", "family")
    study.set("splits.scheme", "stratified_group_kfold")


def paired(study: Study) -> None:
    """Ask for pairs."""
    study.set("data.pair", "matched")
    study.set("splits.scheme", "stratified_group_kfold")


def stretches(study: Study) -> None:
    """Ask for stretches of neighbours, by a gene table that tells their places."""
    study.set("linear.penalty", "fused")
    for key, value in (("annotation", "genes.tsv"), ("chromosome", "chr"), ("position", "at")):
        study.set(f"data.{key}", value)
    rows = [f"{gene}\t{gene}\t1\t{k}" for k, gene in enumerate(GENES)]
    study.files["genes.tsv"] = "\n".join(["gene\tsymbol\tchr\tat", *rows]).encode()


def _covariate(study: Study) -> None:
    study.set("data.batch", "set")
    study.set("normalise.folds", [{"step": "combat", "covariates": ["status"]}])


SURVIVAL: dict[str, Broken] = {
    "a negative time": _cell("years", 2, "-0.7", ["line 4", "'years'", "-0.7, before the start"]),
    "a time that is a word": _cell("years", 2, "soon", ["line 4", "'soon', not a number"]),
    "a decimal comma": _cell("years", 0, "1,5", ["line 2", "decimal comma", "1.5"]),
    "a time of 1e200": _cell("years", 0, "1e200", ["line 2", "1e200, larger than any measure"]),
    "an infinite time": _cell("years", 0, "inf", ["line 2", "'years'", "time of 'P01'"]),
    "one time for all": _column("years", ["3"] * 12, ["every time is 3", "times that differ"]),
    "no time at all": _column("years", [""] * 12, ["no sample has a time"]),
    "no event": _broken(_of_all, ["no event among 12 samples", "data.event"]),
    "an event that nobody outlived": _broken(_last, ["no event that anyone outlived"]),
    "two events": _broken(_two, ["the event has 2 samples", "at least 3"]),
    "words without data.event": _broken(_words, ["'Dead' (8)", "data: {event: Dead}"]),
    "a number that is no event": _cell("status", 4, "2", ["'status'", "'2' (1)", "data.event"]),
    "a mistyped event": _broken(_mistyped, ["no sample is 'Daed'", "did you mean 'Dead'?"]),
    "an event of nobody": _set("data.event", "gone", ["no sample is 'gone'", "'1' (8)"]),
    "no such column of times": _set("label", {**LABEL, "time": "yeers"},
                                    ["'yeers'", "did you mean 'years'?"]),
    "no such column of events": _set("label", {**LABEL, "event": "state"},
                                     ["'state' is not a column", "did you mean 'status'?"]),
    "one column": _set("label", "years", ["label", "{time: COLUMN, event: COLUMN}"]),
    "one column twice": _set("label", {"time": "years", "event": "years"}, ["named twice"]),
    "two columns for classes": _broken(_classes, ["names columns of time and event",
                                                    "data: {task: survival}"]),
    "a column without its name": _set("label", {"time": "years"}, ["label.event", "missing"]),
    "an unknown key of the label": _set("label", {**LABEL, "tme": "a"}, ["'tme'", "did you mean"]),
    "a late horizon": _set("data.horizon", 60, ["data.horizon: 60 lies outside", "0.4", "6"]),
    "a horizon of 0": _set("data.horizon", 0, ["data.horizon", "above 0"]),
    "unknown ties": _set("data.ties", "effron", ["data.ties", "did you mean 'efron'?"]),
    "classes": _set("data.classes", ["1", "0"], ["data.classes", "is for classification"]),
    "pairs": _broken(paired, ["data.pair", "is for classification"]),
    "two times of one group": _broken(_torn, ["'family0' has '1.5', '2+'", "one response"]),
    "an error of classes": _set("linear.criterion", "log_loss", ["'log_loss' is no criterion"]),
    "stretches": _broken(stretches, ["linear.penalty", "not offered for survival"]),
    "another solver": _set("linear.solver", "landweber", ["linear.solver", "take it away"]),
    "one sample left out": _set("splits.scheme", "leave_one_out", ["leaves no pairs to compare"]),
    "nonlinear selection": _set("nonlinear.enabled", True, ["nonlinear.enabled", "not offered"]),
    "classes of other cohorts": _set(
        "external", [{"name": "b", "expression": "expression.tsv", "samples": "samples.tsv",
                      "classes": {"a": "b"}}], ["external, item 1, classes", "take it away"]),
    "too many folds": _set("splits.folds", 12, ["the event has 8 samples", "splits.folds to 8"]),
    "the label as covariate": _broken(_covariate, ["'status'", "which no step may see"]),
}  # fmt: skip
