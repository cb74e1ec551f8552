"""Laws of a survival study: C index, criterion, cut, single genes, model, tables."""

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from reference_formulas import log_likelihood, tied
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.models.baselines import BASELINES
from genesig.optim.classes import VARIANCE_FACTOR
from genesig.optim.cox.path import fit_slope, slope_influence
from genesig.optim.cox.risk_sets import TIES, RiskSets, left_out_deviance, score_test
from genesig.report.genes.collect import gene_effects
from genesig.response.kinds import is_event, martingale_residuals, survival_response
from genesig.results import CrossValidation
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.assessment import assess, study_errors
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.assess.survival import calibration_slope_of_cox as slope_with_interval
from genesig.selection.assess.survival import harrell, log_rank, pool_concordance
from genesig.selection.gather import LinearResults, gather
from genesig.selection.linear.kinds import calibrate_survival
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import check_model
from genesig.selection.survival import hazard_of, predict_test_sets, survival_tables

HEADLINE = ASSESSMENT_KINDS["survival"].headline
SURVIVAL_SETTINGS = of_kind("survival")


@cache
def fitted(repeats=2):
    dataset = study_of("survival", 3, n=48, d=25, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": repeats, "subsamples": 4})
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **SURVIVAL_SETTINGS
    )
    return (
        dataset,
        splits,
        fits,
        fit_final_model(dataset, splits, fold_steps=MOMENTS, **SURVIVAL_SETTINGS),
    )


def test_martingale_residuals_equal_nelson_aalen():
    _, time, event = tied(1, 40, 2)
    sksurv = pytest.importorskip("sksurv.nonparametric")
    steps, hazard = sksurv.nelson_aalen_estimator(event.astype(bool), time)
    expected = event - hazard[np.searchsorted(steps, time)]
    np.testing.assert_allclose(
        martingale_residuals(survival_response(time, event)), expected, atol=1e-12
    )


@pytest.mark.parametrize(
    ("cell", "word", "expected_event"),
    [
        ("1", "1", True),
        ("1.0", "1", True),
        ("0", "1", False),
        (" Dead", "Dead", True),
        ("dead", "Dead", False),
        ("10", "1", False),
    ],
)
def test_an_event_is_its_word_or_its_number(cell, word, expected_event):
    assert is_event(cell, word) is expected_event


def test_error_is_one_minus_c_of_pairs_within_test_sets():
    dataset, splits, fits, _ = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits)
    right = n_pairs = 0.0
    errors = []
    for repeat in (0, 1):
        for split in np.unique(held_out_scores.split[held_out_scores.repeat == repeat]):
            rows = held_out_scores.split == split
            y = held_out_scores.y[rows]
            concordance = harrell(y["time"], y["event"], held_out_scores.scores[rows, 0])
            right += concordance.value * concordance.pairs.sum()
            n_pairs += concordance.pairs.sum()
        errors.append(1 - right / n_pairs)
        right = n_pairs = 0.0
    assert study_errors(held_out_scores, HEADLINE)[0, 0] == pytest.approx(
        np.mean(errors), abs=1e-12
    )


def test_interval_of_a_single_test_set_is_harrells():
    dataset, splits, fits, _ = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits)
    held_out_scores = held_out_scores.take_rows(np.flatnonzero(held_out_scores.split == 0))
    y = held_out_scores.y
    concordance = harrell(y["time"], y["event"], held_out_scores.scores[:, 0])
    low, high = HEADLINE.limits(
        held_out_scores, HEADLINE.loss(held_out_scores)[:, 0], 1 - concordance.value
    )
    np.testing.assert_allclose((1 - high, 1 - low), concordance.interval, atol=1e-12)
    numbered = np.arange(len(y))
    pooled_again = pool_concordance([(numbered, 0, concordance)], int(y["event"].sum()))
    assert pooled_again.value == pytest.approx(concordance.value, abs=1e-12)
    np.testing.assert_allclose(pooled_again.influence, concordance.influence, atol=1e-12)


def test_shift_of_one_model_leaves_c_unchanged():
    dataset, splits, fits, _ = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits)
    shifted = replace(
        held_out_scores, scores=held_out_scores.scores + held_out_scores.split[:, None]
    )
    np.testing.assert_allclose(
        study_errors(shifted, HEADLINE), study_errors(held_out_scores, HEADLINE)
    )


