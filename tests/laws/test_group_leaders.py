"""Training sets of a group end together; none is solved after its leader's list is too long."""

import numpy as np
import pytest

from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.multitask import joint_path, joint_sets
from genesig.optim.structured import path as structured_path
from genesig.optim.structured.path import leading_rows

LONGEST = 6
GROUPS = np.array([0, 0, 0, 1, 1])
SCALING = {"centre": True, "unit_variance": True}
TAU_SHARES = np.geomspace(0.9, 0.1, 8)


def study():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 40))
    return rng, X, np.arange(50)[:, None] % 6 != np.arange(len(GROUPS))


def solve_classes(**options):
    rng, X, rows = study()
    code = np.eye(3)[rng.integers(0, 3, 50)] + X[:, :3]
    joint = joint_sets(X, np.tile(code[:, None], (1, len(GROUPS), 1)), rows, **SCALING)
    tau = joint.tau_max[:, None] * TAU_SHARES
    mu = 1e-3 * joint.norm[:, None]
    return joint_path(joint, tau, mu, tolerance=1e-9, **options)


def solve_survival(**options):
    rng, X, rows = study()
    time = rng.exponential(np.exp(-X[:, 0]))
    event = rng.random(50) < 0.7
    sets = cox_sets(X, FollowUp(time, event), rows, **SCALING)
    tau = sets.training_sets.tau_max[:, None] * TAU_SHARES
    mu = 1e-3 * sets.training_sets.norm[:, None]
    return cox_path(sets, tau, mu, tolerance=1e-9, **options)


SOLVE = {"classes": solve_classes, "survival": solve_survival}


@pytest.mark.parametrize("kind", SOLVE)
def test_lists_of_a_group_end_before_its_first_too_long_list(kind):
    full_path = SOLVE[kind]()
    group_path = SOLVE[kind](longest=LONGEST, groups=GROUPS)
    too_long = np.logical_or.accumulate(full_path.sizes() > LONGEST, axis=1)
    ended = np.stack([too_long[group == GROUPS].any(axis=0) for group in GROUPS])
    assert ended.any()
    assert not ended.all()
    ended_of_group = np.stack(
        [(group_path.iterations < 0)[group == GROUPS].any(axis=0) for group in GROUPS]
    )
    np.testing.assert_array_equal(ended_of_group, ended)
    for k, m in np.argwhere(~ended):
        genes, values = group_path.coef(k, m)
        np.testing.assert_array_equal(genes, full_path.coef(k, m)[0])
        np.testing.assert_allclose(values, full_path.coef(k, m)[1], rtol=0, atol=1e-9)


def test_followers_are_not_solved_where_the_list_of_the_leader_is_too_long(monkeypatch):
    n_solved = []
    solve_together = structured_path.solve_level
    monkeypatch.setattr(
        structured_path,
        "solve_level",
        lambda solvers: n_solved.append(len(solvers)) or solve_together(solvers),
    )
    result = solve_classes(longest=LONGEST, groups=GROUPS)
    n_lists = (result.iterations >= 0).sum()
    n_ended = (result.iterations[:, -1] < 0).sum()
    assert n_lists < sum(n_solved) < n_lists + n_ended


def test_leading_rows_are_the_longest_of_each_group_or_all_where_lists_are_short():
    going = np.array([True, True, False, True, True, True])
    sizes = np.array([7, 9, 20, 3, 4, 4])
    groups = np.array([0, 0, 0, 1, 1, 2])
    leading = leading_rows(going, sizes, groups, longest=10)
    np.testing.assert_array_equal(leading, [False, True, False, True, True, True])
    np.testing.assert_array_equal(leading_rows(going, sizes, groups, longest=None), going)
