"""Several classes with covariates and weights: joint lists, scores, models and p-values."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from settings import MOMENTS, SPLITS, linear

from genesig.arrays import row_entries
from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.optim.adjustment import adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.multitask import joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import covariate_coef
from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.response.covariates import Covariate
from genesig.response.design import Design
from genesig.results import Dataset, Fits
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import null_errors
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

SCALING = {"centre": True, "unit_variance": True}
DIGITS = {"rtol": 1e-9, "atol": 1e-12}  # what other rows in a product may move
CLASS_NAMES = ("ewing", "burkitt", "neuro")
AGE = Covariate("age", None)
SEX = Covariate("sex", ("f", "m"))


def problem(seed: int = 0, n: int = 48, d: int = 20, T: int = 3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % T + 0.0
    C = np.column_stack([rng.normal(50, 9, n) + 5 * y, rng.integers(0, 2, n)])
    X = rng.normal(size=(n, d)) + 0.1 * (C[:, [0]] - 50)
    X[:, 0] += 2 * (y == 0)
    rows = np.ones((n, 2), dtype=bool)
    rows[rng.choice(n, 9, replace=False), 1] = False
    return X, y, C, rng.uniform(0.3, 2, n), rows


def sets_of(X, y, C, v, rows, scales=SCALING):
    fixed = adjustment(rows, np.stack([C] * rows.shape[1]), np.stack([v] * rows.shape[1], axis=1))
    Y = np.repeat(y[:, None], rows.shape[1], axis=1)
    share = shares(Y, rows, int(y.max()) + 1, np.square(fixed.root_weights))
    return joint_sets(X, coded(Y, share), rows, **scales, adjustment=fixed), coded(Y, share)


def test_training_sets_of_a_group_end_together_and_agree_until_then() -> None:
    X, y, C, v, _ = problem(d=60)
    rows = np.random.default_rng(1).random((len(X), 5)) < 0.8
    joint, _ = sets_of(X, y, C, v, rows)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.05, 12)
    groups = np.array([0, 0, 0, 1, 1])
    mu = 1e-3 * joint.norm[:, None]
    separate_path = joint_path(joint, tau, mu, tolerance=1e-9, longest=12)
    group_path = joint_path(joint, tau, mu, tolerance=1e-9, longest=12, groups=groups)
    assert (group_path.iterations >= 0).sum() < (separate_path.iterations >= 0).sum()
    for group in range(2):
        members = np.flatnonzero(groups == group)
        useful = (separate_path.iterations[members] >= 0).all(axis=0)
        np.testing.assert_array_equal((group_path.iterations[members] >= 0).all(axis=0), useful)
        for k, m in itertools.product(members, np.flatnonzero(useful)):
            for group_coef, separate_coef in zip(
                group_path.coef(k, m), separate_path.coef(k, m), strict=True
            ):
                np.testing.assert_array_equal(group_coef, separate_coef)


def test_joint_path_minimum_equals_a_general_solver() -> None:
    cvxpy = pytest.importorskip("cvxpy")
    X, y, C, v, rows = problem(n=30, d=8)
    joint, Y = sets_of(X, y, C, v, rows[:, :1], {"centre": True, "unit_variance": False})
    tau = 0.3 * joint.tau_max[0]
    mu = 1e-2 * joint.norm[0]
    solution = joint_path(joint, tau, mu, tolerance=1e-10)
    assert solution.converged.all()
    ours = np.zeros((8, 3))
    ours[solution.indices] = solution.values  # noqa: PD011
    B = cvxpy.Variable((8, 3))
    G = cvxpy.Variable((2, 3))
    a = cvxpy.Variable((1, 3))
    residual = Y[:, 0] - np.ones((30, 1)) @ a - X @ B - (C - C.mean(axis=0)) @ G
    loss = cvxpy.sum_squares(cvxpy.multiply(np.sqrt(v / v.mean())[:, None], residual)) / 30
    objective = loss + mu * cvxpy.sum_squares(B) + tau * cvxpy.sum(cvxpy.norm(B, axis=1))
    # 1e-12 is more than it reaches from the last digits that some kernels of BLAS give
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver="CLARABEL", **tight)
    np.testing.assert_allclose(ours, B.value, atol=1e-6)
    gamma = covariate_coef(joint.training_sets, solution, solution.values, joint.y_on_basis)[0, 0]
    np.testing.assert_allclose(gamma, G.value, atol=1e-6)


def test_nothing_is_selected_from_tau_max_on() -> None:
    joint, _ = sets_of(*problem(3))
    largest_tau = joint.tau_max[:, None]
    sizes = joint_path(joint, largest_tau * [1.001, 0.999], 1e-3, tolerance=1e-9).sizes()
    np.testing.assert_array_equal(sizes, [[0, 1], [0, 1]])


def test_scores_and_weights_equal_joint_least_squares() -> None:
    X, y, C, v, rows = problem(1)
    joint, Y = sets_of(X, y, C, v, rows)
    tau = joint.tau_max[:, None] * [1.1, 0.5, 0.2]
    solution = joint_path(joint, tau, 1e-3, tolerance=1e-9)
    lam = np.array([0.02, 0.3])
    scores = joint_scores(joint, solution, lam)
    values, intercept = joint_coef(joint, solution, lam[:1])
    gamma = covariate_coef(joint.training_sets, solution, values, joint.y_on_basis)
    for k, m in np.ndindex(solution.shape):
        A = solution.coef(k, m)[0]
        training_rows = rows[:, k]
        w = v[training_rows] / v[training_rows].mean()
        Z = X[:, A] - w @ X[training_rows][:, A] / w.sum()
        Z = Z / np.sqrt(w @ Z[training_rows] ** 2 / w.sum())
        D = np.column_stack([Z, np.ones(len(X)), C])
        for place, level in enumerate(lam):
            ridge = training_rows.sum() * level * np.diag(np.r_[np.ones(len(A)), np.zeros(3)])
            H = D[training_rows].T @ (w[:, None] * D[training_rows]) + ridge
            want = D @ np.linalg.solve(H, D[training_rows].T @ (w[:, None] * Y[training_rows, k]))
            np.testing.assert_allclose(scores[k, m, place], want, atol=1e-9)
        part = row_entries(solution.indptr, k * 3 + m)
        expected_scores = intercept[k, m] + X[:, A] @ values[part]
        expected_scores = (
            expected_scores + (C - joint.training_sets.adjustment.mean[k]) @ gamma[k, m]
        )
        np.testing.assert_allclose(expected_scores, scores[k, m, 0], atol=1e-9)


def test_whole_weights_are_repeated_samples() -> None:
    X, y, C, _, rows = problem(2)
    times = np.arange(len(y)) % 3 + 1
    joint, _ = sets_of(X, y, C, times.astype(float), rows)
    repeated, _ = sets_of(
        *(np.repeat(item, times, axis=0) for item in (X, y, C)),
        np.ones(times.sum()),
        np.repeat(rows, times, axis=0),
    )
    np.testing.assert_allclose(joint.tau_max, repeated.tau_max, rtol=1e-10)
    tau = joint.tau_max[:, None] * [0.5, 0.2]
    weighted_path, repeated_path = (
        joint_path(item, tau, 1e-3, tolerance=1e-12) for item in (joint, repeated)
    )
    np.testing.assert_array_equal(weighted_path.indices, repeated_path.indices)
    np.testing.assert_allclose(weighted_path.values, repeated_path.values, atol=1e-7)
    weighted_scores = joint_scores(joint, weighted_path, 0.1)
    repeated_scores = joint_scores(repeated, repeated_path, 0.1)
    np.testing.assert_allclose(
        np.repeat(weighted_scores, times, axis=3), repeated_scores, atol=1e-10
    )


def test_two_classes_have_the_lists_of_the_scalar_path() -> None:
    X, y, C, v, rows = problem(4, T=2)
    joint, _ = sets_of(X, y, C, v, rows)
    fixed = joint.training_sets.adjustment
    sets = training_sets(X, np.tile(2 * y[:, None] - 1, 2), rows, **SCALING, adjustment=fixed)
    share = np.array([0.7, 0.3, 0.1])
    joint_solution = joint_path(joint, joint.tau_max[:, None] * share, 1e-3, tolerance=1e-11)
    theirs = path(
        sets, sets.tau_max[:, None] * share, 1e-3, solver="landweber-newton", tolerance=1e-11
    )
    np.testing.assert_array_equal(joint_solution.indices, theirs.indices)


def test_ones_as_weights_and_no_covariates_change_nothing() -> None:
    X, y, C, v, rows = problem(5)
    weighted, Y = sets_of(X, y, C[:, :0], np.ones(len(v)), rows)
    plain = joint_sets(X, Y, rows, **SCALING)
    tau = plain.tau_max[:, None] * [0.5, 0.1]
    weighted_path, plain_path = (
        joint_path(sets, tau, 1e-3, tolerance=1e-11) for sets in (weighted, plain)
    )
    np.testing.assert_array_equal(weighted_path.indices, plain_path.indices)
    np.testing.assert_allclose(weighted_path.values, plain_path.values, atol=1e-8)


def study(
    seed: int = 0,
    *,
    n: int = 60,
    d: int = 25,
    signal: float = 2.0,
    weights: str | None = None,
    order: tuple[int, ...] = (0, 1, 2),
) -> Dataset:
    """Age tells of the class, genes 0 to 4 follow age, the last two tell of the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    age = rng.normal(50, 10, n) + 8 * y
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, :5] += 0.2 * (age - 58)[:, None]
    X[:, -1] += signal * (y == 1)
    X[:, -2] += signal * (y == 2)
    names = [f"s{k}" for k in range(n)]
    obs = pd.DataFrame(
        {
            "y": np.array(CLASS_NAMES)[y],
            "age": [f"{a:.3f}" for a in age],
            "sex": np.where(sex > 0, "m", "f"),
            "v": [str(1 + k % 3) for k in range(n)],
        },
        index=names,
    )
    obs.loc["s0", "age"] = "NA"
    genes = [f"g{k}" for k in range(d)]
    design = Design(
        "y",
        "classification",
        tuple(CLASS_NAMES[k] for k in order),
        None,
        None,
        covariates=(AGE, SEX),
        filled=True,
        weights=weights,
    )
    return Dataset(X, obs.astype(str), pd.DataFrame({"symbol": genes}, index=genes), design, {})