def test_reversed_scores_have_the_opposite_c():
    dataset, splits, fits, _ = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits)
    reversed_scores = replace(held_out_scores, scores=-held_out_scores.scores)
    errors_of_both = study_errors(reversed_scores, HEADLINE) + study_errors(
        held_out_scores, HEADLINE
    )
    np.testing.assert_allclose(errors_of_both, 1, atol=1e-12)


def test_no_score_has_no_error():
    dataset, splits, fits, _ = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits)
    lacking = replace(held_out_scores, scores=np.full_like(held_out_scores.scores, np.nan))
    assert np.isnan(study_errors(lacking, HEADLINE)).all()
    assert np.isnan(assess(lacking, HEADLINE)[0].low)


@pytest.mark.parametrize("ties", TIES)
def test_criterion_is_the_likelihood_added_by_left_out_samples(ties):
    _, time, event = tied(4, 24, 2)
    rng = np.random.default_rng(1)
    folds = np.array_split(rng.permutation(24), 4)
    scores = rng.normal(size=(4, 2, 24))
    error, se = left_out_deviance(time, event, folds, scores, ties)
    for m in range(2):
        D = []
        for k, fold in enumerate(folds):
            other_rows = np.setdiff1d(np.arange(24), fold)
            full_likelihood = log_likelihood(time, event, scores[k, m], ties)
            rest_likelihood = log_likelihood(
                time[other_rows], event[other_rows], scores[k, m, other_rows], ties
            )
            D.append(-2 * (full_likelihood - rest_likelihood))
        assert error[m] == pytest.approx(np.sum(D) / event.sum(), rel=1e-10)
        means = np.array(D) / event.sum() * 4
        assert se[m] == pytest.approx(means.std(ddof=1) / 2, rel=1e-10)


def test_too_wide_scores_are_not_chosen():
    _, time, event = tied(4, 24, 2)
    folds = np.array_split(np.arange(24), 4)
    scores = np.stack([np.zeros((4, 24)), np.tile(1e4 * np.arange(24.0), (4, 1))], axis=1)
    error, se = left_out_deviance(time, event, folds, scores, "efron")
    assert np.isfinite(error[0])
    assert error[1] == np.inf
    assert se[1] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_left_out_sample_far_from_all_others_is_bounded(sign):
    _, time, event = tied(4, 24, 2)
    folds = np.array_split(np.arange(24), 4)
    scores = np.random.default_rng(2).normal(size=(4, 2, 24))
    plain, _ = left_out_deviance(time, event, folds, scores, "efron")
    scores[0, 1, [0, 1]] = [sign * 1e5, -sign * 1e7]  # of the fold that is left out of this fit
    error, se = left_out_deviance(time, event, folds, scores, "efron")
    assert error[0] == plain[0]
    assert plain[1] < error[1] < np.inf
    assert np.isfinite(se).all()


def test_several_scores_have_the_likelihood_of_each():
    _, time, event = tied(2, 20, 2)
    risk = RiskSets.from_times(time, event)
    eta = np.random.default_rng(0).normal(size=(20, 3))
    likelihoods = [
        log_likelihood(time[risk.order], event[risk.order], column, "efron") for column in eta.T
    ]
    np.testing.assert_allclose(risk.log_likelihood(eta), likelihoods, rtol=1e-12)


def test_of_two_groups_the_score_test_is_the_log_rank_test():
    rng = np.random.default_rng(5)
    time = rng.permutation(30) + 1.0
    event = rng.random(30) < 0.7
    group = (rng.random(30) < 0.5) * 1.0
    z, p = score_test(group[:, None], survival_response(time, event), None, "efron")
    expected = log_rank(time, event, group)
    assert z[0] ** 2 == pytest.approx(expected.chi_squared, rel=1e-10)
    assert p[0] == pytest.approx(expected.p, rel=1e-10)
    early = np.argsort(time)[:10]
    assert (
        score_test(
            np.isin(np.arange(30), early)[:, None] * 1.0,
            survival_response(time, event),
            None,
            "efron",
        )[0][0]
        > 0
    )


