"""Estimators that choose by folds have the errors of plain fits and choose the smallest."""

from __future__ import annotations

import re

import numpy as np
import pytest
from places import ROOT
from reference_formulas import log_likelihood, tied
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig import (
    KernelPCRRegressor,
    L1L2Classifier,
    L1L2ClassifierCV,
    L1L2Cox,
    L1L2CoxCV,
    L1L2Regressor,
    L1L2RegressorCV,
    SparsePCA,
)
from genesig.errors import GenesigError
from genesig.optim.nonlinear.problem import InvalidProblem

TAU = [0.5, 0.1, 0.02]
MU = [1e-1, 1e-4]
LAM = [1e-1, 1e-3]
GRID = {"tau": TAU, "mu": MU, "lam": LAM}
SMALL_GRID = {"tau": 4, "mu": 1e-3, "lam": [1e-1, 1e-3]}


@pytest.mark.one_in(4)
@parametrize_with_checks([L1L2RegressorCV(**SMALL_GRID), L1L2ClassifierCV(**SMALL_GRID)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def data(n=45, d=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, d) + 4
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize(
    "estimator", [L1L2RegressorCV(**SMALL_GRID), KernelPCRRegressor(), SparsePCA()]
)
def test_folds_that_train_on_earlier_rows_alone_are_refused(estimator):
    X, y = data()
    with pytest.raises(InvalidProblem, match="must train on all rows"):
        clone(estimator).set_params(cv=TimeSeriesSplit(3)).fit(X, y)


def by_hand(plain, X, y, splits, error):
    """Return the error of every setting from a fit of each fold's rows, (n_mu, n_tau, n_lam)."""
    errors = np.empty((len(MU), len(TAU), len(LAM)))
    for m, t, k in np.ndindex(errors.shape):
        model = clone(plain).set_params(tau=TAU[t], mu=MU[m], lam=LAM[k])
        fits = [clone(model).fit(X[train], y[train]) for train, _ in splits]
        errors[m, t, k] = error(fits, splits)
    return errors


def test_errors_are_those_of_plain_fits_of_numbers():
    X, y = data()
    splits = list(KFold(5).split(X))

    def squares(fits, splits):
        pairs = zip(fits, splits, strict=True)
        return np.mean(np.hstack([(y[h] - fit.predict(X[h])) ** 2 for fit, (_, h) in pairs]))

    model = L1L2RegressorCV(**GRID).fit(X, y)
    expected = by_hand(L1L2Regressor(), X, y, splits, squares)
    np.testing.assert_allclose(model.error_path_, expected, rtol=1e-8)
    m, t, k = np.unravel_index(np.argmin(expected), expected.shape)
    assert (model.mu_, model.tau_, model.lam_) == (MU[m], TAU[t], LAM[k])
    plain = L1L2Regressor(tau=model.tau_, mu=model.mu_, lam=model.lam_).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_errors_are_those_of_plain_fits_of_classes():
    X, y = data()
    y = np.where(y > 13, "tumour", "normal")
    splits = list(StratifiedKFold(3).split(X, y))
    sign = np.where(y == "tumour", 1, -1)

    def squares(fits, splits):
        pairs = zip(fits, splits, strict=True)
        f = [(sign[h] - fit.decision_function(X[h])) ** 2 for fit, (_, h) in pairs]
        return np.mean(np.hstack(f))

    model = L1L2ClassifierCV(**GRID, cv=3).fit(X, y)
    expected = by_hand(L1L2Classifier(), X, y, splits, squares)
    np.testing.assert_allclose(model.error_path_, expected, rtol=1e-8)
    assert list(model.classes_) == ["normal", "tumour"]


def test_errors_are_those_of_plain_fits_of_times():
    X, time, event = tied(0, 48, 20)
    y = np.column_stack([time, event])
    splits = list(StratifiedKFold(4).split(X, event))

    def deviance(fits, splits):
        added = 0.0
        for fit, (train, _) in zip(fits, splits, strict=True):
            eta = fit.predict(X)
            added += log_likelihood(time, event, eta, "efron")
            added -= log_likelihood(time[train], event[train], eta[train], "efron")
        return -2 * added / event.sum()

    model = L1L2CoxCV(**GRID, cv=4).fit(X, y)
    expected = by_hand(L1L2Cox(), X, y, splits, deviance)
    np.testing.assert_allclose(model.error_path_, expected, rtol=1e-6)
    plain = L1L2Cox(tau=model.tau_, mu=model.mu_, lam=model.lam_).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(
        model.survival_function(X, [1.0, 2.0]), plain.survival_function(X, [1.0, 2.0])
    )


def test_the_page_shows_what_runs():
    text = (ROOT / "docs/how_to/python.md").read_text(encoding="utf-8")
    (block,) = [b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "CV(" in b]
    names = {}
    exec(block, names)
    assert names["model"].error_path_.shape == (2, 20, 6)


def test_ties_go_to_the_largest():
    X, y = data()
    model = L1L2RegressorCV(tau=[1.0, 1.1], mu=MU, lam=LAM).fit(X, y)  # nothing is ever selected
    assert np.ptp(model.error_path_) < 1e-12 * model.error_path_.max()
    assert (model.tau_, model.lam_, model.mu_) == (1.1, 1e-1, 1e-1)


def test_a_loose_path_is_warned_of():
    X, y = data(20, 5)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        L1L2RegressorCV(**SMALL_GRID, cv=2, solver="landweber-nested").fit(X, y)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"tau": 0}, "tau must be at least 1 value"),
        ({"tau": [0.5, 0.0]}, "tau must be .* > 0"),
        ({"mu": [-1.0]}, "mu must be .* >= 0"),
        ({"lam": []}, "lam must be"),
        ({"lam": np.nan}, "lam must be"),
    ],
)
def test_invalid_grid_is_refused(setting, message):
    with pytest.raises(InvalidProblem, match=message):
        L1L2RegressorCV(**setting).fit(*data(12, 3))


def test_a_fold_without_an_event_to_train_on_is_refused():
    X, time, _ = tied(0, 20, 5)
    event = np.arange(20) < 5
    with pytest.raises(GenesigError, match="no event in the samples"):
        L1L2CoxCV(**SMALL_GRID, cv=KFold(4)).fit(X, np.column_stack([time, event]))
