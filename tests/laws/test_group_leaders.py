"""Training sets of a group end together; one leads, and where its list is too long none follows."""

import numpy as np

from genesig.optim.multitask import joint_path, joint_sets
from genesig.optim.structured import path as structured_path

LONGEST = 6
GROUPS = np.array([0, 0, 0, 1, 1])


def grouped_sets():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 40))
    code = np.eye(3)[rng.integers(0, 3, 50)] + X[:, :3]
    Y = np.tile(code[:, None], (1, len(GROUPS), 1))
    rows = np.arange(50)[:, None] % 6 != np.arange(len(GROUPS))
    joint = joint_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.1, 8)
    return joint, tau, 1e-3 * joint.norm[:, None]


def test_lists_of_a_group_end_before_the_first_that_is_too_long():
    joint, tau, mu = grouped_sets()
    whole = joint_path(joint, tau, mu, tolerance=1e-9)
    together = joint_path(joint, tau, mu, tolerance=1e-9, longest=LONGEST, groups=GROUPS)
    too_long = np.logical_or.accumulate(whole.sizes() > LONGEST, axis=1)
    ended = np.stack([too_long[group == GROUPS].any(axis=0) for group in GROUPS])
    assert ended.any()
    assert not ended.all()
    np.testing.assert_array_equal(together.iterations < 0, ended)
    for k, m in np.argwhere(~ended):
        genes, values = together.coef(k, m)
        np.testing.assert_array_equal(genes, whole.coef(k, m)[0])
        np.testing.assert_allclose(values, whole.coef(k, m)[1], rtol=0, atol=1e-9)


def test_followers_are_not_solved_where_the_list_of_the_leader_is_too_long(monkeypatch):
    joint, tau, mu = grouped_sets()
    n_solved = []
    solve_together = structured_path.solve_together

    def counted(walks):
        n_solved.append(len(walks))
        solve_together(walks)

    monkeypatch.setattr(structured_path, "solve_together", counted)
    path = joint_path(joint, tau, mu, tolerance=1e-9, longest=LONGEST, groups=GROUPS)
    n_lists = (path.iterations >= 0).sum()
    n_ended = (path.iterations[:, -1] < 0).sum()
    assert n_lists < sum(n_solved) < n_lists + n_ended
