"""The thesis's two algorithms against the exact minimiser, on the leukemia data."""

from __future__ import annotations

import importlib
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED
from reference_formulas import l1l2_objective as objective

from genesig.optim.solution import duality_gap
from genesig.optim.solvers import path
from genesig.optim.solvers.reference import (
    algorithm_1,
    algorithm_2,
    iterates,
    landweber_nested,
    mu_ladder,
)
from genesig.optim.training import training_sets


def small(seed=0, n=15, d=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + rng.normal(size=(n, d))
    y = np.sign(X[:, :1] + rng.normal(size=(n, 1)))
    return training_sets(X, y, np.ones((n, 1), bool), centre=True, unit_variance=True)


@pytest.fixture(scope="module")
def leukemia():
    if not (SHARED / "golub_1999_expression.tsv.gz").exists():
        pytest.skip("the shared leukemia data are not there")
    table = pd.read_csv(SHARED / "golub_1999_expression.tsv.gz", sep="\t", index_col=0)
    samples = pd.read_csv(SHARED / "golub_1999_samples.tsv", sep="\t", index_col=0)
    train = samples.index[samples["original_split"] == "train"]
    y = np.where(samples.loc[train, "diagnosis"] == "ALL", 1.0, -1.0)[:, None]
    X = table[train].to_numpy(float).T
    return training_sets(X, y, np.ones(y.shape, bool), centre=True, unit_variance=True)


@given(seed=st.integers(0, 10_000), share=st.floats(0.01, 1.0), d=st.integers(1, 40))
@pytest.mark.parametrize("mu", [0.0, 1e-3, 1.0])
def test_algorithm_1_never_raises_the_objective(mu, seed, share, d):
    sets = small(seed, d=d)
    Z = sets.standardised(0)
    y = sets.Y[:, 0]
    tau = share * sets.tau_max[0]
    ridge = mu * sets.norm[0]
    start = np.random.default_rng(seed).normal(size=d)
    steps = iterates(Z, y, np.full(d, tau), ridge, start)
    values = [objective(Z, y, b, tau, ridge) for b in (start, *islice(steps, 200))]
    assert (np.diff(values) <= 1e-13 * (1 + values[0])).all()
    assert values[-1] < values[0]


def test_algorithm_1_reaches_the_minimiser():
    sets = small()
    Z = sets.standardised(0)
    y = sets.Y[:, 0]
    tau = 0.2 * sets.tau_max[0]
    mu = 0.05 * sets.norm[0]
    exact = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-12)
    b, _ = algorithm_1(Z, y, np.full(Z.shape[1], tau), mu, np.zeros(Z.shape[1]))
    assert duality_gap(Z, y, b, tau, mu) < 1e-3
    np.testing.assert_array_equal(np.flatnonzero(b), exact.indices)
    np.testing.assert_allclose(b[exact.indices], exact.values, rtol=0.02)


def test_unmet_stopping_rule_is_reported(monkeypatch):
    monkeypatch.setattr(importlib.import_module(algorithm_1.__module__), "MAX_ITERATIONS", 50)
    sets = small()
    fits = path(sets, 0.05 * sets.tau_max[0], 0.0, solver="landweber", tolerance=1e-9)
    assert fits.message.startswith("Algorithm 1 was stopped after 50 iterations in 1 fits")


@pytest.mark.parametrize("solver", ["landweber", "landweber-nested"])
def test_a_loose_fit_is_reported(solver):
    sets = small()
    fits = path(sets, 0.05 * sets.tau_max[0], 1e-6 * sets.norm[0], solver=solver, tolerance=1e-9)
    assert not fits.converged.any()
    assert "did not reach the relative duality gap" in fits.message


def test_algorithm_2_counts_all_rungs_and_restricts_each_to_the_support_before():
    sets = small()
    Z = sets.standardised(0)
    y = sets.Y[:, 0]
    tau = np.full(Z.shape[1], 0.3 * sets.tau_max[0])
    rungs = sets.norm[0] * np.array([1.0, 0.1])
    first_b, first_count = algorithm_2(Z, y, tau, rungs[:1])
    support = np.flatnonzero(first_b)
    last_b, last_count = algorithm_1(
        Z[:, support], y, tau[support], float(rungs[1]), first_b[support]
    )
    b, n_iterations = algorithm_2(Z, y, tau, rungs)
    assert 0 < len(support) < len(b)
    assert n_iterations == first_count + last_count
    np.testing.assert_array_equal(b[support], last_b)
    assert not np.delete(b, support).any()


def test_mu_ladder_equals_the_thesis_in_units_of_the_norm():
    np.testing.assert_allclose(mu_ladder(1e-6 * 7.0, 7.0), 7.0 * np.geomspace(1e-3, 1e-6, 10))
    assert mu_ladder(0.0, 7.0)[-1] == 0
    assert mu_ladder(7.0, 7.0)[-1] == 7.0


def nested(sets, shares):
    tau = sets.tau_max[:, None] * shares
    mu = np.broadcast_to(1e-6 * sets.norm[:, None], tau.shape)
    return landweber_nested(sets, tau, mu, 1e-9)


def difference(sets, shares, fits):
    tau = sets.tau_max[:, None] * shares
    mu = 1e-6 * sets.norm[:, None]
    exact = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
    assert exact.converged.all()
    return [len(np.setxor1d(fits.coef(0, m)[0], exact.coef(0, m)[0])) for m in range(len(shares))]


@pytest.mark.slow
def test_nested_is_within_6_features_of_the_exact_support(leukemia):
    """On the data of the thesis's comparison, raw intensities standardised, size by size."""
    shares = np.array([0.5, 0.1, 0.05, 0.02])
    exact = path(
        leukemia,
        leukemia.tau_max[:, None] * shares,
        1e-6 * leukemia.norm[:, None],
        solver="landweber-newton",
        tolerance=1e-9,
    )
    assert list(exact.sizes()[0]) == [6, 26, 35, 37]
    fits = nested(leukemia, shares)
    assert max(difference(leukemia, shares, fits)) <= 6
    assert (fits.gap < 5e-3).all()


@pytest.mark.slow
def test_violations_left_by_the_rungs_are_reported(leukemia):
    shares = np.array([0.02])
    fits = nested(leukemia, shares)
    assert "violate the optimality conditions" in fits.message
    assert sum(difference(leukemia, shares, fits)) > 0
