"""What saves time on a path of Cox fits and changes none of them."""

import gc
import weakref

import numpy as np
import pytest

from genesig.optim.cox import path as module
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.scores import ridge_scores
from genesig.optim.cox.training import cox_sets

TIGHT = {"tolerance": 1e-8}


def problem(weighted, seed=0, n=50, d=150, k=4):
    """Return k training sets of correlated features, tau and mu of a path on each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.normal(size=(n, d))
    time, event = rng.exponential(np.exp(-X[:, 0] / 2)).round(2), rng.random(n) < 0.6
    weights = rng.uniform(0.2, 3, size=n) if weighted else None
    sets = cox_sets(X, time, event, rng.random((n, k)) < 0.8, centre=True, unit_variance=True,
                    sample_weights=weights)  # fmt: skip
    tau = np.geomspace(0.9, 0.1, 12) * sets.sets.tau_max[:, None]
    return sets, tau, 1e-2 * sets.sets.norm[:, None] + 0 * tau


def same(found, expected):
    for name in ("indptr", "indices", "values", "gap", "iterations"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_look_at_all_features_that_is_left_out_would_have_found_nothing(weighted, monkeypatch):
    """Few features have a place beside those of the list, so that others are often missing."""
    monkeypatch.setattr(module, "FEW", 12)
    passed, clear = [], module._Row._clear
    monkeypatch.setattr(
        module._Row, "_clear", lambda *given: passed.append(clear(*given)) or passed[-1]
    )
    sets, tau, mu = problem(weighted)
    found = cox_path(sets, tau, mu, longest=60, **TIGHT)
    assert True in passed
    assert False in passed
    monkeypatch.setattr(module._Row, "_further", lambda row, longest: -1)
    same(found, cox_path(sets, tau, mu, longest=60, **TIGHT))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_feature_that_may_have_been_beyond_its_bound_is_looked_at(weighted):
    """Of all u with a product beyond the bound of feature j, the nearest to where the row is."""
    sets, tau, mu = problem(weighted)
    row = module._Row.of(sets, 0, 1e-8)
    sets.side_by_side({0: row.solve(tau[0, 2], mu[0, 2], None)})
    u, rough = row.problem.room.here.u, row.problem.room.rough
    rough.u[:] = u
    row.outside = row.b == 0
    assert row._clear(1.001 * tau[0, 2])
    for j in np.flatnonzero(row.outside):
        z = sets.columns(0, np.array([j]))[:, 0]
        z -= z.mean()
        np.testing.assert_allclose(z @ u, row.g[j], atol=1e-12)
        short = 1.0001 * tau[0, 2] * np.sign(row.g[j]) - row.g[j]
        rough.u[:] = u + short * z / (z @ z)
        assert not row._clear(tau[0, 2]), j


def test_rows_that_end_together_are_as_far_as_all_of_them_go_the_same_as_alone():
    sets, tau, mu = problem(False, seed=1)
    alone = cox_path(sets, tau, mu, longest=15, **TIGHT)
    ends = (alone.iterations < 0).argmax(axis=1)
    assert len(set(ends)) > 1
    assert ends.min() > 0
    together = cox_path(sets, tau, mu, longest=15, groups=np.array([0, 0, 1, 1]), **TIGHT)
    for k, last in enumerate([ends[:2].min()] * 2 + [ends[2:].min()] * 2):
        np.testing.assert_array_equal(together.gap[k, :last], alone.gap[k, :last])
        for m in range(last):
            np.testing.assert_array_equal(together.coef(k, m), alone.coef(k, m))
        assert (together.iterations[k, last + 1 :] < 0).all()
    per_group = (together.iterations < 0).reshape(2, 2, -1).any(axis=1)
    np.testing.assert_array_equal(per_group.argmax(axis=1), ends.reshape(2, 2).min(axis=1))


def test_sets_are_let_go_when_nobody_needs_them():
    """A study makes thousands, each with a matrix; a circle would hold them until gc runs."""
    sets, tau, mu = problem(False)
    gc.disable()
    try:
        ridge_scores(sets, cox_path(sets, tau, mu, longest=15, **TIGHT), 0.1)
        seen = weakref.ref(sets)
        del sets
        assert seen() is None
    finally:
        gc.enable()


def test_where_a_row_of_a_group_ends_nothing_more_is_solved(monkeypatch):
    """Not the rest of the group there, if its longest list is too long; nor what comes after."""
    sets, tau, mu = problem(False, seed=1)
    ends = (cox_path(sets, tau, mu, longest=15, **TIGHT).iterations < 0).argmax(axis=1)
    solved, solve = [], module._Row.solve
    monkeypatch.setattr(
        module._Row, "solve",
        lambda row, level, *given: solved.append((row.k, level)) or solve(row, level, *given),
    )  # fmt: skip
    cox_path(sets, tau, mu, longest=15, groups=np.zeros(4, int), **TIGHT)
    last = ends.min()
    per_step = [sum(level == tau[k, m] for k, level in solved) for m in range(tau.shape[1])]
    assert per_step == [4] * last + [1] + [0] * (tau.shape[1] - last - 1)


def test_each_row_of_a_group_has_its_first_fit_though_another_ends_there():
    sets, tau, mu = problem(False, seed=1)
    first = [cox_path(sets, tau, mu, **TIGHT).sizes()[:, m] for m in range(12)]
    m = next(m for m, sizes in enumerate(first) if sizes.min() < sizes.max())
    found = cox_path(sets, tau[:, m:], mu[:, m:], longest=first[m].max() - 1,
                     groups=np.zeros(4, int), **TIGHT)  # fmt: skip
    np.testing.assert_array_equal(found.iterations[:, 0] < 0, first[m] == first[m].max())
