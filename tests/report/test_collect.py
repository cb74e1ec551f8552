"""report_data.json: complete, without NaN, capped, and right where it computes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_records import HOSTILE, Study, arguments, collected
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score, roc_curve

from genesig.report.collect import COMMON_TABLES, PATIENT_TABLES, SUMMARISED_TABLES, collect
from genesig.report.page.record import json_value, rounded

STUDIES = {
    "classes": Study(),
    "hostile": Study(names=HOSTILE),
    "regression": Study(regression=True),
    "empty": Study(empty=True),
    "bare": Study(permutations=0, subsamples=0, folds=1, repeats=1),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_study_survives_json(study):
    data = collect(**arguments(study))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["version"] == 8


def test_roc_and_confusion_agree_with_sklearn():
    given = arguments(Study(samples=40, signal=0.5, repeats=2))
    found = collect(**given)["held_out"]
    table = given["tables"]["predictions"]
    table = table[table["mu"].isna()].astype({"wrong": float})
    wanted = np.zeros((2, 2))
    for curve, (_, rows) in zip(found["roc"], table.groupby("repeat"), strict=True):
        x, y, _ = roc_curve(rows["label"] == "tumour", rows["score"], drop_intermediate=False)
        np.testing.assert_allclose((curve["x"], curve["y"]), (x, y), atol=1e-4)
        auc = roc_auc_score(rows["label"] == "tumour", rows["score"])
        assert curve["auc"] == pytest.approx(auc, abs=1e-4)
        wanted += confusion_matrix(rows["label"], rows["predicted"]) / 2
    np.testing.assert_allclose(found["confusion"], wanted)


def test_regression_fit_agrees_with_sklearn():
    found = collect(**arguments(STUDIES["regression"]))["held_out"]
    y, f = (np.array([s[key] for s in found["samples"]]) for key in ("label", "mean"))
    assert found["fit"]["r2"] == pytest.approx(r2_score(y, f), abs=1e-3)
    assert found["fit"]["r"] == pytest.approx(np.corrcoef(y, f)[0, 1], abs=1e-3)
    assert found["roc"] is found["confusion"] is found["rejection"] is None


def test_samples_and_rejection_follow_from_the_predictions():
    given = arguments(Study(samples=40, signal=0.3))
    found = collect(**given)["held_out"]
    table = given["tables"]["predictions"]
    table = table[table["mu"].isna()].astype({"wrong": float})
    wrong = table.groupby("sample")["wrong"].sum()
    assert {s["sample"]: s["wrong"] for s in found["samples"]} == wrong.to_dict()
    for row in found["rejection"]:
        side = 1 if row["class"] == "tumour" else -1
        kept = [
            s
            for s in found["samples"]
            if side * s["mean"] > 0 and abs(s["mean"]) > (row["threshold"] or 0)
        ]
        assert row["wrong"] > 0  # else the next line would say nothing
        assert all(s["label"] == row["class"] for s in kept)
        assert len(kept) == row["predicted"] - row["rejected"]


def in_blocks(given):
    """Return the genes of the blocks, without those that stand apart."""
    blocks = given["tables"]["blocks"]
    return blocks[blocks["block"].notna()]


def test_correlation_is_pearson_in_the_order_of_the_blocks():
    given = arguments(Study())
    found = collect(**given)["correlation"]
    blocks = in_blocks(given)
    assert 0 < len(blocks) < len(given["tables"]["blocks"])  # else nothing stands apart
    assert found["genes"] == list(blocks["gene"])
    X = given["dataset"].X
    genes = given["dataset"].genes
    r = np.corrcoef(X[:, [genes.index(g) for g in blocks["gene"]]].T)
    np.testing.assert_allclose(found["r"], r, atol=0.0051)


@pytest.mark.slow
def test_heavy_parts_are_capped_and_say_so():
    given = arguments(Study(samples=60, genes=900))
    blocks = given["tables"]["blocks"]
    inside = in_blocks(given)
    rest = [g for g in given["dataset"].genes if g not in set(blocks["gene"])]
    more = blocks.loc[[0] * 500].assign(gene=rest[:500], order=range(500), prototype="g")
    given["tables"]["blocks"] = pd.concat([blocks, more], ignore_index=True)
    signature = given["tables"]["signature"]
    longer = signature.loc[[0] * 150].assign(gene=rest[:150], rank=range(150))
    given["tables"]["signature"] = pd.concat([signature, longer], ignore_index=True)
    data = collect(**given)
    assert 280 < len(data["correlation"]["r"]) <= 300 < data["correlation"]["total"]
    assert set(data["correlation"]["blocks"]) == set(inside["block"])
    assert len(data["heat"]["z"]) == 100 < data["heat"]["total"]
    assert len(data["strips"]) == 60


def test_every_table_that_is_not_summed_up_is_packed_whole():
    given = arguments(Study())
    data = collect(**given)
    assert set(data["tables"]) == {*COMMON_TABLES.read, *PATIENT_TABLES.read, "nonlinear"} - {
        *SUMMARISED_TABLES
    }
    for name, table in data["tables"].items():
        assert table["total"] == len(given["tables"][name]) == len(table["rows"])
        columns = [c for c in table["columns"] if c != "prototype_symbol"]
        assert columns == list(given["tables"][name].columns)


def test_prototypes_have_their_symbol_beside_them():
    blocks = collected(Study())["tables"]["blocks"]
    rows = [dict(zip(blocks["columns"], row, strict=True)) for row in blocks["rows"]]
    symbol = {row["gene"]: row["symbol"] for row in rows}
    assert [row["prototype_symbol"] for row in rows] == [symbol[r["prototype"]] for r in rows]


def test_what_validation_said_comes_first_and_once():
    given = arguments(Study())
    given["dataset"].provenance["warnings"] = ["constant gene"]
    data = collect(**given, warnings=["never logged", "constant gene"])
    assert data["warnings"][:2] == ["never logged", "constant gene"]
    assert data["warnings"].count("constant gene") == 1


def test_warnings_name_what_is_wrong():
    data = collect(**arguments(STUDIES["bare"]))
    assert any("No permutation" in sentence for sentence in data["warnings"])
    given = arguments(Study(permutations=99))
    gap = np.full_like(given["observed"].gap, 1e-3)
    data = collect(**{**given, "observed": replace(given["observed"], gap=gap)})
    assert any("did not reach" in sentence for sentence in data["warnings"])
    good = collect(**given)["warnings"]
    assert not any("did not reach" in s or "No permutation" in s for s in good)


def test_dropped_are_counted_by_reason():
    given = arguments(Study())
    dropped = [{"kind": "gene", "name": f"g{i}", "reason": "constant"} for i in range(100)]
    dropped.append({"kind": "sample", "name": "x", "reason": "no label"})
    provenance = {**given["dataset"].provenance, "dropped": dropped}
    given["dataset"] = replace(given["dataset"], provenance=provenance)
    found = collect(**given)["study"]["dropped"]
    assert [(d["kind"], d["reason"], d["count"]) for d in found] == [
        ("gene", "constant", 100),
        ("sample", "no label", 1),
    ]


@pytest.mark.parametrize("value", [1.0, -0.00012345678, 98765.4321, 0.0, 1e-300, 3e20])
def test_rounding_keeps_the_significant_digits(value):
    assert rounded([value], 4)[0] == pytest.approx(value, rel=5e-4)
    assert len(f"{rounded([value], 4)[0]:e}".split("e")[0].rstrip("0")) <= 6


def test_rounding_has_no_nan_and_keeps_the_shape():
    assert rounded([[1.0, np.nan], [np.inf, 2.0]], 3) == [[1.0, None], [None, 2.0]]
    assert rounded(np.zeros((0, 3)), 3) == []
    assert json_value({1: np.float64("nan"), "a": (np.int64(1), np.bool_(True))}) == {
        "1": None,
        "a": [1, True],
    }
