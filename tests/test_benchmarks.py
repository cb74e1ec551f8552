"""The measure of success is itself measured: its formulas, and that its command runs."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from places import ROOT, SHARED, TESTS

sys.path.insert(0, str(TESTS / "benchmarks"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from answers_data import OTHERS, PUBLISHED, Plan, Source, simulated, study_of
from answers_goals import agreed, summary
from answers_rivals import BALANCED_L1, EXACT, RIVALS, first_gene
from answers_runs import VARIANTS, answered, asked, run, run_together, together
from answers_seeds import final_lists, jaccard
from answers_table import HEADLINE, agreement, apart, decided
from named_nested import config_of, draw, nested_chance
from sklearn.linear_model import LogisticRegression
from study import splits_of

from genesig.selection.assess.assessment import difference
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.linear.chance import chance_study
from genesig.selection.linear.protocol import Protocol, keywords


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    name = simulated(tmp_path_factory.mktemp("simulated"))
    return study_of(Source.of(name), Plan(folds=3, repeats=2, inner_folds=3, pairs=2))


def quick(folder):
    command = [sys.executable, str(ROOT / "benchmarks/answers.py"), "--quick", "--out", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_the_command_prints_every_method_and_goes_on_from_what_it_kept(tmp_path):
    first = quick(tmp_path)
    rows = pd.read_csv(tmp_path / "answers.tsv", sep="\t")
    assert rows["method"].tolist() == [*VARIANTS, *RIVALS]
    assert rows["error"].between(0, 1).all()
    assert "reached" in first.stdout
    assert "simulated, ridge" in first.stderr
    again = quick(tmp_path)
    assert (again.stdout, again.stderr) == (first.stdout, "")


@pytest.mark.slow
def test_the_other_rules_are_measured_on_any_data(tmp_path):
    script = ROOT / "benchmarks/answers_alternatives.py"
    command = [sys.executable, str(script), "--seeds", "1", simulated(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = ["inner folds", "half pairs", "weights"]
    rows = [[float(x) for x in re.findall(rf"^{name} +(.*)", told, re.M)[0].split()]
            for name in names]  # fmt: skip
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
    assert together("named genes") == ["genesig", "named genes"]
    assert together("stable") == ["stable"]
    assert together("ridge") == ["ridge"]
    both = run_together(together("genesig"), study)
    alone = run("named genes", study)
    assert both["named genes"].score == alone.score
    assert both["named genes"].again == alone.again
    assert both["genesig"].score != alone.score
    assert len(alone.again) == len(study.halves.outer) == 4
    assert min(map(len, alone.lists)) >= asked("genesig")["signature"]["least"]


def test_the_list_alone_needs_no_chance(study):
    config = asked("stable")
    assert config["signature"]["permutations"] == 0
    assert config["linear"]["model"] == "two_stage"
    record = run("stable", study)
    assert len(record.again) == 4


def test_lists_of_seeds_are_as_alike_as_their_jaccard_index():
    assert jaccard([[1, 2], [1, 2]]) == 1
    assert jaccard([[1, 2, 3], [2, 3, 4], []]) == pytest.approx((0.5 + 0 + 0) / 3)
    assert jaccard([[], []]) == 1


def test_final_lists_are_those_of_a_study(study):
    lists = final_lists(study.dataset, study.splits)
    assert set(lists) == {"named", "model", "stable"}
    named, model = lists["named"], lists["model"]
    assert named in ([], model[: len(named)])  # the most frequent first
    assert {"g0", "g1", "g2"} & set(model)
    assert len(model) >= 5


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("name", "shape", "smaller"),
    [
        ("khan", (43, 2308), 20),
        ("sorlie", (47, 456), 15),
        ("rosenwald_group", (60, 1648), 23),
        pytest.param("GSE55457", (23, 22283), 10, marks=pytest.mark.slow),
        ("ALL_AML", (48, 9020), 24),
    ],
)
def test_the_others_are_read_as_two_classes_without_missing_values(name, shape, smaller):
    dataset = Source.of(name).read()
    assert dataset.X.shape == shape
    assert np.isfinite(dataset.X).all()
    assert np.unique(dataset.response(), return_counts=True)[1].min() == smaller


def test_there_are_fifteen():
    sources = [Source.of(name) for name in PUBLISHED | OTHERS]
    assert len({source.name for source in sources}) == 15


def test_the_difference_is_that_of_the_report_over_samples(study):
    one, other = (decided(study, run(method, study)) for method in ("ridge", "genesig"))
    centre, low, high = apart(one, other)
    _, _, expected, widest, widest_high = difference(one, other, 0, HEADLINE)
    assert centre == pytest.approx(expected)
    assert widest - 1e-9 <= low < centre < high <= widest_high + 1e-9


def test_the_cut_is_that_of_the_predictions(study):
    fits = answered(study.dataset, study.splits, asked("genesig")).with_chosen()
    told = predictions_table(study.dataset, study.splits, fits)
    told = told[told["mu"].isna()]
    found = decided(study, run("genesig", study))
    assert HEADLINE.loss(found)[:, 0].tolist() == told["wrong"].tolist()


def test_the_first_gene_enters_where_it_is_said_to(study):
    Z, y = study.dataset.X, study.dataset.response()
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    sizes = [
        np.count_nonzero(
            LogisticRegression(C=share * first_gene(Z, y), **EXACT, **BALANCED_L1).fit(Z, y).coef_
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
def test_a_rival_with_chance_in_it_gives_the_same_twice(study, rival):
    first, again = run(rival, study), run(rival, study)
    assert (first.score, first.lists, first.again) == (again.score, again.lists, again.again)


def test_goals_by_hand():
    rows = pd.DataFrame(
        [
            ("golub", "genesig", 0.1, 30, 0.2), ("golub", "named genes", 0.12, 12, 0.4),
            ("golub", "stable", 0.15, 30, 0.2), ("golub", "l1 logistic", 0.2, 40, 0.1),
            ("golub", "ridge", 0.1, 99, np.nan),
            ("west", "genesig", 0.2, 10, 0.1), ("west", "named genes", 0.22, 4, 0.2),
            ("west", "stable", 0.21, 8, 0.2), ("west", "l1 logistic", 0.2, 20, 0.1),
            ("west", "ridge", 0.21, 99, np.nan),
        ],
        columns=["data", "method", "error", "genes", "stability"],
    )  # fmt: skip
    rows["auc"] = 1 - rows["error"]
    said = "\n".join(summary(rows))
    assert "ridge: error 0.155 (+0.005 ± 0.010, smaller on 0 of 2), AUC 0.845\n" in said
    assert "0.150 against 0.180 (-0.030 ± 0.040, smaller on 2 of 2): reached" in said
    assert "ridge (the best single rival) - 0.01: 0.150 against 0.155" in said
    assert said.count("not reached") == 1
    assert "8 against 19 (means 8.0, 19.0): reached" in said
    assert "1.4 x that of stable: 0.300 against 0.200, 1.50 x: reached" in said
    assert "3 x that of l1 logistic: 0.300 against 0.100, 3.00 x: reached" in said
    assert "Price of proof, named genes - genesig: +0.020 ± 0.000, smaller on 0 of 2" in said


def test_lists_that_are_always_empty_agree_on_nothing():
    rows = pd.DataFrame({"method": ["a", "a", "svm"], "stability": [0.5, np.nan, np.nan]})
    assert agreed(rows)["stability"].tolist()[:2] == [0.5, 0]
    assert np.isnan(agreed(rows)["stability"].iloc[2])


def test_an_unknown_data_set_is_one_line():
    with pytest.raises(SystemExit, match="nowhere: neither name=matrix,samples,label nor one of"):
        Source.of("nowhere")


@pytest.mark.parametrize("design", [{}, {"group": "patient"}])
def test_the_nested_chance_sees_nothing_of_the_test_samples(design):
    """The one that serves all training sets sees their expression, without their labels."""
    dataset = draw(40, 0.5, 1, **design)
    config = config_of(dataset, 1)
    config["signature"]["permutations"] = 5
    splits = splits_of(dataset, config)
    split, folds = splits.outer[0], config["normalise"]["folds"]
    changed = dataset.X.copy()
    changed[dataset.rows(split.test)] = np.random.default_rng(0).normal(size=(len(split.test), 1))
    nested, one = [], []
    for each in (dataset, replace(dataset, X=changed)):
        nested.append(nested_chance(each, splits, split, config, Protocol(**keywords(config))))
        one.append(chance_study(each, splits, permutations=5, folds=folds, **keywords(config)))
    np.testing.assert_array_equal(nested[0].outer, nested[1].outer)
    np.testing.assert_array_equal(nested[0].inner, nested[1].inner)
    assert (one[0].outer != one[1].outer).any()
    assert len(nested[0].outer) == one[0].outer.shape[1]
