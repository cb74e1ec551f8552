"""The benchmark scripts: their formulas, and that their commands run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import answers_rivals
import numpy as np
import pandas as pd
import pytest
import results_tables
import rivals
import selections
import yaml
from answers_data import OTHER_SOURCES, PUBLISHED, Plan, Source, read_study, simulate_source
from answers_goals import complete_rows, summary
from answers_rivals import BALANCED_L1, EXACT, RIVALS, smallest_C
from answers_runs import (
    VARIANTS,
    answer_fits,
    config_of_variant,
    methods_of_same_fits,
    run_method,
    run_together,
)
from answers_seeds import final_lists, jaccard
from answers_table import HEADLINE, agreement, paired_error, scores_of_record
from by_glmnet import is_glmnet_installed, number_folds, positive_times
from cell import brier
from ensemble_members import diagonal_lda
from fdr_selected_nested import config_of, draw_study, nested_null_tails
from leave_one_out import count_correct, leave_one_out_splits
from linear_loops import study_half_samples
from places import ROOT, SHARED
from questions import REAL, SIMULATED
from results_figures import critical_difference, join_ranks, pareto_front
from rivals import NOT_ODDS, SELECTORS, log_odds, one_vs_rest
from rivals import RIVALS as KINDS
from scipy.special import expit, log_softmax, softmax
from selections import (
    N_HALVES,
    gaussian_copies,
    interpolate_weights,
    knockoffs,
    shrinkage,
    stabl,
)
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.linear_model import Lasso, LogisticRegression, lars_path
from sklearn.neighbors import NearestCentroid
from study import splits_of
from study_data import study_of as kind_study
from survival_models import measure_simulation
from unlike_members import MODELS, measure_models, table

from genesig.selection.assess.assessment import compare_errors
from genesig.selection.assess.clusters import predict_class
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.linear.training_sets import LinearSettings, linear_keywords

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    name = simulate_source(tmp_path_factory.mktemp("simulated"))
    return read_study(Source.from_text(name), Plan(folds=3, repeats=2, inner_folds=3, pairs=2))


def quick(folder):
    command = [sys.executable, str(ROOT / "benchmarks/answers.py"), "--quick", "--out", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_command_prints_every_method_and_resumes_from_its_results(tmp_path):
    first_output = quick(tmp_path)
    rows = pd.read_csv(tmp_path / "answers.tsv", sep="\t")
    assert rows["method"].tolist() == [*VARIANTS, *RIVALS]
    assert rows["error"].between(0, 1).all()
    assert "reached" in first_output.stdout
    assert "simulated, ridge" in first_output.stderr
    second_output = quick(tmp_path)
    assert (second_output.stdout, second_output.stderr) == (first_output.stdout, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", ["accuracy/omics", "accuracy/gene_set_lists", "robustness/spoiled_files"]
)
def test_script_that_uses_test_materials_is_imported_alone(script):
    path = ROOT / "benchmarks" / script
    subprocess.run([sys.executable, "-c", f"import {path.name}"], cwd=path.parent, check=True)


@pytest.mark.slow
def test_the_other_rules_are_measured_on_any_data(tmp_path):
    script = ROOT / "benchmarks/answers_alternatives.py"
    command = [sys.executable, str(script), "--seeds", "1", simulate_source(tmp_path)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = ["inner folds", "half pairs", "weights"]
    rows = [
        [float(x) for x in re.findall(rf"^{name} +(.*)", output, re.M)[0].split()] for name in names
    ]
    for seconds, *errors, stability, genes in rows:
        assert min(seconds, stability) > 0
        assert max(errors) < 0.3  # ten genes of 200 tell the classes apart
        assert stability <= 1 <= genes


def test_agreement_by_its_formula():
    rng = np.random.default_rng(0)
    z = rng.random((6, 50)) < 0.3
    p = z.mean()
    expected = 1 - np.mean(z[::2] != z[1::2]) / 2 / (p * (1 - p))
    lists = [np.flatnonzero(row).tolist() for row in z]
    assert agreement(lists, 50)[0] == pytest.approx(expected)


def test_agreement_of_equal_random_and_no_lists():
    rng = np.random.default_rng(0)
    assert agreement([[1, 2], [1, 2], [3, 4], [3, 4]], 10) == (1, 0)
    random = [rng.choice(100, 10, replace=False).tolist() for _ in range(2000)]
    value, error = agreement(random, 100)
    assert abs(value) < 3 * error < 0.03
    assert np.isnan(agreement([[], [], [], []], 10)[0])


def test_the_two_answers_come_of_the_same_fits(study):
    assert methods_of_same_fits("FDR-selected genes") == ["genesig", "FDR-selected genes"]
    assert methods_of_same_fits("stable") == ["stable"]
    assert methods_of_same_fits("ridge") == ["ridge"]
    both_answers = run_together(methods_of_same_fits("genesig"), study)
    alone = run_method("FDR-selected genes", study)
    assert both_answers["FDR-selected genes"].score == alone.score
    assert both_answers["FDR-selected genes"].half_lists == alone.half_lists
    assert both_answers["genesig"].score != alone.score
    assert len(alone.half_lists) == len(study.halves.outer) == 4
    assert min(map(len, alone.lists)) >= config_of_variant("genesig")["signature"]["least"]


def test_the_list_alone_needs_no_chance(study):
    config = config_of_variant("stable")
    assert config["signature"]["permutations"] == 0
    assert config["linear"]["model"] == "two_stage"
    record = run_method("stable", study)
    assert len(record.half_lists) == 4


def test_lists_of_seeds_are_as_alike_as_their_jaccard_index():
    assert jaccard([[1, 2], [1, 2]]) == 1
    assert jaccard([[1, 2, 3], [2, 3, 4], []]) == pytest.approx((0.5 + 0 + 0) / 3)
    assert jaccard([[], []]) == 1


def test_final_lists_equal_those_of_a_study(study):
    lists = final_lists(study.dataset, study.splits)
    assert set(lists) == {"fdr_selected", "model", "stable"}
    fdr_selected = lists["fdr_selected"]
    model = lists["model"]
    assert fdr_selected in ([], model[: len(fdr_selected)])  # the most frequent first
    assert {"g0", "g1", "g2"} & set(model)
    assert len(model) >= 5


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("name", "shape", "smaller"),
    [
        ("khan", (43, 2308), 20),
        ("sorlie", (47, 456), 15),
        ("rosenwald_group", (60, 1648), 23),
        pytest.param("GSE55457", (23, 22238), 10, marks=pytest.mark.slow),  # without 45 spike-ins
        ("ALL_AML", (48, 9020), 24),
    ],
)
def test_the_others_are_read_as_two_classes_without_missing_values(name, shape, smaller):
    dataset = Source.from_text(name).read()
    assert dataset.X.shape == shape
    assert np.isfinite(dataset.X).all()
    assert np.unique(dataset.response(), return_counts=True)[1].min() == smaller


def test_benchmark_has_fifteen_sources():
    sources = [Source.from_text(name) for name in PUBLISHED | OTHER_SOURCES]
    assert len({source.name for source in sources}) == 15


def test_difference_over_samples_equals_the_report(study):
    ridge_calls, genesig_calls = (
        scores_of_record(study, run_method(method, study)) for method in ("ridge", "genesig")
    )
    centre, low, high = paired_error(ridge_calls, genesig_calls)
    _, _, expected, widest, widest_high = compare_errors(ridge_calls, genesig_calls, 0, HEADLINE)
    assert centre == pytest.approx(expected)
    assert widest - 1e-9 <= low < centre < high <= widest_high + 1e-9


def test_cut_equals_that_of_the_predictions(study):
    fits = answer_fits(study.dataset, study.splits, config_of_variant("genesig")).with_chosen()
    predictions = predictions_table(study.dataset, study.splits, fits)
    predictions = predictions[predictions["mu"].isna()]
    calls = scores_of_record(study, run_method("genesig", study))
    assert HEADLINE.loss(calls)[:, 0].tolist() == predictions["wrong"].tolist()


def test_first_gene_enters_at_its_stated_level(study):
    Z = study.dataset.X
    y = study.dataset.response()
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    sizes = [
        np.count_nonzero(
            LogisticRegression(C=share * smallest_C(Z, y), **EXACT, **BALANCED_L1).fit(Z, y).coef_
        )
        for share in (0.999, 1.001)
    ]
    assert sizes == [0, 1]


@pytest.mark.parametrize(
    "rival",
    [
        "l1 logistic",
        pytest.param("random forest", marks=pytest.mark.slow),
        pytest.param("stability selection", marks=pytest.mark.slow),
    ],
)
def test_randomised_rival_gives_the_same_result_twice(study, rival):
    first_result = run_method(rival, study)
    second_result = run_method(rival, study)
    assert (first_result.score, first_result.lists, first_result.half_lists) == (
        second_result.score,
        second_result.lists,
        second_result.half_lists,
    )


def test_goals_equal_those_by_hand():
    rows = pd.DataFrame(
        [
            ("golub", "genesig", 0.1, 30, 0.2),
            ("golub", "FDR-selected genes", 0.12, 12, 0.4),
            ("golub", "stable", 0.15, 30, 0.2),
            ("golub", "l1 logistic", 0.2, 40, 0.1),
            ("golub", "ridge", 0.1, 99, np.nan),
            ("west", "genesig", 0.2, 10, 0.1),
            ("west", "FDR-selected genes", 0.22, 4, 0.2),
            ("west", "stable", 0.21, 8, 0.2),
            ("west", "l1 logistic", 0.2, 20, 0.1),
            ("west", "ridge", 0.21, 99, np.nan),
        ],
        columns=["data", "method", "error", "genes", "stability"],
    )
    rows["auc"] = 1 - rows["error"]
    summary_text = "\n".join(summary(rows))
    assert "ridge: error 0.155 (+0.005 ± 0.010, smaller on 0 of 2), AUC 0.845\n" in summary_text
    assert "0.150 against 0.180 (-0.030 ± 0.040, smaller on 2 of 2): reached" in summary_text
    assert "ridge (the best single rival) - 0.01: 0.150 against 0.155" in summary_text
    assert summary_text.count("not reached") == 1
    assert "8 against 19 (means 8.0, 19.0): reached" in summary_text
    assert "1.4 x that of stable: 0.300 against 0.200, 1.50 x: reached" in summary_text
    assert "3 x that of l1 logistic: 0.300 against 0.100, 3.00 x: reached" in summary_text
    assert "Loss with FDR-selected genes only: +0.020 ± 0.000, smaller on 0 of 2" in summary_text


def test_always_empty_lists_have_no_agreement():
    rows = pd.DataFrame({"method": ["a", "a", "svm"], "stability": [0.5, np.nan, np.nan]})
    assert complete_rows(rows)["stability"].tolist()[:2] == [0.5, 0]
    assert np.isnan(complete_rows(rows)["stability"].iloc[2])


def test_each_sample_is_left_out_once_and_called_by_the_sign_of_its_score(monkeypatch):
    dataset = kind_study("classification", 0, n=12, d=8, signal=1.0)
    study = leave_one_out_splits(dataset)
    signs = dataset.response() * np.where(np.arange(12) < 9, 1, -1)
    assert [outer_split.test for outer_split in study.splits.outer] == [
        (name,) for name in dataset.samples
    ]

    def nine_right(rival, dataset, split, seed):
        return signs[dataset.rows(split.test)], [0]

    monkeypatch.setattr("answers_runs.run_on_split", nine_right)
    assert count_correct(study, ("ridge",)) == {"ridge": 9}


def test_times_of_zero_keep_their_place_for_glmnet():
    y = np.array([(0.0, 1), (2.0, 0), (0.0, 0), (0.5, 1)], [("time", float), ("event", float)])
    assert positive_times(y).tolist() == [[0.25, 1], [2, 0], [0.25, 0], [0.5, 1]]


def test_unknown_data_set_is_refused_in_one_line():
    with pytest.raises(SystemExit, match="nowhere: neither name=matrix,samples,label nor one of"):
        Source.from_text("nowhere")


@pytest.mark.parametrize("design", [{}, {"group": "patient"}])
def test_the_nested_chance_sees_nothing_of_the_test_samples(design):
    """The one that serves all training sets sees their expression, without their labels."""
    dataset = draw_study(40, 0.5, 1, **design)
    config = config_of(dataset, 1)
    config["signature"]["permutations"] = 5
    splits = splits_of(dataset, config)
    split = splits.outer[0]
    folds = config["normalise"]["folds"]
    changed = dataset.X.copy()
    changed[dataset.rows(split.test)] = np.random.default_rng(0).normal(size=(len(split.test), 1))
    nested = []
    scores = []
    for study_data in (dataset, replace(dataset, X=changed)):
        nested.append(
            nested_null_tails(
                study_data, splits, split, config, LinearSettings(**linear_keywords(config))
            )
        )
        scores.append(
            study_half_samples(
                study_data, splits, permutations=5, fold_steps=folds, **linear_keywords(config)
            )
        )
    np.testing.assert_array_equal(nested[0].outer, nested[1].outer)
    np.testing.assert_array_equal(nested[0].inner, nested[1].inner)
    assert (scores[0].outer != scores[1].outer).any()
    assert len(nested[0].outer) == scores[0].outer.shape[1]


WORKFLOW = [sys.executable, "-m", "snakemake", "-s", "benchmarks/Snakefile", "--cores", "1"]


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def plan_benchmark(*options):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.run(
        [*WORKFLOW, *options],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_the_benchmark_has_a_job_for_each_data_set_group_and_repeat(tmp_path):
    config = yaml.safe_load((ROOT / "benchmarks/config.yaml").read_text())
    names = {
        name: kind for kind, names_of_kind in config["questions"].items() for name in names_of_kind
    }
    assert set(names) == {*REAL, *SIMULATED}
    assert len(REAL) >= 20
    groups = sum(len(config["groups"][kind]) for kind in names.values())
    plan = plan_benchmark("-n", "--config", f"out={tmp_path}", "data=nowhere", "repeats=2")
    assert int(re.findall(r"^cell +(\d+)$", plan, re.M)[0]) == 2 * groups


def test_single_benchmark_job_writes_its_tables(tmp_path):
    cell = f"{tmp_path}/cells/simulated_plain.selections.0.jsonl"
    plan_benchmark(
        "--config", f"out={tmp_path}", "data=nowhere", "folds=2", "--quiet", "all", "--", cell
    )
    results_tables.main(tmp_path / "cells", tmp_path)
    header = (tmp_path / "answers.tsv").read_text().splitlines()[0]
    assert header.startswith("# 0 real and 1 simulated data sets, repeats=1 folds=2 pairs=3, ")
    rows = pd.read_csv(tmp_path / "answers.tsv", sep="\t", comment="#")
    assert rows["method"].tolist() == [*SELECTORS]
    assert rows["error"].between(0, 1).all()
    assert rows["genes"].between(0, 100).all()
    assert rows["seconds"].gt(0).all()
    assert rows["memory_mb"].gt(50).all()
    means = pd.read_csv(tmp_path / "methods.tsv", sep="\t", comment="#")
    assert means["sets"].tolist() == [1] * len(SELECTORS)


def test_means_count_an_empty_list_as_no_agreement_and_rank_complete_methods():
    rows = pd.DataFrame(
        [
            ("a", "l1", 0.2, 3, np.nan),
            ("a", "Stabl", 0.1, 0, 0.5),
            ("a", "boosting", 0.3, np.nan, np.nan),
            ("b", "l1", 0.2, 5, 0.4),
            ("b", "Stabl", 0.4, 2, 0.1),
        ],
        columns=["data", "method", "error", "genes", "stability"],
    ).assign(kind="classification", repeat=0, memory_mb=1.0)
    for name in ("auc", "brier", "slope", "false_genes", "true_genes", "seconds"):
        rows[name] = np.nan
    means = results_tables.means(rows).set_index("method")
    assert means.loc["l1", "stability"] == pytest.approx(0.2)
    assert np.isnan(means.loc["boosting", "stability"])
    assert means["rank"].dropna().to_dict() == {"l1": 1.5, "Stabl": 1.5}
    assert means.loc["l1", ["best", "sets", "genes"]].tolist() == [1, 2, 4]


def test_seconds_shared_by_both_answers_are_counted_once():
    """They come of the same fits, and each has the seconds of these."""
    rows = pd.DataFrame(
        {"method": ["genesig", "FDR-selected genes", "l1"], "seconds": [3600.0] * 3}
    )
    rows = rows.assign(data="golub", repeat=0, folds=5, pairs=1)
    assert results_tables.summary_text(rows).endswith(
        " 3 methods, 2.0 h of processor in outer splits"
    )


def test_rivals_of_every_kind_predict_and_choose(monkeypatch):
    monkeypatch.setattr(rivals, "N_TREES", 20)
    monkeypatch.setattr(rivals, "N_BOOSTING_ROUNDS", 2)
    inner = [(np.arange(k, 40, 2), np.arange(1 - k, 40, 2)) for k in range(2)]
    for kind, methods in KINDS.items():
        dataset = kind_study(kind, 0, n=60, d=16, signal=1.0)
        Z = standardised(dataset.X)
        y = dataset.response()
        T = len(dataset.design.classes or ())
        for name, rival in methods.items():
            if "glmnet" in name and not is_glmnet_installed():
                continue
            scores, genes = rival(Z[:40], y[:40], Z[40:], inner, 0)
            assert scores.shape == ((20, T) if T > 2 else (20,)), (kind, name)
            assert np.isfinite(scores).all()
            assert (genes is None) == (name == "boosting")


def unshrunk(*_, **__):
    """Return centroids in the place of a search among thresholds."""
    model = NearestCentroid()
    model.best_estimator_ = model
    return model


def test_scores_of_classes_are_log_odds(monkeypatch):
    """Normal classes of known log odds: the sum of z of two, and of three around `axes`."""
    rng = np.random.default_rng(0)
    inner = [(np.arange(2000), np.arange(2000, 4000))]
    y = np.where(np.arange(4000) % 2, 1.0, -1.0)
    number = np.arange(4000) % 3
    Z = rng.standard_normal((4000, 5)) + 0.5 * y[:, None]
    A = rng.standard_normal((4000, 5)) + np.eye(3, 5)[number]
    two = KINDS["classification"]
    several = KINDS["several_classes"]
    for name in ("l1", "t-test + LDA", "shrunken centroids"):
        if name == "shrunken centroids":
            for module in (answers_rivals, rivals):
                monkeypatch.setattr(module, "GridSearchCV", unshrunk)
        slope = np.polyfit(Z.sum(axis=1), two[name](Z, y, Z, inner, 0)[0], 1)[0]
        assert slope == pytest.approx(1, abs=0.1), name
        probabilities = expit(several[name](A, number, A, inner, 0)[0])
        assert np.abs(probabilities - softmax(A[:, :3], axis=1)).mean() < 0.04, name


def test_log_odds_ignore_a_common_shift_of_all_classes():
    """What a sample adds to all its columns says nothing, and probabilities add up to 1."""
    rng = np.random.default_rng(0)
    f = rng.standard_normal((30, 4))
    probabilities = [
        log_odds(lambda *_, class_scores=f + shift: (class_scores, None))(
            None, np.arange(4), None, [], 0
        )[0]
        for shift in (0, 9 * rng.standard_normal((30, 1)))
    ]
    np.testing.assert_allclose(probabilities[0], probabilities[1], rtol=1e-6)
    np.testing.assert_allclose(expit(probabilities[0]), softmax(f, axis=1), rtol=1e-6)
    inner = [(np.arange(k, 40, 2), np.arange(1 - k, 40, 2)) for k in range(2)]
    dataset = kind_study("several_classes", 0, n=60, d=16, signal=1.0)
    Z = standardised(dataset.X)
    y = dataset.response()
    for name, rival in KINDS["several_classes"].items():
        if name not in NOT_ODDS and (is_glmnet_installed() or "glmnet" not in name):
            scores, _ = rival(Z[:40], y[:40], Z[40:], inner, 0)
            np.testing.assert_allclose(expit(scores).sum(axis=1), 1, err_msg=name)


def test_each_class_against_all_others_gives_the_probabilities_of_all():
    share = log_softmax(np.random.default_rng(0).standard_normal((30, 4)), axis=1)

    def exact(Z, y, Z_test, inner, seed):
        c = int(np.flatnonzero(y > 0)[0])
        other_classes = np.log(np.delete(np.exp(share), c, axis=1).mean(axis=1))
        return share[:, c] - other_classes, np.array([c])

    log_odds_found, genes = log_odds(one_vs_rest(exact))(None, np.arange(4), None, [], 0)
    np.testing.assert_allclose(expit(log_odds_found), np.exp(share), rtol=1e-6)
    assert genes.tolist() == [0, 1, 2, 3]


def test_a_rival_without_genes_calls_the_more_frequent_class():
    """A score of 0 is wrong for either class: as if chance erred always, not half the time."""
    inner = [(np.arange(20), np.arange(20, 30))]  # where what the gene says is turned around
    for side in (1.0, -1.0):
        y = side * np.where(np.arange(30) % 3, 1.0, -1.0)
        Z = (y * np.where(np.arange(30) < 20, 1.0, -1.0))[:, None]
        scores, genes = RIVALS["l1 logistic"](Z, y, Z[:4], inner, 0)
        assert len(genes) == 0
        assert np.sign(scores).tolist() == [side] * 4
        assert expit(scores) == pytest.approx(0.5)

    def nothing(Z, y, Z_test, inner, seed):
        return np.zeros(len(Z_test)), np.zeros(0, dtype=np.int64)

    scores, genes = log_odds(one_vs_rest(nothing))(Z, np.arange(30) % 7 // 3, Z[:4], inner, 0)
    assert len(genes) == 0
    assert predict_class(scores).tolist() == [0] * 4
    np.testing.assert_allclose(expit(scores), 1 / 3, rtol=1e-6)


def test_two_folds_become_three_with_the_classes_of_the_first():
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    fold = number_folds([(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))], y)
    assert [sorted(set(y[fold == k])) for k in np.unique(fold)] == [[-1, 1]] * 3
    assert np.bincount(fold.astype(int)).tolist() == [0, 10, 20, 10]
    three = [(np.setdiff1d(np.arange(9), part), part) for part in np.arange(9).reshape(3, 3)]
    assert number_folds(three, np.ones(9)).tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_stabl_finds_mostly_true_genes():
    false = []
    true = []
    for seed in range(3):
        dataset, genes = SIMULATED["simulated_plain"](seed)
        selected = stabl(standardised(dataset.X), dataset.response(), seed)
        true.append(len(np.intersect1d(selected, genes)))
        false.append(len(np.setdiff1d(selected, genes)))
    assert np.mean(true) >= 6
    assert np.mean(false) <= 1.5


def test_stabl_selects_nothing_if_the_least_rate_is_not_below_one(monkeypatch):
    lists = [(np.array([1.0, 0.1]), np.array([[0.0, 0], [0, 0], [0, 1], [0, 1]]))] * N_HALVES
    monkeypatch.setattr(selections, "lasso_lists", lambda *_: lists)
    assert stabl(np.zeros((3, 2)), np.zeros(3), 0).tolist() == []


def test_weights_between_knots_equal_the_lasso():
    Z = standardised(np.random.default_rng(1).standard_normal((30, 50)))
    r = Z[:, 0] + 0.5 * np.random.default_rng(2).standard_normal(30)
    r -= r.mean()
    levels, _, weights = lars_path(Z, r, method="lasso")
    levels_asked = levels[0] * np.array([0.9, 0.4, 0.1])
    weights_found = interpolate_weights(levels, weights, levels_asked)
    for at, level in enumerate(levels_asked):
        lasso = Lasso(alpha=level, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(Z, r)
        np.testing.assert_allclose(weights_found[:, at], lasso.coef_, atol=1e-6)


def test_shrinkage_equals_ledoit_wolf():
    Z = standardised(
        np.random.default_rng(0).standard_normal((20, 60)) @ np.diag(np.arange(60) + 1)
    )
    assert shrinkage(Z) == pytest.approx(ledoit_wolf_shrinkage(Z, assume_centered=True))


@pytest.mark.parametrize("d", [8, 200])
def test_knockoff_copies_follow_their_formula(d):
    """With Z held fixed: mean Z - s Z Σ⁻¹ and covariance 2 s I - s² Σ⁻¹, from d x d matrices."""
    rng = np.random.default_rng(3)
    Z = standardised(rng.standard_normal((40, d)) + rng.standard_normal((40, 1)))
    gamma = shrinkage(Z)
    Sigma = (1 - gamma) * Z.T @ Z / 40 + gamma * np.eye(d)
    s = min(1.0, 2 * np.linalg.eigvalsh(Sigma)[0])
    inverse = np.linalg.inv(Sigma)
    copies = np.array([gaussian_copies(Z, rng) for _ in range(400)])
    residual = copies - (Z - s * Z @ inverse)
    assert np.abs(residual.mean(axis=0)).max() < 0.35  # standard error at most .07, 8000 of them
    covariance = np.tensordot(residual, residual, axes=([0, 1], [0, 1])) / 400 / 40
    np.testing.assert_allclose(covariance, 2 * s * np.eye(d) - s**2 * inverse, atol=0.06)


def test_knockoffs_find_twenty_strong_genes_and_none_in_noise():
    rng = np.random.default_rng(99)
    Z = standardised(rng.standard_normal((150, 300)))
    selected = knockoffs(Z, Z[:, :20].sum(axis=1) + rng.standard_normal(150), 0)
    assert len(np.intersect1d(selected, np.arange(20))) >= 18
    assert len(selected) <= 24
    assert len(knockoffs(Z, rng.standard_normal(150), 0)) == 0


def test_brier_score_by_hand():
    y = np.array([1.0, 1, -1])
    forecast = np.array([[0.2, 0.8], [0.4, 0.6], [1.0, 0.0]])
    assert brier(y, forecast) == pytest.approx((2 * (0.04 + 0.16) / 2 + 0) / 2)


def test_critical_difference_equals_demsar():
    """His example: 4 classifiers on 14 data sets, 5 %: q = 2.569, CD = 1.25."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert join_ranks([1.0, 1.5, 2.0, 4.0], 1.0) == [(1.0, 2.0)]


