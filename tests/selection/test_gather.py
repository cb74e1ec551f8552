"""The result tables together: columns, agreement among each other, independence of batching."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gathered_study import MU, make_fits, make_study

from genesig.results import load_table, save_tables
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import COLUMNS, controls_table
from genesig.selection.assess.permutations import null_study
from genesig.selection.assess.stability import pair_stability, stability, stability_table
from genesig.selection.gather import gather
from genesig.selection.genes.frequency import selections

STEPS = [{"step": "centre"}, {"step": "unit_variance"}]
HEADERS = {
    "signature": "rank gene symbol frequency block first_mu mean_coef sign_consistency coef "
    "p_value q_value",
    "nested_lists": "mu gene symbol frequency mean_coef sign_consistency in_list",
    "blocks": "block layer order gene symbol prototype r first_mu score",
    "scores": "split repeat mu n_train n_test n_genes tau lam misclassification balanced_error "
    "squared_error auc",
    "predictions": "sample label repeat split mu score predicted wrong",
    "stability": "mu source stability low high n_sets mean_size",
    "univariate": "gene symbol statistic p_value q_value",
}


def gathered(study, parts=None, frequency=0.5, mu=None):
    dataset, splits, observed, final = study
    halves = make_fits(dataset, splits.subsamples, 5)
    signature = {"frequency": frequency, "mu": mu}
    clusters = {"warn_above": 0.9, "merge_above": None}
    parts = parts or [observed]
    return gather(dataset, splits, parts, final, halves, signature=signature, clusters=clusters)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_headers_are_those_the_report_and_the_users_read(task):
    tables = gathered(make_study(0, task=task))
    for name, header in HEADERS.items():
        assert " ".join(tables[name].columns) == header


def test_batches_in_any_order_gather_to_the_same_files(tmp_path):
    study = make_study(1)
    order = np.random.default_rng(0).permutation(len(study[2]))
    parts = [study[2].take(order[:3]), study[2].take(order[3:])]
    for place, tables in (("a", gathered(study)), ("b", gathered(study, parts))):
        save_tables({name: tmp_path / place / f"{name}.tsv" for name in tables}, tables)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize("mu", [None, 0.01, 1.0])
def test_the_signature_is_the_list_of_its_mu(mu):
    study = make_study(2)
    tables = gathered(study, frequency=0.4, mu=mu)
    signature, nested = tables["signature"], tables["nested_lists"]
    at = 0 if mu is None else MU.tolist().index(mu)
    chosen = nested[(nested["mu"] == MU[at]) & nested["in_list"]]
    assert len(signature) > 0
    assert signature["gene"].tolist() == chosen["gene"].tolist()
    assert signature["rank"].tolist() == list(range(1, len(chosen) + 1))
    weights = {f"g{gene}": value for gene, value in zip(*study[3].coef(0, at), strict=True)}
    assert signature["coef"].tolist() == [weights.get(gene, 0.0) for gene in signature["gene"]]
    block = tables["blocks"].set_index("gene")["block"]
    if len(block):
        assert signature["block"].tolist() == block[signature["gene"]].tolist()
    first = nested[nested["in_list"]].groupby("gene")["mu"].min()
    assert signature["first_mu"].tolist() == first[signature["gene"]].tolist()
    q = tables["univariate"].set_index("gene")["q_value"]
    assert signature["q_value"].tolist() == q[signature["gene"]].tolist()


def test_nothing_reaches_the_threshold():
    study = make_study(0, folds=8, repeats=4)
    tables = gathered(study, frequency=1.0)
    assert len(tables["signature"]) == 0
    assert len(tables["blocks"]) == 0
    assert tables["lists"]["in_list"].iloc[0] == 0


def test_no_subsamples_leave_their_stability_empty():
    dataset, splits, observed, final = make_study(0)
    splits, none = replace(splits, subsamples=()), observed.take(np.arange(0))
    settings = {"frequency": 0.5, "mu": None}, {"warn_above": 0.9, "merge_above": None}
    stability = gather(
        dataset, splits, [observed], final, none, signature=settings[0], clusters=settings[1]
    )["stability"]
    halves = stability["source"] == "half_subsamples"
    assert (stability.loc[halves, "n_sets"] == 0).all()
    assert stability.loc[halves, ["stability", "low", "high"]].isna().all(axis=None)
    assert stability.loc[~halves, "stability"].notna().any()


def test_halves_are_compared_in_their_pairs_whatever_the_order_of_the_fits():
    dataset, splits, observed, _ = make_study(3)
    halves = make_fits(dataset, splits.subsamples, 5)
    lists = selections(halves, len(dataset.genes))[0 :: len(MU)]
    for order in (np.arange(len(halves)), np.arange(len(halves))[::-1]):
        table = stability_table(splits, observed, halves.take(order), len(dataset.genes))
        rows = table.set_index(["source", "mu"])[["stability", "low", "high"]]
        assert tuple(rows.loc["half_subsamples", MU[0]]) == tuple(
            vars(pair_stability(lists, splits.seed)).values()
        )
    every = selections(observed, len(dataset.genes))[0 :: len(MU)]
    assert tuple(rows.loc["outer_splits", MU[0]]) == tuple(vars(stability(every)).values())


def test_regression_has_no_rejection_region():
    assert len(gathered(make_study(0, task="regression"))["rejection"]) == 0


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_controls_stand_side_by_side_and_survive_their_file(task, tmp_path):
    dataset, splits, observed, _ = make_study(0, task=task)
    permuted = make_fits(dataset, splits.outer, 3, permutations=range(1, 20))
    null, _ = null_study(dataset, splits, [observed], [permuted])
    baselines = run_baselines(dataset, splits, folds=STEPS, baselines=["ridge", "dummy"])
    table = controls_table(dataset, splits, [observed], null, [baselines])
    assert table.columns.tolist() == COLUMNS
    assert table["model"].tolist() == ["genesig"] * 3 + ["ridge", "dummy"]
    assert (table["p_value"].iloc[:3] * 20).tolist() == pytest.approx(
        [1 + np.sum(null["error"][:, at] <= table["error"][at]) for at in range(3)]
    )
    assert table["p_value"].iloc[3:].isna().all()
    save_tables({"b": tmp_path / "b.tsv"}, {"b": baselines})
    again = load_table(tmp_path / "b.tsv", ("model", "split", "sample"))
    pd.testing.assert_frame_equal(
        table, controls_table(dataset, splits, [observed], null, [again]), rtol=1e-8
    )


def test_the_dummy_is_at_chance():
    dataset, splits, observed, _ = make_study(0)
    null, _ = null_study(dataset, splits, [observed], [])
    baselines = run_baselines(dataset, splits, folds=STEPS, baselines=["dummy"])
    row = controls_table(dataset, splits, [observed], null, [baselines]).iloc[-1]
    assert (row["error"], row["auc"]) == (0.5, 0.5)
    assert row["low"] < 0.5 < row["high"]


def test_without_baselines_genesig_stands_alone():
    dataset, splits, observed, _ = make_study(0)
    null, _ = null_study(dataset, splits, [observed], [])
    baselines = run_baselines(dataset, splits, folds=STEPS, baselines=[])
    table = controls_table(dataset, splits, [observed], null, [baselines])
    assert table["model"].tolist() == ["genesig"] * 3
