"""Awkward input gives a certified solution or one clear error."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT

from genesig.errors import GenesigError
from genesig.optim.solution import duality_gap
from genesig.optim.solvers import newton, path
from genesig.optim.solvers.newton import scan_features
from genesig.optim.training import training_sets


def sets_of(X, y, rows=None, centre=True, unit_variance=True, weights=None):
    Y = np.atleast_2d(np.asarray(y, dtype=float).T).T
    rows = np.ones(Y.shape, dtype=bool) if rows is None else rows
    return training_sets(X, Y, rows, centre=centre, unit_variance=unit_variance, weights=weights)


def check_solved(sets, shares=(0.7, 0.3, 0.1, 0.01), mu=1e-6):
    """Solve, and hold every fit against the gap computed anew."""
    tau = sets.tau_max[:, None] * np.array(shares)
    fits = path(sets, tau, mu * sets.norm[:, None], solver="landweber-newton", tolerance=1e-9)
    assert fits.converged.all(), fits.message
    for (k, m), t in np.ndenumerate(tau):
        rows = sets.rows[:, k]
        (A, values) = fits.coef(k, m)
        b = np.zeros(sets.X.shape[1])
        b[A] = values
        Z = sets.standardised(k)[rows]
        if t > 0:
            gap = duality_gap(Z, sets.Y[rows, k], b, t, mu * sets.norm[k])
            assert gap <= 1e-9
            assert gap == pytest.approx(fits.gap[k, m], abs=1e-9)
    return fits


def data(n=14, d=25, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.sign(rng.normal(size=n) + 0.1)


MUS = pytest.mark.parametrize("mu", [0.0, 1e-6, 1e-2, 1.0])


@MUS
def test_constant_and_duplicated_columns(mu):
    X, y = data()
    X[:, 3] = 0.1
    X[:, 4] = X[:, 5] = X[:, 6]
    X[:, 7] = -X[:, 8]
    fits = check_solved(sets_of(X, y), mu=mu)
    assert 3 not in fits.indices


@MUS
def test_column_constant_on_the_training_rows_has_no_scale(mu):
    X, y = data()
    X[:-1, 3] = 0.3
    rows = np.ones((14, 1), dtype=bool)
    rows[-1] = False
    sets = sets_of(X, y, rows)
    assert sets.inverse_scale[0, 3] == 0
    assert 3 not in check_solved(sets, mu=mu).indices


@MUS
def test_a_left_out_outlier_does_not_spoil_the_screening(mu):
    X, y = data()
    X[-1] = 1e6 * np.arange(25)
    rows = np.ones((14, 1), dtype=bool)
    rows[-1] = False
    with_outlier = check_solved(sets_of(X, y, rows), mu=mu)
    without = check_solved(sets_of(X[:-1], y[:-1]), mu=mu)
    np.testing.assert_array_equal(with_outlier.indices, without.indices)
    np.testing.assert_allclose(with_outlier.values, without.values, rtol=1e-5, atol=1e-8)


@MUS
def test_collinear_features(mu):
    X, y = data(d=6)
    X = X @ np.random.default_rng(1).normal(size=(6, 30))
    check_solved(sets_of(X, y), mu=mu)


@MUS
@pytest.mark.parametrize(("n", "d"), [(2, 5), (2, 1), (9, 1), (40, 4), (3, 200)])
def test_shapes(n, d, mu):
    X, y = data(n, d)
    y[0] = -1
    y[1] = 1
    check_solved(sets_of(X, y), mu=mu)


@MUS
@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("unit_variance", [True, False])
def test_scale_of_X_changes_coefficients_by_its_inverse_only(scale, mu, unit_variance):
    X, y = data()
    base = check_solved(sets_of(X, y, unit_variance=unit_variance), mu=mu)
    fits = check_solved(sets_of(scale * X, y, unit_variance=unit_variance), mu=mu)
    np.testing.assert_array_equal(fits.indices, base.indices)
    factor = 1 if unit_variance else scale
    np.testing.assert_allclose(fits.values * factor, base.values, rtol=1e-5, atol=1e-9)


@MUS
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale_of_y_changes_coefficients_by_as_much(scale, mu):
    X, y = data()
    base = check_solved(sets_of(X, y), mu=mu)
    fits = check_solved(sets_of(X, scale * y), mu=mu)
    np.testing.assert_array_equal(fits.indices, base.indices)
    np.testing.assert_allclose(fits.values / scale, base.values, rtol=1e-6, atol=1e-10)


@MUS
def test_features_of_very_different_scales_without_scaling(mu):
    X, y = data()
    check_solved(sets_of(X * np.geomspace(1e-4, 1e4, 25), y, unit_variance=False), mu=mu)


@MUS
@pytest.mark.parametrize("centre", [True, False])
def test_without_centring(mu, centre):
    X, y = data()
    check_solved(sets_of(X + 5, y, centre=centre), mu=mu)


def test_storage_of_X_does_not_matter():
    X, y = data()
    X = X.astype(np.float32).astype(float)
    base = check_solved(sets_of(X, y))
    wide = np.zeros((14, 50))
    wide[:, ::2] = X
    for same in (np.asfortranarray(X), X.astype(np.float32), wide[:, ::2]):
        fits = check_solved(sets_of(same, y))
        assert fits.indices.tolist() == base.indices.tolist()
        np.testing.assert_allclose(fits.values, base.values, rtol=1e-9)


def test_a_constant_response_selects_nothing():
    X, _ = data()
    sets = sets_of(X, np.ones(14))
    fits = check_solved(sets, shares=(1.0, 0.5))
    assert len(fits.indices) == 0
    assert fits.gap.max() == 0


@pytest.mark.parametrize("centre", [True, False])
def test_single_training_row_selects_nothing(centre):
    X, y = data()
    rows = np.zeros((14, 1), dtype=bool)
    rows[3] = True
    sets = sets_of(X, y, rows, centre=centre, unit_variance=False)
    assert sets.tau_max[0] == 0  # y is centred, so nothing is left to explain
    assert len(check_solved(sets, shares=(1.0,)).indices) == 0


def test_tau_zero_and_tiny():
    X, y = data()
    assert (check_solved(sets_of(X, y), shares=(0.0,)).sizes() == 25).all()
    check_solved(sets_of(X, y), shares=(1e-3, 1e-6))


def test_mu_may_grow_and_fall():
    X, y = data(12, 60)
    sets = sets_of(X, y)
    mu = sets.norm[:, None] * np.array([1e-6, 1e-2, 10.0, 1e-2, 1e-6])
    fits = path(sets, 0.1 * sets.tau_max[:, None], mu, solver="landweber-newton", tolerance=1e-9)
    assert fits.converged.all()
    for forth, back in ((0, 4), (1, 3)):
        np.testing.assert_array_equal(fits.coef(0, forth)[0], fits.coef(0, back)[0])
        np.testing.assert_allclose(fits.coef(0, forth)[1], fits.coef(0, back)[1], rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_infinite_values_are_refused(bad):
    X, y = data()
    X[2, 3] = bad
    with pytest.raises(GenesigError, match="finite"):
        sets_of(X, y)


def test_training_set_without_rows_is_refused():
    X, y = data()
    with pytest.raises(GenesigError, match="no rows"):
        sets_of(X, y, np.zeros((14, 1), dtype=bool))


@pytest.mark.parametrize("weights", [np.ones(3), -np.ones(25), np.full(25, np.inf)])
def test_bad_weights_are_refused(weights):
    X, y = data()
    with pytest.raises(GenesigError, match="weights"):
        sets_of(X, y, weights=weights)


def violation():
    """Build features 1, 2, and 3 near their sum, whose gradient moves 1.4 times as fast as tau.

    The rule trusts that no gradient moves faster than tau: of 3 it expects too little. The
    gradients 2/n c are at c1 = c2 = level and c3 = 1.4 level - 2.41.
    """
    cosine = 1.4 / np.sqrt(2)
    sine = np.sqrt(1 - cosine**2)
    X = np.array(
        [[1, 0, cosine / np.sqrt(2)], [0, 1, cosine / np.sqrt(2)], [0, 0, sine], [0, 0, 0]]
    )
    y = np.array([1.5, 1.5, -2.41 / sine, 0])
    y[3] = -y.sum()
    return sets_of(X, y, centre=False, unit_variance=False), np.array([[1.05, 1.0]]) / 2


def test_a_violation_of_the_strong_rule_is_caught(monkeypatch):
    sets, tau = violation()
    scans = []

    def counted(many, *args):
        scans.append(many.point.tau[0])
        return scan_features(many, *args)

    monkeypatch.setattr(newton, "scan_features", counted)
    fits = path(sets, tau, 0.0, solver="landweber-newton", tolerance=1e-9)
    A, values = fits.coef(0, 0)
    r = sets.Y[:, 0] - sets.X[:, A] @ values
    assert 0.5 * np.abs(sets.X[:, 2] @ r) < 2 * tau[0, 1] - tau[0, 0]
    # For the first working set, and at each tau: at the second one again.
    assert scans == [np.inf, *tau[0, [0, 1, 1]]]
    assert list(fits.coef(0, 1)[0]) == [0, 1, 2]
    assert fits.converged.all()


def many(k=9):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(23, 4)) @ rng.normal(size=(4, 301)) + rng.normal(size=(23, 301))
    Y = np.sign(rng.normal(size=(23, k)))
    rows = rng.random((23, k)) < 0.8
    return X, Y, rows


def solve_paths(X, Y, rows):
    """Return the paths for three mu."""
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = sets.tau_max[:, None] * np.geomspace(0.9, 0.02, 10)
    settings = {"solver": "landweber-newton", "tolerance": 1e-9}
    return [path(sets, tau, mu * sets.norm[:, None], **settings) for mu in (1e-6, 1e-2, 1.0)]


def assert_same(fits, expected, order=slice(None)):
    """Hold the lists of columns in an order, and their numbers, against others."""
    for values, expected_values in zip(fits, expected, strict=True):
        for k, row in enumerate(np.arange(values.shape[0])[order]):
            for m in range(values.shape[1]):
                (A, b) = values.coef(k, m)
                (B, c) = expected_values.coef(row, m)
                assert A.tolist() == B.tolist()
                np.testing.assert_allclose(b, c, rtol=1e-9, atol=1e-12)


@pytest.mark.slow_cases("1")
@pytest.mark.parametrize("chunk_size", [1, 2, 5])
def test_the_answer_does_not_depend_on_the_chunks(monkeypatch, chunk_size):
    joint_fits = solve_paths(*many())
    monkeypatch.setattr(newton, "MAX_CHUNK_SETS", chunk_size)
    monkeypatch.setattr(newton, "CHUNK_BYTES", 40 * 301 * chunk_size)
    monkeypatch.setattr(newton, "MIN_CHUNK_SETS", 1)
    assert_same(solve_paths(*many()), joint_fits)


def test_the_answer_does_not_depend_on_the_order_of_the_columns():
    X, Y, rows = many()
    order = slice(None, None, -1)
    assert_same(solve_paths(X, Y[:, order], rows[:, order]), solve_paths(X, Y, rows), order)


@pytest.mark.slow
def test_the_answer_does_not_depend_on_threads(tmp_path):
    code = (
        "import sys; sys.path[:0] = ['tests/laws', 'tests/materials'];"
        "from test_solver_safety import many, solve_paths;"
        "import numpy as np; X, Y, rows = many(); found = solve_paths(np.tile(X, 20), Y, rows);"
        "np.savez(sys.argv[1], lists=np.concatenate([f.indices for f in found]),"
        " numbers=np.concatenate([f.values for f in found]))"
    )
    out = []
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        env = {**os.environ, **dict.fromkeys(names, threads)}
        file = tmp_path / f"{threads}.npz"
        subprocess.run([sys.executable, "-c", code, str(file)], env=env, cwd=ROOT, check=True)
        out.append(np.load(file))
    assert out[0]["lists"].tolist() == out[1]["lists"].tolist()
    np.testing.assert_allclose(out[0]["numbers"], out[1]["numbers"], rtol=1e-9, atol=1e-12)
