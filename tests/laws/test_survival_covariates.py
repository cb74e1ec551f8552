"""Covariates in a survival study, from the fits to the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.optim.cox.risk_sets import RiskSets, score_test
from genesig.response.covariates import Covariate
from genesig.results import Dataset
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import score_covariates
from genesig.selection.assess.covariates import Covariates
from genesig.selection.linear.elastic_nets import CoxElasticNets, MatrixSettings
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.survival import predict_test_sets

LOOP_SETTINGS = {"fold_steps": MOMENTS, **of_kind("survival")}


def study(seed: int = 3, n: int = 48) -> Dataset:
    """Age tells of the hazard as a gene does; a sample's age is missing."""
    dataset_and_splits = study_of("survival", seed, n=n, d=20, signal=1.0)
    age = [f"{50 + 10 * v:.3f}" for v in dataset_and_splits.X[:, 0]]
    age[1] = "NA"
    sex = np.resize(["f", "m", "m"], n)
    covariates = (Covariate("age", None), Covariate("sex", ("f", "m")))
    X = dataset_and_splits.X.copy()
    X[:, 0] = np.random.default_rng(seed).normal(size=n)
    design = replace(dataset_and_splits.design, covariates=covariates, filled=True)
    return replace(
        dataset_and_splits, X=X, obs=dataset_and_splits.obs.assign(age=age, sex=sex), design=design
    )


def minimum(dataset: Dataset, rows: np.ndarray, genes: np.ndarray, lam: float):
    """Minimise the penalised likelihood of genes and covariates by a general method."""
    from scipy.optimize import minimize

    y = dataset.response()[rows]
    C = dataset.covariates()
    mean = np.nanmean(C[rows], axis=0)
    C = np.where(np.isnan(C), mean, C) - mean
    C = C / C[rows].std(axis=0)
    X = dataset.X[:, genes]
    Z = (X - X[rows].mean(axis=0)) / X[rows].std(axis=0)
    D = np.column_stack([Z, C])
    m = len(genes)
    risk = RiskSets.from_times(y["time"], y["event"])
    training_rows = D[rows][risk.order]

    def value(b):
        p = risk.shares(training_rows @ b)
        g = training_rows.T @ risk.gradient(p)
        g[:m] += 2 * lam * b[:m]
        return risk.value(training_rows @ b) + lam * float(b[:m] @ b[:m]), g

    minimum_found = minimize(
        value, np.zeros(D.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}
    )
    return D @ minimum_found.x


def test_held_out_scores_equal_the_joint_model() -> None:
    dataset = study()
    splits = draw_splits(dataset, seed=2, **SPLITS)
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", **LOOP_SETTINGS
    )
    for fit, split in enumerate(splits.outer):
        train = np.sort(dataset.rows(split.train))
        (rows, scores) = fits.test_scores(fit)
        lam = float(fits.grid.lam[fits.choice[fit, 1]] * fits.grid.norm[fit])
        genes, _ = fits.coef(fit, 0)
        want = minimum(dataset, train, genes, lam)
        np.testing.assert_allclose(scores[:, 0], want[rows], atol=1e-5)


def test_covariates_alone_equal_their_cox_model() -> None:
    dataset = study()
    split = draw_splits(dataset, seed=2, **SPLITS).outer[0]
    train = np.sort(dataset.rows(split.train))
    test = dataset.rows(split.test)
    want = minimum(dataset, train, np.zeros(0, dtype=int), 0.0)
    covariate_scores = score_covariates(dataset, split)
    np.testing.assert_allclose(
        covariate_scores - covariate_scores.mean(), want[test] - want[test].mean(), atol=1e-5
    )
    table = run_baselines(
        dataset, draw_splits(dataset, seed=2, **SPLITS), fold_steps=MOMENTS, baselines=["dummy"]
    )
    assert set(table["model"]) == {"covariates", "covariates and ridge", "dummy"}


def test_the_score_test_is_the_slope_and_curvature_of_the_profile_likelihood() -> None:
    dataset = study()
    y = dataset.response()
    C = dataset.covariates()
    C = np.where(np.isnan(C), np.nanmean(C, axis=0), C)
    C = (C - C.mean(axis=0)) / C.std(axis=0)
    z, p = score_test(dataset.X, y, None, "efron", C)
    risk = RiskSets.from_times(y["time"], y["event"])
    x = dataset.X[risk.order, 5]
    C = C[risk.order]

    def profile(b: float) -> float:
        from scipy.optimize import minimize

        def value(g):
            eta = x * b + C @ g
            return risk.value(eta), C.T @ risk.gradient(risk.shares(eta))

        return (
            -len(y)
            / 2
            * minimize(value, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-11}).fun
        )

    step = 1e-3
    low, at_minimum, high = (profile(b) for b in (-step, 0.0, step))
    slope = (high - low) / (2 * step)
    curvature = -(high - 2 * at_minimum + low) / step**2
    assert z[5] == pytest.approx(slope / np.sqrt(curvature), rel=1e-3)
    assert ((p >= 0) & (p <= 1)).all()


