"""Nonlinear selection in a study: toys whose truth is known, and independent referees."""

import numpy as np
import pandas as pd
import pytest
from block_studies import nonlinear_model as final
from block_studies import nonlinear_outer as outer
from block_studies import nonlinear_study as study
from gathered_study import make_fits
from scipy import stats
from sklearn.inspection import partial_dependence

from genesig.models.derivative import DerivativeRegressor
from genesig.results import CrossValidation
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.assessment import compare_errors, study_errors
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.nonlinear.gather import (
    agreement_table,
    gather_nonlinear,
    genes_table,
    method_scores,
)
from genesig.selection.nonlinear.loop import straightness

pytestmark = pytest.mark.slow

HEADLINE = ASSESSMENT_KINDS["classification"].headline
FIVE = {"folds": 5, "inner_folds": 3}


def valley(rng, n=80, d=40):
    """Two classes that no line parts: the first gene is low or high in one, middling in one."""
    X = rng.uniform(-1, 1, (n, d))
    return X, np.where(np.abs(X[:, 0]) > 0.5, 1.0, -1.0)


def error(dataset, splits, fits, model="nonlinear"):
    return study_errors(
        method_scores(dataset, splits, fits)[model], ASSESSMENT_KINDS[dataset.design.kind].headline
    )[0, 0]


def linear_error(dataset, splits):
    from study import outer_fits, settings

    fits = outer_fits(dataset, splits, settings({}))
    return study_errors(
        collect_held_out(dataset, splits, fits), ASSESSMENT_KINDS[dataset.design.kind].headline
    )[0, 0]


def test_nonlinear_selection_finds_a_u_shaped_gene_that_the_linear_misses():
    dataset, splits = study(*valley(np.random.default_rng(0)), **FIVE)
    how = {"genes": 20, "nu": [1e-2], "tau_count": 6}
    fits = outer(dataset, splits, **how)
    often = np.bincount(fits.indices, minlength=40)
    assert often[0] == 5 > 2 * often[1:].max()
    # guessing errs in .5 with sd .056
    assert error(dataset, splits, fits) < 0.2
    assert error(dataset, splits, fits, "fvm") < 0.2
    assert linear_error(dataset, splits) > 0.4
    _, curves = final(dataset, splits, **how)
    gene_curve = curves[curves["gene"] == curves["gene"][0]]
    assert gene_curve["gene"].iloc[0] == "g0"
    assert gene_curve["straight"].iloc[0] < 0.2
    middle = gene_curve["value"].abs() < 0.5
    assert (
        (gene_curve["effect"] > 0)[~middle].mean()
        > 0.8
        > 0.2
        > (gene_curve["effect"] > 0)[middle].mean()
    )


def test_regression_on_a_bowl():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 25))
    y = X[:, 3] ** 2 + X[:, 4] + 0.2 * rng.standard_normal(60)
    dataset, splits = study(X, y, task="regression", **FIVE)
    fits = outer(dataset, splits, nu=[1e-2, 1e-1], tau_count=6)
    assert set(np.argsort(-np.bincount(fits.indices, minlength=25))[:2]) == {3, 4}
    assert error(dataset, splits, fits) < 0.5 < linear_error(dataset, splits)  # 1 - R²


def noise_error(seed, n=30, d=100, **settings):
    rng = np.random.default_rng(seed)
    dataset, splits = study(rng.standard_normal((n, d)), np.tile([-1.0, 1.0], n // 2), **FIVE)
    fits = outer(dataset, splits, genes=30, nu=[1e-1], **settings)
    return [error(dataset, splits, fits, model) for model in ("nonlinear", "fvm")]


def test_pure_noise_is_not_predicted():
    # Over 40 studies the error has sd .12, the mean of four .06.
    errors = np.mean([noise_error(seed) for seed in range(4)], axis=0)
    np.testing.assert_allclose(errors, 0.5, rtol=0, atol=3 * 0.06)


@pytest.mark.slow
def test_mean_error_on_pure_noise_is_one_half():
    errors = np.mean([noise_error(seed, d=1000) for seed in range(40)], axis=0)
    np.testing.assert_allclose(errors, 0.5, rtol=0, atol=2 * 0.12 / np.sqrt(40))


def test_a_screen_on_all_samples_would_be_noticed():
    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 400))
        y = np.tile([-1.0, 1.0], 15)
        X = X[:, np.argsort(-np.abs(X.T @ y))[:20]]
        dataset, splits = study(X, y, **FIVE)
        errors.append(error(dataset, splits, outer(dataset, splits, genes=None, nu=[1e-1])))
    assert np.mean(errors) < 0.5 - 3 * 0.06


