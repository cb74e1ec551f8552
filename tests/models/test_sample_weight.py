"""Whole sample weights give the same fit as repeated rows in every estimator."""

from __future__ import annotations

import numpy as np
import pytest
from reference_formulas import log_likelihood, tied
from sklearn.base import BaseEstimator, clone, is_classifier

import genesig
from genesig import (
    DerivativeClassifier,
    DerivativeRegressor,
    FeatureVectorMachine,
    FusedLassoClassifier,
    FusedLassoRegressor,
    GeneSetClassifier,
    GeneSetRegressor,
    GroupLassoClassifier,
    GroupLassoRegressor,
    KernelPCRClassifier,
    KernelPCRRegressor,
    L1L2Classifier,
    L1L2ClassifierCV,
    L1L2Cox,
    L1L2CoxCV,
    L1L2Logistic,
    L1L2Regressor,
    L1L2RegressorCV,
    MultipleKernelClassifier,
    MultipleKernelRegressor,
    SparsePCA,
    TotalVariation,
)
from genesig.optim.kernels import median_distance
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.weights import equal_chance_weights

EXACT = {"tau": 0.4, "lam": (0.1,), "tolerance": 1e-11}
BLOCKS = [[0, 1, 2], [3, 4, 5], [6, 7]]
SAME = [
    L1L2Regressor(),
    L1L2Classifier(tau=0.1),
    L1L2Logistic(),
    GroupLassoRegressor(tau=0.1),
    GroupLassoClassifier(tau=0.1),
    FusedLassoRegressor(first=1.0, tau=0.2),
    FusedLassoClassifier(),
    GeneSetRegressor(BLOCKS, weights="size"),
    GeneSetClassifier(BLOCKS, weights="equal"),
    MultipleKernelRegressor(BLOCKS),
    MultipleKernelClassifier(BLOCKS),
    KernelPCRRegressor("linear", n_components=3),
    KernelPCRRegressor(n_components=5),
    KernelPCRClassifier(width=0.7, n_components=4),
    DerivativeRegressor(kernel="linear", **EXACT),
    DerivativeClassifier(debias=False, nu=0.1, **EXACT),
    DerivativeRegressor(penalty="elastic", **EXACT),
    SparsePCA(2, tau=0.2),
    TotalVariation(),
]
WEIGHTED_ESTIMATORS = {
    name
    for name, public in ((name, getattr(genesig, name)) for name in genesig.PUBLIC)
    if isinstance(public, type) and issubclass(public, BaseEstimator)
}


def named(estimators):
    return pytest.mark.parametrize("model", estimators, ids=lambda e: type(e).__name__)


def data(n=40, d=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + 5
    y = X[:, 0] + np.abs(X[:, 1] - 5) + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, n)


def values(model, X):
    """Return the scores, predictions or components of rows."""
    predictions = (
        getattr(model, name, None) for name in ("decision_function", "predict", "transform")
    )
    return next(filter(None, predictions))(X)


def test_every_public_estimator_takes_weights_and_is_tested():
    without_weights = {"L1L2Cox", "FeatureVectorMachine"} | {
        name for name in WEIGHTED_ESTIMATORS if name.endswith("CV")
    }
    assert {type(model).__name__ for model in SAME} | without_weights == WEIGHTED_ESTIMATORS


@pytest.mark.one_in(2)
@pytest.mark.slow_cases(
    "DerivativeRegressor0",
    "DerivativeRegressor1",
    "SparsePCA",
)
@named(SAME)
def test_whole_weights_are_rows_that_occur_so_often(model):
    X, y, often = data()
    y = np.where(y > np.median(y), "b", "a") if is_classifier(model) else y
    weighted = clone(model).fit(X, y, sample_weight=often)
    repeated = clone(model).fit(np.repeat(X, often, axis=0), np.repeat(y, often))
    new = X + 0.1
    # rows that occur twice leave half of the digits to the root of a kernel's matrix
    np.testing.assert_allclose(values(weighted, new), values(repeated, new), rtol=1e-7, atol=1e-7)
    if hasattr(model, "tau_"):
        assert weighted.tau_ == pytest.approx(repeated.tau_, rel=1e-8)
    if not isinstance(model, TotalVariation):  # of which rows tell nothing of each other
        plain = clone(model).fit(X, y)
        assert np.abs(values(plain, new) - values(weighted, new)).max() > 1e-3


