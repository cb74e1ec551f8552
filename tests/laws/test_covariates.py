"""A study with covariates and weights: scores, models, permutations and p-values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from settings import MOMENTS, SPLITS, linear

from genesig.data.cohorts.new_matrix import check_covariates
from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.errors import InvalidInput
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design, Fits
from genesig.selection.assess.controls import null_errors, score_covariates
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

AGE = Covariate("age", None)
SEX = Covariate("sex", ("f", "m"))


def study(
    seed: int,
    n: int = 40,
    d: int = 30,
    *,
    task: str = "classification",
    signal: float = 2.0,
    missing: bool = False,
    weights: str | None = None,
) -> Dataset:
    """Age and sex tell of the label, genes 0 to 4 follow age, the last gene adds to them."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n)
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, :5] += 0.2 * (age - 50)[:, None]
    y = (age - 50) / 10 + 0.5 * sex + signal * X[:, -1] + rng.normal(size=n)
    label = [f"{v:.6f}" for v in y] if task == "regression" else np.where(y > y.mean(), "b", "a")
    ages = [f"{v:.4f}" for v in age]
    if missing:
        ages[0] = "NA"
    names = [f"s{k}" for k in range(n)]
    obs = pd.DataFrame(
        {
            "y": label,
            "age": ages,
            "sex": np.where(sex > 0, "m", "f"),
            "v": [str(1 + k % 3) for k in range(n)],
        },
        index=names,
    )
    genes = [f"g{k}" for k in range(d)]
    classes = None if task == "regression" else ("a", "b")
    design = Design(
        "y", task, classes, None, None, covariates=(AGE, SEX), filled=missing, weights=weights
    )
    return Dataset(X, obs.astype(str), pd.DataFrame({"symbol": genes}, index=genes), design, {})


def settings(task: str) -> dict[str, object]:
    criterion = "squared_error" if task == "regression" else "balanced_error"
    return linear(
        list="minimal",
        mu=[1e-6, 1.0],
        lam=[1e-3, 1e-1],
        tau_min=0.1,
        tau_count=5,
        criterion=criterion,
    )


def loop(dataset: Dataset, labels: str = "observed", batch: str = "1of1") -> Fits:
    splits = draw_splits(dataset, seed=1, **SPLITS)
    task = dataset.design.task
    return nested_cross_validation(
        dataset, splits, labels=labels, batch=batch, fold_steps=MOMENTS, **settings(task)
    )


def joint_scores(dataset: Dataset, fits: Fits, fit: int, mu: int, splits) -> np.ndarray:
    """Refit the list of a fit with its covariates at once, ridge on the genes alone."""
    split = splits.outer[fit]
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    genes, _ = fits.coef(fit, mu)
    y = dataset.response()
    C = dataset.covariates()
    weights = dataset.design.weights
    v = np.ones(len(y)) if weights is None else dataset.sample_weights()
    if weights == "balanced":
        v = np.where(y > 0, 1 / np.sum(y[train] > 0), 1 / np.sum(y[train] < 0))
    v = v[train] / v[train].mean()
    is_measured = ~np.isnan(C[train])
    mean_c = np.array(
        [
            v[is_measured[:, k]] @ C[train][is_measured[:, k], k] / v[is_measured[:, k]].sum()
            for k in range(C.shape[1])
        ]
    )
    C = np.where(np.isnan(C), mean_c, C) - mean_c
    X = dataset.X[:, genes]
    mean = v @ X[train] / v.sum()
    sd = np.sqrt(v @ np.square(X[train] - mean) / v.sum())
    D = np.column_stack([(X - mean) / sd, C])
    lam = fits.grid.lam[fits.choice[fit, 1]] * fits.grid.norm[fit]
    ridge = len(train) * lam * np.diag(np.r_[np.ones(len(genes)), np.zeros(C.shape[1])])
    level = v @ y[train] / v.sum()
    H = D[train].T @ (v[:, None] * D[train]) + ridge
    b = np.linalg.solve(H, D[train].T @ (v * (y[train] - level)))
    return np.asarray(level + D[test] @ b)