def score_z_with_covariates(x, y, C):
    """Return z of x beside C, risk set by risk set, after twenty Newton steps for C alone."""
    A = np.column_stack([C - C.mean(axis=0), x - x.mean()])
    gamma = np.zeros(C.shape[1])
    for _ in range(20):
        U = np.zeros(A.shape[1])
        H = 0.0
        w = np.exp(A[:, :-1] @ gamma)
        for i in np.flatnonzero(y["event"]):
            at_risk = y["time"] >= y["time"][i]
            p = w[at_risk] / w[at_risk].sum()
            part = A[at_risk]
            U += A[i] - p @ part
            H = H + (part.T * p) @ part - np.outer(p @ part, p @ part)
        gamma = gamma + np.linalg.solve(H[:-1, :-1], U[:-1])
    return U[-1] / np.sqrt(H[-1, -1] - H[-1, :-1] @ np.linalg.solve(H[:-1, :-1], H[:-1, -1]))


@pytest.mark.parametrize("seed", range(3))
def test_score_test_with_covariates_equals_sums_over_risk_sets(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(50, 2)) * [1, 30] + [0, 60]
    X = rng.normal(size=(50, 3)) + 8
    y = survival_response(rng.permutation(50) * np.exp(-0.3 * C[:, 0]), rng.random(50) < 0.7)
    expected = [score_z_with_covariates(x, y, C) for x in X.T]
    np.testing.assert_allclose(score_test(X, y, None, "efron", C)[0], expected, rtol=1e-10)


def test_strata_are_summed_and_constant_genes_are_not_tested():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(24, 3))
    y = survival_response(rng.exponential(size=24), np.ones(24, bool))
    X[:, 2] = 1.0
    stratum = np.repeat([0, 1], 12)
    statistic = score_test(X + stratum[:, None] * 50, y, stratum, "efron")[0]
    np.testing.assert_allclose(statistic[:2], score_test(X, y, stratum, "efron")[0][:2], rtol=1e-10)
    assert np.isnan(score_test(X, y, None, "efron")[0][2])


def test_ridge_orders_the_times_and_no_information_does_not():
    dataset = study_of("survival", 8, n=60, d=12, signal=1.2)
    y = dataset.response()
    X = dataset.X
    folds = np.array_split(np.arange(40), 4)
    for name, least in (("ridge", 0.7), ("dummy", 0.5)):
        f = BASELINES[name]["survival"](X[:40], y[:40], X[40:], folds, 0)
        concordance = harrell(y["time"][40:], y["event"][40:], f).value
        assert concordance >= least
    assert concordance == 0.5


def test_the_cut_is_the_median_of_left_out_scores():
    dataset, splits, fits, final = fitted()
    held_out_scores = collect_held_out(dataset, splits, fits.with_chosen())
    assert 0.25 < np.mean(held_out_scores.scores[:, -1] > 0) < 0.75
    assert np.isfinite(final.threshold).all()


def test_model_json_predicts_survival_as_the_fit_does():
    dataset, _, _, final = fitted()
    model = json.loads(json.dumps(final_model(dataset, final, fold_steps=MOMENTS)))
    check_model(model, "m")
    lines = tuple(range(2, len(dataset.X) + 2))
    new = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    table, _ = predict(model, new, "new.tsv", missing=0, mu=None)
    at = int(final.choice[0, 2])
    genes, values = final.coef(0, at)
    eta = final.intercept[0, at] + dataset.X[:, genes] @ values - final.threshold[0]
    assert final.threshold[0] != 0
    np.testing.assert_allclose(table["score"], eta, atol=1e-10)
    assert (table["predicted"] == np.where(eta > 0, "high", "low")).all()
    (listed,) = [
        model_entry for model_entry in model["models"] if model_entry["list"] == model["answer"]
    ]
    slope = listed["risk"]["slope"]
    assert 0 < slope == final.with_chosen().line[0, 0]
    hazard = hazard_of(dataset.response(), slope * eta, "efron")
    expected = hazard.survival(slope * eta, [1.0])[:, 0]
    np.testing.assert_allclose(table["survival"], expected, atol=1e-12)