@pytest.mark.slow_cases(
    "SparsePCA",
)
@named(
    [
        KernelPCRRegressor(width=[0.5, 1.0]),
        KernelPCRClassifier(),
        DerivativeRegressor(kernel="linear", n_tau=3, tolerance=1e-10),
        SparsePCA(2),
        L1L2RegressorCV(tolerance=1e-12),
        L1L2ClassifierCV(tolerance=1e-12),
    ]
)
def test_what_folds_choose_is_that_of_repeated_rows_where_the_folds_keep_them_together(model):
    X, y, often = data(30)
    y = np.where(y > np.median(y), "b", "a") if is_classifier(model) else y
    place = np.arange(30) % 3
    weighted = clone(model)
    repeated = clone(model)
    weighted.set_params(cv=splits(place)).fit(X, y, sample_weight=often)
    many = np.repeat(np.arange(30), often)
    repeated.set_params(cv=splits(place[many])).fit(X[many], y[many])
    np.testing.assert_allclose(values(weighted, X), values(repeated, X), rtol=1e-7, atol=1e-7)


def splits(place):
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(3)]


def test_what_folds_choose_of_times_is_that_of_repeated_samples():
    X, time, event = tied(0, 40, 12)
    y = np.column_stack([time, event])
    often = np.random.default_rng(1).integers(0, 4, 40)
    place = np.arange(40) % 3
    many = np.repeat(np.arange(40), often)
    model = L1L2CoxCV(ties="breslow", tau=6, tolerance=1e-12)
    weighted = clone(model).set_params(cv=splits(place)).fit(X, y, sample_weight=often)
    repeated = clone(model).set_params(cv=splits(place[many])).fit(X[many], y[many])
    np.testing.assert_allclose(weighted.error_path_, repeated.error_path_, rtol=1e-7)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("unit_variance", [True, False])
def test_whole_weights_of_times_are_repeated_samples_where_ties_are_breslow_s(unit_variance):
    X, time, event = tied(0, 40, 12)
    y = np.column_stack([time, event])
    often = np.random.default_rng(1).integers(0, 4, 40)
    model = L1L2Cox(ties="breslow", tau=0.3, unit_variance=unit_variance, tolerance=1e-12)
    weighted = clone(model).fit(5 * X + 3, y, sample_weight=often)
    many = np.repeat(np.arange(40), often)
    repeated = clone(model).fit(5 * X[many] + 3, y[many])
    assert 0 < len(weighted.get_support(indices=True)) < 12
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)
    at = np.unique(time)
    np.testing.assert_allclose(
        weighted.survival_function(X, at), repeated.survival_function(X, at), atol=1e-8
    )


def test_weights_of_times_are_coxph_s_with_efron_s_ties():
    """The refit is the minimum of the definition: no step away from it goes down."""
    X, time, event = tied(2, 40, 6)
    v = np.random.default_rng(2).uniform(0.2, 3, 40)
    model = L1L2Cox(tau=0.2, lam=0.05, tolerance=1e-10)
    model.fit(X, np.column_stack([time, event]), sample_weight=v)
    v /= v.mean()
    Z = X - np.average(X, axis=0, weights=v)
    Z /= np.sqrt(np.average(Z**2, axis=0, weights=v))
    lam = 0.05 * np.linalg.norm(np.sqrt(v)[:, None] * Z, 2) ** 2 / 40
    A = model.get_support(indices=True)
    assert len(A)

    def loss(b):
        return -2 / 40 * log_likelihood(time, event, Z[:, A] @ b, "efron", v) + lam * b @ b

    b = np.linalg.lstsq(Z[:, A], model.predict(X), rcond=None)[0]
    np.testing.assert_allclose(Z[:, A] @ b, model.predict(X), atol=1e-9)
    slopes = [(loss(b + e) - loss(b - e)) / 2e-5 for e in 1e-5 * np.eye(len(A))]
    np.testing.assert_allclose(slopes, 0, atol=1e-7)
    equal = clone(model).fit(X, np.column_stack([time, event]), sample_weight=np.full(40, 3.0))
    plain = clone(model).fit(X, np.column_stack([time, event]))
    np.testing.assert_allclose(equal.predict(X), plain.predict(X), atol=1e-9)