LOOP_SETTINGS = {
    "fold_steps": MOMENTS,
    **linear(list="minimal", mu=[1e-6, 1.0], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=5),
}


def loop(dataset: Dataset, labels: str = "observed", batch: str = "1of1") -> Fits:
    splits = draw_splits(dataset, seed=1, **SPLITS)
    return nested_cross_validation(dataset, splits, labels=labels, batch=batch, **LOOP_SETTINGS)


@pytest.mark.parametrize("weights", [None, "balanced", "v"])
def test_lists_leave_out_genes_that_follow_a_covariate(weights) -> None:
    weighted_study = study(5, weights=weights)
    plain = replace(
        weighted_study, design=replace(weighted_study.design, covariates=(), weights=None)
    )
    chosen = [set(fits.coef(0, 0)[0].tolist()) for fits in map(loop, (weighted_study, plain))]
    assert {23, 24} <= chosen[0]
    assert len(chosen[0] & set(range(5))) < len(chosen[1] & set(range(5)))


def test_fits_ignore_held_out_samples_and_batching() -> None:
    dataset = study(7, weights="balanced")
    splits = draw_splits(dataset, seed=1, **SPLITS)
    fits = loop(dataset)
    test = dataset.rows(splits.outer[0].test)
    obs = dataset.obs.copy()
    X = dataset.X.copy()
    obs.loc[obs.index[test], "age"] = "1000"
    X[test] = X[test][::-1]
    changed_fits = loop(replace(dataset, obs=obs, X=X))
    np.testing.assert_array_equal(fits.coef(0, 0)[0], changed_fits.coef(0, 0)[0])
    np.testing.assert_allclose(fits.covariates.gamma[0], changed_fits.covariates.gamma[0], **DIGITS)
    np.testing.assert_allclose(fits.coef(0, 0)[1], changed_fits.coef(0, 0)[1], **DIGITS)
    parts = [loop(dataset, batch=f"{k}of2") for k in (1, 2)]
    joined = Fits.gather(parts, [split.name for split in splits.outer])
    np.testing.assert_allclose(joined.covariates.gamma, fits.covariates.gamma, **DIGITS)
    np.testing.assert_allclose(joined.scores, fits.scores, **DIGITS)