def test_risk_slope_is_the_shrunken_slope_of_cross_fitted_scores():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal(80)
    y = survival_response(rng.exponential(np.exp(-0.7 * scores)), rng.random(80) < 0.8)
    training_set = SimpleNamespace(y=y, covariates=None, group=None, ties=None)
    calibrated = calibrate_survival(training_set, np.append(scores[:-1], np.nan))
    slope, (low, high) = slope_with_interval(y["time"][:-1], y["event"][:-1], scores[:-1])
    error = (high - low) / (2 * 1.959963984540054)
    assert calibrated.shrinkage == pytest.approx(1 - (2.5 * error**2 / slope**2) ** 1.5, rel=1e-6)
    np.testing.assert_allclose(calibrated.line, [slope * calibrated.shrinkage])
    reversed_scores = calibrate_survival(training_set, -scores)
    assert (reversed_scores.line, reversed_scores.shrinkage) == (0.0, 0.0)


def test_risk_slope_is_fitted_with_two_inner_folds():
    """Without the fold of a sample there is one fold, which has no others to be compared with."""
    dataset = study_of("survival", 3, n=30, d=12, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "inner_folds": 2, "subsamples": 0})
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **SURVIVAL_SETTINGS)
    assert (final.with_chosen().line >= 0).all()