def test_binned_rows_are_counted_whole():
    """Twelve rows by order, four bins of three; a weight of 3 fills one as three copies do."""
    rng = np.random.default_rng(3)
    rank = rng.permutation(4)
    X = np.stack([np.arange(4.0), rank, rng.permutation(4)], axis=1)
    y = rank.astype(float)
    vector_machine = FeatureVectorMachine(n_features=2, n_bins=4)
    weighted = clone(vector_machine).fit(X, y, sample_weight=np.full(4, 3))
    repeated = clone(vector_machine).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.information_, repeated.information_, atol=1e-12)
    X, y, often = data()
    model = FeatureVectorMachine(n_features=3)
    has_weight = often > 0
    weighted = clone(model).fit(X, y, sample_weight=often)
    fitted_on_positive = clone(model).fit(
        X[has_weight], y[has_weight], sample_weight=5.0 * often[has_weight]
    )
    np.testing.assert_allclose(weighted.information_, fitted_on_positive.information_, atol=1e-12)
    np.testing.assert_array_equal(weighted.predict(X), fitted_on_positive.predict(X))
    equal = clone(model).fit(X, y, sample_weight=np.full(40, 7.0))
    np.testing.assert_array_equal(equal.predict(X), clone(model).fit(X, y).predict(X))


def test_permuted_weights_are_those_of_the_weighted_criterion():
    X, y, often = data()
    model = GeneSetRegressor(BLOCKS).fit(X, y, sample_weight=often)
    is_weighted = often > 0
    X = X[is_weighted]
    y = y[is_weighted]
    v = often[is_weighted] / often[is_weighted].mean()
    Z = X - np.average(X, axis=0, weights=v)
    Z /= np.sqrt(np.average(Z**2, axis=0, weights=v))
    y = y - np.average(y, weights=v)
    rng = np.random.RandomState(0)
    rows = np.stack([rng.permutation(len(y)) for _ in range(200)], axis=1)
    null = y[:, None], y[rows][:, :, None]
    blocks = Blocks.from_lists(BLOCKS, np.ones(len(BLOCKS)))
    weights = equal_chance_weights(v[:, None] * Z, *null, blocks.members, blocks.starts)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-5)


def test_the_weighted_criterion_is_clarabel_s():
    cvxpy = pytest.importorskip("cvxpy")
    X, y, often = data()
    v = often / often.mean()
    model = FusedLassoRegressor(first=1.0, tau=0.3, mu=0.0).fit(X, y, sample_weight=often)
    Z = X - np.average(X, axis=0, weights=v)
    Z /= np.sqrt(np.average(Z**2, axis=0, weights=v))
    b = cvxpy.Variable(8)
    root = np.sqrt(v)
    fit = cvxpy.multiply(root, y - np.average(y, weights=v) - Z @ b)
    rough = cvxpy.norm1(cvxpy.diff(b)) + cvxpy.abs(b[0])
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(fit) / 40 + model.tau_ * rough)).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12
    )
    np.testing.assert_allclose(model.levels_, b.value, atol=1e-5)


def test_the_median_distance_counts_pairs_of_repeated_points():
    rng = np.random.default_rng(4)
    for often in (np.array([1, 2, 0, 3, 1]), np.array([4, 0, 0, 1, 1]), np.ones(5)):
        X = rng.normal(size=(5, 3))
        many = np.repeat(X, often.astype(int), axis=0)
        distance_weighted = median_distance(X @ X.T, often)
        distance_repeated = median_distance(many @ many.T)
        assert distance_weighted == pytest.approx(distance_repeated, abs=1e-6)


@named([*SAME, FeatureVectorMachine()])
@pytest.mark.parametrize("weights", [np.zeros(40), -np.ones(40), np.ones(39), np.full(40, np.nan)])
def test_invalid_weights_are_refused(model, weights):
    X, y, _ = data()
    y = np.where(y > np.median(y), "b", "a") if is_classifier(model) else y
    with pytest.raises((InvalidProblem, ValueError), match=r"(?i)weight"):
        clone(model).fit(X, y, sample_weight=weights)


@named([model for model in SAME if is_classifier(model)])
def test_a_class_without_weight_is_refused(model):
    X, y, _ = data()
    with pytest.raises(InvalidProblem, match="0 for all samples of a class"):
        clone(model).fit(X, y > np.median(y), sample_weight=1.0 * (y > np.median(y)))


@named([KernelPCRRegressor(), SparsePCA()])
def test_a_fold_that_leaves_nothing_to_train_is_refused(model):
    X, y, _ = data()
    with pytest.raises(InvalidProblem, match="all training samples of a fold"):
        clone(model).fit(X, y, sample_weight=np.where(np.arange(40) < 5, 1.0, 0.0))


def test_fused_lasso_predictions_do_not_depend_on_the_units_of_features():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 6))
    y = rng.standard_normal(20)
    units = np.array([1.0, 10.0, 0.1, 5.0, 1.0, 100.0])
    scores = [FusedLassoRegressor(tau=0.1).fit(Z, y).predict(Z) for Z in (X, X * units)]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)
    assert np.ptp(scores[0]) > 0.1
