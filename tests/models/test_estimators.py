"""All estimators follow scikit-learn's contract, selection and probability rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from places import TESTS
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import genesig
from genesig import (
    DerivativeClassifier,
    DerivativeRegressor,
    FeatureVectorMachine,
    FusedLassoClassifier,
    GeneSetClassifier,
    GeneSetRegressor,
    GroupLassoClassifier,
    GroupLassoRegressor,
    KernelPCRClassifier,
    L1L2Classifier,
    L1L2Cox,
    L1L2CoxCV,
    L1L2Logistic,
    L1L2Regressor,
    MultipleKernelClassifier,
    SparsePCA,
    TotalVariation,
)
from genesig.optim.classes import MAX_LOG_SLOPE, VARIANCE_FACTOR, shrunken_slope
from genesig.optim.nonlinear.problem import InvalidProblem

ESTIMATORS = {
    name
    for name, public in ((name, getattr(genesig, name)) for name in genesig.PUBLIC)
    if isinstance(public, type) and issubclass(public, BaseEstimator)
}
FAST = {"kernel": "linear", "tau": 0.3, "lam": [0.1], "tolerance": 1e-3}
CLASSIFIERS = [
    L1L2Classifier(tau=0.2),
    FusedLassoClassifier(),
    KernelPCRClassifier(n_components=3),
    GroupLassoClassifier(),
    GeneSetClassifier(),
    MultipleKernelClassifier(),
    DerivativeClassifier(**FAST),
]
SELECT = [
    L1L2Regressor(tau=0.3),
    L1L2Classifier(tau=0.3),
    L1L2Logistic(tau=0.3),
    GroupLassoRegressor(tau=0.3),
    GroupLassoClassifier(tau=0.3),
    GeneSetRegressor(tau=0.3),
    GeneSetClassifier(tau=0.3),
    FeatureVectorMachine(n_features=3),
    DerivativeRegressor(**FAST),
    DerivativeClassifier(**FAST),
]


def named(estimators):
    return pytest.mark.parametrize("model", estimators, ids=[type(e).__name__ for e in estimators])


def calibrated(model, folds=3):
    return type(model)(**{**model.get_params(), "calibration": folds})


class Times:
    """Takes any numbers as the times of events, as scikit-learn's checks give them."""

    def fit(self, X, y, sample_weight=None):
        numbers = np.asarray(y)
        numbers = numbers.astype(float) if numbers.dtype == object else numbers
        if numbers.ndim == 1 and numbers.dtype.kind in "iuf" and np.isfinite(numbers).all():
            y = np.stack([numbers - numbers.min() + 1, np.ones(len(numbers))], axis=1)
        return super().fit(X, y, sample_weight)


class Timed(Times, L1L2Cox):
    pass


class TimedByFolds(Times, L1L2CoxCV):
    pass


def test_every_public_estimator_is_checked():
    text = "".join(p.read_text(encoding="utf-8") for p in TESTS.rglob("test_*.py"))
    checked_text = "".join(part[:400] for part in text.split("@parametrize_with_checks(")[1:])
    checked_text += (
        text.split("\nSTRUCTURED_ESTIMATORS = [")[1].split("]")[0] + "L1L2Cox(L1L2CoxCV("
    )
    assert {name for name in ESTIMATORS if f"{name}(" not in checked_text} == set()


def of_rows(estimator):
    """Name the check that folds must fail: a row that stands twice may be in two of them."""
    return {"check_sample_weight_equivalence_on_dense_data": "folds of the calibration"}


def of_times(estimator):
    """Name the check that Efron's ties must fail: a row that stands twice is two deaths at once."""
    return {"check_sample_weight_equivalence_on_dense_data": "ties"}


