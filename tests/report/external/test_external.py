"""The section on external cohorts has their numbers and sentences, also for odd cohorts."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from report_records import HOSTILE, Study, arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.external.section import cohort_paragraphs, external_section
from genesig.report.methods import methods, references
from genesig.report.page.section import Facts, Limits, flat_items
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Table
from genesig.report.render import render

LIMITS = Limits(12, 500)


def _data(*cohorts: dict[str, Any], study: Study | None = None, **changes: Any) -> dict[str, Any]:
    inputs = arguments(study or Study())
    abouts = [
        make_about(inputs["dataset"], **{"name": f"c{k}", **changes, **fields})
        for k, fields in enumerate(cohorts)
    ]
    data = collect(StudyResults(**inputs, external=abouts))
    return json.loads(json.dumps(data, allow_nan=False))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def cohort_data() -> dict[str, Any]:
    return _data({})


def test_page_without_cohorts_has_no_section() -> None:
    data = _data()
    assert external_section(data, LIMITS) is None
    assert cohort_paragraphs(data) == []


def test_cohort_not_assessable_is_listed_beside_assessed() -> None:
    lacking = {"name": "c1", "not_assessable": "c1.tsv: 3 of 9 <b>genes</b> are not here"}
    line = "c1: not assessable, because c1.tsv: 3 of 9 <b>genes</b> are not here."
    inputs = arguments(Study())
    for abouts in ([lacking], [make_about(inputs["dataset"], "c0"), lacking]):
        data = json.loads(
            json.dumps(collect(StudyResults(**inputs, external=abouts)), allow_nan=False)
        )
        assert len(data["external"]) == len(abouts) - 1
        assert external_section(data, LIMITS).words[-1] == line
        assert line in cohort_paragraphs(data)[0].text


def test_cohorts_whose_names_differ_in_a_dash_have_their_own_facts() -> None:
    section = external_section(_data({"name": "a_b"}, {"name": "a-b"}), LIMITS)
    names = [item.name for item in flat_items(section.items) if isinstance(item, Facts)]
    assert len(set(names)) == len(names) == 2


def test_the_first_screen_has_one_line(cohort_data: dict[str, Any]) -> None:
    scores = cohort_data["external"][0]["scores"]
    line = cohort_paragraphs(cohort_data)[0].text
    auc = scores["auc"]
    counts = cohort_data["external"][0]["confusion"]
    wrong = [sum(row) - row[index] for index, row in enumerate(counts)]
    normal, tumour = (f"{n} of {sum(row)}" for n, row in zip(wrong, counts, strict=True))
    assert line == (
        f"In c0 (25 samples), the final model, unchanged, misclassified {sum(wrong)}: {normal}"
        f" normal and {tumour} tumour. AUC was {auc['value']:.2f} (95% CI"
        f" {auc['low']:.2f}–{auc['high']:.2f})."
    )


def test_counts_and_curve_are_those_of_the_samples(cohort_data: dict[str, Any]) -> None:
    cohort = cohort_data["external"][0]
    points = cohort["points"]
    classes = cohort_data["study"]["classes"]
    counts = [
        [
            sum(p["label"] == true and p["predicted"] == predicted for p in points)
            for predicted in classes
        ]
        for true in classes
    ]
    assert cohort["confusion"] == counts
    area = float(np.trapezoid(cohort["roc"]["y"], cohort["roc"]["x"]))
    assert area == pytest.approx(cohort["scores"]["auc"]["value"], abs=2e-3)
    assert (cohort["roc"]["x"][-1], cohort["roc"]["y"][-1]) == (1, 1)


def test_the_section_shows_each_data_set_with_its_files(cohort_data: dict[str, Any]) -> None:
    section = external_section(cohort_data, LIMITS)
    pictures = [item.name for item in flat_items(section.items) if isinstance(item, Picture)]
    assert pictures == [
        f"external_c0_{name}" for name in ("roc", "confusion", "scores", "calibration", "shift")
    ]
    files = [item.file for item in flat_items(section.items) if isinstance(item, Table)]
    assert files == ["external/c0/genes.tsv", "external/c0/predictions.tsv"]
    (facts,) = [item for item in flat_items(section.items) if isinstance(item, Facts)]
    pairs = dict(facts.pairs)
    assert pairs["Genes of the model"] == "7 genes needed, all measured"
    assert pairs["Samples"].endswith("left out: 1 (no label in column 'a & b')")
    assert "not probabilities" in "".join(
        getattr(i, "caption", "") for i in flat_items(section.items)
    )


def test_methods_cite_what_was_done_and_nothing_else() -> None:
    plain = _data({})
    corrected = _data({"combat": True})
    for data, cited in ((plain, False), (corrected, True)):
        last_paragraph = methods(data)[-1]
        assert "external cohort (c0, n = 25)" in last_paragraph
        assert ("ComBat (Johnson et al. 2007)" in last_paragraph) == cited
        assert any("Johnson WE" in reference for reference in references(data)) == cited
        for name, year in re.findall(r"\((\w+)(?: et al\.| and \w+) (\d{4})\)", last_paragraph):
            assert any(
                reference.startswith(name) and year in reference for reference in references(data)
            ), name
    assert not any("DeLong" in reference for reference in references(_data()))
    assert "other studies" not in " ".join(methods(_data()))


def test_cohort_of_one_class_has_no_curve() -> None:
    data = _data({"one_class": True})
    section = external_section(data, LIMITS)
    pictures = [item.name for item in flat_items(section.items) if isinstance(item, Picture)]
    assert pictures == [f"external_c0_{name}" for name in ("confusion", "scores", "shift")]
    assert "25 samples of one class, so that there is no AUC" in section.words[1]
    assert "; there is no AUC, as samples are of one class." in cohort_paragraphs(data)[0].text


def test_a_regression_shows_r2() -> None:
    data = _data({}, study=Study(regression=True))
    section = external_section(data, LIMITS)
    pictures = [item.name for item in flat_items(section.items) if isinstance(item, Picture)]
    assert pictures == ["external_c0_fit", "external_c0_shift"]
    r2 = data["external"][0]["scores"]["r2"]["value"]
    assert f"R² {r2:.2f}" in section.words[1]
    assert (
        f"the final model, unchanged, reached R² {r2:.2f} (95% CI"
        in cohort_paragraphs(data)[0].text
    )


def test_many_are_counted_on_the_first_screen() -> None:
    line = cohort_paragraphs(_data({}, {}, {}, {}, {}))[0].text
    assert line.startswith("In 5 cohorts the final model, unchanged, reached a median AUC of")
    assert line.endswith(" was better than chance in 5 (by the 95% CI).")


@pytest.mark.usefixtures("undrawn")
def test_of_many_those_no_better_than_chance_are_named() -> None:
    data = _data({}, {"one_class": True}, {}, {"seen_before": 25}, {})
    data["external"][4]["scores"]["auc"] |= {"value": 0.5, "low": 0.3, "high": 0.7}
    data["answer"]["cohorts"]["better"] = 2
    line = cohort_paragraphs(data)[0].text
    assert "In 4 cohorts" in line
    assert "AUC of 0.82 (range 0.50–0.82)" in line
    assert "better than chance in 2, not in c4, undecided in c1 (by the" in line
    assert line.endswith(" 1 cohort with training samples not counted.")


def test_chance_is_named() -> None:
    data = _data({"n": 6})
    data["external"][0]["scores"]["auc"] |= {"value": 0.55, "low": 0.3, "high": 0.8}
    assert external_section(data, LIMITS).words[1].endswith("The interval includes 0.5 (chance).")


def test_training_samples_and_far_values_are_warned_of() -> None:
    warnings = _data({"seen_before": 3}, {"shift": 2.8})["warnings"]
    assert any(line.startswith("c0: 3 samples with the values of a training") for line in warnings)
    assert any(line.startswith("c1: half of the genes lie more than 2.8") for line in warnings)
    assert not any("half of the genes" in line for line in _data({})["warnings"])


@pytest.mark.usefixtures("undrawn")
def test_training_samples_are_named_beside_the_figures_they_flatter() -> None:
    """Not in the warnings alone: the sentence with the AUC is the one that is copied."""
    data = _data({"seen_before": 3}, {"seen_before": 25}, {})
    line = cohort_paragraphs(data)[0].text
    assert line.startswith(
        "In c0 (25 samples, 3 of them seen in training), the final model, unchanged"
    )
    words = external_section(data, LIMITS).words
    for k, seen_words in enumerate((", 3 of them seen in training", ", all seen in training", "")):
        assert f"c{k} (25 samples{seen_words})" in line
        assert words[1 + k].startswith(f"c{k} (25 samples{seen_words}): AUC")


@pytest.mark.drawn
@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "changes"),
    [
        (Study(names=HOSTILE), {"combat": True}),
        (Study(), {"one_class": True, "n": 1, "genes": 0}),
        (Study(), {"n": 2}),
        (Study(), {"n": 1200}),
        (Study(regression=True), {"n": 1}),
        (Study(regression=True, names=HOSTILE), {"combat": True, "n": 4}),
    ],
    ids=["hostile", "one sample", "two samples", "many", "one number", "few numbers"],
)
def test_odd_data_sets_make_a_page(
    study: Study, changes: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genesig.report.sections.SECTIONS", {"external": external_section})
    data = _data(changes, {"name": "second"}, study=study)
    render(data, tmp_path / "r.html", tmp_path / "figures", title="t", gene_cards=3, table_rows=50)
    html = (tmp_path / "r.html").read_text()
    assert 'id="external"' in html
    assert "in an external cohort before any clinical use" not in html
    assert "<i>" not in html
    assert "<b>odd</b>" not in html
    assert "nan" not in re.findall(r"<dd>(.*?)</dd>", html)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert (tmp_path / "figures" / "external_second_shift.svg").exists()


@pytest.mark.usefixtures("undrawn")
def test_combat_is_said_beside_the_numbers_it_made() -> None:
    data = _data({"combat": True}, {})
    words = external_section(data, LIMITS).words
    assert words[-1].startswith("ComBat first adjusted c0 to this study")
    assert "do not hold for single patients" in words[-1]
    line = cohort_paragraphs(data)[0].text
    assert "In c0 (25 samples, after ComBat), the final model, unchanged, misclassified" in line
    assert "In c1 (25 samples), it misclassified" in line
    plain_words = external_section(_data({}), LIMITS).words
    assert not any("ComBat first adjusted" in text for text in plain_words)


@pytest.mark.usefixtures("undrawn")
def test_cohort_worse_than_chance_is_stated() -> None:
    data = _data({})
    data["external"][0]["scores"]["auc"] |= {"value": 0.1, "low": 0.02, "high": 0.3}
    assert "worse than chance" in external_section(data, LIMITS).words[1]
    data["external"][0]["scores"]["auc"] |= {"value": 0.4, "low": 0.2, "high": 0.6}
    assert "includes 0.5" in external_section(data, LIMITS).words[1]


@pytest.mark.usefixtures("undrawn")
def test_the_overview_has_a_row_for_each_cohort_with_its_numbers() -> None:
    data = _data({}, {"one_class": True}, {}, {}, {})
    section = external_section(data, LIMITS)
    forest, overview, *groups = section.items
    assert isinstance(overview, Table)
    heads = [column.label for column in overview.columns]
    assert [row[0].text for row in overview.rows] == [f"c{k}" for k in range(5)]
    scores = data["external"][0]["scores"]
    for label, key in (("AUC", "auc"), ("Sensitivity", "sensitivity")):
        at = heads.index(label)
        assert [cell.value for cell in overview.rows[0][at : at + 3]] == [
            scores[key][part] for part in ("value", "low", "high")
        ]
    assert overview.rows[1][heads.index("AUC")].text == "–"
    # Few cohorts have their sentences above the table, each of many in its own place.
    assert [len(group.words) for group in groups] == [1] * 5
    assert not any("(25 samples)" in words_or_measure for words_or_measure in section.words)
    drawn = dict(zip(forest.data["name"], forest.data["auc"], strict=True))
    measures = {
        words_or_measure["name"]: words_or_measure["value"]
        for words_or_measure in data["answer"]["measures"]
    }
    assert drawn["cross-validation, this study"] == measures["auc"]
    assert drawn["c3 (25 samples)"] == data["external"][3]["scores"]["auc"]["value"]
    assert f"AUC {drawn['c3 (25 samples)']:.2f}" in groups[3].title
    assert groups[1].title == "c1"
