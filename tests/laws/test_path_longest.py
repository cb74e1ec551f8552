"""A path ended at a list length equals the full path, cut."""

import numpy as np
import pytest

from genesig.optim.solution import Path
from genesig.optim.solvers import SOLVERS, path
from genesig.optim.training import training_sets

PATH_FIELDS = ("gap", "iterations", "converged")


def problem(seed, n=14, d=40, k=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d)) + 5
    Y = np.sign(rng.normal(size=(n, k)))
    Y[:2] = [[1], [-1]]
    rows = rng.random((n, k)) < 0.8
    rows[:2] = True
    return training_sets(X, Y, rows, centre=True, unit_variance=True)


def assert_cut(full_path: Path, ended: Path, longest: int | None) -> None:
    """Compare every fit with its like up to the end of its row."""
    k, m = full_path.shape
    for row in range(k):
        over = False
        for step in range(m):
            features, values = full_path.coef(row, step)
            over = over or (longest is not None and len(features) > longest)
            ended_coef = ended.coef(row, step)
            if over:
                assert len(ended_coef[0]) == len(ended_coef[1]) == 0
                assert np.isnan(ended.gap[row, step])
                assert ended.iterations[row, step] == -1
                assert not ended.converged[row, step]
                continue
            assert ended_coef[0].tolist() == features.tolist()
            np.testing.assert_allclose(ended_coef[1], values, rtol=1e-9, atol=1e-12)
            for part in PATH_FIELDS:
                ended_values = getattr(ended, part)[row, step]
                full_values = getattr(full_path, part)[row, step]
                assert ended_values == pytest.approx(full_values, abs=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("longest", [None, 0, 1, 4, 9, 40])
@pytest.mark.parametrize("solver", SOLVERS)
def test_shortened_path_equals_the_full_path_cut(solver, longest):
    sets = problem(0)
    tau = sets.tau_max[:, None] * np.geomspace(0.9, 0.2, 6)
    mu = 1e-2 * sets.norm[:, None]
    settings = {"solver": solver, "tolerance": 1e-9}
    full_path = path(sets, tau, mu, **settings)
    ended = path(sets, tau, mu, longest=longest, **settings)
    assert_cut(full_path, ended, longest)
    if longest in (1, 4, 9):
        assert 0 < np.isnan(ended.gap).sum() < ended.gap.size


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("longest", [3, 8, 20, 80])
def test_columns_that_stop_leave_the_fits_of_others_unchanged(longest, seed):
    """Down tau and up mu; lists outgrow the room that columns of a chunk share."""
    sets = problem(seed, n=31, d=300, k=70)
    settings = {"solver": "landweber-newton", "tolerance": 1e-9}
    falling = sets.tau_max[:, None] * np.geomspace(0.9, 0.02, 8), 1e-2 * sets.norm[:, None]
    growing = 0.5 * sets.tau_max[:, None], sets.norm[:, None] * [1e-6, 1e-3, 1e-2, 0.1, 1.0]
    for tau, mu in (falling, growing):
        full_path = path(sets, tau, mu, **settings)
        assert full_path.sizes().max() > 80
        ended = path(sets, tau, mu, longest=longest, **settings)
        assert_cut(full_path, ended, longest)
        assert ended.message == full_path.message == ""


def test_a_row_stays_ended_where_its_lists_would_shrink():
    full_path = Path.from_coefs(
        (2, 3),
        [(np.arange(size), np.ones(size)) for size in (1, 5, 2, 1, 2, 3)],
        np.zeros((2, 3)),
        np.ones((2, 3), dtype=int),
        1e-9,
    )
    ended = full_path.end_rows(4)
    assert ended.sizes().tolist() == [[1, 0, 0], [1, 2, 3]]
    assert np.isnan(ended.gap).tolist() == [[False, True, True], [False] * 3]
    assert full_path.end_rows(None) is full_path


def test_joined_paths_keep_their_fits_in_each_row():
    sets = problem(0)
    tau = sets.tau_max[:, None] * np.geomspace(0.9, 0.2, 6)
    paths = [
        path(
            sets, tau, mu * sets.norm[:, None], solver="landweber-newton", tolerance=1e-9, longest=4
        )
        for mu in (1e-4, 1e-1)
    ]
    joined_paths = Path.side_by_side(paths)
    assert joined_paths.shape == (5, 12)
    for k, m in np.ndindex(5, 12):
        features, values = paths[m // 6].coef(k, m % 6)
        np.testing.assert_array_equal(joined_paths.coef(k, m)[0], features)
        np.testing.assert_array_equal(joined_paths.coef(k, m)[1], values)
    for name in PATH_FIELDS:
        expected = np.hstack([getattr(each_path, name) for each_path in paths])
        np.testing.assert_array_equal(getattr(joined_paths, name), expected)
