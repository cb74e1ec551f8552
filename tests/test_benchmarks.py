"""The measure of success is itself measured: its formulas, and that its command runs."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from places import ROOT, TESTS

sys.path.insert(0, str(TESTS / "benchmarks"))

from answers_data import Plan, Source, simulated, study_of
from answers_goals import summary
from answers_rivals import BALANCED_L1, EXACT, RIVALS, first_gene
from answers_runs import VARIANTS, asked, run
from answers_table import HEADLINE, agreement, apart, core, decided
from sklearn.linear_model import LogisticRegression
from study import outer_fits

from genesig.selection.assess.difference import difference
from genesig.selection.assess.held_out import predictions_table


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    name = simulated(tmp_path_factory.mktemp("simulated"))
    return study_of(Source.of(name), Plan(folds=3, repeats=2, inner_folds=3, pairs=2))


def quick(folder):
    command = [sys.executable, str(TESTS / "benchmarks/answers.py"), "--quick", "--out", folder]
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
    script = TESTS / "benchmarks/answers_alternatives.py"
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


def test_a_core_gene_is_in_three_of_four_lists():
    assert core([[1, 2, 3], [2, 3], [3, 2], [3, 1]]) == [2, 3]


def test_the_difference_is_that_of_the_report_over_samples(study):
    one, other = (decided(study, run(method, study)) for method in ("ridge", "genesig"))
    centre, low, high = apart(one, other)
    _, _, expected, widest, widest_high = difference(one, other, 0, HEADLINE)
    assert centre == pytest.approx(expected)
    assert widest - 1e-9 <= low < centre < high <= widest_high + 1e-9


def test_the_cut_is_that_of_the_predictions(study):
    fits = outer_fits(study.dataset, study.splits, asked("genesig")).with_chosen()
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
            ("golub", "genesig", 0.1, 12, 6, 0.4), ("golub", "minimal", 0.1, 30, 5, 0.1),
            ("golub", "ridge", 0.2, 99, np.nan, np.nan),
            ("west", "genesig", 0.2, 2, 1, 0.2), ("west", "minimal", 0.2, 2, 1, 0.2),
            ("west", "ridge", 0.05, 99, np.nan, np.nan),
        ],
        columns=["data", "method", "error", "size", "core", "stability_fixed"],
    )  # fmt: skip
    rows["stability"] = rows["stability_fixed"]
    rows["difference"] = [0, 0, 0.1, 0, 0, -0.15]
    rows["low"], rows["high"] = rows["difference"] - 0.3, rows["difference"] + 0.3
    said = "\n".join(summary(rows, ["golub", "west"]))
    assert "ridge: 0.125 (-0.025 ± 0.212)" in said
    assert "(ridge, 0.125): 0.150, not reached" in said
    assert "golub 4.00, west 1.00 (not asked for)" in said
    assert "smallest 4.00, asked 1.4: reached" in said
    assert "1 of 2 data sets, at least 2: not reached" in said


def test_an_unknown_data_set_is_one_line():
    with pytest.raises(SystemExit, match="nowhere: neither name=matrix,samples,label nor one of"):
        Source.of("nowhere")
