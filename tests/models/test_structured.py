"""Estimators with a penalty on blocks follow scikit-learn's conventions and their definition."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.errors import GenesigError
from genesig.models.derivative import FeatureVectorMachine
from genesig.models.gene_sets import GeneSetClassifier, GeneSetRegressor
from genesig.models.multiple_kernel import MultipleKernelClassifier, MultipleKernelRegressor
from genesig.models.structured import (
    FeatureScale,
    FusedLassoRegressor,
    GroupLassoClassifier,
    GroupLassoRegressor,
)
from genesig.optim.nonlinear.problem import InvalidProblem

STRUCTURED_ESTIMATORS = [
    GroupLassoRegressor(),
    MultipleKernelRegressor(),
    GroupLassoClassifier(),
    GeneSetRegressor(),
    GeneSetClassifier(),
    GeneSetRegressor(weights="size"),
    MultipleKernelClassifier(),
]


def of_permutations(estimator):
    """Name the check that permutations must fail: those of more rows are others."""
    drawn = getattr(estimator, "weights", None) == "permuted"
    return dict.fromkeys(["check_sample_weight_equivalence_on_dense_data"] * drawn, "permutations")


@pytest.mark.one_in(4)
@parametrize_with_checks(STRUCTURED_ESTIMATORS[:2])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.one_in(4)
@pytest.mark.slow
@parametrize_with_checks(STRUCTURED_ESTIMATORS[2:], expected_failed_checks=of_permutations)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn_by_all(estimator, check):
    check(estimator)


def table(seed=0, n=50):
    """Return 30 genes, of which the first six are associated with y, and three sets of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30)) + 4
    y = X[:, :6].sum(axis=1) + rng.normal(size=n)
    names = [f"G{j}" for j in range(30)]
    sets = {"right": names[:6], "wrong": names[6:16], "both": [*names[4:8], "absent"]}
    return pd.DataFrame(X, columns=names), y, sets


