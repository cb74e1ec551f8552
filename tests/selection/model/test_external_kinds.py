"""Final models of survival and several classes are assessed in an external cohort."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fitted_models import ITEM, scored, written
from fitted_models import fitted_of_kind as fitted
from scipy.stats import linregress, ttest_1samp
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from genesig.data.files.readers import read_matrix
from genesig.data.study.settings import CohortSettings
from genesig.report.collect import round_numbers
from genesig.report.external.collect import collect_external
from genesig.selection.assess.clusters import class_calibration_slope
from genesig.selection.assess.survival import harrell
from genesig.selection.model.external import score_cohort, warn_of_class_shares
from genesig.selection.model.external_scores import measure_numbers
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import add_digest

KINDS_BEYOND_TWO_CLASSES = ("survival", "several_classes")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS_BEYOND_TWO_CLASSES)
def test_scores_are_those_of_predict(kind: str) -> None:
    written(kind)
    cohort_result = scored(kind)
    table, _ = predict(fitted(kind)[1], read_matrix("other.tsv"), "o", missing=0.1, mu=None)
    prefixes = ("score", "predicted", "probability", "survival")
    columns = [name for name in table.columns if name.startswith(prefixes)]
    assert ("survival" in columns) == (kind == "survival")
    assert cohort_result.tables["predictions"][columns].equals(table[columns])
    json.dumps(cohort_result.about, allow_nan=False)


def test_survival_is_measured_as_it_is_while_held_out() -> None:
    cohort_matrix = written("survival")
    cohort_result = scored("survival")
    score = cohort_result.tables["predictions"]["score"].to_numpy()
    measured = cohort_result.tables["scores"].set_index("measure")
    y = cohort_matrix.response()
    estimate = harrell(y["time"], y["event"], score)
    row = measured.loc["concordance"]
    np.testing.assert_allclose(
        [row["value"], row["low"], row["high"]], [estimate.value, *estimate.interval]
    )
    assert estimate.interval[0] > 0.5
    table, _ = predict(fitted("survival")[1], read_matrix("other.tsv"), "o", missing=0.1, mu=None)
    assert measured.loc["risk_expected", "value"] == pytest.approx(1 - table["survival"].mean())
    assert measured.loc["log_rank_p", "value"] < 0.05
    (cohort,) = round_numbers(collect_external([cohort_result.about], None))["external"]
    groups = cohort_result.tables["predictions"]["predicted"].value_counts()
    assert {c["group"]: c["at_risk"][0] for c in cohort["curves"]} == groups.to_dict()
    assert cohort["events"] == y["event"].sum()


def test_their_words_and_columns_of_an_event() -> None:
    written("survival")
    text = Path("sheet.tsv").read_text()
    before = scored("survival").tables["scores"]
    text = text.replace("state", "t").replace("end", "e", 1)
    Path("sheet.tsv").write_text(text.replace("dead", "2").replace("alive", "1"))
    after = scored("survival", label={"time": "t", "event": "e"}, event="2").tables["scores"]
    assert after.equals(before)


def test_each_of_several_classes_is_measured() -> None:
    written("several_classes")
    cohort_result = scored("several_classes")
    table = cohort_result.tables["predictions"]
    classes = ["well", "ill", "worse"]
    measured = cohort_result.tables["scores"].set_index("measure")
    error = 1 - balanced_accuracy_score(table["label"], table["predicted"])
    assert measured.loc["balanced_error", "value"] == pytest.approx(error)
    areas = [roc_auc_score(table["label"] == c, table[f"score of {c}"]) for c in classes]
    assert measured.loc["auc", "value"] == pytest.approx(np.mean(areas))
    (cohort,) = round_numbers(collect_external([cohort_result.about], classes))["external"]
    expected = confusion_matrix(table["label"], table["predicted"], labels=classes)
    assert cohort["confusion"] == expected.tolist()
    for c in classes:
        row = measured.loc[f"sensitivity of {c}"]
        assert row["low"] < row["value"] < row["high"] or row["value"] == 1
        assert row["samples"] == (table["label"] == c).sum()


def test_calibration_of_several_classes_uses_cohort_labels() -> None:
    written("several_classes")
    dataset, model = fitted("several_classes")
    shares = [0.5, 0.3, 0.2]
    content = {key: part for key, part in model.items() if key != "digest"} | {"shares": shares}
    models = [
        entry | {"probability": {"intercept": [0.1, 0.0, -0.3], "slope": 2.5}}
        for entry in model["models"]
    ]
    cohort_result = score_cohort(
        dataset, add_digest(content | {"models": models}), {}, CohortSettings(**ITEM)
    )
    columns = [f"probability of {name}" for name in ("well", "ill", "worse")]
    p = cohort_result.tables["predictions"][columns].to_numpy()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    y = np.array(
        [model["classes"].index(c) for c in cohort_result.tables["predictions"]["label"]], float
    )
    row = cohort_result.tables["scores"].set_index("measure").loc["calibration_slope"]
    slope, limits = class_calibration_slope(y, p, np.array(shares))
    np.testing.assert_allclose([row["value"], row["low"], row["high"]], [slope, *limits])
    called = (
        cohort_result.tables["scores"].set_index("measure").loc["probability_of_called", "value"]
    )
    predicted_class = [
        model["classes"].index(c) for c in cohort_result.tables["predictions"]["predicted"]
    ]
    assert called == pytest.approx(p[np.arange(len(p)), predicted_class].mean())


def test_class_without_samples_leaves_other_measures() -> None:
    written("several_classes")
    text = Path("sheet.tsv").read_text()
    Path("sheet.tsv").write_text(text.replace("worse", "other"))
    cohort_result = scored("several_classes")
    measured = cohort_result.tables["scores"].set_index("measure")["value"]
    assert np.isnan(measured["balanced_error"])
    assert np.isfinite(measured["misclassification"])
    assert cohort_result.about["classes"]["worse"] == 0
    assert {note["reason"] for note in cohort_result.about["dropped"]} == {
        "class 'other' is no class of the study"
    }


@pytest.mark.parametrize(
    ("classes", "study_counts", "cohort_counts", "warned"),
    [
        (("a", "b"), (4, 6), (5, 5), None),
        (("a", "b"), (4, 6), (7, 3), (30, "b", 60)),  # the share of the positive class
        (("a", "b", "c"), (4, 4, 2), (3, 2, 5), (50, "c", 20)),  # the largest difference
        (("a", "b", "c"), (2, 4, 4), (5, 3, 2), (50, "a", 20)),
        (("a", "b", "c"), (4, 4, 2), (3, 3, 4), None),  # 20 points are not above 20
        ((), (4, 6), (9, 1), None),  # a number has no classes
    ],
)
def test_combat_warns_of_the_class_whose_share_differs_most(
    classes: tuple[str, ...],
    study_counts: tuple[int, ...],
    cohort_counts: tuple[int, ...],
    warned: tuple[int, str, int] | None,
) -> None:
    codes = [-1.0, 1.0] if len(study_counts) == 2 else range(len(study_counts))
    study_y, cohort_y = (np.repeat(codes, counts) for counts in (study_counts, cohort_counts))
    design = SimpleNamespace(classes=classes)
    dataset: Any = SimpleNamespace(design=design, response=lambda: study_y)
    cohort: Any = SimpleNamespace(response=cohort_y)
    warnings = list(warn_of_class_shares(dataset, cohort, corrects_batches=True))
    assert len(warnings) == (warned is not None)
    if warned is not None:
        share, name, study_share = warned
        words = f"combat: {share} % of the samples are {name}, and {study_share} % of the study's"
        assert warnings[0].startswith(words)
    assert not list(warn_of_class_shares(dataset, cohort, corrects_batches=False))


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_measures_of_numbers_are_those_of_scipy_and_leave_one_out(unit: float) -> None:
    rng = np.random.default_rng(2)
    y = unit * rng.normal(3, 2, 40)
    f = y + unit * rng.normal(0.4, 0.9, 40)
    rows = {name: (value, *limits, n) for name, value, limits, n in measure_numbers(y, f)}
    assert all(row[3] == 40 for row in rows.values())
    assert rows["r2"][0] == pytest.approx(r2_score(y, f))
    left_out = np.array([r2_score(np.delete(y, k), np.delete(f, k)) for k in range(40)])
    # Student's t of the pseudo-values of the jackknife (Tukey 1958), around R² itself.
    pseudo = r2_score(y, f) + 39 * (left_out.mean() - left_out)
    limits = ttest_1samp(pseudo, 0).confidence_interval()
    assert limits.high < 1
    assert rows["r2"][1:3] == pytest.approx((limits.low, limits.high))
    difference = ttest_1samp(f - y, 0).confidence_interval()
    expected = (np.mean(f - y), difference.low, difference.high)
    assert rows["mean_difference"][:3] == pytest.approx(expected)
    value, low, high, _ = rows["squared_error"]
    assert value == pytest.approx(mean_squared_error(y, f))
    assert 0 < low < value < high
    line = linregress(f, y)
    assert rows["calibration_slope"][0] == pytest.approx(line.slope)
    assert rows["calibration_intercept"][0] == pytest.approx(line.intercept)

    groups = np.repeat(np.arange(10), 4)
    grouped = {name: (value, *limits) for name, value, limits, _ in measure_numbers(y, f, groups)}
    for name, row in grouped.items():
        assert row[0] == pytest.approx(rows[name][0])
    means = (f - y).reshape(10, 4).mean(axis=1)
    limits = ttest_1samp(means, 0).confidence_interval()
    assert grouped["mean_difference"][1:] == pytest.approx((limits.low, limits.high))