def test_names_and_order_of_classes_change_nothing() -> None:
    study_abc = study(8, weights="v")
    study_cab = study(8, weights="v", order=(2, 0, 1))
    splits = draw_splits(study_abc, seed=1, **SPLITS)
    tables_abc, tables_cab = (
        nested_cross_validation(
            made_study, splits, labels="observed", batch="1of1", **LOOP_SETTINGS
        )
        for made_study in (study_abc, study_cab)
    )
    np.testing.assert_array_equal(tables_abc.indices, tables_cab.indices)
    np.testing.assert_allclose(
        tables_abc.covariates.gamma[..., [2, 0, 1]], tables_cab.covariates.gamma, atol=1e-7
    )


def test_model_json_predicts_as_the_fit_does() -> None:
    dataset = study(17, weights="balanced")
    splits = draw_splits(dataset, seed=1, **{**SPLITS, "subsamples": 2})
    final = fit_final_model(dataset, splits, **LOOP_SETTINGS)
    halves = fit_half_samples(dataset, splits, **LOOP_SETTINGS)
    assert final.covariates.gamma.shape == (1, 2, 2, 3)
    assert halves.with_chosen().covariates.gamma.shape == (2, 3, 2, 3)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    assert model["version"] == 7
    lines = tuple(range(2, 2 + len(dataset.samples)))
    at = int(final.choice[0, 2])
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    table, messages = predict(model, matrix, "new.tsv", missing=0.1, mu=None, samples=dataset.obs)
    genes, b = final.coef(0, at)
    C = dataset.covariates()
    C = np.where(np.isnan(C), final.covariates.mean[0], C)
    want = final.intercept[0, at] + dataset.X[:, genes] @ b + C @ final.covariates.gamma[0, at]
    columns = [f"score of {name}" for name in CLASS_NAMES]
    np.testing.assert_allclose(table[columns].to_numpy(), want, atol=1e-10)
    assert np.mean(table["predicted"] == dataset.obs["y"].to_numpy()) > 0.75
    assert ["imputed with the mean" in problem.message for problem in messages] == [True]