def test_curves_equal_scikit_learn_partial_dependence():
    X, y = valley(np.random.default_rng(2), n=40, d=8)
    dataset, splits = study(X, y)
    settings = {"nu": [0.05], "lam": [1e-2], "genes": None, "tau_count": 1, "tau_min": 0.6}
    fits, curves = final(dataset, splits, **settings, tolerance=1e-6)
    model = DerivativeRegressor(nu=0.05, lam=(1e-2,), tau=0.6, tolerance=1e-6).fit(X, y)
    assert [f"g{j}" for j in model.get_support(indices=True)] == sorted(curves["gene"].unique())
    np.testing.assert_allclose(fits.sizes, model.derivative_norms_[model.support_], rtol=0.05)
    for gene, table in curves.groupby("gene"):
        grid = {int(gene[1:]): table["value"].to_numpy()}
        dependence = partial_dependence(
            model, X, list(grid), method="brute", custom_values=grid, kind="average"
        )
        np.testing.assert_allclose(table["effect"], dependence["average"][0], rtol=1e-6, atol=1e-9)


def test_straightness():
    x = np.random.default_rng(0).standard_normal(30)
    z = np.linspace(x.min(), x.max(), 41)
    assert straightness(z, 3 - 2 * z, x) == pytest.approx(1)
    assert np.isnan(straightness(z, np.ones(41), x))
    bent = stats.pearsonr(np.interp(x, z, z**2), x).statistic ** 2
    assert straightness(z, z**2, x) == pytest.approx(bent)


def made(scores, tests, **settings):
    """Return fits with these scores, in splits of these test rows."""
    return [
        {
            "split": f"r1f{k + 1}",
            "message": "",
            "ended_early": False,
            "permutation": 0,
            "screened": 5,
            "tau": 0.5,
            "nu": 1,
            "width": 1,
            "lam": 1,
            "explained_by_none": 0.1,
            "gap": 0,
            "cut": 0,
            "paths": 3,
            "fvm_genes": 0,
            "indices": [],
            "sizes": [],
            "test_rows": rows,
            "scores": scores[rows],
            "fvm_scores": np.full(len(rows), np.nan),
            **{key: v[k] for key, v in settings.items()},
        }
        for k, rows in enumerate(tests)
    ]


def test_the_difference_of_two_methods_by_hand():
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, 1.0], 15)
    dataset, splits = study(rng.standard_normal((30, 5)), y, folds=5)
    tests = [dataset.rows(split.test) for split in splits.outer]
    linear = make_fits(dataset, splits.outer, signal=0.8)
    ours = ModelFits.from_rows(made(y + rng.standard_normal(30), tests))
    at = 1
    scores_by_model = method_scores(dataset, splits, ours)
    assert list(scores_by_model) == ["nonlinear"]
    comparison = compare_errors(
        scores_by_model["nonlinear"], collect_held_out(dataset, splits, linear), at, HEADLINE
    )
    theirs = np.empty(30)
    cut = np.repeat(linear.threshold, [len(rows) for rows in tests])
    theirs[linear.test_rows] = linear.scores[:, at] - cut
    kernel_scores = np.empty(30)
    kernel_scores[ours.test_rows] = ours.scores
    loss_difference = (y * kernel_scores <= 0).astype(float) - (y * theirs <= 0)
    by_class = [loss_difference[y == c].mean() for c in (-1, 1)]
    assert (
        comparison[2]
        == pytest.approx(comparison[0] - comparison[1])
        == pytest.approx(np.mean(by_class))
    )
    split = [
        np.mean([loss_difference[rows][y[rows] == c].mean() for c in (-1, 1)]) for rows in tests
    ]
    se = np.sqrt((1 / 5 + 6 / 24) * np.var(split, ddof=1))
    over_splits = comparison[2] + np.array([-1, 1]) * stats.t(4).ppf(0.975) * se
    over_samples = stats.t(29, comparison[2], stats.sem(loss_difference)).interval(0.95)
    expected = [min(over_splits[0], over_samples[0]), max(over_splits[1], over_samples[1])]
    np.testing.assert_allclose(comparison[3:], expected, rtol=1e-9)