@pytest.mark.one_in(2)
@pytest.mark.one_in(4)
@parametrize_with_checks(
    [calibrated(model) for model in CLASSIFIERS[:2]], expected_failed_checks=of_rows
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn_with_probabilities(estimator, check):
    check(estimator)


@pytest.mark.one_in(4)
@pytest.mark.slow
@parametrize_with_checks(
    [calibrated(model) for model in CLASSIFIERS[2:-1]], expected_failed_checks=of_rows
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn_with_probabilities_of_all(estimator, check):
    check(estimator)


SMALL_GRID = {"tau": 3, "mu": 1e-3, "lam": [1e-2, 1e-1]}


@pytest.mark.one_in(2)
@pytest.mark.one_in(4)
@parametrize_with_checks(
    [Timed(), TimedByFolds(**SMALL_GRID)],
    expected_failed_checks=of_times,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn_for_times(estimator, check):
    check(estimator)


@pytest.mark.one_in(4)
@parametrize_with_checks([L1L2Logistic(balanced=True)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn_for_odds(estimator, check):
    check(estimator)


def data(n=40, d=12, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 5
    X[:, :3] += 0.9 * y[:, None] * np.array([1, -1, 1])
    return pd.DataFrame(X, columns=[f"G{j}" for j in range(d)]), np.array(["a", "b", "c"])[y]


@named(SELECT)
def test_selected_features_have_names_and_transform(model):
    X, y = data()
    y = y if is_classifier(model) else (y == "b") + 0.1 * X["G4"].to_numpy()
    model.fit(X, y)
    names = model.get_feature_names_out()
    assert 0 < len(names) < X.shape[1]
    assert list(names) == [f"G{j}" for j in model.get_support(indices=True)]
    assert (model.support_.shape, model.support_.dtype) == ((X.shape[1],), bool)
    np.testing.assert_array_equal(model.support_, model.get_support())
    np.testing.assert_array_equal(model.transform(X), X[names])
    assert list(model.feature_names_in_) == list(X)


def test_odds_are_those_of_the_model():
    X, y = data()
    model = L1L2Logistic(tau=0.2).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), model.decision_function(X))
    np.testing.assert_allclose(p[:, 1].mean(), 0.5)  # the intercept is free


def test_times_select_as_well():
    X, y = data()
    times = np.stack([np.exp(-X["G0"] + 6), y == "a"], axis=1).astype(float)
    model = L1L2Cox(tau=0.5).fit(X, times)
    assert list(model.get_feature_names_out()) == [f"G{j}" for j in model.get_support(indices=True)]


def test_transformers_name_what_they_give():
    X, _ = data()
    assert list(TotalVariation().fit(X).get_feature_names_out()) == list(X)
    assert list(SparsePCA(2, tau=0.1).fit(X).get_feature_names_out()) == [
        "sparsepca0",
        "sparsepca1",
    ]


def test_a_selector_stands_before_another_model():
    X, y = data()
    pipeline = make_pipeline(L1L2Classifier(tau=0.3), GroupLassoClassifier(tau=0.01)).fit(X, y)
    assert pipeline[-1].n_features_in_ == len(pipeline[0].get_support(indices=True))


@named(CLASSIFIERS)
def test_classifier_without_setting_has_no_probabilities(model):
    X, y = data()
    assert not hasattr(model, "predict_proba")
    assert model.get_params()["calibration"] is None
    plain = model.fit(X, y)
    with_them = calibrated(model).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), with_them.decision_function(X))


def slope_by_hand(score, positive):
    """Minimise the cross-entropy of p = 1/(1 + exp(-a f)), targets smoothed, over a grid of a.

    The slope a is then shrunken by its variance.
    """
    target = np.where(positive, len(score) + 1, 1) / (len(score) + 2)
    grid = np.geomspace(1e-3, 1e3, 20001)
    z = np.multiply.outer(grid, score)
    a = grid[np.argmin(np.sum(np.logaddexp(0, z) - target * z, axis=1))]
    p = 1 / (1 + np.exp(-a * score))
    variance = 1 / np.sum(p * (1 - p) * score**2)
    shrinkage = 1 - (VARIANCE_FACTOR * variance / a**2) ** 1.5
    return max(a * shrinkage, np.exp(-MAX_LOG_SLOPE) / score.std())


@pytest.mark.slow_cases("DerivativeClassifier", "MultipleKernelClassifier", "GroupLassoClassifier")
@named(CLASSIFIERS)
def test_probabilities_are_a_curve_of_scores_of_rows_left_out(model):
    X, y = data(120)
    calibrated_model = calibrated(model, StratifiedKFold(3)).fit(X, y)
    p = calibrated_model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    left_out = cross_val_predict(model, X, y, cv=StratifiedKFold(3), method="decision_function")
    a = slope_by_hand(left_out, y == "b")
    np.testing.assert_allclose(
        p[:, 1], 1 / (1 + np.exp(-a * calibrated_model.decision_function(X))), atol=1e-3
    )
    np.testing.assert_array_equal(
        calibrated_model.classes_[p.argmax(axis=1)], calibrated_model.predict(X)
    )


@pytest.mark.slow
def test_probabilities_are_as_frequent_as_they_say():
    X, y = data(4000, 6, seed=3)
    p = (
        calibrated(L1L2Classifier(tau=0.01), 5)
        .fit(X[:2000], y[:2000])
        .predict_proba(X[2000:])[:, 1]
    )
    part = np.clip((p * 5).astype(int), 0, 4)
    for k in range(5):
        is_fold = part == k
        assert abs(np.mean(y[2000:][is_fold] == "b") - p[is_fold].mean()) < 0.07


def test_slope_of_unrelated_scores_is_next_to_nothing():
    scores = np.tile([0.0, -1.0, 0.0, 1.0], 20).reshape(-1, 2)
    assert 0 < shrunken_slope(scores, np.repeat([0, 1], 20), None) < 1e-3


def test_slope_of_repeated_rows_is_that_of_a_row_for_each_group():
    """Equal rows of a group have the variance of one row; the smoothing differs a little."""
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    scores = np.column_stack([np.zeros(60), rng.normal(0.5 * y - 0.25)])
    repeated = np.repeat(scores, 3, axis=0), np.repeat(y, 3), None
    by_group = shrunken_slope(*repeated, np.repeat(np.arange(60), 3))
    assert by_group == pytest.approx(shrunken_slope(scores, y, None), rel=0.05)
    assert by_group < 0.9 * shrunken_slope(*repeated)


@named([GroupLassoClassifier(tau=0.05), MultipleKernelClassifier(tau=0.05)])
def test_several_classes_have_probabilities(model):
    X, y = data(60, classes=3)
    p = calibrated(model).fit(X, y).predict_proba(X)
    assert p.shape == (60, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.mean(p.argmax(axis=1) == np.searchsorted(["a", "b", "c"], y)) > 0.5


@named([L1L2Classifier(tau=0.3), GroupLassoClassifier(tau=0.05)])
def test_subclass_of_a_classifier_keeps_its_parameters(model):
    subclass = type("Subclass", (type(model),), {})
    subclass_model = calibrated(subclass(**model.get_params()))
    assert subclass_model.get_params() == calibrated(model).get_params()
    X, y = data()
    expected = calibrated(model).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clone(subclass_model).fit(X, y).predict_proba(X), expected)


def test_subclass_of_a_classifier_adds_a_parameter():
    class Labelled(L1L2Classifier):
        def __init__(self, label="", tau=0.1, calibration=None):
            super().__init__(tau=tau, calibration=calibration)
            self.label = label

    model = clone(Labelled("x", tau=0.3, calibration=3))
    assert model.get_params() == {"label": "x", "tau": 0.3, "calibration": 3}


def test_regressor_has_no_probability_setting():
    with pytest.raises(TypeError, match="calibration"):
        L1L2Regressor(calibration=3)


NO_NUMBERS = {
    "lam": [L1L2Classifier(), L1L2Regressor(), L1L2Cox()],
    "tau": [GroupLassoClassifier([[0, 1], [2]]), MultipleKernelClassifier()],
    "width": [MultipleKernelClassifier()],
    "tolerance": [DerivativeClassifier(), DerivativeRegressor(), FeatureVectorMachine()],
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("name", NO_NUMBERS)
def test_a_setting_that_is_no_number_is_refused_before_any_work(name, value):
    X, y = data(20, 3)
    for model in NO_NUMBERS[name]:
        times = np.column_stack([1.0 + np.arange(len(y)), np.ones(len(y))])
        response = times if isinstance(model, L1L2Cox) else np.where(y == "b", 1.0, -1.0)
        with pytest.raises(InvalidProblem, match=f"{name} must be a finite number"):
            clone(model).set_params(**{name: value}).fit(X, response)