@pytest.mark.parametrize("weights", [None, "balanced", "v"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_held_out_scores_equal_the_joint_model(task, weights):
    if task == "regression" and weights == "balanced":
        pytest.skip("no classes to be balanced")
    dataset = study(3, task=task, missing=True, weights=weights)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    fits = loop(dataset)
    for fit in range(len(fits)):
        rows, scores = fits.test_scores(fit)
        np.testing.assert_array_equal(rows, dataset.rows(splits.outer[fit].test))
        for mu in range(2):
            want = joint_scores(dataset, fits, fit, mu, splits)
            np.testing.assert_allclose(scores[:, mu], want, atol=1e-8)


def test_genes_that_only_follow_a_covariate_are_left_out():
    weighted_study = study(5, n=60)
    plain = study(5, n=60)
    plain = replace(plain, design=replace(plain.design, covariates=()))
    chosen = [set(fits.coef(0, 0)[0].tolist()) for fits in map(loop, (weighted_study, plain))]
    assert 29 in chosen[0]
    assert 29 in chosen[1]
    assert len(chosen[0] & set(range(5))) < len(chosen[1] & set(range(5)))


def test_fits_ignore_held_out_samples():
    dataset = study(7)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    fits = loop(dataset)
    test = dataset.rows(splits.outer[0].test)
    obs = dataset.obs.copy()
    X = dataset.X.copy()
    obs.loc[obs.index[test], "age"] = "1000"
    X[test] += 100
    changed_fits = loop(replace(dataset, obs=obs, X=X))
    for mu in range(2):
        np.testing.assert_array_equal(fits.coef(0, mu)[0], changed_fits.coef(0, mu)[0])
        np.testing.assert_allclose(fits.coef(0, mu)[1], changed_fits.coef(0, mu)[1], rtol=1e-9)
    np.testing.assert_allclose(
        fits.covariates.gamma[0], changed_fits.covariates.gamma[0], rtol=1e-9
    )
    np.testing.assert_allclose(fits.covariates.mean[0], changed_fits.covariates.mean[0], rtol=1e-9)


def test_batches_of_splits_change_nothing():
    dataset = study(9)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    all_splits = loop(dataset)
    parts = [loop(dataset, batch=f"{k}of2") for k in (1, 2)]
    joined = Fits.gather(parts, [split.name for split in splits.outer])
    np.testing.assert_allclose(joined.covariates.gamma, all_splits.covariates.gamma, 0, 1e-9)
    np.testing.assert_allclose(joined.scores, all_splits.scores, 0, 1e-9)


def test_without_covariates_a_permutation_keeps_label_and_weight_together():
    dataset = study(11, weights="v")
    dataset = replace(dataset, design=replace(dataset.design, covariates=()))
    splits = draw_splits(dataset, seed=1, **SPLITS)
    (task, *_) = PreparedStudy(dataset, splits, MOMENTS).make_training_sets(splits.outer, [3])
    pi = draw_permutation(dataset, splits, 3)
    assert (pi != np.arange(len(pi))).any()
    np.testing.assert_array_equal(task.covariates.weights[pi], dataset.sample_weights())
    np.testing.assert_array_equal(task.y[pi], dataset.response())


def test_covariates_alone_are_least_squares():
    dataset = study(13, task="regression")
    splits = draw_splits(dataset, seed=1, **SPLITS)
    split = splits.outer[0]
    y = dataset.response()
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    D = np.column_stack([np.ones(len(y)), dataset.covariates()])
    b = np.linalg.lstsq(D[train], y[train], rcond=None)[0]
    np.testing.assert_allclose(score_covariates(dataset, split), D[test] @ b, atol=1e-9)
    plain = replace(dataset, design=replace(dataset.design, covariates=()))
    assert score_covariates(plain, split) is None


def test_half_sample_and_final_fits_have_covariate_coefficients():
    dataset = study(15)
    splits = draw_splits(dataset, seed=1, **{**SPLITS, "subsamples": 4})
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **settings("classification"))
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **settings("classification"))
    assert final.covariates.gamma.shape == (1, 2, 2)
    assert halves.covariates.gamma.shape == (4, 2, 2)


def modelled(dataset: Dataset) -> tuple[Fits, dict[str, object]]:
    splits = draw_splits(dataset, seed=1, **SPLITS)
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **settings(dataset.design.task))
    return final, final_model(dataset, final, fold_steps=MOMENTS)


def as_matrix(dataset: Dataset) -> Matrix:
    lines = tuple(range(2, 2 + len(dataset.samples)))
    return Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X.copy(), {}, lines)