def test_the_front_of_error_and_length():
    genes = pd.Series({"a": 5, "b": 10, "c": 7, "d": 100})
    error = pd.Series({"a": 0.2, "b": 0.1, "c": 0.3, "d": 0.1})
    assert pareto_front(genes, error) == ["a", "b"]


def test_survival_models_are_compared_on_new_samples():
    row = measure_simulation(3, 1.5, n_sets=2)
    assert 0.55 < row["two-stage"] < 0.95
    assert 0.55 < row["average"] < 0.95
    difference = row["average"] - row["two-stage"]
    assert row["average - two-stage"] == pytest.approx(difference)
    assert row["average low"] <= difference <= row["average high"]


def test_unlike_members_are_compared_on_held_out_samples(study):
    measures = measure_models(study.dataset, study.splits)
    assert list(measures["error"]) == list(MODELS)
    assert max(measures["error"].values()) < 0.3  # ten genes of 200 tell the classes apart
    assert min(measures["AUC"].values()) > 0.8
    seconds = measures["seconds"]
    assert seconds["unlike"] > seconds["two-stage"] > 0
    assert seconds["five"] > seconds["ensemble"] > 0


def test_table_of_unlike_members_has_paired_differences():
    values = pd.DataFrame([[0.25, 0.5, 0.125, 0], [0.5, 0.25, 0.5, 0]], columns=MODELS)
    errors = values.to_dict("records")
    rows = pd.DataFrame({"group": "noise", "error": errors, "AUC": errors})
    _, error_row, _ = table(rows)
    means = ["0.375", "0.375", "0.312", "0.000"]
    differences = [
        "+0.000 ± 0.500 (1, 1)",
        "−0.062 ± 0.125 (1, 0)",
        "−0.062 ± 0.625 (1, 1)",
        "−0.375 ± 0.250 (2, 0)",
    ]
    assert error_row == ["error, noise (2)", *means, *differences]


def test_diagonal_lda_weighs_genes_by_mean_difference_over_variance():
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 20)
    X = rng.normal(size=(40, 3)) * [1, 2, 5] + 0.5 * y[:, None]
    negative = X[y < 0]
    positive = X[y > 0]
    weights = (positive.mean(0) - negative.mean(0)) / (negative.var(0) + positive.var(0))
    scores = diagonal_lda(X, y, X)[0]
    assert np.corrcoef(scores, X @ weights)[0, 1] == pytest.approx(1)
