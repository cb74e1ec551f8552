"""The l1l2 estimators follow scikit-learn's conventions and their definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.models.l1l2 import L1L2Classifier, L1L2Regressor


@pytest.mark.one_in(4)
@parametrize_with_checks([L1L2Classifier(), L1L2Regressor()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 30)) * rng.uniform(0.5, 3, 30) + 4
    return X, X[:, :3].sum(axis=1) + rng.normal(size=40)


def test_l1l2_equals_elastic_net_and_ridge():
    X, y = data()
    model = L1L2Regressor(tau=0.3, mu=0.01, lam=0.1).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    target = y - y.mean()
    norm = np.linalg.norm(Z, 2) ** 2 / 40
    tau = 0.3 * 2 / 40 * np.abs(Z.T @ target).max()
    alpha = 0.01 * norm + tau / 2
    net = ElasticNet(alpha=alpha, l1_ratio=tau / 2 / alpha, tol=1e-10).fit(Z, target)
    np.testing.assert_array_equal(model.get_support(indices=True), np.flatnonzero(net.coef_))
    ridge = Ridge(alpha=40 * 0.1 * norm).fit(Z[:, model.support_], y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(Z[:, model.support_]))
    np.testing.assert_array_equal(np.flatnonzero(model.coef_), model.get_support(indices=True))
    assert model.gap_ <= 1e-9


def test_the_classifier_gives_the_names_of_the_classes():
    X, y = data()
    names = np.where(y > y.mean(), "tumour", "normal")
    model = L1L2Classifier().fit(X, names)
    assert list(model.classes_) == ["normal", "tumour"]
    assert model.score(X, names) >= 0.95
    np.testing.assert_array_equal(model.predict(X) == "tumour", model.decision_function(X) > 0)


def test_a_loose_selection_is_warned_of():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        L1L2Regressor(solver="landweber-nested").fit(X, y)


@pytest.mark.parametrize("model", [L1L2Regressor(tau=1.0), L1L2Classifier(tau=1.0)])
def test_l1l2_without_selected_feature_predicts_the_mean(model):
    X, y = data()
    y = np.sign(y - 12)
    model.fit(X, y)
    assert len(model.get_support(indices=True)) == 0
    assert model.intercept_ == pytest.approx(y.mean())