def test_risk_slope_counts_groups_of_samples():
    rng = np.random.default_rng(2)
    scores = rng.standard_normal(40)
    y = survival_response(rng.exponential(np.exp(-0.7 * scores)), np.ones(40, dtype=bool))
    alone = SimpleNamespace(y=y, covariates=None, group=None, ties=None)
    repeated = SimpleNamespace(
        y=np.tile(y, 3), covariates=None, group=np.tile(np.arange(40), 3), ties="breslow"
    )
    shrinkage = calibrate_survival(alone, scores).shrinkage
    assert calibrate_survival(repeated, np.tile(scores, 3)).shrinkage == pytest.approx(
        shrinkage, abs=0.06
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_slope_influence_is_the_derivative_of_the_slope_by_a_weight(*, weighted):
    X, time, event = tied(3, 40, 2)
    scores = X[:, 1]
    weights = np.random.default_rng(3).uniform(0.2, 5, 40) if weighted else np.ones(40)

    def slope(changed_weights):
        return fit_slope(time, event, scores, "breslow", changed_weights).value

    residual, information = slope_influence(
        time, event, scores, slope(weights), weights if weighted else None
    )
    step = 1e-4
    derivatives = [
        (slope(weights + change) - slope(weights - change)) / (2 * step)
        for change in step * np.eye(40)
    ]
    np.testing.assert_allclose(
        residual / information.sum(), weights * derivatives, rtol=1e-4, atol=1e-7
    )


def risk_design_effect(y, scores, group, weights):
    covariates = SimpleNamespace(weights=weights)
    training_set = SimpleNamespace(y=y, covariates=covariates, group=group, ties="breslow")
    shrinkage = calibrate_survival(training_set, scores).shrinkage
    slope = fit_slope(y["time"], y["event"], scores, "breslow", weights)
    return (1 - shrinkage) ** (2 / 3) * slope.value**2 / (VARIANCE_FACTOR * slope.variance)


def weighted_groups(seed):
    """Return 40 groups of three samples; the samples of the first 20 groups are similar."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(40), 3)
    is_similar = group < 20
    sample_values = rng.standard_normal((2, 120))
    group_values = rng.standard_normal((2, 40))[:, group]
    scores, noise = np.where(is_similar, group_values, sample_values)
    y = survival_response(np.exp(noise / 2 - scores), rng.random(120) < 0.9)
    return y, scores, group, is_similar, rng.uniform(0.5, 2, 120)


def test_risk_design_effect_ignores_samples_of_negligible_weight():
    for seed in range(5):
        y, scores, group, is_similar, weights = weighted_groups(seed)
        for rows in (is_similar, ~is_similar):
            effect = risk_design_effect(y, scores, group, np.where(rows, weights, 1e-9))
            alone = risk_design_effect(y[rows], scores[rows], group[rows], weights[rows])
            assert effect == pytest.approx(alone, rel=1e-5)
            assert alone > 2 if rows is is_similar else alone < 2


def test_predicted_risk_equals_that_of_all_samples_if_the_slope_is_zero():
    dataset, _, _, final = fitted()
    flat = replace(final, line=np.zeros((1, 1)), shrinkage=np.zeros(1))
    if final.answers is not None:
        answers = replace(
            final.answers,
            line=np.zeros_like(final.answers.line),
            shrinkage=np.zeros_like(final.answers.shrinkage),
        )
        flat = replace(flat, answers=answers)
    model = final_model(dataset, flat, fold_steps=MOMENTS)
    lines = tuple(range(2, len(dataset.X) + 2))
    new = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    table, _ = predict(model, new, "new.tsv", missing=0, mu=None)
    everybody = hazard_of(dataset.response(), np.zeros(len(dataset.X)), "efron")
    np.testing.assert_allclose(table["survival"], everybody.survival(np.zeros(1), [1.0])[0, 0])
    assert table["doubt"].str.contains("the risk is that of all training samples").all()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.pop("survival"),
        lambda m: m.update(threshold=None),
        lambda m: m.update(classes={"negative": "a", "positive": "b"}),
        lambda m: m["survival"]["times"].reverse(),
        lambda m: m["survival"]["cumulative"].pop(),
        lambda m: m["survival"]["cumulative"][0].reverse(),
        lambda m: m.update(task="regression"),
    ],
)
def test_contradictory_model_is_refused(spoil):
    dataset, _, _, final = fitted()
    model = json.loads(json.dumps(final_model(dataset, final, fold_steps=MOMENTS)))
    spoil(model)
    with pytest.raises(Exception, match=r"damaged|edited|digest"):
        check_model(model, "model.json")


def test_recomputed_scores_equal_the_scores_of_the_loop():
    dataset, splits, fits, _ = fitted()
    chosen_fits = fits.with_chosen()
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    predictions = list(predict_test_sets(prepared_study, chosen_fits, np.array([0.5, 1.0])))
    held_out_scores = collect_held_out(dataset, splits, chosen_fits)
    for number, prediction in enumerate(predictions):
        rows = held_out_scores.split == number
        np.testing.assert_allclose(prediction.f, held_out_scores.scores[rows, -1], atol=1e-10)
        assert (np.diff(prediction.S, axis=1) <= 0).all()


def test_survival_tables_show_a_predictive_signal():
    dataset, splits, fits, final = fitted()
    tables = survival_tables(
        CrossValidation.from_batches(dataset, splits, [fits]), fold_steps=MOMENTS
    )
    measures = tables["survival"].set_index("measure")
    assert list(measures.index) == [
        "concordance",
        "uno",
        "auc",
        "brier",
        "brier_reference",
        "explained",
        "risk_expected",
        "risk_observed",
        "slope",
    ]
    assert measures.loc["concordance", "low"] > 0.5
    for name in ("uno", "auc"):
        assert measures.loc[name, "low"] < measures.loc[name, "value"] < measures.loc[name, "high"]
    assert measures.loc["explained", "value"] > 0
    curves = tables["survival_curves"]
    assert set(curves["group"]) == {"high", "low"}
    assert curves.groupby("group")["at_risk"].first().sum() == len(dataset.samples)
    assert tables["survival_risk"]["samples"].sum() == len(dataset.samples)
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **SURVIVAL_SETTINGS)
    clusters = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
    gathered = gather(
        LinearResults(
            CrossValidation.from_batches(dataset, splits, [fits]),
            final,
            halves,
            HalfSampleStudy.none(),
        ),
        fdr=0.1,
        cv_frequency=0.5,
        clusters=clusters,
    )
    assert "concordance" in gathered["scores"]
    assert gathered["rejection"].empty
    assert gathered["predictions"]["predicted"].isin(["high", "low"]).all()
    assert gathered["univariate"].set_index("gene").loc[["g0", "g1", "g2"], "p_value"].min() < 0.05
    assert pd.Series(gathered["predictions"]["label"]).str.fullmatch(r"[\d.]+\+?").all()


def test_the_effect_of_a_gene_has_the_sign_of_its_test():
    dataset, _, _, _ = fitted()
    z = score_test(dataset.X, dataset.response(), None, "efron")[0]
    effects = gene_effects(dataset)
    assert np.isfinite(effects).all()
    assert (np.sign(effects) == np.sign(z)).all()
