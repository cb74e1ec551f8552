"""The derivative estimators: scikit-learn contract, choice of settings, refused input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from genesig.errors import GenesigError
from genesig.models.derivative import DerivativeClassifier, DerivativeRegressor
from genesig.optim.nonlinear import problem
from genesig.optim.nonlinear.path import Ridge, validation_errors

FIXED = {"tau": 0.5, "lam": (1e-2,), "tolerance": 1e-2, "max_iterations": 300}
QUICK_SETTINGS = {"n_tau": 6, "tau_min": 0.3, "cv": 3, "tolerance": 1e-3}


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def data(seed=0, n=50, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + 5
    Z = (X - 5) / np.arange(1, d + 1)
    return X, Z[:, 0] ** 2 + np.sin(2 * Z[:, 1]) + 0.05 * rng.normal(size=n)


# scikit-learn's checks fit pure noise, of which a half of tau_max selects nothing, and its
# `transform` warns of that: always, whatever the machine. The test below is of what is selected.
NOISE = "ignore:No features were selected"


def test_a_second_fit_selects_and_predicts_the_same():
    X, y = data(13)
    for kernel in ("gaussian", "linear"):
        model = DerivativeRegressor(kernel=kernel, tau=0.4, lam=(1e-2,))
        first_fit = model.fit(X, y).transform(X), model.predict(X)
        second_fit = model.fit(X, y).transform(X), model.predict(X)
        assert 0 < first_fit[0].shape[1] < 8
        for first_values, second_values in zip(first_fit, second_fit, strict=True):
            np.testing.assert_array_equal(first_values, second_values)


@pytest.mark.one_in(2)
@pytest.mark.one_in(4)
@parametrize_with_checks(
    [DerivativeRegressor(kernel="linear", **FIXED), DerivativeClassifier(kernel="linear", **FIXED)]
)
@pytest.mark.filterwarnings(NOISE)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([DerivativeRegressor(**FIXED), DerivativeClassifier(**FIXED)])
@pytest.mark.filterwarnings(NOISE)
def test_scikit_learn_s_contract_with_a_gaussian_kernel(estimator, check):
    check(estimator)


@pytest.mark.parametrize("debias", [True, False])
def test_gradient_equals_the_derivative_of_the_prediction(debias):
    X, y = data(1)
    model = DerivativeRegressor(tau=0.4, lam=(1e-3,), debias=debias).fit(X, y)
    points = X[:4] + 0.3
    slopes = model.gradient(points)
    assert slopes.shape == (4, 8)
    for a in range(8):
        h = np.zeros(8)
        h[a] = 1e-4 * (a + 1)
        numerical = (model.predict(points + h) - model.predict(points - h)) / (2 * h[a])
        np.testing.assert_allclose(slopes[:, a], numerical, atol=1e-6)
    if debias:
        assert not slopes[:, np.setdiff1d(np.arange(8), model.get_support(indices=True))].any()


def test_estimator_selects_the_true_variables_and_predicts():
    X, y = data(2, n=80)
    X_new, y_new = data(3, n=200)
    model = DerivativeRegressor(width=[0.5, 1.0], nu=[1e-3, 1e-2], **QUICK_SETTINGS).fit(X, y)
    assert {0, 1} <= set(model.get_support(indices=True))
    assert model.derivative_norms_.argsort()[-2:].tolist() in ([0, 1], [1, 0])
    assert model.score(X_new, y_new) > 0.8
    assert len(model.validation_errors_) == 4
    best = min(table.min() for table in model.validation_errors_.values())
    assert model.validation_errors_[model.nu_, model.width_].min() == best
    assert model.message_ == ""


def test_settings_are_chosen_by_held_out_rows_only():
    X, y = data(4)
    folds = list(KFold(3).split(X))
    model = DerivativeRegressor(**{**QUICK_SETTINGS, "cv": folds}).fit(X, y)
    shared = {"nu": 1e-2, "width": 1.0}
    settings = model._settings(model.lam)
    all_errors = validation_errors(X, y, settings, folds, tau=model._taus().tolist(), **shared)
    np.testing.assert_array_equal(model.validation_errors_[1e-2, 1.0], all_errors)
    fold = folds[:1]
    errors_before = validation_errors(X, y, settings, fold, nu=1e-2, width=1.0, tau=[0.5, 0.3])
    changed_X = X.copy()
    changed_X[fold[0][1]] *= 2
    errors_after = validation_errors(
        changed_X, y, settings, fold, nu=1e-2, width=1.0, tau=[0.5, 0.3]
    )
    assert not np.allclose(errors_before, errors_after)


def test_fit_ignores_held_out_rows():
    X, y = data(5)
    rows = np.arange(40)
    a = DerivativeRegressor(**QUICK_SETTINGS).fit(X[rows], y[rows])
    changed = X.copy()
    changed[40:] = 1e3
    b = DerivativeRegressor(**QUICK_SETTINGS).fit(changed[rows], y[rows])
    np.testing.assert_array_equal(a.derivative_norms_, b.derivative_norms_)


def test_linear_kernel_is_the_elastic_net():
    """tau Σ|w_a| + ν||w||² of standardised features: alpha l1 = tau/2, alpha (1 - l1) = ν."""
    X, y = data(6)
    model = DerivativeRegressor(
        kernel="linear", nu=1.0, tau=0.3, debias=False, tolerance=1e-9, max_iterations=50_000
    ).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    response = (y - y.mean()) / y.std()
    tau = model.fit_.path.solutions[-1].tau
    nu = 8 / 50
    alpha = tau / 2 + nu
    net = ElasticNet(alpha=alpha, l1_ratio=tau / 2 / alpha, fit_intercept=False, tol=1e-12)
    expected = np.abs(net.fit(Z, response).coef_)
    assert 0 < np.sum(expected > 0) < 8
    np.testing.assert_allclose(model.derivative_norms_ / y.std(), expected, atol=1e-4)
    np.testing.assert_array_equal(model.get_support(indices=True), np.flatnonzero(expected))


def test_ridge_solves_its_system():
    X, y = data(7)
    model = DerivativeRegressor(tau=0.4, lam=(1e-2,)).fit(X, y)
    fit = model.fit_
    ridge = fit.ridge(model.step_)
    K = ridge.kernel.tables(ridge.X @ ridge.X.T, *[np.sum(ridge.X**2, axis=1)] * 2).value
    expected = np.linalg.solve(K + 1e-2 * np.eye(50), fit.y - fit.y.mean())
    np.testing.assert_allclose(ridge.dual[0], expected, rtol=1e-8, atol=1e-10)
    none = Ridge.fit(ridge.kernel, X[:, :0], y, np.ones(2))
    np.testing.assert_array_equal(none.predict(X[:3, :0]), np.full((2, 3), y.mean()))


def test_labels_of_any_kind():
    X, y = data(8)
    labels = np.where(y > np.median(y), "tumour", "normal")
    model = DerivativeClassifier(**QUICK_SETTINGS).fit(X, labels)
    assert model.classes_.tolist() == ["normal", "tumour"]
    assert set(model.predict(X)) <= {"normal", "tumour"}
    assert model.score(X, labels) > 0.75


def test_units_of_features_and_response_do_not_matter():
    X, y = data(9)
    a = DerivativeRegressor(**QUICK_SETTINGS).fit(X, y)
    b = DerivativeRegressor(**QUICK_SETTINGS).fit(X * 1000 - 7, 10 * y + 3)
    np.testing.assert_array_equal(a.get_support(indices=True), b.get_support(indices=True))
    np.testing.assert_allclose(10 * a.predict(X) + 3, b.predict(X * 1000 - 7), rtol=1e-6)


def test_group_is_in_or_out_as_a_whole():
    X, y = data(10)
    groups = [[0, 3], [1, 2], [4, 5, 6, 7]]
    model = DerivativeRegressor(penalty="group", groups=groups, **QUICK_SETTINGS).fit(X, y)
    for group in groups:
        assert len(set(group) & set(model.get_support(indices=True))) in (0, len(group))


@pytest.mark.parametrize("model", [DerivativeRegressor, DerivativeClassifier])
def test_docstring_states_the_differences_from_the_lasso(model):
    assert "Unlike in the lasso, a variable that is not selected" in model.__doc__
    assert "SUMMARY" not in model.__doc__


@pytest.mark.slow
def test_a_feature_constant_in_a_fold_is_left_out_there():
    X, y = data(11)
    X[:, 7] = 0
    X[45:, 7] = [1, 2, 3, 4, 5]
    groups = [[0, 1, 2, 3, 4, 5, 6], [7]]
    model = DerivativeRegressor(
        penalty="group", groups=groups, weights=[1.0, 1.0], **{**QUICK_SETTINGS, "cv": KFold(10)}
    ).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def changed(**cells):
    X, y = data()
    X = X.copy()
    for value in cells.values():
        X[:, 3] = value
    return X, y


@pytest.mark.parametrize(
    ("X", "y", "change", "message"),
    [
        (*changed(a=np.nan), {}, "NaN"),
        (*changed(a=1.0), {}, "1 of 8 features are constant, the first is number 3"),
        (data()[0][:2], data()[1][:2], {}, "minimum of 3 is required"),
        (*data(), {"nu": 0.0}, "nu must be positive"),
        (*data(), {"width": -1.0}, "width must be a positive number"),
        (*data(), {"kernel": "gauss"}, "did you mean 'gaussian'"),
        (*data(), {"lam": (0.0,)}, "lam must be positive"),
        (*data(), {"degree": 0}, "degree must be"),
        (*data(), {"nu": [1e-2, -1.0]}, "nu must be positive"),
        (*data(), {"width": [1.0, 0.0]}, "width must be a positive number"),
        (*data(), {"solver": "newton"}, "solver"),
        (*data(), {"penalty": "ridge"}, "penalty"),
        (*data(), {"penalty": "group"}, "the group penalty needs groups"),
        (*data(), {"penalty": "group", "groups": [[0], [1]]}, "cover all 8 features"),
        (*data(), {"penalty": "group", "groups": [[*range(8)], [3]]}, "in a group already"),
    ],
)
def test_bad_input_is_refused_before_any_fit(X, y, change, message, monkeypatch):
    monkeypatch.setattr("genesig.models.derivative.validation_errors", None)
    monkeypatch.setattr("genesig.models.derivative.fit_path", None)
    with pytest.raises(GenesigError, match=message):
        DerivativeRegressor(**{**QUICK_SETTINGS, **change}).fit(X, y)


def test_more_than_memory_holds_is_refused_before_any_fit(monkeypatch):
    X, y = data()
    monkeypatch.setattr("genesig.models.derivative.validation_errors", None)
    monkeypatch.setattr(problem.os, "sysconf", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 4096}.get)
    with pytest.raises(GenesigError, match="of this machine; use the solver 'compressed'"):
        DerivativeRegressor(solver="admm").fit(X, y)


def test_path_that_always_selects_too_much_is_refused():
    X, y = data(12, n=12, d=60)
    with pytest.raises(GenesigError, match="more variables than samples"):
        DerivativeRegressor(tau=0.05, cv=3).fit(X, y)