def test_difference_with_single_sample_splits_is_over_samples():
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, 1.0], 10)
    dataset, splits = study(rng.standard_normal((20, 4)), y, scheme="leave_one_out")
    tests = [dataset.rows(split.test) for split in splits.outer]
    linear = make_fits(dataset, splits.outer, signal=0.5)
    names = [split.name for split in splits.outer]
    ours = ModelFits.from_rows(made(y + rng.standard_normal(20), tests, split=names))
    kernel_scores = method_scores(dataset, splits, ours)["nonlinear"]
    comparison = compare_errors(
        kernel_scores, collect_held_out(dataset, splits, linear), 0, HEADLINE
    )
    loss_difference = (y[ours.test_rows] * ours.scores <= 0).astype(float)
    loss_difference -= y[linear.test_rows] * (linear.scores[:, 0] - linear.threshold) <= 0
    expected = stats.t(19, comparison[2], stats.sem(loss_difference)).interval(0.95)
    np.testing.assert_allclose(comparison[3:], expected, rtol=1e-9)


def test_tables_count_the_selections_of_the_splits():
    rng = np.random.default_rng(0)
    dataset, splits = study(rng.standard_normal((30, 5)), np.tile([-1.0, 1.0], 15), folds=4)
    tests = [dataset.rows(split.test) for split in splits.outer]
    lists = {"indices": [[0, 1], [1, 3], [1], []], "sizes": [[0.5, 1.0], [3.0, 0.2], [2.0], []]}
    rows = made(np.ones(30), tests, **lists)
    fits = ModelFits.from_rows(rows)
    linear = pd.DataFrame(
        {"gene": ["g1", "g2"], "cv_frequency": [0.5, 1.0], "in_list": [0, 1], "mu": 1e-6}
    )
    signature = pd.DataFrame({"gene": ["g2", "g3"]})
    table = genes_table(
        dataset, fits, ModelFits.from_rows(rows[1:2]), linear, signature, cv_frequency=0.75
    )
    assert list(table["gene"]) == ["g1", "g0", "g3"]
    np.testing.assert_allclose(table["cv_frequency"], [0.75, 0.25, 0.25])
    np.testing.assert_allclose(table["mean_norm"], [2.0, 0.5, 0.2])
    np.testing.assert_allclose(table["final_norm"], [3.0, 0.0, 0.2])
    np.testing.assert_allclose(table["linear_cv_frequency"], [0.5, 0, 0])
    assert list(table["in_list"]) == [True, False, False]
    assert list(table["in_signature"]) == [False, False, True]
    fitted = make_fits(dataset, splits.outer)
    nested = pd.concat([linear.assign(mu=mu) for mu in fitted.mu])
    agreed = agreement_table(fits, fitted, nested, table)
    assert list(agreed["jaccard"]) == [0, 0, 0]  # {g1} and {g2}
    split_genes = [set(lists["indices"][k]) for k in range(4)]
    theirs = [set(fitted.coef(k, 0)[0].tolist()) for k in range(4)]
    shares = [len(a & b) / len(a | b) for a, b in zip(split_genes, theirs, strict=True) if a | b]
    assert agreed["jaccard_in_split"][0] == pytest.approx(np.mean(shares))


def test_gathering_gives_every_table():
    rng = np.random.default_rng(0)
    dataset, splits = study(rng.standard_normal((24, 10)), np.tile([-1.0, 1.0], 12))
    fits = outer(dataset, splits)
    (model, _) = final(dataset, splits)
    linear = make_fits(dataset, splits.outer)
    nested = pd.DataFrame({"mu": [np.nan], "gene": ["g1"], "cv_frequency": [1.0], "in_list": [1]})
    signature = pd.DataFrame({"gene": ["g1"]})
    tables = gather_nonlinear(
        CrossValidation(dataset, splits, linear),
        [fits],
        model,
        nested,
        signature,
        cv_frequency=0.75,
    )
    assert list(tables["nonlinear_predictions"]["model"].unique()) == ["nonlinear", "fvm"]
    assert len(tables["nonlinear_predictions"]) == 48
    assert len(tables["nonlinear_scores"]) == 3
    assert tables["nonlinear_difference"]["error"].between(0, 1).all()
    assert tables["nonlinear_model"]["paths"].tolist() == [2]
