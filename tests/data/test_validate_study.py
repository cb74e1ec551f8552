"""Faults across config, sample sheet and splits give one line each with the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_study import SAMPLES, Study

from genesig.cli import main
from genesig.data import validate
from genesig.data.files.readers import load_schema, read_config
from genesig.data.quality.samples import SIMILAR_SAMPLES
from genesig.data.validate import Examination, check_study, study_config
from genesig.errors import Problem

Break = Callable[[Study], object]


def _set(**settings: Any) -> Break:
    """Set dotted keys, written with two underscores for the dot."""

    def broken(study: Study) -> None:
        for key, value in settings.items():
            study.set(key.replace("__", "."), value)

    return broken


def _column(name: str, values: list[str], **settings: Any) -> Break:
    def broken(study: Study) -> None:
        study.column(name, values)
        _set(**settings)(study)

    return broken


def _splits(splits: Any) -> Break:
    def broken(study: Study) -> None:
        study.set("splits.file", "splits.json")
        text = splits if isinstance(splits, str) else json.dumps(splits)
        study.files["splits.json"] = text.encode()

    return broken


def _outer(train: list[str], test: list[str]) -> dict[str, Any]:
    return {"version": 1, "outer": [{"train": train, "test": test}]}


TWO_CLASSES = ["normal", "tumor"]
RARE = ["tumor"] * 3 + ["normal"] * 9
CENTRE = {"step": "centre"}
LOG2 = {"step": "log2"}
FILTER = {"step": "fold_filter"}

FAULTS_OF_STUDY: dict[str, tuple[Break, list[str]]] = {
    # the label
    "label column misspelt": (
        _set(label="diagnosys"),
        [
            "samples.tsv",
            "label 'diagnosys' is not a column of samples.tsv; did you mean 'diagnosis'?",
        ],
    ),
    "label column unknown": (
        _set(label="xyz"),
        ["label 'xyz' is not a column of samples.tsv (columns: diagnosis, family, matched"],
    ),
    "label is the sample name": (
        _set(label="sample"),
        ["label 'sample' is not a column of samples.tsv but its row names"],
    ),
    "single class": (
        _column("diagnosis", ["tumor"] * 12),
        ["samples.tsv, column 'diagnosis': every sample is 'tumor'; two classes are needed"],
    ),
    "no label at all": (
        _column("diagnosis", [""] * 12),
        ["samples.tsv, column 'diagnosis': no sample has a label"],
    ),
    "classes that differ in case": (
        _column("diagnosis", ["Tumor", "tumor", "normal"] * 4),
        ["the classes 'Tumor', 'tumor' differ only in upper and lower case; "],
    ),
    "two classes, each spelt in several ways": (
        _column("diagnosis", ["Yes", "yes", "No", "NO"] * 3),
        ["the classes 'NO', 'No' and 'Yes', 'yes' differ only in upper and lower case;"],
    ),
    "a class left out that looks like one that is named": (
        _column("diagnosis", ["Yes", "YES", "No"] * 4, data__classes=["No", "Yes"]),
        [
            "column 'diagnosis': 'YES' (4 samples) is left out by data.classes, but differs from "
            "'Yes' only in upper and lower case; write them alike"
        ],
    ),
    "numbers as classes": (
        _set(label="age"),
        ["12 classes", "these are numbers; write data: {task: regression}"],
    ),
    "class misspelt": (
        _set(data__classes=["normal", "tumour"]),
        ["column 'diagnosis': data.classes: no sample is 'tumour'; did you mean 'tumor'?"],
    ),
    "classes as YAML booleans": (
        _set(data__classes=[False, True]),
        ["config.yaml, data.classes, item 1: found false, needs text; put it in quotes"],
    ),
    "words for a regression": (
        _set(data__task="regression"),
        [
            "samples.tsv, line 2, column 'diagnosis': the label of 'P01' is 'normal', not a number "
            "(11 further cells)"
        ],
    ),
    "decimal comma in a label": (
        _column("age", [f"4{k},5" for k in range(12)], label="age", data__task="regression"),
        ["line 2, column 'age': the label of 'P01' is '40,5', with a decimal comma; write 40.5"],
    ),
    "thousands in a label": (
        _column("age", [f"4,{k}0" for k in range(10, 22)], label="age", data__task="regression"),
        [
            "the label of 'P01' is '4,100', with a decimal comma or one of thousands; write 4.100 "
            "or 4100 (11 further cells)"
        ],
    ),
    "thousands and a decimal point in a label": (
        _column("age", [f"4,{k}0.5" for k in range(10, 22)], label="age", data__task="regression"),
        ["the label of 'P01' is '4,100.5', with signs of thousands; write 4100.5 (11 further"],
    ),
    "other digits than one to nine in a label": (
        _column(
            "age", ["4_2", *["41", "43"] * 5, "\uff14\uff12"], label="age", data__task="regression"
        ),
        ["line 2, column 'age': the label of 'P01' is '4_2', not a number (1 further cell)"],
    ),
    "a number for no label": (
        _column(
            "age", ["-99", *(str(40 + k) for k in range(11))], label="age", data__task="regression"
        ),
        [
            "samples.tsv, line 2, column 'age': the label of 'P01' is -99, as 1 cell here; if it "
            "says that there is no label, leave it blank"
        ],
    ),
    **{
        f"{word} as a class": (
            _column("diagnosis", [word, *["tumor", "tumor", word] * 3, "tumor", word]),
            [
                f"error: samples.tsv, line 2, column 'diagnosis': '{word}' (5 samples) is taken "
                "for a "
                "class; if it says that there is no label, leave these cells blank, else write "
                "data: {classes: ["
            ],
        )
        for word in ("?", ".", "unknown", "Missing", "n.d.", "-9", "-99", "not available")
    },
    **{
        f"{word} as one of three classes": (
            _column("diagnosis", [word, "normal", "tumor"] * 4),
            [
                f"error: samples.tsv, line 2, column 'diagnosis': '{word}' (4 samples) is taken "
                "for a "
                "class; if it says that there is no label, leave these cells blank, else write "
                "data: {classes: ["
            ],
        )
        for word in ("unknown", "-99")
    },
    **{
        f"classes that look the same: {kind}": (
            _column("diagnosis", pair * 6),
            [f"' differ only in {difference}; "],
        )
        for kind, pair, difference in (
            ("one or two letters", ["caf\u00e9", "cafe\u0301"], "letter width or accents"),
            ("no width", ["ctrl", "ctrl\u200b"], "invisible characters"),
            ("soft", ["ctrl", "ct\u00adrl"], "invisible characters"),
            ("full width", ["a1", "a\uff11"], "letter width or accents"),
        )
    },
    "two classes that differ in case": (
        _column("diagnosis", ["tumor", "Tumor"] * 6),
        ["the classes 'Tumor', 'tumor' differ only in upper and lower case; "],
    ),
    "a patient by two names": (
        _column(
            "family",
            ["p0", "P0", *(f"p{k}" for k in range(1, 11))],
            data__group="family",
            splits__scheme="stratified_group_kfold",
        ),
        [
            "error: samples.tsv, line 3, column 'family': data.group: 'P0' differs from 'p0' only "
            "in upper and lower case; write them alike, or "
        ],
    ),
    "one number for all": (
        _column("age", ["7"] * 12, label="age", data__task="regression"),
        ["samples.tsv, column 'age': regression needs labels that vary"],
    ),
    # samples against folds
    "class smaller than the outer folds": (
        _column("diagnosis", RARE, splits__folds=5),
        [
            "class 'tumor' has 3 samples, splits.folds is 5; set splits.folds to 3 or less",
            "leave_one_out",
        ],
    ),
    "class smaller than the inner folds": (
        _column("diagnosis", RARE, splits__folds=3, splits__inner_folds=4),
        [
            "class 'tumor' has 3 samples, of which 2 may be left to train on",
            "set splits.inner_folds to 2 or less",
        ],
    ),
    "two samples of a class": (
        _column("diagnosis", ["tumor"] * 2 + ["normal"] * 10, splits__scheme="leave_one_out"),
        ["class 'tumor' has 2 samples; nested cross-validation needs at least 3"],
    ),
    "too few samples for a regression": (
        _set(label="age", data__task="regression", splits__folds=20),
        ["the study has 12 samples, splits.folds is 20; set splits.folds to 12 or less"],
    ),
    # groups and pairs
    "group column misspelt": (
        _set(data__group="famly", splits__scheme="stratified_group_kfold"),
        ["data.group 'famly' is not a column of samples.tsv; did you mean 'family'?"],
    ),
    "fewer groups than folds": (
        _set(data__group="family", splits__scheme="stratified_group_kfold", splits__folds=7),
        [
            "class 'normal' has 6 groups (column 'family'), splits.folds is 7; set splits.folds to "
            "6 or less, or splits.scheme to leave_one_group_out"
        ],
    ),
    "groups torn by k-fold": (
        _set(data__group="family"),
        [
            "config.yaml, splits.scheme: 'stratified_kfold' tears the samples of one 'family' apart"
            "; use 'stratified_group_kfold'"
        ],
    ),
    "groups torn by leave-one-out": (
        _set(data__group="family", splits__scheme="leave_one_out"),
        ["config.yaml, splits.scheme: 'leave_one_out'", "use 'leave_one_group_out'"],
    ),
    "group scheme without groups": (
        _set(splits__scheme="leave_one_group_out"),
        ["config.yaml, splits.scheme: 'leave_one_group_out' needs data.group"],
    ),
    "blank group": (
        _column(
            "family",
            ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e", "f", ""],
            data__group="family",
            splits__scheme="stratified_group_kfold",
        ),
        ["samples.tsv, column 'family': data.group: no value for 'P12'"],
    ),
    "group is the label": (
        _set(data__group="diagnosis", splits__scheme="stratified_group_kfold"),
        ["config.yaml, data.group: 'diagnosis' is the label itself"],
    ),
    "pair of three": (
        _column(
            "matched",
            list("aaabbccddeef"),
            data__pair="matched",
            splits__scheme="stratified_group_kfold",
        ),
        [
            "samples.tsv, column 'matched': data.pair: pair 'a' has 3 samples "
            "(normal, normal, tumor), needs one of each class; 1 further pair, too"
        ],
    ),
    "pair of one class": (
        _column(
            "diagnosis",
            ["normal", "normal", "tumor", "tumor"] + TWO_CLASSES * 4,
            data__pair="matched",
            splits__scheme="stratified_group_kfold",
        ),
        ["pair 'pair0' has 2 samples (normal, normal), needs one of each class; 1 further"],
    ),
    "group beside pair": (
        _set(data__pair="matched", data__group="family", splits__scheme="leave_one_group_out"),
        ["config.yaml, data.group: a pair is a group, too; set data.pair alone"],
    ),
    # predefined splits
    "predefined column missing": (
        _set(splits__scheme="predefined", splits__column="sett"),
        ["splits.column 'sett' is not a column of samples.tsv; did you mean 'set'?"],
    ),
    "predefined without column": (
        _set(splits__scheme="predefined"),
        ["config.yaml, splits.column: the scheme 'predefined' needs a column"],
    ),
    "predefined with other words": (
        _column(
            "set",
            ["Training"] * 8 + ["test"] * 4,
            splits__scheme="predefined",
            splits__column="set",
        ),
        [
            "samples.tsv, column 'set': sample 'P01' is 'Training', needs train or test; 7 further "
            "samples, too; did you mean 'train'?"
        ],
    ),
    "predefined without a test set": (
        _column("set", ["train"] * 12, splits__scheme="predefined", splits__column="set"),
        ["samples.tsv, column 'set': no sample is 'test'"],
    ),
    "predefined tears a group": (
        _column(
            "set",
            ["train"] * 7 + ["test"] * 5,
            splits__scheme="predefined",
            splits__column="set",
            data__group="family",
        ),
        ["samples.tsv, column 'set': family 'family3' has samples on both sides"],
    ),
    # splits.file
    "splits file missing": (
        _set(splits__file="split.json"),
        ["split.json: no such file"],
    ),
    "splits file is not JSON": (
        _splits("{'outer': []}"),
        ["splits.json, line 1: is not JSON"],
    ),
    "splits file of another version": (
        _splits({"version": 2, "outer": []}),
        ["splits.json: version 2 is not known", "1"],
    ),
    "splits file with an unknown sample": (
        _splits(_outer(SAMPLES[:8], [*SAMPLES[8:11], "P1"])),
        ["splits.json, split split1", "'P1'", "not a sample"],
    ),
    "splits file of another study": (
        _splits({"outer": [{"train": [f"Q{k}" for k in range(8)], "test": ["Q8"]}] * 9}),
        ["splits.json, split split1: 'Q0', 'Q1', 'Q2' and 6 more", "8 further problems"],
    ),
    "splits file with a sample on both sides": (
        _splits(_outer(SAMPLES[:9], SAMPLES[8:])),
        ["splits.json, split split1: 'P09' occurs 2 times"],
    ),
    "splits file that tears a group": (
        lambda s: (_splits(_outer(SAMPLES[:7], SAMPLES[7:]))(s), s.set("data.group", "family")),
        ["split split1: group 'family3' has samples on both sides"],
    ),
    # steps and numbers
    "fold step before the splits": (
        _set(normalise__samples=[{"step": "quantile"}]),
        [
            "config.yaml, normalise.samples, item 1: 'quantile' learns from several samples",
            "move it to normalise.folds",
        ],
    ),
    "row-wise step in the folds": (
        _set(normalise__folds=[LOG2, CENTRE]),
        [
            "config.yaml, normalise.folds, item 1: 'log2' looks at one sample at a time",
            "move it to normalise.samples",
        ],
    ),
    "centring not last": (
        _set(normalise__folds=[CENTRE, {"step": "variance_filter"}]),
        [
            "config.yaml, normalise.folds, item 1: 'centre' stands before 'variance_filter'",
            "come last",
        ],
    ),
    "step repeated": (
        _set(normalise__folds=[CENTRE, CENTRE]),
        ["config.yaml, normalise.folds, item 2: 'centre' is already item 1"],
    ),
    "floor above ceiling": (
        _set(normalise__samples=[{"step": "log2", "floor": 100, "ceiling": 20}]),
        ["config.yaml, normalise.samples, item 1: floor 100 must be below ceiling 20"],
    ),
    "floor above every value": (
        _set(normalise__samples=[LOG2]),
        [
            "config.yaml, normalise.samples, item 1: 'log2' gives all of the genes one value in "
            "every sample",
            "take the step away if these are logarithms already, else set a lower floor than 16",
        ],
    ),
    "floor above the values of most genes": (
        lambda s: (
            _set(normalise__samples=[LOG2])(s),
            [
                row.__setitem__(slice(1, None), [str(100 + 9 * k) for k in range(12)])
                for row in s.matrix[1:3]
            ],
        ),
        ["config.yaml, normalise.samples, item 1: 'log2' gives 75 % of the genes one value"],
    ),
    "ceiling below every value": (
        _set(normalise__samples=[{"step": "log2", "floor": 0.01, "ceiling": 0.02}]),
        ["config.yaml, normalise.samples, item 1: 'log2'", "higher ceiling than 0.02"],
    ),
    "ratios of values that are not positive": (
        lambda s: (_set(normalise__folds=[FILTER, CENTRE])(s), s.matrix[1].__setitem__(1, "-5")),
        [
            "config.yaml, normalise.folds: fold_filter needs positive values, found -5",
            "range_filter",
        ],
    ),
    "a filter that leaves nothing": (
        _set(normalise__folds=[{"step": "range_filter", "above": 1000}]),
        ["config.yaml, normalise.folds", "range_filter", "no gene"],
    ),
    "mu that shrinks": (
        _set(linear__mu=[0.1, 0.01, 1.0]),
        ["config.yaml, linear.mu, item 2: 0.01 follows 0.1; mu must grow: [0.01, 0.1, 1.0]"],
    ),
    "signature mu not on the path": (
        _set(linear__list="minimal", signature__mu=0.02),
        ["config.yaml, signature.mu: 0.02 is not in linear.mu", "the nearest is 0.01"],
    ),
    "signature mu where the stable list has its own": (
        _set(signature__mu=0.001),
        [
            "config.yaml, signature.mu: is for linear.list: minimal; set linear.mu_choice: [0.001] "
            "instead"
        ],
    ),
    "mu to choose from off the path": (
        _set(linear__mu_choice=[0.01, 0.02]),
        [
            "config.yaml, linear.mu_choice: 0.02 is not in linear.mu [1e-06, 0.001, 0.01, 0.1]; "
            "add it there, or take it out here"
        ],
    ),
    "lists that end before the longest to choose": (
        _set(linear__longest=199),
        [
            "config.yaml, linear.longest: 199 is below 2 × signature.most = 200; set at least "
            "that, or null"
        ],
    ),
    "criterion of classes for a regression": (
        _set(label="age", data__task="regression", linear__criterion="balanced_error"),
        ["config.yaml, linear.criterion: 'balanced_error' needs classes", "'squared_error'"],
    ),
    "classes for a regression": (
        _set(label="age", data__task="regression", data__classes=["a", "b"]),
        ["config.yaml, data.classes: is for classification"],
    ),
    "symbol without gene table": (
        _set(data__symbol="Symbol"),
        ["config.yaml, data.symbol: names a column of the gene table; set data.annotation"],
    ),
    # the gene table
    "symbol column misspelt": (
        lambda s: (
            _set(data__annotation="genes.tsv", data__symbol="simbol")(s),
            s.files.update({"genes.tsv": b"id\tsymbol\ngene1\tTP53\n"}),
        ),
        ["data.symbol 'simbol' is not a column of genes.tsv; did you mean 'symbol'?"],
    ),
    "gene table with other ids": (
        lambda s: (
            _set(data__annotation="genes.tsv")(s),
            s.files.update({"genes.tsv": b"entrez\tsymbol\n7157\tTP53\n"}),
        ),
        ["genes.tsv: no gene of the matrix is in column 'entrez'", "'gene1'", "'7157'"],
    ),
}


def _run(change: Break, root: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    study = Study(root)
    change(study)
    study.write()
    monkeypatch.chdir(root)
    return main(["validate", "config.yaml"])


@pytest.mark.parametrize("name", FAULTS_OF_STUDY)
def test_faulty_study_gives_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = FAULTS_OF_STUDY[name]
    assert _run(change, tmp_path, monkeypatch) == 1
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if all(word in line for word in words)]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")


FAULTY_KEYS: dict[str, Break] = {
    "a mu that is nowhere, where none is asked for": _set(signature__mu=0.02),
    "YAML booleans for three classes": _column(
        "diagnosis", ["true", "false", "neither"] * 4, data__classes=[True, False]
    ),
    "a task that is none": _set(label="age", data__task="regresion"),
}


@pytest.mark.parametrize("name", FAULTY_KEYS)
def test_a_faulty_key_brings_no_second_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(FAULTY_KEYS[name], tmp_path, monkeypatch) == 1
    lines = capsys.readouterr().err.splitlines()
    (place,) = {line.split(": ")[1].split(", item")[0] for line in lines}
    assert place.removeprefix("config.yaml, ") in {"data.classes", "data.task", "signature.mu"}
    assert len(lines) == 1 or place.endswith("classes")


DOUBTFUL_STUDIES: dict[str, tuple[Break, str, str]] = {
    "blank label": (
        _column(
            "diagnosis",
            ["", *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, "tumor"],
        ),
        "warning: samples.tsv, line 2, column 'diagnosis': no label for 'P01'; left out of the "
        "study (1 of 12)",
        "11 samples (5 normal, 6 tumor; positive: tumor), 8 genes; left out: 1 sample",
    ),
    "NA for a label": (
        _column(
            "diagnosis",
            ["NA", *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, "NA"],
        ),
        "warning: samples.tsv, line 2, column 'diagnosis': no label ('NA') for 'P01', 'P12'; left "
        "out of the study (2 of 12)",
        "10 samples (5 normal, 5 tumor; positive: tumor), 8 genes; left out: 2 samples",
    ),
    "NA for a number": (
        _column("age", ["nan", *map(str, range(11))], label="age", data__task="regression"),
        "warning: samples.tsv, line 2, column 'age': no label ('nan') for 'P01'; left out of the "
        "study (1 of 12)",
        "11 samples, 8 genes; left out: 1 sample",
    ),
    "other classes left out": (
        _column("diagnosis", [*TWO_CLASSES, "other"] * 4, data__classes=["tumor", "normal"]),
        "warning: samples.tsv, column 'diagnosis': left out by data.classes: 'other' (4 samples)",
        "8 samples (4 tumor, 4 normal; positive: normal), 8 genes; left out: 4 samples",
    ),
    "column that no scheme reads": (
        _set(splits__column="set"),
        "warning: config.yaml, splits.column: is not used by the scheme 'stratified_kfold'; set "
        "splits.scheme: predefined to use it",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "a sample that is left out anyway needs no values": (
        lambda s: (
            s.column(
                "diagnosis",
                ["", *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, *TWO_CLASSES, "tumor"],
            ),
            [row.pop(1) for row in s.matrix],
        ),
        "warning: samples.tsv: 1 of the 12 samples not in expression.tsv, so left out: 'P01'",
        "11 samples (5 normal, 6 tumor; positive: tumor), 8 genes; left out: 1 sample",
    ),
    "leave-one-out": (
        _set(splits__scheme="leave_one_out"),
        "warning: config.yaml, splits.scheme: 'leave_one_out' is pessimistic where there is little "
        "to find: without any signal it gives a balanced error of 0.53 to 0.56 and an AUC of 0.43 "
        "to 0.49; stratified_kfold is less so",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "leave-one-out of numbers": (
        _set(splits__scheme="leave_one_out", label="age", data__task="regression"),
        "warning: config.yaml, splits.scheme: 'leave_one_out' is pessimistic where there is little "
        "to find: without any signal predictions run against the label; stratified_kfold is less "
        "so",
        "12 samples, 8 genes",
    ),
    "few permutations": (
        _set(controls__permutations=9),
        "warning: config.yaml, controls.permutations: with 9 permutations no p-value can be below "
        "0.10; 19 are needed for 0.05, 99 for 0.01",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "none as a class": (
        _column("diagnosis", ["none", "relapse"] * 6),
        "warning: samples.tsv, line 2, column 'diagnosis': 'none' (6 samples) is taken for a class;"
        " if it says that there is no label, leave these cells blank, else write data: "
        "{classes: [none, relapse]}",
        "12 samples (6 none, 6 relapse; positive: relapse), 8 genes",
    ),
    "a dash as a class": (
        _column("diagnosis", ["-", "er"] * 6),
        "warning: samples.tsv, line 2, column 'diagnosis': '-' (6 samples) is taken for a class;"
        " if it says that there is no label, leave these cells blank, else write data: "
        "{classes: ['-', er]}",
        "12 samples (6 -, 6 er; positive: er), 8 genes",
    ),
    "a number that may be meant": (
        _column(
            "age", [*(str(5 * k) for k in range(11)), "-9"], label="age", data__task="regression"
        ),
        "warning: samples.tsv, line 13, column 'age': the label of 'P12' is -9, as 1 cell here; if "
        "it says that there is no label, leave it blank",
        "12 samples, 8 genes",
    ),
    "a batch by two names": (
        _column(
            "matched", ["run1", "run1", "Run1", "Run1", "run2", "run2"] * 2, data__batch="matched"
        ),
        "warning: samples.tsv, line 4, column 'matched': data.batch: 'Run1' differs from 'run1' "
        "only in upper and lower case; write them alike, or quite differently",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "test samples of one class": (
        lambda s: (
            _column("set", ["train", "train"] * 4 + ["train", "test"] * 2)(s),
            _set(splits__scheme="predefined", splits__column="set")(s),
        ),
        "warning: samples.tsv, column 'diagnosis': no test sample is 'normal', so that balanced "
        "error and AUC are not defined; test on samples of both classes",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "symbols turned into dates": (
        lambda s: (
            _set(data__annotation="genes.tsv")(s),
            s.files.update(
                {
                    "genes.tsv": (
                        "id\tsymbol\n"
                        + "".join(f"gene{k}\tG{k}\n" for k in range(1, 8))
                        + "gene8\t1-Mar\n"
                    ).encode()
                }
            ),
        ),
        "warning: genes.tsv: turned into dates or numbers by a spreadsheet: 1 symbol, '1-Mar' for "
        "'gene8'; write the symbols again, as text",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "class too small in a training set for the sensitivity": (
        _set(decision={"sensitivity": 0.85}),
        "warning: config.yaml, decision: sensitivity 0.85 needs more than the 4 samples of 'tumor' "
        "in the smallest training set, which allow 0.8; ask for that or less",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "groups too few in a training set for the sensitivity": (
        _column(
            "family",
            [f"P{k // 4}" for k in range(12)],
            data__group="family",
            splits__scheme="stratified_group_kfold",
            splits__folds=3,
            splits__inner_folds=2,
            splits__subsamples=0,
            decision={"sensitivity": 0.7},
        ),
        "warning: config.yaml, decision: sensitivity 0.7 needs more than the 2 groups of 'tumor' "
        "in the smallest training set, which allow 0.667; ask for that or less",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
    "genes without a row in the gene table": (
        lambda s: (
            _set(data__annotation="genes.tsv")(s),
            s.files.update({"genes.tsv": b"id\tsymbol\ngene1\tTP53\n"}),
        ),
        "warning: genes.tsv: 7 of the 8 genes not found here, so shown by id: 'gene2', 'gene3', "
        "'gene4' and 4 more",
        "12 samples (6 normal, 6 tumor; positive: tumor), 8 genes",
    ),
}


@pytest.mark.parametrize("name", DOUBTFUL_STUDIES)
def test_doubtful_study_is_warned_of(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, warning, summary = DOUBTFUL_STUDIES[name]
    assert _run(change, tmp_path, monkeypatch) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [warning]
    assert out.startswith(f"config.yaml: 0 errors, 1 warning; {summary}; takes about ")


def test_a_class_that_may_be_a_slip_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["case", "control", "cases"] * 4
    assert _run(_column("diagnosis", words), tmp_path, monkeypatch) == 0
    stderr = capsys.readouterr().err
    assert "line 4, column 'diagnosis': 'cases' (4 samples)" in stderr
    assert "{classes: [case, cases, control]}" in stderr
    study_changes = _column("diagnosis", words, data__classes=["case", "cases", "control"])
    assert _run(study_changes, tmp_path, monkeypatch) == 0
    assert "'cases'" not in capsys.readouterr().err


SOUND: dict[str, Break] = {
    "a specificity that the training sets allow": _set(decision={"specificity": 0.8}),
    "groups": _set(data__group="family", splits__scheme="stratified_group_kfold"),
    "pairs, one left out": _set(data__pair="matched", splits__scheme="leave_one_group_out"),
    "a receptor": _column("diagnosis", ["+", "-"] * 6),
    "a class called ?": _column("diagnosis", ["?", "EU"] * 6, data__classes=["EU", "?"]),
    "numbers on both sides of nought": _column(
        "age", [str(k - 9) for k in range(12)], label="age", data__task="regression"
    ),
    "a class called NA": _column("diagnosis", ["NA", "EU"] * 6, data__classes=["EU", "NA"]),
    "leave-one-out inside": _set(splits__inner_scheme="leave_one_out"),
    "predefined": _set(splits__scheme="predefined", splits__column="set"),
    "regression": _set(label="age", data__task="regression"),
    "the stable list of one mu": _set(linear__mu_choice=[0.01], linear__longest=200),
    "long lists to choose from": _set(linear__longest=None, signature__most=5000),
    "the minimal list, shown at another mu": _set(
        linear__list="minimal", linear__longest=50, linear__mu_choice=[7], signature__mu=0.1
    ),
    "a file of splits": _splits(_outer(SAMPLES[:8], SAMPLES[8:])),
    "log2 after a learned filter": _set(
        normalise__folds=[{"step": "variance_filter", "keep": 0.9}, {"step": "rank_samples"}]
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_study_has_no_problem(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(SOUND[name], tmp_path, monkeypatch) == 0
    assert capsys.readouterr().err == ""


def test_automatic_choice_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed, counts as no warning, and no report lists it among its cautions."""
    three = _column("diagnosis", ["a", "b", "c"] * 4)
    assert _run(three, tmp_path, monkeypatch) == 0
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith("note: samples.tsv, column 'diagnosis': 3 classes: ")
    assert line.endswith(
        "distinguished by one list of genes; data: {classes: [a, b]} would compare two"
    )
    assert out.startswith("config.yaml: 0 errors, 0 warnings; ")
    config = study_config(read_config("config.yaml"), load_schema(), source="config.yaml")
    assert check_study(config, "config.yaml")["warnings"] == []


def test_check_study_leaves_similar_samples_to_the_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The report tests for similar samples itself; a second sentence would repeat it."""
    problems = (
        Problem("e.tsv", "samples look alike", "warning", SIMILAR_SAMPLES),
        Problem("e.tsv", "gene 'a' is constant", "warning", "constant_gene"),
        Problem("e.tsv", "a cell is empty", "warning"),
        Problem("e.tsv", "3 classes", "note", "classes"),
    )
    monkeypatch.setattr(validate, "examine_study", lambda *_: Examination(problems, "a study"))
    monkeypatch.setattr(validate, "check_settings", lambda *_: [])
    checked = check_study({}, "config.yaml")
    assert checked["warnings"] == ["e.tsv: gene 'a' is constant", "e.tsv: a cell is empty"]
    assert checked["warning_codes"] == ["constant_gene"]
