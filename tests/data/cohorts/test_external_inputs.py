"""Validation reports every problem of external cohorts before a job runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_study import GENES, NAMES, SAMPLES, Other, Study, as_text
from spoiled_bytes import TABLES, answers

from genesig.data.cohorts.checks import check_external
from genesig.data.cohorts.read import read_cohort
from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.config_check import resolve_config
from genesig.data.validate import examine
from genesig.errors import InvalidInput
from genesig.results import Design

SCHEMA = load_schema()
DESIGN_OF_TWO_CLASSES = Design("diagnosis", "classification", ("normal", "tumor"), None, None)
NUMBER = Design("age", "regression", None, None, None)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def _lines_of_check(study: Study, other_study: Other) -> list[str]:
    other_study.write(study)
    return list(map(str, examine(read_config("config.yaml"), SCHEMA, "config.yaml").problems))


def test_a_sound_data_set_has_no_problem(study: Study) -> None:
    assert _lines_of_check(study, Other()) == []


def _replace_column(other_study: Other, column: int, values: list[str]) -> None:
    for row, value in zip(other_study.sheet[1:], values, strict=True):
        row[column] = value


def _rename_genes(other_study: Other, names: list[str]) -> None:
    for row, name in zip(other_study.matrix[1:], names, strict=True):
        row[0] = name


def _change_values(other_study: Other, change: Callable[[float], float]) -> None:
    for row in other_study.matrix[1:]:
        row[1:] = [f"{change(float(v)):.3f}" for v in row[1:]]


def _copy_of_study(other_study: Other, study: Study) -> None:
    for row, theirs in zip(study.matrix[1:], other_study.matrix[1:], strict=True):
        theirs[1] = row[3]


# What is broken; the lines that are said.
COHORT_FAULTS: dict[str, tuple[Callable[[Other, Study], object], list[str]]] = {
    "no file": (
        lambda o, s: o.item.update(expression="othr.tsv"),
        ["error: othr.tsv: no such file (looked for in {cwd}); did you mean 'other.tsv'?"],
    ),
    "no such column": (
        lambda o, s: o.item.update(label="stats"),
        [
            "error: other_samples.tsv: label 'stats' is not a column of other_samples.tsv; did you "
            "mean 'status'?; to score samples without labels: genesig predict results/model.json "
            "FILE"
        ],
    ),
    "no labels": (
        lambda o, s: _replace_column(o, 1, ["NA"] * 8),
        [
            "error: other_samples.tsv, column 'status': no sample has a label, so nothing can be "
            "tested; to score samples without labels: genesig predict results/model.json FILE"
        ],
    ),
    "no label is a class": (
        lambda o, s: o.item.update(classes={}),
        [
            "error: other_samples.tsv, column 'status': no label is a class of the study: found "
            "'control' (4 samples), 'RA' (4 samples), needs 'normal', 'tumor'; is it spelled "
            "otherwise? classes: {{control: normal, THEIR WORD: tumor}}"
        ],
    ),
    "a class of no study, a word of no sample": (
        lambda o, s: o.item.update(
            classes={"RA": "tumour", "contrl": "normal", "control": "normal"}
        ),
        [
            "error: other_samples.tsv, column 'status': classes: 'tumour' is no class of the "
            "study; did you mean 'tumor'?",
            "error: other_samples.tsv, column 'status': classes: no sample is 'contrl'; did you "
            "mean 'control'?",
            "warning: other_samples.tsv, column 'status': left out, as no class of the study: 'RA' "
            "(4 samples)",
            "warning: other_samples.tsv, column 'status': no sample is 'tumor', so AUC and "
            "balanced "
            "error are not defined; the samples are scored; is it spelled otherwise? classes: "
            "{{THEIR WORD: tumor}}",
        ],
    ),
    "the mapping turned round": (
        lambda o, s: o.item.update(classes={"normal": "control", "tumor": "RA"}),
        [
            "error: other_samples.tsv, column 'status': classes: the other way round; their word "
            "first, then the class of the study: {{control: normal, RA: tumor}}"
        ],
    ),
    "one class": (
        lambda o, s: (_replace_column(o, 1, ["RA"] * 8), o.item.update(classes={"RA": "tumor"})),
        [
            "warning: other_samples.tsv, column 'status': no sample is 'normal', so AUC and "
            "balanced error are not defined; the samples are scored"
        ],
    ),
    "some without label, some of another class": (
        lambda o, s: _replace_column(o, 1, ["", "OA", *["RA", "control"] * 3]),
        [
            "warning: other_samples.tsv, line 2, column 'status': no label for 'X1'; left out of "
            "the study (1 of 8)",
            "warning: other_samples.tsv, column 'status': left out, as no class of the study: 'OA' "
            "(1 sample)",
        ],
    ),
    "a sample that the matrix lacks": (
        lambda o, s: [row.pop() for row in o.matrix],
        ["warning: other_samples.tsv: 1 of the 8 samples not in other.tsv, so left out: 'X8'"],
    ),
    "other samples": (
        lambda o, s: _replace_column(o, 0, [f"Y{k}" for k in range(8)]),
        [
            "error: other.tsv: no sample of other_samples.tsv is here: that table has 'Y0', 'Y1', "
            "'Y2' and 5 more, the matrix has columns 'X1', 'X2', 'X3' and 5 more and rows 'gene1', "
            "'gene2', 'gene3' and 5 more; name the samples alike in both"
        ],
    ),
    "a sample that the sheet lacks": (
        lambda o, s: o.sheet.pop(),
        ["warning: other.tsv: not in other_samples.tsv, so left out: 1 column, 'X8'"],
    ),
    "other genes": (
        lambda o, s: _rename_genes(o, [f"ENSG{k}" for k in range(8)]),
        [
            "error: other.tsv: no gene of the study is here: the study has 'gene1', 'gene2', "
            "'gene3' and 5 more, this matrix 'ENSG0', 'ENSG1', 'ENSG2' and 5 more; name a table "
            "of their ids and the study's in annotation"
        ],
    ),
    "genes in another version": (
        lambda o, s: (
            _rename_genes(o, [f"ENSG0000000000{k}.2" for k in range(8)]),
            [row.__setitem__(0, f"ENSG0000000000{k}.1") for k, row in enumerate(s.matrix[1:])],
        ),
        [
            "error: other.tsv: no gene of the study is here: the study has 'ENSG00000000000.1', "
            "'ENSG00000000001.1', 'ENSG00000000002.1' and 5 more, this matrix "
            "'ENSG00000000000.2', 'ENSG00000000001.2', 'ENSG00000000002.2' and 5 more; 8 of them "
            "are here in another version, as 'ENSG00000000000.2' for 'ENSG00000000000.1': write "
            "the ids as the study has them, or all without the version"
        ],
    ),
    "few genes": (
        lambda o, s: _rename_genes(o, [*GENES[:6], "a", "b"]),
        [
            "warning: other.tsv: 2 of the 8 genes of the study are not here; if the model needs "
            "many of them, the report says that this data set is not assessable. To be sure leave "
            "them out of the study"
        ],
    ),
    "few genes where all are needed": (
        lambda o, s: (
            _rename_genes(o, [*GENES[:6], "a", "b"]),
            s.set("normalise.samples", [{"step": "rank_samples"}]),
        ),
        [
            "warning: other.tsv: 2 of the 8 genes of the study are not here, but 'rank_samples' "
            "looks at all of them; at most a share of 0.1 may be imputed (missing): leave them "
            "out of the study, or else the report says that this data set is not assessable"
        ],
    ),
    "a word among the numbers": (
        lambda o, s: o.matrix[2].__setitem__(3, "1,5"),
        [
            "error: other.tsv, gene 'gene2', sample 'X3': the value is '1,5', with a decimal "
            "comma; write 1.5"
        ],
    ),
    "a gene twice": (
        lambda o, s: _rename_genes(o, ["gene1", *GENES[:7]]),
        [
            "warning: other.tsv: 1 of the 8 genes of the study are not here; if the model needs "
            "many of them, the report says that this data set is not assessable. To be sure leave "
            "them out of the study",
            "warning: other.tsv: gene id 'gene1' occurs 2 times (lines 2, 3); their median in each "
            "sample is taken",
        ],
    ),
    "never logged": (
        lambda o, s: _change_values(o, lambda v: 2.0**v),
        [
            "error: other.tsv: the values of sample 'X1' look as if they were never logged, other "
            "than those the model was trained on (median distance N standard deviations); bring "
            "them to the same scale"
        ],
    ),
    "a training sample": (
        _copy_of_study,
        [
            "warning: other.tsv: 1 sample with the values of a sample of the study: 'X1' is its "
            "'P03'; a test on training samples says nothing, take them out"
        ],
    ),
    "names of the study": (
        lambda o, s: (
            _replace_column(o, 0, SAMPLES[:8]),
            o.matrix.__setitem__(0, ["g", *SAMPLES[:8]]),
        ),
        [
            "warning: other.tsv: 'P01', 'P02', 'P03' and 5 more is also the name of a sample of "
            "the study; is it the same one?"
        ],
    ),
    "combat with a small batch": (
        lambda o, s: o.item.update(combat=True, batch="run"),
        [
            "error: external, other, combat: combat needs a batch of at least 5 samples, batch "
            "'b0' has 4; set it to false",
            "error: external, other, combat: combat needs a batch of at least 5 samples, batch "
            "'b1' has 4; set it to false",
        ],
    ),
    "a column of batches that is not there": (
        lambda o, s: o.item.update(combat=True, batch="rn"),
        [
            "error: other_samples.tsv: batch 'rn' is not a column of other_samples.tsv; did you "
            "mean 'run'?"
        ],
    ),
    "settings": (
        lambda o, s: o.item.update(batch="run", symbol="name"),
        [
            "error: config.yaml, external, item 1, batch: is used by combat only; set combat: true "
            "or take it away",
            "error: config.yaml, external, item 1, symbol: names a column of the gene table; set "
            "annotation to its file",
        ],
    ),
    "a key": (
        lambda o, s: o.item.update(lable="status"),
        [
            "error: config.yaml, external, item 1, lable: unknown key 'lable'; did you mean "
            "'external, item 1, label'?"
        ],
    ),
}


@pytest.mark.parametrize("name", COHORT_FAULTS)
def test_faulty_cohort_is_refused_with_the_expected_lines(name: str, study: Study) -> None:
    other_study = Other()
    change, lines = COHORT_FAULTS[name]
    change(other_study, study)
    actual = [
        re.sub(r"distance [\d.]+", "distance N", line)
        for line in _lines_of_check(study, other_study)
    ]
    expected = sorted(line.format(cwd=Path.cwd()) for line in lines)
    assert sorted(actual) == expected
    assert [line[:5] for line in actual] == sorted(line[:5] for line in actual)  # errors first


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["other.tsv", "other_samples.tsv"])
def test_spoiled_files_end_in_lines_for_people(
    name: str, study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    Other().write(study)
    assert 1 in answers(Path(name), TABLES, 12, capsys)


def test_all_data_sets_are_looked_at_and_stop_the_stage(study: Study) -> None:
    first_study = Other()
    second = Other()
    first_study.item.update(label="stats")
    second.item.update(name="second", classes={})
    first_study.write(study)
    study.set("external", [first_study.item, second.item])
    study.write()
    config = resolve_config(read_config("config.yaml"), SCHEMA)
    with pytest.raises(InvalidInput) as caught:
        check_external(config)
    assert [problem.message[:24] for problem in caught.value.problems] == [
        "label 'stats' is not a c",
        "no label is a class of t",
    ]


def test_a_faulty_study_brings_no_second_error(study: Study) -> None:
    other_study = Other()
    study.column("diagnosis", ["tumor"] * 12)
    (only_line,) = _lines_of_check(study, other_study)
    assert only_line.startswith("error: samples.tsv, column 'diagnosis': every sample is 'tumor'")
    study.set("data.classes", ["normal", "tumor"])
    other_study.item["label"] = "stats"
    assert (
        len([line for line in _lines_of_check(study, other_study) if line.startswith("error")]) == 2
    )


def test_two_cohorts_of_one_name_are_refused(study: Study) -> None:
    Other().write(study)
    study.set("external", [Other().item, Other().item | {"name": "OTHER"}])
    study.write()
    problems = examine(read_config("config.yaml"), SCHEMA, "config.yaml").problems
    assert str(problems[0]) == (
        "error: config.yaml, external, item 2, name: 'OTHER' is already "
        "taken; each needs its own folder"
    )


def test_warnings_are_kept_by_name(study: Study) -> None:
    other_study = Other()
    other_study.sheet.pop()
    other_study.write(study)
    config = resolve_config(read_config("config.yaml"), SCHEMA)
    message = "other.tsv: not in other_samples.tsv, so left out: 1 column, 'X8'"
    assert check_external(config) == {"warnings": {"other": [message]}}


def _cohort(other_study: Other, design: Design = DESIGN_OF_TWO_CLASSES, **changes: object):  # type: ignore[no-untyped-def]
    return read_cohort(design, other_study.settings(**changes))


def test_labels_are_in_the_words_of_the_study_and_samples_in_rows(study: Study) -> None:
    other_study = Other()
    _replace_column(other_study, 1, ["", "OA", *["RA", "control"] * 3])
    other_study.write(study)
    cohort = _cohort(other_study)
    assert cohort.matrix.rows == tuple(NAMES[2:])
    assert cohort.cohort_words == ("RA", "control") * 3
    assert cohort.study_labels == ("tumor", "normal") * 3
    np.testing.assert_array_equal(cohort.response, [1, -1] * 3)
    expected = np.array([[float(v) for v in row[3:]] for row in other_study.matrix[1:]]).T
    np.testing.assert_array_equal(cohort.matrix.cells, expected)
    assert [(sample["name"], sample["reason"]) for sample in cohort.dropped] == [
        ("X1", "no label in column 'status'"),
        ("X2", "class 'OA' is no class of the study"),
    ]


def test_numeric_labels_of_a_cohort_stay_unchanged(study: Study) -> None:
    other_study = Other()
    _replace_column(other_study, 1, [f"{k}.5" for k in range(8)])
    other_study.write(study)
    cohort = _cohort(other_study, NUMBER, classes={})
    np.testing.assert_array_equal(cohort.response, np.arange(8) + 0.5)
    _replace_column(other_study, 1, ["old", *[f"{k}.5" for k in range(7)]])
    other_study.write(study)
    with pytest.raises(InvalidInput, match="the label of 'X1' is 'old', not a number"):
        _cohort(other_study, NUMBER, classes={})


def test_other_ids_are_translated_and_several_become_their_median(study: Study) -> None:
    other_study = Other()
    theirs = [f"ENSG{k}" for k in range(8)]
    _rename_genes(other_study, theirs)
    other_study.matrix[3][1] = "NA"
    other_study.write(study)
    names = ["gene1", "gene2", "gene2", "gene2", "gene5", "", "gene7", "gene7"]
    table = [["id", "length", "name"], *[[a, "9", b] for a, b in zip(theirs, names, strict=True)]]
    Path("map.tsv").write_bytes(as_text(table))
    cohort = _cohort(other_study, annotation="map.tsv", symbol="name")
    assert cohort.matrix.columns == ("gene1", "gene2", "gene5", "gene7")
    values = np.array(
        [[np.nan if v == "NA" else float(v) for v in row[1:]] for row in other_study.matrix[1:]]
    )
    expected = [
        values[0],
        np.nanmedian(values[1:4], axis=0),
        values[4],
        np.median(values[6:8], axis=0),
    ]
    np.testing.assert_array_equal(cohort.matrix.cells.T, expected)
    assert [problem.message for problem in cohort.problems] == [
        "1 gene of the matrix without a name here, so left out",
        "2 names for more than one gene of the matrix; their median is taken in each sample",
    ]


def test_a_home_folder_and_a_series_are_written_out() -> None:
    raw = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": "x",
        "external": [{"name": "a", "expression": "gse55457"}],
    }
    (item,) = resolve_config(raw, SCHEMA)["external"]
    assert item["expression"] == "data/geo/GSE55457_series_matrix.txt.gz"
    assert (item["samples"], item["classes"], item["missing"]) == (None, {}, 0.1)