def test_groups_are_those_of_the_definition():
    frame, y, _ = table()
    X = frame.to_numpy()
    groups = [range(6), range(6, 16), range(16, 30)]
    model = GroupLassoRegressor(groups, tau=0.4, mu=0.01).fit(X, y)
    assert list(model.blocks_) == [0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    b = model.coef_ * X.std(axis=0)
    r = y - model.predict(X)
    # Optimality in the chosen group: 2/n Z'r = 2 mu b + tau w b/||b||.
    mu = 0.01 * np.linalg.norm(Z, 2) ** 2 / len(Z)
    penalty_gradient = 2 * mu * b + model.tau_ * np.sqrt(6) * b / np.linalg.norm(b)
    np.testing.assert_allclose((2 / len(Z) * Z.T @ r)[:6], penalty_gradient[:6], atol=1e-6)
    assert model.norms_ == pytest.approx([np.linalg.norm(b), 0, 0])
    assert r.mean() == pytest.approx(0, abs=1e-12)


def test_several_responses_have_their_features_in_common():
    frame, y, _ = table()
    rng = np.random.default_rng(1)
    Y = np.stack([y, -2 * y + rng.normal(size=len(y)), rng.normal(size=len(y))], axis=1)
    model = GroupLassoRegressor(tau=0.5).fit(frame, Y)
    assert model.predict(frame).shape == Y.shape
    assert set(model.get_support(indices=True)) <= set(range(6))
    assert ((model.coef_ != 0).all(axis=0) == (model.coef_ != 0).any(axis=0)).all()
    single_response = GroupLassoRegressor(tau=0.5).fit(frame, Y[:, :1])
    np.testing.assert_allclose(
        single_response.coef_[0], GroupLassoRegressor(tau=0.5).fit(frame, y).coef_
    )


@pytest.mark.parametrize("penalty", ["latent", "composite"])
def test_overlapping_groups_are_selected_whole_or_zeroed(penalty):
    frame, y, _ = table()
    groups = [range(6), range(4, 16), range(14, 30)]
    solver = {"latent": "blocks", "composite": "projection"}[penalty]
    model = GroupLassoRegressor(groups, penalty=penalty, solver=solver, tau=0.4).fit(frame, y)
    zeros = np.setdiff1d(range(30), model.get_support(indices=True))
    is_whole = [set(group) <= set(model.get_support(indices=True)) for group in groups]
    is_gone = [set(group) <= set(zeros) for group in groups]
    assert any(is_whole if penalty == "latent" else is_gone)
    with pytest.raises(GenesigError, match="need the penalty 'latent' or 'composite'"):
        GroupLassoRegressor(groups).fit(frame, y)


def test_sets_are_found_by_their_names():
    frame, y, sets = table()
    model = GeneSetRegressor(sets, tau=0.5, alone=True).fit(frame, y)
    assert model.sets_[:4] == ["right", "wrong", "both", "G16"]
    assert len(model.sets_) == 3 + 14
    assert model.chosen_[0] == "right"
    assert "wrong" not in model.chosen_
    numbers = GeneSetRegressor([[*range(6)], [*range(6, 16)], [*range(4, 8)]], tau=0.5)
    refitted = GeneSetRegressor(sets, tau=0.5).fit(frame, y)
    np.testing.assert_allclose(numbers.fit(frame.to_numpy(), y).coef_, refitted.coef_)
    assert refitted.chosen_[0] == "right"
    Z = (frame - frame.mean()) / frame.std(ddof=0)
    if len(refitted.chosen_) == 1:
        share = (Z.to_numpy() @ (refitted.coef_ * frame.std(ddof=0))).std()
        assert refitted.shares_[0] == pytest.approx(share)


def test_invalid_gene_sets_give_one_line():
    frame, y, _ = table()
    with pytest.raises(InvalidProblem, match=r"no gene of the 1 sets .* 'TP53', X has 'G0', 'G1'"):
        GeneSetRegressor({"s": ["TP53"]}).fit(frame, y)
    with pytest.raises(InvalidProblem, match="set 's' names feature 30; X has 30"):
        GeneSetRegressor({"s": [30]}).fit(frame, y)
    with pytest.raises(GenesigError, match="weights: 'sizes' is not known; did you mean 'size'"):
        GeneSetRegressor({"s": [3]}, weights="sizes").fit(frame, y)
    with pytest.raises(GenesigError, match=r"weights: 'None' is not known \(known: "):
        GeneSetRegressor({"s": [3]}, weights=None).fit(frame, y)
    with pytest.raises(InvalidProblem, match="tau must be a finite number > 0"):
        GeneSetRegressor(tau=0.0).fit(frame, y)


def test_two_classes_are_cut_halfway_between_their_mean_scores():
    frame, y, sets = table()
    names = np.where(y > np.quantile(y, 0.75), "tumour", "normal")
    model = GeneSetClassifier(sets, tau=0.3).fit(frame, names)
    scores = model.decision_function(frame)
    means = [scores[names == name].mean() for name in ("normal", "tumour")]
    assert sum(means) == pytest.approx(0, abs=1e-9)
    assert model.score(frame, names) > 0.75
    assert list(model.classes_) == ["normal", "tumour"]


@pytest.mark.parametrize(
    "model",
    [
        GroupLassoClassifier(tau=0.2),
        GeneSetClassifier(tau=0.2),
        MultipleKernelClassifier([[0, 1], [2, 3]], tau=0.2),
    ],
)
def test_three_classes_are_predicted(model):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    rows = np.r_[0:50, 50:70, 100:150]
    model.fit(X[rows], names[rows])
    assert model.decision_function(X).shape == (150, 3)
    assert balanced_accuracy_score(names, model.predict(X)) > 0.8


def test_a_kernel_that_carries_nothing_is_left_out():
    frame, y, _ = table(n=80)
    model = MultipleKernelRegressor([range(6), range(6, 30)], ["linear"], tau=0.3).fit(frame, y)
    assert model.kernels_ == [(0, "linear"), (1, "linear")]
    assert list(model.chosen_) == [0]
    assert model.shares_[1] == 0
    assert model.shares_[0] == pytest.approx((model.predict(frame) - y.mean()).std())
    new, y_new, _ = table(seed=9, n=80)
    assert model.score(new, y_new) > 0.7


def test_linear_kernels_predict_as_groups_do():
    frame, y, _ = table()
    X = frame.to_numpy()
    groups = [range(6), range(6, 30)]
    # The mean diagonal of the kernel of p features of unit variance is p: so is its weight.
    model = MultipleKernelRegressor(groups, ["linear"], tau=0.3, mu=0.0).fit(X, y)
    group = GroupLassoRegressor(groups, tau=0.3, mu=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X + 1), group.predict(X + 1), atol=1e-5)


def test_a_loose_fit_is_warned_of(monkeypatch):
    frame, y, _ = table()
    monkeypatch.setattr("genesig.optim.structured.path.MAX_BLOCK_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        GroupLassoRegressor(tau=0.01).fit(frame, y)


@pytest.mark.parametrize("value", [0.1, 0.7, 1e6 + 0.3])
def test_weighted_constant_feature_has_scale_one(value):
    rng = np.random.default_rng(0)
    X = np.full((12, 1), value)
    weights = np.r_[rng.random(9), np.zeros(3)]
    X[9:] = rng.normal(size=(3, 1))
    assert (
        FeatureScale.from_rows(X, unit_variance=True, weights=12 * weights / weights.sum()).scale
        == 1
    )


@pytest.mark.parametrize(
    "blocks",
    [[], [[]], [range(0)], [[True, False, True]], [[0.9, 1.7]], [[0, 0]], [[0, 99]], [[-1]]],
)
def test_kernels_refuse_blocks_that_are_no_lists_of_features(blocks):
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(InvalidProblem, match="block"):
        MultipleKernelRegressor(blocks=blocks).fit(X, X[:, 0])


def test_derivative_model_refuses_words_as_numbers():
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(InvalidProblem, match="could not convert string to float"):
        FeatureVectorMachine().fit(X, np.array(["a", "b"] * 6))


def test_warning_of_a_fused_lasso_names_the_line_of_the_user():
    X = np.random.default_rng(0).normal(size=(12, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FusedLassoRegressor(tau=0.01, tolerance=1e-300).fit(X, X[:, 0])
    assert [warning.filename for warning in caught] == [__file__]
