"""The sections on patients cover every kind of response, with and without evidence."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from drawn_figures import curves, dots, labels, segments, y_ticks
from matplotlib.colors import to_hex
from report_records import kind_arguments
from study_data import COLUMNS

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods, references
from genesig.report.page.measure import MEASURES, measure
from genesig.report.page.section import Limits
from genesig.report.page.style import GENESIG_COLOUR, INK
from genesig.report.page.verdict import Grade, grade
from genesig.report.patients import (
    MAX_TABLE_GROUPS,
    draw_subgroups,
    next_study_section,
    patients_section,
    score_effect_section,
    subgroups_section,
)
from genesig.selection.assess.patients_tables import patient_tables

LIMITS = Limits(12, 15)


@cache
def inputs_of_kind(kind):
    """Return the arguments of `collect` of a study whose table says more than the label."""
    inputs = kind_arguments(kind, permutations=99, proved=True)
    dataset = inputs["dataset"]
    rng = np.random.default_rng(0)
    dataset.obs["sex"] = rng.choice(["f", "<m>"], len(dataset.samples))
    dataset.obs["age"] = [str(age) for age in rng.integers(30, 80, len(dataset.samples))]
    dataset.obs.iloc[:4, -1] = "NA"
    out = {"sample": "no label", "gene": "constant"}
    dataset.provenance["dropped"] = [
        {"kind": kind_of_column, "name": "x", "reason": why} for kind_of_column, why in out.items()
    ]
    inputs["tables"] |= patient_tables(dataset, inputs["splits"], inputs["tables"]["predictions"])
    return inputs


@cache
def data_of_kind(kind):
    return collect(StudyResults(**inputs_of_kind(kind)))


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", COLUMNS)
def test_table_1_has_a_column_for_each_group_and_a_row_for_what_is_missing(kind):
    section = patients_section(data_of_kind(kind), LIMITS)
    table, flow = section.items
    rows = {row[0]: row[1:] for row in texts(table)}
    size = len(inputs_of_kind(kind)["dataset"].samples)
    assert table.columns[-1].label == f"All (n = {size})"
    assert {"sex: f", "sex: <m>", "age", "age, missing"} <= set(rows)
    assert rows["age, missing"][-1] == "4"
    assert sum(map(int, rows["age, missing"][:-1] or [4])) == 4
    assert texts(flow) == [
        ["In the files", str(size + 1), "31"],
        ["Left out: no label", "1", "–"],
        ["Left out: constant", "–", "1"],
        ["Analysed", str(size), "30"],
    ]
    assert section.words[0].startswith(f"{size} samples")


def test_survival_has_events_and_follow_up_in_words():
    (words,) = patients_section(data_of_kind("survival"), LIMITS).words
    events = int(inputs_of_kind("survival")["dataset"].response()["event"].sum())
    assert f"{events} with the event" in words
    assert "Median follow-up (state, reversed Kaplan-Meier curve): " in words


@pytest.mark.slow
def test_with_very_many_classes_the_table_is_of_all_samples():
    data = data_of_kind("several_classes")
    packed = data["tables"]["patients"]
    place = packed["columns"].index("group")
    kind = packed["columns"].index("kind")
    first_row = next(row for row in packed["rows"] if row[kind] == "samples")
    class_rows = [
        [f"c{k}" if at == place else v for at, v in enumerate(first_row)]
        for k in range(MAX_TABLE_GROUPS)
    ]
    rows = [*class_rows, *packed["rows"]]
    many = data | {"tables": data["tables"] | {"patients": packed | {"rows": rows}}}
    assert len(patients_section(many, LIMITS).items[0].columns) == 2


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_effect_says_of_what_it_is_and_the_references_follow_the_methods(kind):
    data = data_of_kind(kind)
    section = score_effect_section(data, LIMITS)
    name = {
        "regression": "Slope of state",
        "survival": "Hazard ratio of the event",
        "classification": "Odds ratio of ill (state)",
    }.get(kind, "The final model")
    assert section.words[0].startswith(name)
    assert "final model is not tested" in section.words[0]
    text = " ".join(methods(data))
    cited = " ".join(references(data))
    for citation, author in (
        ("Liang and Qin", "Liang KY"),
        ("Firth", "Firth D"),
        ("Schemper", "Schemper M"),
        ("Riley et al. 2021", "Riley RD, Debray"),
        ("Archer et al.", "Archer L, Snell"),
        ("Jinks", "Jinks RC"),
    ):
        assert (citation in text) == (author in cited)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_validation_is_planned_and_subgroups_are_shown_only_with_evidence(kind):
    data = data_of_kind(kind)
    noise = data | {"verdict": data["verdict"] | {"grade": Grade.NONE.value}}
    assert grade(noise) is Grade.NONE
    assert subgroups_section(noise, LIMITS) is None
    assert "No size is given" in next_study_section(noise, LIMITS).words[0]
    assert not next_study_section(noise, LIMITS).items
    if grade(data) is not Grade.NONE and data["tables"]["next_study"]["total"]:
        safe = max(row[-2] for row in data["tables"]["next_study"]["rows"])
        assert f"{safe} patients" in next_study_section(data, LIMITS).words[0]
        assert (
            "takes more" not in next_study_section(data, LIMITS).words[0]
        )  # than what, it depends
        next_study_table = data["tables"]["next_study"]
        at = [next_study_table["columns"].index(name) for name in ("basis", "samples")]
        perfect = [list(row) for row in next_study_table["rows"]]
        for row in perfect:
            row[at[1]] = 0 if row[at[0]] == "value" else row[at[1]]
        tables = data["tables"] | {"next_study": next_study_table | {"rows": perfect}}
        (sentence,) = next_study_section(data | {"tables": tables}, LIMITS).words
        assert " 0 patients" not in sentence.replace("\u00a0", " ")
        assert "the lower limit here" in sentence
    assert ("samples, by sex and age" in " ".join(subgroups_section(data, LIMITS).words)) == (
        grade(data) is not Grade.NONE
    )


def test_subgroups_stand_below_all_samples_with_their_values_beside():
    rows = [
        {"name": name, "samples": samples, "value": value, "low": value - 0.1, "high": value + 0.1}
        for name, samples, value in (("all", 40, 0.7), ("f", 15, 0.8), ("m", 25, 0.65))
    ]
    (ax,) = draw_subgroups(rows, MEASURES["classification"]).axes
    assert y_ticks(ax) == {"all (n = 40)": 0, "f (n = 15)": 1, "m (n = 25)": 2}
    assert dots(ax) == [
        ([[0.7, 0]], to_hex(GENESIG_COLOUR)),
        ([[0.8, 1]], to_hex(INK)),
        ([[0.65, 2]], to_hex(INK)),
    ]
    lines = [line for (line,), _ in segments(ax)]
    assert lines == [[row["low"], y, row["high"], y] for y, row in enumerate(rows)]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["bold", *["normal"] * 2]
    assert [set(curve[:, 0]) for curve in curves(ax)] == [{0.7}, {0.5}]  # all samples, chance
    values = {text: y for text, (x, y) in labels(ax).items() if x > 1}
    assert values == {"0.70": 0, "0.80": 1, "0.65": 2}


@pytest.mark.drawn
@pytest.mark.parametrize("value", [0.05, 0.95])
def test_the_line_of_no_information_that_the_caption_tells_of_is_inside_the_figure(value):
    figure_data = measure(data_of_kind("classification"))
    row = {
        "name": "all samples",
        "samples": 20,
        "value": value,
        "low": value - 0.05,
        "high": value + 0.05,
    }
    low, high = draw_subgroups([row], figure_data).axes[0].get_xlim()
    assert low < figure_data.chance < high
    assert low < row["low"] < row["high"] < high


@pytest.mark.parametrize(
    ("low", "high", "error", "is_explained"),
    [
        (0.9, 30.0, 0.4, "This CI includes 1 although the balanced accuracy exceeds chance"),
        (1.1, 30.0, 0.6, "excludes 1 although the CI of the balanced accuracy includes chance"),
        (1.1, 30.0, 0.4, ""),
        (0.9, 30.0, 0.6, ""),
        (0.9, 30.0, None, ""),
    ],
)
def test_an_effect_and_an_error_that_differ_about_chance_are_explained(
    low, high, error, is_explained
):
    data = data_of_kind("classification")
    packed = data["tables"]["score_effect"]
    row = [
        {"low": low, "high": high}.get(name, value)
        for name, value in zip(packed["columns"], packed["rows"][0], strict=True)
    ]
    answer = data["answer"] | {"error": data["answer"]["error"] | {"high": error}}
    tables = data["tables"] | {"score_effect": packed | {"rows": [row]}}
    words = " ".join(
        score_effect_section(data | {"answer": answer, "tables": tables}, LIMITS).words
    )
    assert ("the two can disagree" in words) == bool(is_explained)
    assert is_explained in words