def test_covariates_alone_are_a_baseline_with_the_rule_of_the_study() -> None:
    dataset = study(13, n=90)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    table = run_baselines(dataset, splits, fold_steps=MOMENTS, baselines=["dummy"])
    alone = table[table["model"] == "covariates"]
    assert len(alone) == len(dataset.samples)
    assert 0.2 < np.mean(alone["wrong"].astype(bool)) < 0.6


def errors(dataset: Dataset, labels: str = "observed") -> np.ndarray:
    splits = draw_splits(dataset, seed=1, **SPLITS)
    return null_errors(dataset, splits, loop(dataset, labels))["error"][:, 0]


@pytest.mark.slow
def test_noise_adds_nothing() -> None:
    errors_found = []
    for seed in range(6):
        dataset = study(seed, n=36, d=100)
        rng = np.random.default_rng(seed)
        noise = dataset.obs.assign(age=[f"{a:.2f}" for a in rng.normal(50, 9, 36)])
        errors_found.append(errors(replace(dataset, X=rng.normal(size=(36, 100)), obs=noise))[0])
    assert np.mean(errors_found) == pytest.approx(2 / 3, abs=0.12)


@pytest.mark.slow
def test_p_is_uniform_where_expression_adds_nothing() -> None:
    """The class follows age, no gene does; 19 permutations in each of 60 studies."""
    ranks = []
    for seed in range(60):
        dataset = study(seed, n=36, d=20)
        dataset = replace(dataset, X=np.random.default_rng(seed).normal(size=dataset.X.shape))
        observed_error = errors(dataset)[0]
        ranks.append((1 + np.sum(errors(dataset, "permuted-001-019") <= observed_error)) / 20)
    assert 0.4 < np.mean(ranks) < 0.68  # ties of few samples make p rather too large
    assert np.mean(np.array(ranks) <= 0.05) <= 0.1
