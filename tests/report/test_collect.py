"""report_data.json is complete, without NaN, capped and correct."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_records import HOSTILE, Study, arguments, collected
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score, roc_curve

from genesig.report.collect import (
    COMMON_TABLES,
    PATIENT_TABLES,
    StudyResults,
    collect,
    round_numbers,
)
from genesig.report.page.record import rounded

COLLECTED_STUDIES = {
    "classes": Study(),
    "hostile": Study(names=HOSTILE),
    "regression": Study(regression=True),
    "empty": Study(empty=True),
    "bare": Study(permutations=0, subsamples=0, folds=1, repeats=1),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("study", COLLECTED_STUDIES.values(), ids=COLLECTED_STUDIES)
def test_every_study_survives_json(study):
    data = collect(StudyResults(**arguments(study)))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["version"] == 10


def test_roc_and_confusion_agree_with_sklearn():
    inputs = arguments(Study(samples=40, signal=0.5, repeats=2))
    held_out = collect(StudyResults(**inputs))["held_out"]
    table = inputs["tables"]["predictions"]
    table = table[table["mu"].isna()].astype({"wrong": float})
    expected = np.zeros((2, 2))
    for curve, (_, rows) in zip(held_out["roc"], table.groupby("repeat"), strict=True):
        x, y, _ = roc_curve(rows["label"] == "tumour", rows["score"], drop_intermediate=False)
        np.testing.assert_allclose((curve["x"], curve["y"]), (x, y), atol=1e-4)
        auc = roc_auc_score(rows["label"] == "tumour", rows["score"])
        assert curve["auc"] == pytest.approx(auc, abs=1e-4)
        expected += confusion_matrix(rows["label"], rows["predicted"]) / 2
    np.testing.assert_allclose(held_out["confusion"], expected)


def test_regression_fit_agrees_with_sklearn():
    held_out = collect(StudyResults(**arguments(COLLECTED_STUDIES["regression"])))["held_out"]
    y, f = (np.array([s[key] for s in held_out["samples"]]) for key in ("label", "mean"))
    assert held_out["fit"]["r2"] == pytest.approx(r2_score(y, f), abs=1e-3)
    assert held_out["fit"]["r"] == pytest.approx(np.corrcoef(y, f)[0, 1], abs=1e-3)
    assert held_out["roc"] is held_out["confusion"] is held_out["rejection"] is None


def test_samples_and_rejection_follow_from_the_predictions():
    inputs = arguments(Study(samples=40, signal=0.3))
    held_out = collect(StudyResults(**inputs))["held_out"]
    table = inputs["tables"]["predictions"]
    table = table[table["mu"].isna()].astype({"wrong": float})
    wrong = table.groupby("sample")["wrong"].sum()
    assert {s["sample"]: s["wrong"] for s in held_out["samples"]} == wrong.to_dict()
    for row in held_out["rejection"]:
        side = 1 if row["class"] == "tumour" else -1
        samples_kept = [
            s
            for s in held_out["samples"]
            if side * s["mean"] > 0 and abs(s["mean"]) > (row["threshold"] or 0)
        ]
        assert row["wrong"] > 0  # else the next line would say nothing
        assert all(s["label"] == row["class"] for s in samples_kept)
        assert len(samples_kept) == row["predicted"] - row["rejected"]


def in_blocks(inputs):
    """Return the genes of the blocks, without those that stand apart."""
    blocks = inputs["tables"]["blocks"]
    return blocks[blocks["block"].notna()]


def test_correlation_is_pearson_in_the_order_of_the_blocks():
    inputs = arguments(Study())
    correlation = collect(StudyResults(**inputs))["correlation"]
    blocks = in_blocks(inputs)
    assert 0 < len(blocks) < len(inputs["tables"]["blocks"])  # else nothing stands apart
    assert correlation["genes"] == list(blocks["gene"])
    X = inputs["dataset"].X
    genes = inputs["dataset"].genes
    r = np.corrcoef(X[:, [genes.index(g) for g in blocks["gene"]]].T)
    np.testing.assert_allclose(correlation["r"], r, atol=0.0051)


@pytest.mark.slow
def test_heavy_parts_are_capped_and_say_so():
    inputs = arguments(Study(samples=60, genes=900))
    blocks = inputs["tables"]["blocks"]
    genes_in_blocks = in_blocks(inputs)
    other_genes = [g for g in inputs["dataset"].genes if g not in set(blocks["gene"])]
    added_rows = blocks.loc[[0] * 500].assign(
        gene=other_genes[:500], order=range(500), prototype="g"
    )
    inputs["tables"]["blocks"] = pd.concat([blocks, added_rows], ignore_index=True)
    signature = inputs["tables"]["signature"]
    longer = signature.loc[[0] * 150].assign(gene=other_genes[:150], rank=range(150))
    inputs["tables"]["signature"] = pd.concat([signature, longer], ignore_index=True)
    data = collect(StudyResults(**inputs))
    assert 280 < len(data["correlation"]["r"]) <= 300 < data["correlation"]["total"]
    assert set(data["correlation"]["blocks"]) == set(genes_in_blocks["block"])
    assert len(data["heat"]["z"]) == 100 < data["heat"]["total"]
    assert len(data["strips"]) == 60


def test_tables_on_the_page_are_packed_whole():
    inputs = arguments(Study())
    data = collect(StudyResults(**inputs))
    page_tables = {*COMMON_TABLES.on_page, *PATIENT_TABLES.on_page, "nonlinear"}
    assert set(data["tables"]) == page_tables
    assert {*COMMON_TABLES.read} - page_tables == {"predictions", "nested_lists"}
    for name, table in data["tables"].items():
        assert table["total"] == len(inputs["tables"][name]) == len(table["rows"])
        columns = [c for c in table["columns"] if c != "prototype_symbol"]
        assert columns == list(inputs["tables"][name].columns)


def test_prototypes_have_their_symbol_beside_them():
    blocks = collected(Study())["tables"]["blocks"]
    rows = [dict(zip(blocks["columns"], row, strict=True)) for row in blocks["rows"]]
    symbol = {row["gene"]: row["symbol"] for row in rows}
    assert [row["prototype_symbol"] for row in rows] == [symbol[r["prototype"]] for r in rows]


def test_validation_warnings_come_first_and_once():
    inputs = arguments(Study())
    inputs["dataset"].provenance["warnings"] = ["constant gene"]
    data = collect(StudyResults(**inputs, warnings=["never logged", "constant gene"]))
    assert data["warnings"][:2] == ["never logged", "constant gene"]
    assert data["warnings"].count("constant gene") == 1


def test_missing_permutations_and_loose_paths_are_warned_of():
    data = collect(StudyResults(**arguments(COLLECTED_STUDIES["bare"])))
    assert any("No permutation" in sentence for sentence in data["warnings"])
    inputs = arguments(Study(permutations=99))
    gap = np.full_like(inputs["observed"].gap, 1e-3)
    data = collect(StudyResults(**{**inputs, "observed": replace(inputs["observed"], gap=gap)}))
    assert any("did not reach" in sentence for sentence in data["warnings"])
    good = collect(StudyResults(**inputs))["warnings"]
    assert not any("did not reach" in s or "No permutation" in s for s in good)


def test_dropped_are_counted_by_reason():
    inputs = arguments(Study())
    dropped = [{"kind": "gene", "name": f"g{i}", "reason": "constant"} for i in range(100)]
    dropped.append({"kind": "sample", "name": "x", "reason": "no label"})
    provenance = {**inputs["dataset"].provenance, "dropped": dropped}
    inputs["dataset"] = replace(inputs["dataset"], provenance=provenance)
    dropped_counts = collect(StudyResults(**inputs))["study"]["dropped"]
    assert [(d["kind"], d["reason"], d["count"]) for d in dropped_counts] == [
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
    assert round_numbers({1: np.float64("nan"), "a": (np.int64(1), np.bool_(True))}) == {
        "1": None,
        "a": [1, True],
    }


def test_round_numbers_takes_the_digits_of_the_nearest_key():
    part = {
        "held_out": {
            "samples": [{"label": 1 / 3, "scores": np.array([2 / 3, np.nan]), "tested": 2}]
        },
        "mu": [1 / 3],
        "heat": {"z": np.array([[1 / 3]]), "response": [1 / 3], "score": (1 / 3, None)},
        "sets": {"p": {"value": 1 / 3, "smallest": 1 / 3}},
    }
    assert round_numbers(part) == {
        "held_out": {"samples": [{"label": 1 / 3, "scores": [0.6667, None], "tested": 2}]},
        "mu": [1 / 3],
        "heat": {"z": [[0.33]], "response": [0.33333], "score": [0.3333, None]},
        "sets": {"p": {"value": 0.33333, "smallest": 1 / 3}},
    }
    assert round_numbers(part["sets"], "sets") == round_numbers(part)["sets"]
