"""The survival estimator equals its definition and refuses invalid input."""

from __future__ import annotations

import numpy as np
import pytest
from reference_formulas import tied
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from genesig.errors import GenesigError
from genesig.models.l1l2 import L1L2Cox, time_and_event
from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import RiskSets

KIND = [("event", bool), ("time", float)]


def study():
    X, time, event = tied(0, 60, 40)
    y = np.array(list(zip(event, time, strict=True)), dtype=KIND)
    return 5 * X + 3, time, event, y


def test_cox_selects_by_elastic_net_and_refits_by_ridge():
    X, time, event, y = study()
    model = L1L2Cox(tau=0.5, mu=0.01, lam=0.1).fit(X, y)
    A = model.get_support(indices=True)
    assert 0 < len(A) < 40
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    risk = RiskSets.from_times(time, event)
    lam = 0.1 * np.linalg.norm(Z, 2) ** 2 / 60
    b = ridge(risk, Z[risk.order][:, A], np.zeros((60, 0)), np.array([lam])).b[:, 0]
    np.testing.assert_allclose(model.predict(X), Z[:, A] @ b, atol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(model.coef_), A)
    assert max(model.gap_, model.refit_gap_) <= 1e-7
    assert np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.5


def test_survival_falls_with_time_and_risk():
    X, time, _, y = study()
    model = L1L2Cox().fit(X, y)
    S = model.survival_function(X, [0.0, *np.unique(time), 1e9])
    np.testing.assert_array_equal(S[:, 0], 1)
    assert (np.diff(S, axis=1) <= 0).all()
    order = np.argsort(model.predict(X))
    assert (np.diff(S[order], axis=0) <= 0).all()
    np.testing.assert_array_equal(S[:, -1], S[:, -2])


def test_both_ways_to_write_a_response():
    X, time, event, y = study()
    by_structured = L1L2Cox().fit(X, y)
    by_columns = clone(by_structured).fit(X, np.column_stack([time, event]))
    np.testing.assert_array_equal(by_structured.predict(X), by_columns.predict(X))
    swapped = np.array(list(zip(time, event, strict=True)), dtype=KIND[::-1])
    np.testing.assert_array_equal(time_and_event(swapped)[0], time)
    np.testing.assert_array_equal(time_and_event(swapped)[1], event)


@pytest.mark.parametrize(
    "y",
    [
        np.ones(60),
        np.ones((60, 3)),
        np.zeros(60, dtype=[("a", float)]),
        np.zeros(60, dtype=[("event", bool), ("time", "U3")]),
    ],
)
def test_another_response_is_refused(y):
    with pytest.raises(GenesigError, match="two columns time and event"):
        L1L2Cox().fit(study()[0], y)


def test_cox_without_selected_feature_gives_the_common_curve():
    X, _, _, y = study()
    model = L1L2Cox(tau=1.0).fit(X, y)
    assert len(model.get_support(indices=True)) == 0
    assert not model.predict(X).any()
    assert (np.ptp(model.survival_function(X, [2.0, 5.0]), axis=0) == 0).all()


def test_a_refit_without_a_minimum_is_warned_of():
    X = np.arange(12.0)[:, None]
    y = np.column_stack([np.arange(12.0)[::-1] + 1, np.ones(12)])
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        L1L2Cox(tau=0.5, lam=0.0).fit(X, y)


def test_unfitted_cox_is_refused():
    with pytest.raises(NotFittedError):
        L1L2Cox().predict(np.ones((2, 3)))
