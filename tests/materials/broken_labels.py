"""Broken studies of several classes and of survival: labels, settings, what they lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broken_tables import Broken, spoilt
from small_study import GENES, SAMPLES, Study

# Broken studies of survival: its two columns, its settings, and what it does not have.

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


def _broken_survival(change: Callable[[Study], object], words: list[str]) -> Broken:
    return spoilt(lambda study: change(survival(study)), words)


def _set_survival(key: str, value: Any, words: list[str]) -> Broken:
    return _broken_survival(lambda study: study.set(key, value), words)


def _cell(column: str, row: int, cell: str, words: list[str]) -> Broken:
    cells = {"years": YEARS, "status": STATUS}[column]
    new = [*cells[:row], cell, *cells[row + 1 :]]
    return _broken_survival(lambda study: study.column(column, new), words)


def _survival_column(column: str, cells: list[str], words: list[str]) -> Broken:
    return _broken_survival(lambda study: study.column(column, cells), words)


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
    "one time for all": _survival_column(
        "years", ["3"] * 12, ["every time is 3", "times that differ"]
    ),
    "no time at all": _survival_column("years", [""] * 12, ["no sample has a time"]),
    "no event": _broken_survival(_of_all, ["no event among 12 samples", "data.event"]),
    "an event that nobody outlived": _broken_survival(_last, ["no event that anyone outlived"]),
    "two events": _broken_survival(_two, ["the event has 2 samples", "at least 3"]),
    "words without data.event": _broken_survival(_words, ["'Dead' (8)", "data: {event: Dead}"]),
    "a number that is no event": _cell("status", 4, "2", ["'status'", "'2' (1)", "data.event"]),
    "a mistyped event": _broken_survival(
        _mistyped, ["no sample is 'Daed'", "did you mean 'Dead'?"]
    ),
    "an event of nobody": _set_survival("data.event", "gone", ["no sample is 'gone'", "'1' (8)"]),
    "no such column of times": _set_survival(
        "label", {**LABEL, "time": "yeers"}, ["'yeers'", "did you mean 'years'?"]
    ),
    "no such column of events": _set_survival(
        "label", {**LABEL, "event": "state"}, ["'state' is not a column", "did you mean 'status'?"]
    ),
    "one column": _set_survival("label", "years", ["label", "{time: COLUMN, event: COLUMN}"]),
    "one column twice": _set_survival(
        "label", {"time": "years", "event": "years"}, ["named twice"]
    ),
    "two columns for classes": _broken_survival(
        _classes, ["names columns of time and event", "data: {task: survival}"]
    ),
    "a column without its name": _set_survival(
        "label", {"time": "years"}, ["label.event", "missing"]
    ),
    "an unknown key of the label": _set_survival(
        "label", {**LABEL, "tme": "a"}, ["'tme'", "did you mean"]
    ),
    "a late horizon": _set_survival(
        "data.horizon", 60, ["data.horizon: 60 lies outside", "0.4", "6"]
    ),
    "a horizon of 0": _set_survival("data.horizon", 0, ["data.horizon", "above 0"]),
    "unknown ties": _set_survival("data.ties", "effron", ["data.ties", "did you mean 'efron'?"]),
    "classes": _set_survival("data.classes", ["1", "0"], ["data.classes", "is for classification"]),
    "pairs": _broken_survival(paired, ["data.pair", "is for classification"]),
    "two times of one group": _broken_survival(
        _torn, ["'family0' has '1.5', '2+'", "one response"]
    ),
    "an error of classes": _set_survival(
        "linear.criterion", "log_loss", ["'log_loss' is no criterion"]
    ),
    "stretches": _broken_survival(stretches, ["linear.penalty", "not offered for survival"]),
    "another solver": _set_survival(
        "linear.solver", "landweber", ["linear.solver", "take it away"]
    ),
    "one sample left out": _set_survival(
        "splits.scheme", "leave_one_out", ["leaves no pairs to compare"]
    ),
    "nonlinear selection": _set_survival(
        "nonlinear.enabled", True, ["nonlinear.enabled", "not offered"]
    ),
    "classes of other cohorts": _set_survival(
        "external",
        [
            {
                "name": "b",
                "expression": "expression.tsv",
                "samples": "samples.tsv",
                "classes": {"a": "b"},
            }
        ],
        ["external, item 1, classes", "take it away"],
    ),
    "too many folds": _set_survival(
        "splits.folds", 12, ["the event has 8 samples", "splits.folds to 8"]
    ),
    "the label as covariate": _broken_survival(_covariate, ["'status'", "which no step may see"]),
}


# Broken studies of several classes: the label, the choice of classes, and what they lack.

CLASSES = ["EWS", "RMS", "NB"] * 4


def several(study: Study) -> Study:
    """Make a sound study of three classes of the small one."""
    study.column("diagnosis", CLASSES)
    study.set("splits", {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0})
    return study


def _broken_classes(change: Callable[[Study], object], words: list[str]) -> Broken:
    return spoilt(lambda study: change(several(study)), words)


def _set_classes(key: str, value: Any, words: list[str]) -> Broken:
    return _broken_classes(lambda study: study.set(key, value), words)


def _class_column(cells: list[str], words: list[str]) -> Broken:
    return _broken_classes(lambda study: study.column("diagnosis", cells), words)


def _grouped(study: Study) -> None:
    study.column("family", ["f1"] * 8 + ["f2"] * 4)
    study.set("data.group", "family")
    study.set("splits.scheme", "stratified_group_kfold")


def _predefined(study: Study) -> None:
    study.set("splits", {"scheme": "predefined", "column": "set", "inner_folds": 2})
    study.column("diagnosis", ["EWS", "RMS"] * 4 + ["NB"] * 4)


def _other(study: Study, **changes: Any) -> None:
    item = {"name": "b", "expression": "expression.tsv", "samples": "samples.tsv"}
    study.set("external", [item | changes])


def _held_twice(study: Study) -> None:
    study.column("family", ["a", "b", "c"] * 4)
    study.set("data.covariates", ["family"])


def _weightless(study: Study) -> None:
    study.column("age", ["0", "1", "2"] * 4)
    study.set("data.weights", "age")


CHOSEN = ["EWS", "RMS", "NB"]
SEVERAL: dict[str, Broken] = {
    "a class misspelt": _set_classes(
        "data.classes", ["EWS", "RMS", "NBs"], ["no sample is 'NBs'", "did you mean 'NB'?"]
    ),
    "a class of no sample": _set_classes(
        "data.classes", [*CHOSEN, "lymphoma"], ["no sample is 'lymphoma'", "name one of 'EWS'"]
    ),
    "a class twice": _set_classes(
        "data.classes", ["EWS", "RMS", "RMS"], ["data.classes", "different"]
    ),
    "one class": _set_classes("data.classes", ["EWS"], ["data.classes", "a list of 2 to 20"]),
    "a class as a number": _set_classes("data.classes", ["EWS", "RMS", 3], ["item 3", "in quotes"]),
    "classes as one text": _set_classes(
        "data.classes", "EWS", ["data.classes", "the text 'EWS'", "a list of 2 to 20"]
    ),
    "a class in two cases": _class_column(
        ["EWS", "ews", "RMS", "NB"] * 3,
        ["the classes 'EWS', 'ews'", "differ only in upper and lower case"],
    ),
    "a class of two": _class_column(
        ["EWS"] * 5 + ["RMS"] * 5 + ["NB"] * 2,
        ["class 'NB' has 2 samples", "needs at least 3"],
    ),
    "numbers": _class_column(
        [f"{k}.5" for k in range(12)], ["12 classes", "data: {task: regression}"]
    ),
    "one label for all": _class_column(["EWS"] * 12, ["every sample is 'EWS'", "two classes"]),
    "no label": _class_column([""] * 12, ["no sample has a label", "two classes are needed"]),
    "no such column": _set_classes(
        "label", "diagnose", ["'diagnose'", "did you mean 'diagnosis'?"]
    ),
    "too many folds": _set_classes(
        "splits.folds", 5, ["class 'EWS' has 4 samples", "2 further classes"]
    ),
    "too many inner folds": _set_classes(
        "splits.inner_folds", 4, ["class 'EWS'", "inner_folds to 2"]
    ),
    "nonlinear selection": _set_classes(
        "nonlinear.enabled", True, ["nonlinear.enabled", "set false"]
    ),
    "the label held fixed": _set_classes(
        "data.covariates", ["diagnosis"], ["'diagnosis' is the label"]
    ),
    "too few samples for covariates": _set_classes(
        "data.covariates", ["age", "set"], ["the smallest training set has 3 samples"]
    ),
    "classes by another name": _broken_classes(_held_twice, ["give the label exactly"]),
    "a class without weight": _broken_classes(
        _weightless, ["have no 'EWS', and every class is needed"]
    ),
    "pairs": _broken_classes(paired, ["data.pair", "name the column as data.group"]),
    "stretches": _broken_classes(
        stretches, ["linear.penalty", "'fused' is for two classes", "use l1"]
    ),
    "a cut at 0": _set_classes(
        "linear.threshold", "zero", ["linear.threshold", "is for two classes"]
    ),
    "log loss": _set_classes(
        "linear.criterion", "log_loss", ["linear.criterion", "set squared_error"]
    ),
    "a criterion of survival": _set_classes(
        "linear.criterion",
        "partial_likelihood",
        ["'partial_likelihood' is for survival", "take it away"],
    ),
    "a solver of 2009": _set_classes(
        "linear.solver", "landweber", ["'landweber'", "several classes"]
    ),
    "an event": _set_classes("data.event", "EWS", ["data.event", "is for survival"]),
    "times for classes": _set_classes(
        "label", {"time": "age", "event": "diagnosis"}, ["'diagnosis'"]
    ),
    "a group with too few": _broken_classes(_grouped, ["group", "needs at least 3"]),
    "a class that is never trained": _broken_classes(_predefined, ["class 'NB' has 0 samples"]),
    "a word of a cohort": _broken_classes(
        lambda study: _other(study, classes={"EWS": "Ewing"}), ["'Ewing' is no class of the study"]
    ),
    "a label of a cohort": _broken_classes(
        lambda study: _other(study, label="kind"), ["label 'kind'"]
    ),
    "an event of a cohort": _broken_classes(
        lambda study: _other(study, event="EWS"), ["external, item 1, event", "is for survival"]
    ),
}
