"""Table 1, follow-up, effect and subgroups are computed for every kind of response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from settings import SPLITS
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.response.covariates import Covariate
from genesig.selection.assess.patients_tables import (
    MAX_DESCRIBED_COLUMNS,
    MIN_SUBGROUP_SAMPLES,
    follow_up,
    patient_tables,
    read_trait,
    read_traits,
    subgroups,
)


def study(kind, **changes):
    """Return 60 samples with columns that describe them, and others that do not."""
    dataset = study_of(kind, 3, n=60, signal=1.0)
    rng = np.random.default_rng(1)
    age = rng.integers(30, 80, 60).astype(str)
    age[:4] = "NA"
    obs = dataset.obs.assign(
        number=[str(k) for k in range(7, 67)],
        name=[f"patient {k}" for k in range(60)],
        age=age,
        sex=np.where(np.arange(60) % 2, "f", "m"),
        tissue="blood",
        site=np.array(list("aaabbbccdefgh"))[np.arange(60) % 13],
        **changes,
    )
    return replace(dataset, obs=obs)


def tables(dataset, seed=0):
    """Return the tables of scores that tell the response apart by chance and a little more."""
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "folds": 4, "repeats": 2})
    rng = np.random.default_rng(seed)
    y = dataset.response_kind.numeric_response(dataset.response())
    rows = [(name, split.name, split.repeat) for split in splits.outer for name in split.test]
    frame = pd.DataFrame(rows, columns=["sample", "split", "repeat"]).assign(mu=np.nan)
    place = dataset.rows(frame["sample"].tolist())
    f = y[place] + rng.standard_normal(y[place].shape)
    if dataset.design.kind == "several_classes":
        names = [f"score of {name}" for name in dataset.design.classes]
        return patient_tables(dataset, splits, frame.assign(**dict(zip(names, f.T, strict=True))))
    return patient_tables(dataset, splits, frame.assign(score=f))


def cell(table, column, group, level=""):
    cell_rows = table[(table["column"] == column) & (table["group"] == group)]
    return cell_rows[cell_rows["level"] == level].iloc[0]


def test_numbers_and_words_are_counted_by_class_and_of_all():
    dataset = study("classification")
    table = tables(dataset)["patients"]
    ill = (dataset.obs["state"] == "ill").to_numpy()
    ages = pd.to_numeric(dataset.obs["age"], errors="coerce")
    for group, in_group in (("ill", ill), ("", np.ones(60, dtype=bool))):
        row = cell(table, "age", group)
        expected = ages[in_group]
        assert (row["samples"], row["missing"]) == (in_group.sum(), expected.isna().sum())
        assert tuple(row[["median", "low", "high"]]) == (
            expected.median(),
            expected.min(),
            expected.max(),
        )
        word = cell(table, "sex", group, "f")
        assert word["count"] == (dataset.obs["sex"][in_group] == "f").sum()
        assert word["share"] == pytest.approx((dataset.obs["sex"][in_group] == "f").mean())


def test_rare_words_stand_together_and_add_up():
    table = tables(study("classification"))["patients"]
    site = table[(table["column"] == "site") & (table["group"] == "")]
    assert list(site["kind"]) == ["word"] * 5 + ["others"]
    assert site["count"].sum() == 60
    assert list(site["level"])[-1] == "3"


def test_unusable_columns_are_listed_with_their_reason():
    table = tables(study("classification"))["patients"]
    out = table[table["kind"] == "left out"].set_index("column")["level"]
    assert out.to_dict() == {
        "number": "numbers samples or patients",
        "tissue": "one value",
        "name": "names samples or patients",
    }


def test_covariates_come_first_and_columns_beyond_the_twelfth_are_named():
    added_columns = {f"z{k}": np.where(np.arange(60) % (k + 2), "x", "y") for k in range(14)}
    dataset = study("classification", **added_columns)
    design = replace(dataset.design, covariates=(Covariate("z13", ("x", "y")),))
    kept_traits, left_out = read_traits(replace(dataset, design=design))
    assert [column_trait.name for column_trait in kept_traits][:2] == ["z13", "age"]
    assert len(kept_traits) == MAX_DESCRIBED_COLUMNS
    assert left_out["z12"] == f"after the first {MAX_DESCRIBED_COLUMNS}"


def test_codes_are_words_and_words_that_are_numbers_stand_in_their_order():
    assert read_trait("stage", ["10", "2", "1", "NA"] * 5).levels == ["1", "2", "10"]
    assert read_trait("age", [str(k) for k in range(20)]).numbers is not None


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_response_has_its_groups_and_its_effect(kind):
    study_tables = tables(study(kind))
    groups = list(study_tables["patients"].query("kind == 'samples'")["group"])
    effect = study_tables["score_effect"]
    expected = {
        "classification": (["well", "ill", ""], "odds ratio", 1),
        "several_classes": (["well", "ill", "worse", ""], "odds ratio", 3),
        "regression": ([""], "slope", 1),
        "survival": (["event", "no event", ""], "hazard ratio", 1),
    }[kind]
    assert (groups, effect["measure"][0], len(effect)) == expected
    no_effect = 0.0 if kind == "regression" else 1.0
    assert (effect["low"] > no_effect).all()
    assert (effect["low"] < effect["value"]).all()
    assert (effect["value"] < effect["high"]).all()


def test_score_effect_is_repeated_with_covariates():
    dataset = study("regression")
    design = replace(
        dataset.design,
        filled=True,
        covariates=(Covariate("age", None, 3), Covariate("sex", ("f", "m"))),
    )
    alone, adjusted = tables(replace(dataset, design=design))["score_effect"].to_dict("records")
    assert (alone["adjusted"], adjusted["adjusted"]) == ("no", "yes")
    assert adjusted["value"] != alone["value"]
    assert adjusted["value"] == pytest.approx(alone["value"], rel=0.2)


def test_follow_up_is_the_median_of_reversed_kaplan_meier():
    # By hand: censored at 2, 4, 6 and 8; at risk 7, 5, 3 and 1 of eight.
    time = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    event = np.array([1, 0, 1, 0, 1, 0, 1, 0], dtype=bool)
    censored_share = np.cumprod([6 / 7, 4 / 5, 2 / 3, 0])
    assert follow_up(time, event)[0] == [2, 4, 6, 8][np.flatnonzero(censored_share <= 0.5)[0]]
    low, high = follow_up(np.arange(1.0, 201.0), np.zeros(200, dtype=bool))[1:]
    # Without events it is the interval of a median: order statistics of a binomial.
    assert low == pytest.approx(100 - 1.96 * np.sqrt(50), abs=2)
    assert high == pytest.approx(100 + 1.96 * np.sqrt(50), abs=2)
    assert np.isnan(follow_up(time, np.ones(8, dtype=bool))).all()


@pytest.mark.parametrize("kind", COLUMNS)
def test_subgroups_are_of_ten_samples_or_more_and_have_all_first(kind):
    table = tables(study(kind))["subgroups"]
    assert tuple(table.iloc[0][["column", "level", "samples"]]) == ("", "", 60)
    assert set(table["column"][1:]) <= {"age", "sex"}
    assert (table["samples"] >= MIN_SUBGROUP_SAMPLES).all()
    assert table[table["column"] == "sex"]["samples"].sum() == 60
    assert (table["low"] <= table["error"]).all()
    assert (table["error"] <= table["high"]).all()
    assert table["events"].isna().all() == (kind != "survival")


def test_a_column_that_has_one_class_in_a_part_is_no_subgroup():
    dataset = study("classification")
    same = dataset.obs.assign(same=dataset.obs["state"])
    assert "same" not in set(tables(replace(dataset, obs=same))["subgroups"]["column"])


def test_numbers_are_cut_at_their_median():
    age_trait = read_trait("age", [*map(str, range(1, 26)), "NA"])
    assert [(level, int(in_group.sum())) for level, in_group in subgroups(age_trait)] == [
        ("≤ 13", 13),
        ("> 13", 12),
    ]