def test_model_json_predicts_as_the_fit_does() -> None:
    dataset = study()
    splits = draw_splits(dataset, seed=2, **SPLITS)
    final = fit_final_model(dataset, splits, **LOOP_SETTINGS)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    lines = tuple(range(2, 2 + len(dataset.samples)))
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    table, _ = predict(model, matrix, "new.tsv", missing=0.1, mu=None, samples=dataset.obs)
    at = int(final.choice[0, 2])
    genes, b = final.coef(0, at)
    want = final.intercept[0, at] + dataset.X[:, genes] @ b
    want = want + final.covariate_scores(0, dataset.covariates())[:, at]
    np.testing.assert_allclose(table["score"], want - final.threshold[0], rtol=1e-10)
    lam = float(final.grid.lam[final.choice[0, 1]] * final.grid.norm[0])
    joint = minimum(dataset, np.arange(len(dataset.samples)), genes, lam)
    np.testing.assert_allclose(want, joint, atol=1e-5)


def weighted(times: np.ndarray, copies: bool) -> Dataset:
    """Weigh samples by whole numbers, or have each as often."""
    dataset_and_splits = study(6)
    rows = np.repeat(np.arange(len(times)), times) if copies else np.arange(len(times))
    obs = dataset_and_splits.obs.iloc[rows].assign(v=np.ones(len(rows), int) if copies else times)
    obs.index = [f"r{k}" for k in range(len(rows))]
    design = replace(dataset_and_splits.design, weights="v", ties="breslow")
    return replace(
        dataset_and_splits, X=dataset_and_splits.X[rows], obs=obs.astype(str), design=design
    )


def test_whole_weights_are_repeated_samples() -> None:
    times = np.resize([1, 3, 0, 2], 48)
    fits = []
    for copies in (False, True):
        dataset = weighted(times, copies)
        y = dataset.response()
        covariates = Covariates.from_dataset(dataset)
        n = len(dataset.samples)
        rows = (
            np.repeat(np.arange(48) % 5 > 0, times)[:, None]
            if copies
            else (np.arange(48) % 5 > 0)[:, None]
        )
        ground = MatrixSettings(True, True, None, "breslow")
        sets = CoxElasticNets.from_rows(dataset.X, y[:, None], rows, [covariates], ground)
        protocol = LinearSettings(**of_kind("survival"))
        tau = sets.tau_max[:, None] * [0.6, 0.2]
        lists = sets.path(tau, 1e-3 * sets.norm[:, None] * np.ones(2), protocol, None)
        gamma, mean = sets.covariate_coef(lists, lists.values, np.array([0.1]))
        fits.append(
            (
                sets.tau_max,
                sets.norm,
                lists.indices,
                lists.values,
                gamma,
                mean,
                sets.ridge_coef(lists, np.array([0.1]))[0],
            )
        )
        assert n == (times.sum() if copies else 48)
    for weighted_fit, repeated_fit in zip(*fits, strict=True):
        np.testing.assert_allclose(weighted_fit, repeated_fit, rtol=1e-6, atol=1e-7)


def test_a_study_with_weights_goes_from_the_fits_to_the_hazard() -> None:
    plain = study(8)
    obs = plain.obs.assign(v=[str(1 + k % 3) for k in range(48)])
    dataset = replace(plain, obs=obs, design=replace(plain.design, weights="v"))
    splits = draw_splits(dataset, seed=2, **SPLITS)
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", **LOOP_SETTINGS
    )
    plain_fits = nested_cross_validation(
        plain, splits, labels="observed", batch="1of1", **LOOP_SETTINGS
    )
    assert np.abs(fits.scores - plain_fits.scores).max() > 1e-3
    final = fit_final_model(dataset, splits, **LOOP_SETTINGS)
    weighted_model, even = (
        final_model(item, final, fold_steps=MOMENTS)["survival"] for item in (dataset, plain)
    )
    assert weighted_model["times"] == even["times"]
    assert weighted_model["cumulative"] != even["cumulative"]
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    predictions = list(predict_test_sets(prepared_study, fits.with_chosen(), np.array([0.5, 1.0])))
    assert all(((item.S > 0) & (item.S <= 1)).all() for item in predictions)
    split = splits.outer[0]
    assert not np.allclose(score_covariates(dataset, split), score_covariates(plain, split))
