"""The result tables have their columns, agree with each other and ignore batches of jobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gathered_study import MU, chance_of, make_fits, make_study

from genesig.results import CrossValidation, load_table, save_tables
from genesig.results.dataset import CHROMOSOME, POSITION
from genesig.results.fits import Answers
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import CONTROL_COLUMNS, controls_table, null_study
from genesig.selection.assess.stability import PairAgreement, list_agreement, stability_table
from genesig.selection.gather import LinearResults, _class_columns, gather
from genesig.selection.genes.export import stretches_table
from genesig.selection.genes.frequency import nested_lists, selection_matrix

STANDARDISING_STEPS = [{"step": "centre"}, {"step": "unit_variance"}]
HEADERS = {
    "signature": "rank gene symbol core cv_frequency weight size block first_mu mean_weight "
    "sign_consistency univariate_p univariate_q",
    "nested_lists": "mu gene symbol cv_frequency mean_weight sign_consistency in_list",
    "blocks": "block layer order gene symbol prototype r first_mu score",
    "scores": "split repeat mu n_train n_test n_genes tau lam misclassification balanced_error "
    "squared_error auc",
    "predictions": "sample label repeat split mu score predicted wrong",
    "stability": "mu source stability than_chance lasso than_lasso n_sets mean_size shared "
    "shared_by_chance",
    "univariate": "gene symbol statistic p_value q_value",
}


NO_HALVES = HalfSampleStudy.none()
CLUSTERS = {"least": 0.2, "warn_above": 0.9, "merge_above": None}


def gathered(study, parts=None, cv_frequency=0.5, chance=NO_HALVES):
    dataset, splits, observed, final = study
    halves = make_fits(dataset, splits.subsamples, 5)
    parts = parts or [observed]
    return gather(
        LinearResults(CrossValidation.from_batches(dataset, splits, parts), final, halves, chance),
        cv_frequency=cv_frequency,
        fdr=0.1,
        clusters=CLUSTERS,
    )


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_headers_are_those_the_report_and_the_users_read(task):
    tables = gathered(make_study(0, task=task))
    last_columns = {"predictions": " probability of ill"} if task == "classification" else {}
    for name, header in HEADERS.items():
        assert " ".join(tables[name].columns) == header + last_columns.get(name, "")


def test_batches_in_any_order_gather_to_the_same_files(tmp_path):
    study = make_study(1)
    order = np.random.default_rng(0).permutation(len(study[2]))
    parts = [study[2].take(order[:3]), study[2].take(order[3:])]
    for place, tables in (("a", gathered(study)), ("b", gathered(study, parts))):
        save_tables({name: tmp_path / place / f"{name}.tsv" for name in tables}, tables)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def choosing(final, mu):
    """Return the final fit with another chosen list."""
    return replace(final, choice=np.array([[0, 0, mu]]))


@pytest.mark.parametrize("at", range(len(MU)))
def test_the_signature_is_the_chosen_list_of_the_final_model(at):
    dataset, splits, observed, final = make_study(6)
    study = dataset, splits, observed, choosing(final, at)
    tables = gathered(study, cv_frequency=0.6)
    signature = tables["signature"].set_index("gene", drop=False)
    weights = {f"g{gene}": value for gene, value in zip(*final.coef(0, at), strict=True)}
    assert len(weights) > 2
    assert signature["weight"].to_dict() == weights
    assert signature["rank"].tolist() == list(range(1, len(weights) + 1))
    for gene, row in signature.iterrows():
        number = int(gene[1:])
        assert row["size"] == pytest.approx(abs(weights[gene]) * dataset.X[:, number].std())
        assert row["first_mu"] == next(
            MU[mu] for mu in range(len(MU)) if number in final.coef(0, mu)[0]
        )
        in_lists = [
            number in observed.coef(fit, observed.choice[fit, 2])[0] for fit in range(len(observed))
        ]
        assert row["cv_frequency"] == pytest.approx(np.mean(in_lists))
        assert row["core"] == (np.mean(in_lists) >= 0.6)
    assert 0 < signature["core"].sum() < len(signature)
    order = list(zip(-signature["cv_frequency"], -signature["size"], strict=True))
    assert order == sorted(order)
    q = tables["univariate"].set_index("gene")["q_value"]
    assert signature["univariate_q"].tolist() == q[signature["gene"]].tolist()


def test_the_signature_names_the_block_of_each_gene():
    study = make_study(6)
    tables = gathered((*study[:3], choosing(study[3], 2)))
    signature = tables["signature"].set_index("gene")["block"]
    blocks = tables["blocks"].set_index("gene")["block"]
    assert blocks.notna().any()
    assert blocks.isna().any()
    assert signature.fillna(0).to_dict() == blocks[signature.index].fillna(0).to_dict()


def test_a_signature_may_have_no_core():
    dataset, splits, observed, final = make_study(0, folds=8, repeats=4)
    tables = gathered((dataset, splits, observed, choosing(final, 2)), cv_frequency=1.0)
    assert len(tables["signature"]) > 0
    assert not tables["signature"]["core"].any()
    assert tables["lists"]["in_list"].iloc[-1] == 0


def test_genes_that_no_outer_split_selects_stand_last():
    dataset, splits, observed, final = make_study(0, folds=2, repeats=1)
    signature = gathered((dataset, splits, observed, choosing(final, 2)))["signature"]
    assert signature["cv_frequency"].eq(0).any()
    assert signature["cv_frequency"].is_monotonic_decreasing


def test_named_genes_stand_first_whether_or_not_they_predict():
    dataset, splits, observed, final = make_study(6)
    model = {f"g{gene}" for gene in final.coef(0, 0)[0]}
    other_gene = next(j for j in range(15) if f"g{j}" not in model)
    model_gene = next(j for j in range(15) if f"g{j}" in model)
    times = np.zeros(15, dtype=int)
    times[[other_gene, model_gene]] = 10, 9
    permuted = np.random.default_rng(0).integers(0, 3, (40, 15))
    study = dataset, splits, observed, choosing(final, 0)
    tables = gathered(study, chance=chance_of(times, permuted))
    signature = tables["signature"]
    evidence = tables["selection"]
    assert " ".join(signature.columns) == HEADERS["signature"].replace(
        "core", "fdr_selected selection_frequency null_frequency selection_p selection_q"
    )
    assert signature["gene"].tolist()[:2] == [f"g{other_gene}", f"g{model_gene}"]
    assert signature["fdr_selected"].tolist() == [True, True] + [False] * (len(signature) - 2)
    assert signature.loc[signature["weight"] == 0, "gene"].tolist() == [f"g{other_gene}"]
    assert set(signature["gene"]) == model | {f"g{other_gene}"}
    assert evidence["selection_frequency"].tolist() == [1.0, 0.9]
    assert (evidence["selection_q"] <= 0.1).all()
    # What no half lists has no evidence, and its q is 1.
    later_rows = signature.iloc[2:]
    assert (
        later_rows[["selection_frequency", "selection_p", "selection_q"]]
        .eq([0.0, 1.0, 1.0])
        .all(axis=None)
    )
    columns = later_rows["gene"].str.removeprefix("g").astype(int)
    np.testing.assert_allclose(later_rows["null_frequency"], permuted.mean(axis=0)[columns] / 10)
    # As many permutations as could tell nothing name nothing.
    few = gathered(study, chance=chance_of(times, permuted[:18]))["signature"]
    assert not few["fdr_selected"].any()
    assert set(few["gene"]) == model


def test_empty_list_gives_no_signature():
    dataset, splits, observed, final = make_study(0)
    none = final.indices[:0]
    empty = replace(final, indptr=final.indptr * 0, indices=none, values=none)
    tables = gathered((dataset, splits, observed, empty))
    assert len(tables["signature"]) == len(tables["blocks"]) == 0
    assert " ".join(tables["signature"].columns) == HEADERS["signature"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_table_has_the_chosen_lists_as_rows_without_a_mu(task):
    """Where all fits choose the same mu, those rows are the rows of that mu."""
    dataset, splits, observed, final = make_study(1, task=task)
    with_same_choice = replace(observed, choice=observed.choice * [1, 1, 0] + [0, 0, 1])
    tables = gathered((dataset, splits, with_same_choice, choosing(final, 1)), cv_frequency=0.4)
    splits_only = tables["stability"]["source"] == "outer_splits"
    tables["stability"] = tables["stability"][splits_only]
    tables["lists"] = tables["lists"].drop(columns=["nested", "nested_in_split"])
    names = ["nested_lists", "lists", "scores", "predictions", "stability"]
    for name in [*names, "rejection"] if task == "classification" else names:
        table = tables[name]
        of_mu, chosen = (
            table[is_row].drop(columns="mu").reset_index(drop=True)
            for is_row in (table["mu"] == MU[1], table["mu"].isna())
        )
        assert len(chosen) > 0
        pd.testing.assert_frame_equal(chosen, of_mu)


def test_no_subsamples_leave_their_stability_empty():
    dataset, splits, observed, final = make_study(0)
    splits = replace(splits, subsamples=())
    none = observed.take(np.arange(0))
    stability = gather(
        LinearResults(CrossValidation(dataset, splits, observed), final, none, NO_HALVES),
        cv_frequency=0.5,
        fdr=0.1,
        clusters=CLUSTERS,
    )["stability"]
    halves = stability["source"] == "half_subsamples"
    assert (stability.loc[halves, "n_sets"] == 0).all()
    assert stability.loc[halves, ["stability", "lasso"]].isna().all(axis=None)
    assert stability.loc[~halves, "stability"].notna().any()


def test_halves_are_compared_in_their_pairs_whatever_the_order_of_the_fits():
    dataset, splits, observed, _ = make_study(3)
    halves = make_fits(dataset, splits.subsamples, 5)
    lists = selection_matrix(halves, len(dataset.genes))[0 :: len(MU)]
    for order in (np.arange(len(halves)), np.arange(len(halves))[::-1]):
        table = stability_table(dataset, splits, observed, halves.take(order))
        stability_of = table.set_index(["source", "mu"])["stability"]
        assert stability_of["half_subsamples", MU[0]] == PairAgreement.from_lists(lists).stability()
    all_lists = selection_matrix(observed, len(dataset.genes))[0 :: len(MU)]
    assert stability_of["outer_splits", MU[0]] == list_agreement(all_lists)


def test_regression_has_no_rejection_region():
    assert len(gathered(make_study(0, task="regression"))["rejection"]) == 0


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_controls_stand_side_by_side_and_survive_their_file(task, tmp_path):
    dataset, splits, observed, _ = make_study(0, task=task)
    permuted = make_fits(dataset, splits.outer, 3, permutations=range(1, 20))
    null, _ = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [permuted])
    baselines = run_baselines(
        dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=["ridge", "dummy"]
    )
    table = controls_table(
        CrossValidation.from_batches(dataset, splits, [observed]), null, [baselines]
    )
    assert table.columns.tolist() == CONTROL_COLUMNS
    assert table["model"].tolist() == ["genesig"] * 4 + ["ridge", "dummy"]
    np.testing.assert_array_equal(table["mu"], [*MU, *[np.nan] * 3])
    assert (table["p_value"].iloc[:4] * 20).tolist() == pytest.approx(
        [1 + np.sum(null["error"][:, at] <= table["error"][at]) for at in range(4)]
    )
    assert table["p_value"].iloc[4:].isna().all()
    save_tables({"b": tmp_path / "b.tsv"}, {"b": baselines})
    reloaded = load_table(tmp_path / "b.tsv", ("model", "split", "sample"))
    pd.testing.assert_frame_equal(
        table,
        controls_table(CrossValidation.from_batches(dataset, splits, [observed]), null, [reloaded]),
        rtol=1e-8,
    )


def test_the_dummy_is_at_chance():
    dataset, splits, observed, _ = make_study(0)
    null, _ = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [])
    baselines = run_baselines(dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=["dummy"])
    row = controls_table(
        CrossValidation.from_batches(dataset, splits, [observed]), null, [baselines]
    ).iloc[-1]
    assert (row["error"], row["auc"]) == (0.5, 0.5)
    assert row["low"] < 0.5 < row["high"]


def test_without_baselines_genesig_stands_alone():
    dataset, splits, observed, _ = make_study(0)
    null, _ = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [])
    baselines = run_baselines(dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=[])
    table = controls_table(
        CrossValidation.from_batches(dataset, splits, [observed]), null, [baselines]
    )
    assert table["model"].tolist() == ["genesig"] * 4


def test_class_of_a_gene_outside_the_model_is_empty():
    dataset = make_study(0)[0]
    dataset = replace(dataset, design=replace(dataset.design, classes=("a", "b", "c")))
    columns = _class_columns(dataset, np.array([[0.0, 0.0, 0.0], [0.1, 0.3, -0.4]]))
    assert columns["class"].tolist() == ["", "b"]


def stretches_of(final):
    """Return stretches.tsv of a study whose genes are neighbours on one chromosome, and its X."""
    dataset, _, observed, _ = make_study(0)
    places = {CHROMOSOME: "1", POSITION: np.arange(len(dataset.genes), dtype=float)}
    dataset = replace(dataset, var=dataset.var.assign(**places))
    nested = nested_lists(dataset, observed.with_chosen(), cv_frequency=0.5)
    return stretches_table(dataset, nested, final), dataset.X


def test_stretches_of_several_classes_contribute_by_the_norm_of_the_weights():
    final = make_study(0)[3]
    several = replace(final, values=np.outer(final.values, [1.0, -0.5, -0.5]))
    table, X = stretches_of(several)
    genes, weights = several.with_chosen().chosen_coef(0)
    sizes = np.linalg.norm(weights, axis=1) * X[:, genes].std(axis=0)
    assert table["contribution"].sum() == pytest.approx(sizes.sum())


def test_stretches_have_the_genes_of_the_predictive_model():
    final = make_study(0)[3]
    predictive_genes = np.setdiff1d(np.arange(15), final.with_chosen().chosen_coef(0)[0])
    weights = np.ones(len(predictive_genes))
    with_answers = replace(
        final,
        answers=Answers(
            indptr=np.array([0, len(weights), len(weights)]),
            indices=predictive_genes,
            values=weights,
            intercept=np.zeros((1, 2)),
            scores=np.zeros((0, 2)),
            controlled=np.array([True]),
        ),
    )
    table, X = stretches_of(with_answers)
    assert table["genes"].sum() == len(predictive_genes)
    assert table["contribution"].sum() == pytest.approx(X[:, predictive_genes].std(axis=0).sum())
