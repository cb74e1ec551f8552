"""Broken studies of several classes: the label, the choice of classes, and what they lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broken_study import Broken, spoilt
from broken_survival import paired, stretches
from small_study import Study

CLASSES = ["EWS", "RMS", "NB"] * 4


def several(study: Study) -> Study:
    """Make a sound study of three classes of the small one."""
    study.column("diagnosis", CLASSES)
    study.set("splits", {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0})
    return study


def _broken(change: Callable[[Study], object], words: list[str]) -> Broken:
    return spoilt(lambda study: change(several(study)), words)


def _set(key: str, value: Any, words: list[str]) -> Broken:
    return _broken(lambda study: study.set(key, value), words)


def _column(cells: list[str], words: list[str]) -> Broken:
    return _broken(lambda study: study.column("diagnosis", cells), words)


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
    "a class misspelt": _set("data.classes", ["EWS", "RMS", "NBs"],
                             ["no sample is 'NBs'", "did you mean 'NB'?"]),
    "a class of no sample": _set("data.classes", [*CHOSEN, "lymphoma"],
                                 ["no sample is 'lymphoma'", "name one of 'EWS'"]),
    "a class twice": _set("data.classes", ["EWS", "RMS", "RMS"], ["data.classes", "different"]),
    "one class": _set("data.classes", ["EWS"], ["data.classes", "a list of 2 to 20"]),
    "a class as a number": _set("data.classes", ["EWS", "RMS", 3], ["item 3", "in quotes"]),
    "classes as one text": _set("data.classes", "EWS", ["data.classes", "write it as [EWS]"]),
    "a class in two cases": _column(["EWS", "ews", "RMS", "NB"] * 3,
                                    ["the classes 'EWS', 'ews'", "differ in upper and lower case"]),
    "a class of two": _column(["EWS"] * 5 + ["RMS"] * 5 + ["NB"] * 2,
                              ["class 'NB' has 2 samples", "at least 3 are needed"]),
    "numbers": _column([f"{k}.5" for k in range(12)], ["12 classes", "data: {task: regression}"]),
    "one label for all": _column(["EWS"] * 12, ["every sample is 'EWS'", "two classes"]),
    "no label": _column([""] * 12, ["no sample has a label", "two classes are needed"]),
    "no such column": _set("label", "diagnose", ["'diagnose'", "did you mean 'diagnosis'?"]),
    "too many folds": _set("splits.folds", 5, ["class 'EWS' has 4 samples", "2 further classes"]),
    "too many inner folds": _set("splits.inner_folds", 4, ["class 'EWS'", "inner_folds to 2"]),
    "nonlinear selection": _set("nonlinear.enabled", True, ["nonlinear.enabled", "set false"]),
    "the label held fixed": _set("data.covariates", ["diagnosis"], ["'diagnosis' is the label"]),
    "too few samples for covariates": _set("data.covariates", ["age", "set"],
                                           ["the smallest training set has 3 samples"]),
    "classes by another name": _broken(_held_twice, ["give the label exactly"]),
    "a class without weight": _broken(_weightless, ["have no 'EWS', and every class is needed"]),
    "pairs": _broken(paired, ["data.pair", "name the column as data.group"]),
    "stretches": _broken(stretches, ["linear.penalty", "'fused' is for two classes", "take l1"]),
    "a cut at 0": _set("linear.threshold", "zero", ["linear.threshold", "is for two classes"]),
    "log loss": _set("linear.criterion", "log_loss", ["linear.criterion", "set squared_error"]),
    "a criterion of survival": _set("linear.criterion", "partial_likelihood",
                                    ["'partial_likelihood' is for survival", "take it away"]),
    "a solver of 2009": _set("linear.solver", "landweber", ["'landweber'", "several classes"]),
    "an event": _set("data.event", "EWS", ["data.event", "is for survival"]),
    "times for classes": _set("label", {"time": "age", "event": "diagnosis"}, ["'diagnosis'"]),
    "a group with too few": _broken(_grouped, ["group", "at least 3 are needed"]),
    "a class that is never trained": _broken(_predefined, ["class 'NB' has 0 samples"]),
    "a word of a cohort": _broken(
        lambda study: _other(study, classes={"EWS": "Ewing"}), ["'Ewing' is no class of the study"]
    ),
    "a label of a cohort": _broken(lambda study: _other(study, label="kind"), ["label 'kind'"]),
    "an event of a cohort": _broken(
        lambda study: _other(study, event="EWS"), ["external, item 1, event", "is for survival"]
    ),
}  # fmt: skip
