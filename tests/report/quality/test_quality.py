"""The quality section reports faults of samples, and the first screen repeats the serious ones."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from report_records import HOSTILE, Study, arguments
from settings import MOMENTS
from study_data import faultless

from genesig.data import validate
from genesig.data.quality.overview import describe_quality as stage
from genesig.data.quality.samples import SIMILAR_SAMPLES
from genesig.data.steps.normalise import normalise_samples
from genesig.data.steps.scale import NEVER_LOGGED
from genesig.data.validate import Examination, check_study
from genesig.errors import Problem
from genesig.report.collect import StudyResults, collect, round_numbers
from genesig.report.page.record import evenly_spaced_rows
from genesig.report.page.section import Limits
from genesig.report.page.svg import Picture, draw_picture
from genesig.report.quality.collect import collect_quality as shown
from genesig.report.quality.collect import quality_warnings
from genesig.report.quality.section import RULE_WORDS, quality_section

LIMITS = Limits(3, 50)
LOG2 = {"step": "log2", "floor": 1.0, "ceiling": 1e9}


def page_data(dataset, samples=(), folds=MOMENTS):
    """Give the part of report_data.json that the section reads."""
    after = normalise_samples(dataset, samples=list(samples), folds=list(folds))
    quality_json = json.loads(
        json.dumps(stage(dataset, after, fold_steps=list(folds)), allow_nan=False)
    )
    design = dataset.design
    study = {
        "label": design.label,
        "classes": design.classes,
        "dropped": [],
        "response": None,
        "group": design.group,
        "pair": design.pair,
    }
    data = {
        "quality": round_numbers(shown(quality_json, after), "quality"),
        "study": study,
        "design": {"scheme": "leave_one_out"},
        "tables": {},
    }
    return json.loads(json.dumps(data, allow_nan=False))


def section_of(data):
    section = quality_section(data, LIMITS)
    facts = dict(section.items[0].pairs)
    shown_items = [*section.items, *section.pictures]
    return section, facts, {item.name: item for item in shown_items if hasattr(item, "name")}


def clean(**how):
    return faultless(np.random.default_rng(3), **how)


@pytest.mark.drawn
def test_a_set_without_fault_is_told_so_and_the_first_screen_keeps_silent():
    data = page_data(clean())
    section, facts, items = section_of(data)
    assert section.words[0] == "No sample lies far from the others."
    assert quality_warnings(data, []) == []
    assert "Genes" not in facts  # their number is under Data and design
    assert facts["Missing values"] == "none"
    assert facts["Scale of the values"].startswith("already log-transformed (")
    assert "Plots show the values as read, before" in section.words[-1]
    assert [image.name for image in section.pictures] == ["distributions"]
    for name in ("distributions", "relative_log_expression", "quality_components", "associations"):
        assert draw_picture(items[name]).svg
    assert "missing-genes" not in items


@pytest.mark.drawn
def test_an_outlier_is_named_on_the_first_screen_in_the_section_and_in_the_table():
    dataset = clean()
    dataset.X[4] += 3
    data = page_data(dataset)
    section, _, items = section_of(data)
    assert quality_warnings(data, []) == [
        "Quality of the samples: 1 sample lies far from the others (s4)."
    ]
    assert section.words[0].startswith(
        "Far from the other samples: s4 (level, distance). It was kept: check"
    )
    rows = items["quality-samples"].rows
    assert rows[0][0].text == "s4"
    assert rows[0][-1].text == "level, distance"
    assert [row[-1].text for row in rows[1:]] == ["–"] * 19
    assert "s4" in draw_picture(items["quality_components"]).svg


@pytest.mark.slow
@pytest.mark.drawn
def test_values_that_were_never_logged_are_warned_of_once():
    data = page_data(clean(raw=True))
    assert quality_warnings(data, []) == ["Quality of the samples: the values were never logged."]
    assert quality_warnings(data, [NEVER_LOGGED]) == []
    _, facts, items = section_of(data)
    assert facts["Scale of the values"].startswith("not log-transformed (99th percentile")
    assert facts["Scale of the values"].endswith("no step transforms them")
    assert "log₂(1 + value)" in draw_picture(items["distributions"]).svg
    logged = page_data(clean(raw=True), [LOG2])
    assert quality_warnings(logged, []) == []
    assert section_of(logged)[1]["Scale of the values"].endswith("log2 transforms them")
    assert "Values as read are shown as log₂" in section_of(logged)[2]["distributions"].caption
    twice = section_of(page_data(clean(), [LOG2]))[1]["Scale of the values"]
    assert twice.startswith("look log-transformed already")


def in_centres(dataset, centre, strength=3.0):
    rng = np.random.default_rng(0)
    shift = {name: rng.normal(0, strength, dataset.X.shape[1]) for name in sorted(set(centre))}
    dataset.X[:] += np.stack([shift[name] for name in centre])
    return replace(dataset, obs=dataset.obs.assign(centre=list(centre)))


def test_a_component_that_goes_with_another_column_is_named_with_both_shares():
    data = page_data(in_centres(clean(), ["a", "a", "b", "b"] * 5))
    follows = data["quality"]["dominant_column"]
    assert follows["column"] == "centre"
    assert follows["share"] > 0.9 > 0.1 > follows["label"]
    warning = quality_warnings(data, [])[0]
    for words in ("centre explains ", "% of variance), state "):
        assert words in warning
    section = section_of(data)[0]
    assert "name it as" in section.words[1]
    assert data["quality"]["colour_column"]["column"] == "centre"


@pytest.mark.parametrize(
    ("label", "centre", "q", "is_named"),
    [
        (0.0, 0.24, 0.001, False),
        (0.0, 0.26, 0.001, True),
        (0.0, 0.5, 0.06, False),
        (0.3, 0.39, 0.001, False),
        (0.3, 0.41, 0.001, True),
    ],
)
def test_a_column_is_named_if_it_explains_much_more_than_the_label(label, centre, q, is_named):
    dataset = in_centres(clean(), ["a", "a", "b", "b"] * 5)
    quality_json = stage(dataset, dataset, fold_steps=MOMENTS)
    for association in quality_json["associations"]:
        association["adjusted"][0] = label if association["role"] == "label" else centre
        association["q"][0] = q
    follows = shown(quality_json, dataset)["dominant_column"]
    assert follows == (
        {
            "column": "centre",
            "share": centre,
            "label": label,
            "explained": quality_json["components"]["explained"][0],
        }
        if is_named
        else None
    )


@pytest.mark.usefixtures("undrawn")
def test_a_finer_label_is_no_fault_but_a_batch_that_is_one_with_it_is():
    kinds = ["w1", "i1", "w2", "i2"] * 5
    data = page_data(in_centres(clean(), kinds))
    assert data["quality"]["dominant_column"] is None
    dataset = in_centres(clean(), kinds)
    batched = replace(dataset, design=replace(dataset.design, batch="centre"))
    data = page_data(batched)
    assert data["quality"]["dominant_column"]["column"] == "centre"
    assert "The step combat would" in section_of(data)[0].words[1]
    data["design"]["scheme"] = "leave_one_batch_out"
    assert "combat" not in section_of(data)[0].words[1]


def test_patients_are_no_fault():
    dataset = in_centres(clean(), [f"p{k // 4}" for k in range(20)])
    grouped = replace(dataset, design=replace(dataset.design, group="centre"))
    assert page_data(grouped)["quality"]["dominant_column"] is None
    assert page_data(dataset)["quality"]["dominant_column"]["column"] == "centre"


def test_samples_are_in_the_order_of_batch_and_class():
    centre = ["b", "a", "b", "a", "a"] * 4
    dataset = in_centres(clean(), centre)
    data = page_data(replace(dataset, design=replace(dataset.design, batch="centre")))
    sample_quality = data["quality"]
    assert sample_quality["batches"] == ["a"] * 12 + ["b"] * 8
    assert all(
        np.all(np.diff(part) >= 0)
        for part in (sample_quality["response"][:12], sample_quality["response"][12:])
    )
    place = [dataset.samples.index(name) for name in sample_quality["samples"]]
    assert [centre[row] for row in place] == sample_quality["batches"]
    np.testing.assert_allclose(
        np.array(sample_quality["after"]["quantiles"])[:, 2],
        np.median(dataset.X[place], axis=1),
        rtol=1e-3,
    )
    _, _, items = section_of(data)
    assert items["distributions"].caption.startswith("Samples by centre, then state, coloured")
    assert [column.label for column in items["quality-samples"].columns][:3] == [
        "Sample",
        "state",
        "centre",
    ]


def test_missing_values_have_a_table():
    dataset = clean()
    dataset.X[:3, 5] = np.nan
    dataset.X[2, 7] = np.nan
    _, facts, items = section_of(
        page_data(dataset, folds=[{"step": "knn_impute", "neighbours": 5}])
    )
    assert facts["Missing values"] == "4 (0.07%), in 2 genes"
    rows = [[cell.text for cell in row] for row in items["missing-genes"].rows]
    assert rows == [["3", "1", "g5"], ["1", "1", "g7"]]


def test_what_is_missing_by_class_is_named():
    dataset = clean()
    ill = (dataset.obs["state"] == "ill").to_numpy()
    dataset.X[:3, 5] = np.nan
    dataset.X[~ill, 7] = np.nan
    folds = [{"step": "knn_impute", "neighbours": 5, "missing_most": 0.5}, *MOMENTS]
    _, facts, _ = section_of(page_data(dataset, folds=folds))
    assert facts["Missing by state"].startswith(
        "1 of 2 genes with missing values (false discovery rate 5%), such as g7: 100%"
        " of well, 0% of ill lack it"
    )
    assert facts["Genes"] == "300 genes read, 299 genes after knn_impute, as fitted on all samples"
    dataset.X[~ill, 7] = 8.0
    facts = section_of(page_data(dataset, folds=folds))[1]
    assert facts["Missing by state"].startswith("none of 1 gene with missing values (false")
    assert "Missing by state" not in section_of(page_data(clean()))[1]


def test_genes_that_steps_leave_out_are_counted():
    folds = [{"step": "variance_filter", "keep": 0.5}, *MOMENTS]
    section, facts, _ = section_of(page_data(clean(), folds=folds))
    assert (
        facts["Genes"]
        == "300 genes read, 150 genes after variance_filter, as fitted on all samples"
    )
    assert "As analysed: after variance_filter" in section.words[-1]


def test_columns_that_cannot_be_tested_are_named():
    extra = {f"key {k}": ["same"] * 20 for k in range(10)}
    _, facts, _ = section_of(page_data(clean(donor=[f"d{k}" for k in range(20)], **extra)))
    assert facts["Columns not tested"].startswith("donor (a value of its own for each sample); key")
    assert facts["Columns not tested"].endswith("key 7 and 2 more (one value)")


@pytest.mark.one_in(2)
@pytest.mark.drawn
@pytest.mark.quick("how0-False", "how1-True")
@pytest.mark.parametrize(
    ("how", "regression"),
    [
        ({"n": 4}, False),
        ({"n": 4}, True),
        ({"d": 1}, False),
        ({"n": 7, "d": 2}, True),
        ({"n": 130}, False),
        ({"n": 30, "raw": True}, True),
    ],
)
def test_odd_studies_have_the_section(how, regression):
    dataset = clean(**how)
    if regression:
        obs = dataset.obs.assign(state=np.arange(len(dataset.obs)).astype(str))
        design = replace(dataset.design, task="regression", classes=None)
        dataset = replace(dataset, obs=obs, design=design)
    section, facts, items = section_of(page_data(dataset))
    assert "nan" not in " ".join(section.words).lower()
    table = items["quality-samples"]
    assert len(table.rows) == len(dataset.samples)
    assert not any("nan" in cell.text.lower() for row in table.rows for cell in row)
    if how.get("n") == 4:
        assert facts["Far from the others"] == "not looked for: 4 samples, 6 are needed"
        assert not any("lies far from" in text for text in section.words)


@pytest.mark.drawn
@pytest.mark.slow
def test_very_many_samples_are_capped_with_every_outlier_among_those_shown():
    dataset = clean(n=1100, d=20)
    order = np.argsort(dataset.response(), kind="stable")
    row = order[min(set(range(1100)) - set(evenly_spaced_rows(1100, 1000)))]  # would not be shown
    dataset.X[row] += 50
    data = page_data(dataset)
    sample_quality = data["quality"]
    assert len(sample_quality["samples"]) == 1001
    assert sample_quality["total"] == 1100
    assert [sample_quality["samples"][sample["row"]] for sample in sample_quality["outliers"]] == [
        f"s{row}"
    ]
    _, _, items = section_of(data)
    assert "of 1,100 samples are shown" in items["distributions"].caption
    figures = [draw_picture(item).svg for item in items.values() if isinstance(item, Picture)]
    assert sum(map(len, figures)) < 1.5e6


def test_names_of_columns_and_samples_stay_text():
    dataset = clean()
    obs = dataset.obs.assign(**{name: ["a", "b"] * 10 for name in HOSTILE})
    obs.index = [*HOSTILE, *obs.index[len(HOSTILE) :]]
    dataset.X[:3] += 9
    section, _, items = section_of(page_data(replace(dataset, obs=obs)))
    for item in items.values():
        assert "<script" not in getattr(item, "svg", "")
    assert all(re.search(r"[\x00-\x08]", word) is None for word in section.words)


def test_samples_that_lack_an_omic_are_not_said_to_lie_far_off():
    """All that is odd of them are blanks, which their study may have planned."""
    inputs = arguments(Study())
    outliers = [{"sample": f"S0{k}", "row": k, "rules": ["missing"]} for k in (3, 4)]
    inputs["quality_summary"]["outliers"]["samples"] = outliers
    (own_warnings,) = (
        warning
        for warning in collect(StudyResults(**inputs))["warnings"]
        if warning.startswith("Quality of the")
    )
    assert (
        own_warnings == "Quality of the samples: 2 samples miss many more values than the others "
        "(S03, S04)."
    )
    outliers[0]["rules"].append("rle_iqr")
    (own_warnings,) = (
        warning
        for warning in collect(StudyResults(**inputs))["warnings"]
        if warning.startswith("Quality of the")
    )
    assert "2 samples lie far from the others" in own_warnings


def test_the_page_has_the_section_and_its_warning():
    inputs = arguments(Study())
    inputs["quality_summary"]["outliers"]["samples"] = [
        {"sample": "S03", "row": 3, "rules": ["rle_iqr"]}
    ]
    data = collect(StudyResults(**inputs))
    own_warnings = [
        warning for warning in data["warnings"] if warning.startswith("Quality of the samples")
    ]
    assert own_warnings == ["Quality of the samples: 1 sample lies far from the others (S03)."]
    assert set(RULE_WORDS) >= {
        rule["name"] for rule in inputs["quality_summary"]["outliers"]["rules"]
    }


def test_samples_like_one_specimen_are_warned_of_once_without_path_and_settings(monkeypatch):
    problem = Problem(
        "data/e.tsv",
        "samples 'S03' and 'S04' look like one specimen measured twice; name data.group",
        "warning",
        SIMILAR_SAMPLES,
    )
    monkeypatch.setattr(validate, "examine_study", lambda *_: Examination((problem,), "a study"))
    monkeypatch.setattr(validate, "check_settings", lambda *_: [])
    validation_warnings = check_study({}, "config.yaml")["warnings"]
    given = arguments(Study())
    given["quality_summary"]["twins"] = [["S03", "S04"]]
    warnings = collect(StudyResults(**given, warnings=validation_warnings))["warnings"]
    (warning,) = (text for text in warnings if "one specimen" in text)
    assert "S03 and S04 look like one specimen measured twice" in warning
    assert not re.search(r"\.tsv|/|\bdata\.|\bsplits\.", warning)


def test_samples_like_one_specimen_are_said_on_the_first_screen_and_in_the_section():
    inputs = arguments(Study())
    inputs["quality_summary"]["twins"] = [["S03", "S04"], ["S01", "S07"]]
    data = collect(StudyResults(**inputs))
    (own_warnings,) = (
        warning for warning in data["warnings"] if warning.startswith("Quality of the")
    )
    assert "S03 and S04 and 1 more pair look like one specimen measured twice" in own_warnings
    section, _, _ = section_of(data)
    assert any("S03 and S04 and 1 more pair" in word for word in section.words)


@pytest.mark.usefixtures("undrawn")
def test_that_combat_leaves_nothing_of_the_batches_to_see_is_called_no_evidence():
    dataset = in_centres(faultless(np.random.default_rng(3), batch="centre"), ["a", "b"] * 10)
    dataset = replace(dataset, obs=dataset.obs.assign(centre=["a", "a", "b", "b"] * 5))
    combat = [{"step": "combat", "covariates": []}, *MOMENTS]
    words = "does not prove that its effect is gone"
    assert words in section_of(page_data(dataset, folds=combat))[2]["associations"].caption
    assert words not in section_of(page_data(dataset))[2]["associations"].caption


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("role", ["group", "pair"])
def test_samples_of_one_patient_are_not_called_independent(role):
    dataset = faultless(np.random.default_rng(3), patient=[f"p{k // 2}" for k in range(20)])
    words = "constant within each patient"
    assert words not in section_of(page_data(dataset))[2]["associations"].caption
    grouped = replace(dataset, design=replace(dataset.design, **{role: "patient"}))
    assert words in section_of(page_data(grouped))[2]["associations"].caption


def test_factors_that_are_all_alike_are_no_range():
    data = page_data(clean(raw=True))
    data["quality"]["size"] = [1.0, 1.0001] * 10
    assert section_of(data)[1]["Scaling factors"] == "all 1"
    data["quality"]["size"] = [0.5, 2.0] * 10
    assert section_of(data)[1]["Scaling factors"] == "0.5 to 2"
