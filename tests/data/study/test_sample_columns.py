"""Columns of a sample table are classified by their values: patients, names, repeated headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from odd_tables import OddStudy, odd_study, table_text

from genesig.data.files.columns import are_codes

__all__ = ["odd_study"]

N_SAMPLES = 48
SAMPLE_NAMES = [f"S{k:02}" for k in range(N_SAMPLES)]
RANDOM = np.random.default_rng(5)
FIRST_CLASSES = ["control", "case", "control", "case", "case", "control"]
OF_DONOR = FIRST_CLASSES + RANDOM.permutation(["control", "case"] * 9).tolist()
CLASS_OF_SAMPLE = [OF_DONOR[k // 2] for k in range(N_SAMPLES)]
SUMMARY_LINE = "48 samples (24 control, 24 case; positive: case), 30 genes"
WARNING = "values has one response, as the samples of one patient have"


def _sheet(**columns: list[str]) -> str:
    rows = zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, *columns.values(), strict=True)
    return table_text([["sample", "diagnosis", *columns], *map(list, rows)])


UNITS = {
    "SUBJID": [f"GX-{1000 + k // 2}" for k in range(N_SAMPLES)],
    "Mouse litter": [f"L{k // 2}" for k in range(N_SAMPLES)],
    "pid": [str(k // 2 + 1) for k in range(N_SAMPLES)],
}


@pytest.mark.parametrize("name", UNITS)
def test_repeated_values_of_one_response_are_warned_of(odd_study: OddStudy, name: str) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(**{name: UNITS[name]}))
    summary, problems = odd_study.validate()
    assert (
        f"warning: s.tsv, column '{name}': each of its 24 {WARNING}; samples of one value would "
        "stand on both sides of a split: if they belong together, set data.group: "
        f"{name} and splits.scheme: stratified_group_kfold" in problems
    )
    assert SUMMARY_LINE in summary
    splits = {
        "scheme": "stratified_group_kfold",
        "folds": 3,
        "inner_folds": 3,
        "repeats": 1,
        "subsamples": 0,
    }
    _, problems = odd_study.validate(data={"group": name}, splits=splits)
    assert not problems


HARMLESS = {
    "as many values at random": RANDOM.permutation(UNITS["SUBJID"]).tolist(),
    "kinds of the classes": [f"{label} {k % 3}" for k, label in enumerate(CLASS_OF_SAMPLE)],
    "times of each class": [f"{label}_{6 * (k % 4)}h" for k, label in enumerate(CLASS_OF_SAMPLE)],
    "subtypes of the cases": [
        f"type {k // 2 % 9}" if label == "case" else "none"
        for k, label in enumerate(CLASS_OF_SAMPLE)
    ],
    "measured in each donor": [f"{20 + k // 2 / 7:.2f}" for k in range(N_SAMPLES)],
    "a value of its own for each": [f"x{k}" for k in range(N_SAMPLES)],
    "numbers in the order of the label": [
        str(40 * (label == "case") + k // 4) for k, label in enumerate(CLASS_OF_SAMPLE)
    ],
}


@pytest.mark.parametrize("name", HARMLESS)
def test_values_that_are_no_patients_are_not_warned_of(odd_study: OddStudy, name: str) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(about=HARMLESS[name]))
    summary, problems = odd_study.validate()
    assert SUMMARY_LINE in summary
    assert not problems


def test_class_and_another_column_make_no_patients(odd_study: OddStudy) -> None:
    hours = [str(6 * (k // 2 % 4)) for k in range(N_SAMPLES)]
    groups = [f"{label[:2]}{hour}" for label, hour in zip(CLASS_OF_SAMPLE, hours, strict=True)]
    odd_study.write(SAMPLE_NAMES, _sheet(hour=hours, group=groups))
    _, problems = odd_study.validate()
    assert not problems


def test_six_donors_of_two_samples_are_found(odd_study: OddStudy) -> None:
    sheet = "".join(_sheet(code=UNITS["SUBJID"]).splitlines(keepends=True)[:13])
    odd_study.write(SAMPLE_NAMES[:12], sheet)
    splits = {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}
    _, problems = odd_study.validate(splits=splits)
    assert f"each of its 6 {WARNING}" in problems


def test_donors_of_survival_are_found_by_their_times(odd_study: OddStudy) -> None:
    days = [str(int(100 + 37 * (k // 2) % 900)) for k in range(N_SAMPLES)]
    events = [str(k // 2 % 2) for k in range(N_SAMPLES)]
    odd_study.write(SAMPLE_NAMES, _sheet(SUBJID=UNITS["SUBJID"], days=days, status=events))
    label = {"time": "days", "event": "status"}
    _, problems = odd_study.validate(label, data={"task": "survival"})
    assert f"column 'SUBJID': each of its 24 {WARNING}" in problems


CENTRES = [str(k * 7 % 5 + 1) for k in range(N_SAMPLES)]


def test_numbered_centres_are_noted_and_may_be_names(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(centre=CENTRES))
    summary, problems = odd_study.validate(data={"covariates": ["centre"]})
    assert (
        "note: s.tsv, column 'centre': data.covariates: its numbers, 1 to 5, count as a quantity; "
        "if they are names, such as numbers of centres, set "
        "data: {categorical_covariates: [centre]}" in problems
    )
    assert "0 errors, 0 warnings" in summary
    names = {"covariates": ["centre"], "categorical_covariates": ["centre"]}
    summary, problems = odd_study.validate(data=names)
    assert "adjusted for: centre" in summary
    assert not problems
    odd_study.init()
    assert (
        'covariates: ["centre"], categorical_covariates: ["centre"]'
        in Path("new/config.yaml").read_text()
    )


def test_categorical_column_that_is_no_covariate_is_an_error(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sheet(centre=CENTRES))
    data = {"covariates": ["centre"], "categorical_covariates": ["center"]}
    _, problems = odd_study.validate(data=data)
    assert (
        "error: c.yaml, data.categorical_covariates, item 1: 'center' is none of data.covariates; "
        "did you mean 'centre'?" in problems
    )


def test_codes_are_few_whole_numbers_without_an_order() -> None:
    assert are_codes("centre", CENTRES)
    assert are_codes("hospital id", CENTRES)
    assert not are_codes("grade", CENTRES)
    assert not are_codes("sex", ["1", "2"] * 20)
    assert not are_codes("centre", [*CENTRES, "1.5"])
    assert not are_codes("age", [str(k) for k in range(40)])
    assert not are_codes("centre", ["1", "2", "3"])


SDRF = [
    "Assay Name",
    "Characteristics[disease]",
    "Term Source REF",
    "Protocol REF",
    "Protocol REF",
    "Factor Value[disease]",
    "Term Source REF",
    "Factor Value[disease]",
]


def _sdrf(last_column: str) -> str:
    rows = [
        [name, label, "EFO", "P-1", "P-2", label, "EFO", last_column or label]
        for name, label in zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)
    ]
    return table_text([SDRF, *rows])


def test_repeated_headers_that_nobody_uses_are_read(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sdrf(""), "e.sdrf.txt")
    summary, problems = odd_study.validate("Factor Value[disease]")
    assert SUMMARY_LINE in summary
    assert problems == (
        "note: e.sdrf.txt: column name 'Protocol REF' occurs more than once; to use one of the "
        "columns write its number behind the name, 'Protocol REF (column N)'\n"
    )


def test_repeated_header_of_the_label_is_refused_unless_chosen(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sdrf("unknown"), "e.sdrf.txt")
    _, problems = odd_study.validate("Factor Value[disease]")
    assert (
        "error: e.sdrf.txt: label 'Factor Value[disease]': 2 columns have this name; name one of "
        "them: 'Factor Value[disease] (column 6)', 'Factor Value[disease] (column 8)'" in problems
    )
    summary, _ = odd_study.validate("Factor Value[disease] (column 6)")
    assert SUMMARY_LINE in summary


def test_repeated_header_of_a_covariate_is_refused(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sdrf(""), "e.sdrf.txt")
    config = yaml.safe_load("{covariates: [Protocol REF]}")
    _, problems = odd_study.validate("Factor Value[disease]", data=config)
    assert "data.covariates 'Protocol REF': 2 columns have this name" in problems


def _sdrf_of_two_files(**changed_cells: str) -> str:
    """Return an SDRF text with two rows a sample; `changed_cells` replace those of the last row."""
    header = ["Source Name", "Characteristics[disease]", "Characteristics[sex]", "Scan Name"]
    rows = [
        [name, label, "male", f"{name}_{number}.fastq.gz"]
        for name, label in zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)
        for number in (1, 2)
    ]
    for column, word in changed_cells.items():
        rows[-1][["disease", "sex"].index(column) + 1] = word
    return table_text([header, *rows])


def test_sdrf_rows_that_agree_are_one_sample(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sdrf_of_two_files(sex="female"), "e.sdrf.txt")
    summary, problems = odd_study.validate("Characteristics[disease]")
    assert SUMMARY_LINE in summary
    assert problems == (
        "note: e.sdrf.txt: 48 samples with several rows, read as one row each; columns that differ "
        "between them: 'Characteristics[sex]', 'Scan Name'\n"
    )


def test_sdrf_rows_that_differ_in_a_used_column_are_refused(odd_study: OddStudy) -> None:
    odd_study.write(SAMPLE_NAMES, _sdrf_of_two_files(disease="unknown"), "e.sdrf.txt")
    _, problems = odd_study.validate("Characteristics[disease]")
    assert (
        "error: e.sdrf.txt: label 'Characteristics[disease]' has different cells in the rows of "
        "one sample (lines 96 and 97 differ)" in problems
    )
    odd_study.write(SAMPLE_NAMES, _sdrf_of_two_files(sex="female"), "e.sdrf.txt")
    covariates = yaml.safe_load("{covariates: ['Characteristics[sex]']}")
    _, problems = odd_study.validate("Characteristics[disease]", data=covariates)
    assert "'Characteristics[sex]' has different cells in the rows of one sample" in problems


def test_sdrf_rows_of_two_colours_give_one_class_whatever_the_dye(odd_study: OddStudy) -> None:
    header = ["Array Data File", "Source Name", "Characteristics[disease]", "Label"]
    rows = []
    for number, (name, label) in enumerate(zip(SAMPLE_NAMES, CLASS_OF_SAMPLE, strict=True)):
        channels = [[name, f"{name}_src", label, "Cy5"], [name, "pool", "reference", "Cy3"]]
        rows += channels[:: -1 if number % 2 else 1]
    odd_study.write(SAMPLE_NAMES, table_text([header, *rows]), "e.sdrf.txt")
    summary, _ = odd_study.validate("Characteristics[disease] (lines 2 and 3 differ)")
    assert "48 samples (24 control; reference, 24 case; reference" in summary


def test_two_rows_of_a_sample_in_a_plain_table_are_refused(odd_study: OddStudy) -> None:
    text = _sdrf_of_two_files()
    for header in ("Source Name", "Characteristics[disease]", "Characteristics[sex]"):
        text = text.replace(header, header.split()[0].removeprefix("Characteristics").strip("[]"))
    odd_study.write(SAMPLE_NAMES, text)
    _, problems = odd_study.validate("disease")
    assert "sample 'S00' is already on line 2" in problems
