"""Shortcuts on a path of Cox fits change no fit."""

import gc
import weakref

import numpy as np

from genesig.optim.cox.path import cox_path, ridge_scores
from genesig.optim.cox.training import FollowUp, cox_sets

TIGHT_TOLERANCE = {"tolerance": 1e-8}


def problem(weighted, seed=0, n=50, d=150, k=4):
    """Return k training sets of correlated features, tau and mu of a path on each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.normal(size=(n, d))
    time = rng.exponential(np.exp(-X[:, 0] / 2)).round(2)
    event = rng.random(n) < 0.6
    weights = rng.uniform(0.2, 3, size=n) if weighted else None
    sets = cox_sets(
        X, FollowUp(time, event, weights), rng.random((n, k)) < 0.8, centre=True, unit_variance=True
    )
    tau = np.geomspace(0.9, 0.1, 12) * sets.training_sets.tau_max[:, None]
    return sets, tau, 1e-2 * sets.training_sets.norm[:, None] + 0 * tau


def assert_same_path(path, expected):
    for name in ("indptr", "indices", "iterations"):
        np.testing.assert_array_equal(getattr(path, name), getattr(expected, name), name)
    for name in ("values", "gap"):
        of = getattr(path, name), getattr(expected, name)
        np.testing.assert_allclose(*of, rtol=1e-9, atol=1e-12, err_msg=name)


def test_group_of_rows_ends_as_far_as_all_its_members_do_separately():
    sets, tau, mu = problem(False, seed=1)
    alone = cox_path(sets, tau, mu, longest=15, **TIGHT_TOLERANCE)
    ends = (alone.iterations < 0).argmax(axis=1)
    assert len(set(ends)) > 1
    assert ends.min() > 0
    joint_path = cox_path(
        sets, tau, mu, longest=15, groups=np.array([0, 0, 1, 1]), **TIGHT_TOLERANCE
    )
    for k, last_step in enumerate([ends[:2].min()] * 2 + [ends[2:].min()] * 2):
        np.testing.assert_allclose(
            joint_path.gap[k, :last_step], alone.gap[k, :last_step], atol=1e-12
        )
        for m in range(last_step):
            np.testing.assert_allclose(joint_path.coef(k, m), alone.coef(k, m), rtol=1e-9)
        assert (joint_path.iterations[k, last_step + 1 :] < 0).all()
    per_group = (joint_path.iterations < 0).reshape(2, 2, -1).any(axis=1)
    np.testing.assert_array_equal(per_group.argmax(axis=1), ends.reshape(2, 2).min(axis=1))


def test_unused_training_sets_are_freed():
    """A study makes thousands, each with a matrix; a circle would hold them until gc runs."""
    sets, tau, mu = problem(False)
    gc.disable()
    try:
        ridge_scores(sets, cox_path(sets, tau, mu, longest=15, **TIGHT_TOLERANCE), 0.1)
        sets_reference = weakref.ref(sets)
        del sets
        assert sets_reference() is None
    finally:
        gc.enable()


def test_each_row_of_a_group_has_its_first_fit_though_another_ends_there():
    sets, tau, mu = problem(False, seed=1)
    separate_sizes = [cox_path(sets, tau, mu, **TIGHT_TOLERANCE).sizes()[:, m] for m in range(12)]
    m = next(m for m, sizes in enumerate(separate_sizes) if sizes.min() < sizes.max())
    group_path = cox_path(
        sets,
        tau[:, m:],
        mu[:, m:],
        longest=separate_sizes[m].max() - 1,
        groups=np.zeros(4, int),
        **TIGHT_TOLERANCE,
    )
    np.testing.assert_array_equal(
        group_path.iterations[:, 0] < 0, separate_sizes[m] == separate_sizes[m].max()
    )