def test_model_json_predicts_as_the_fit_does():
    dataset = study(17, missing=True)
    final, model = modelled(dataset)
    genes, b = final.coef(0, int(final.choice[0, 2]))
    C = dataset.covariates()
    C = np.where(np.isnan(C), final.covariates.mean[0], C)
    at = int(final.choice[0, 2])
    want = final.intercept[0, at] + dataset.X[:, genes] @ b + C @ final.covariates.gamma[0, at]
    table, messages = predict(
        model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=dataset.obs
    )
    np.testing.assert_allclose(table["score"], want - final.threshold[0], rtol=1e-12)
    assert [problem.level for problem in messages] == ["warning"]
    assert "imputed with the mean" in messages[0].message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: None, "the model needs 'age', 'sex' of each sample; name the sample table"),
        (lambda t: t.drop(columns="sex"), "has no column 'sex', which the model needs"),
        (lambda t: t.assign(age=["", *t["age"][1:]]), "no value for 1 sample ('s0')"),
        (lambda t: t.assign(age=["old", *t["age"][1:]]), "'s0' is 'old', not a number"),
    ],
)
def test_predict_without_covariates_is_refused(change, words):
    dataset = study(19)
    _, model = modelled(dataset)
    with pytest.raises(InvalidInput) as caught:
        predict(
            model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=change(dataset.obs)
        )
    assert words in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_word_no_training_sample_had_is_refused():
    dataset = study(21)
    (message,) = check_covariates((AGE, SEX), False, dataset.obs.assign(sex="mm"), "new.tsv")
    assert message.level == "error"
    assert (
        "'mm' was in no training sample (they have 'f', 'm'); did you mean 'm'?" in message.message
    )


def test_case_and_blanks_of_a_word_change_no_score():
    dataset = study(21)
    _, model = modelled(dataset)
    table, _ = predict(
        model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=dataset.obs
    )
    respelled_obs = dataset.obs.assign(sex=[f" {word.upper()} " for word in dataset.obs["sex"]])
    same, _ = predict(
        model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=respelled_obs
    )
    np.testing.assert_array_equal(table["score"], same["score"])


def test_other_words_of_the_study_are_known_to_its_model():
    dataset = study(21)
    sex = replace(SEX, words={"Frau": "f", "Mann": "m"})
    dataset = replace(dataset, design=replace(dataset.design, covariates=(AGE, sex)))
    _, model = modelled(dataset)
    scores = [
        predict(model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=about)[0]
        for about in (
            dataset.obs,
            dataset.obs.assign(sex=dataset.obs["sex"].map({"f": "frau", "m": "Mann"})),
        )
    ]
    np.testing.assert_array_equal(scores[0]["score"], scores[1]["score"])


def test_two_spellings_of_a_word_are_one_level():
    assert Covariate.from_cells("er", ["pos", "Pos", "Pos ", "neg", ""]).levels == ("Pos", "neg")
    covariate = Covariate.from_cells("er", ["pos", "1", "neg"], words={"1": "pos"})
    assert covariate.levels == ("neg", "pos")
    assert covariate.spelt(["1", "POS", "other"]) == ["pos", "pos", "other"]


@pytest.mark.parametrize("part", ["version", "covariates", "models.0.covariates"])
def test_a_model_edited_by_hand_is_refused(part):
    dataset = study(23)
    _, model = modelled(dataset)
    if part == "version":
        model = {**model, "version": 6}
    elif part == "covariates":
        model = {**model, "covariates": {**model["covariates"], "names": ["age"]}}
    else:
        del model["models"][0]["covariates"]
    with pytest.raises(InvalidInput, match=f"'{part}' is not as genesig writes it"):
        predict(model, as_matrix(dataset), "new.tsv", missing=0.1, mu=None, samples=dataset.obs)


@pytest.mark.slow
def test_noise_adds_nothing():
    """Neither genes nor covariates tell of the label: the error is that of a coin."""
    errors = []
    for seed in range(12):
        dataset = study(seed, n=30, d=300)
        rng = np.random.default_rng(100 + seed)
        words = np.where(rng.permutation(30) < 15, "b", "a")
        noise = replace(dataset, X=rng.normal(size=(30, 300)), obs=dataset.obs.assign(y=words))
        splits = draw_splits(noise, seed=1, **SPLITS)
        errors.append(null_errors(noise, splits, loop(noise))["error"][0, 0])
    assert 0.4 < np.mean(errors) < 0.6


@pytest.mark.slow
def test_p_is_uniform_where_expression_adds_nothing():
    """The label follows age and sex, no gene does; 19 permutations in each of 60 studies."""
    ranks = []
    for seed in range(60):
        dataset = study(seed, n=30, d=20, signal=0.0)
        rng = np.random.default_rng(seed)
        dataset = replace(dataset, X=rng.normal(size=dataset.X.shape))
        splits = draw_splits(dataset, seed=seed, **SPLITS)
        run = {"batch": "1of1", "fold_steps": MOMENTS, **settings("classification")}
        fits = [
            nested_cross_validation(dataset, splits, labels=labels, **run)
            for labels in ("observed", "permuted-001-019")
        ]
        observed, null = (
            null_errors(dataset, splits, fitted_set)["error"][:, 0] for fitted_set in fits
        )
        ranks.append((1 + np.sum(null <= observed[0])) / 20)
    assert 0.4 < np.mean(ranks) < 0.68  # ties of few samples make p rather too large
    assert np.mean(np.array(ranks) <= 0.05) <= 0.1
