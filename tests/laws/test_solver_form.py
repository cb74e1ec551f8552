"""The cheaper form, primal or dual, is chosen and gives the same lists."""

import numpy as np
import pytest

from genesig.compiled.working_sets import CHECK, SOLVE, check_all_features
from genesig.optim.solvers import newton, path
from genesig.optim.training import training_sets


def dual_schedule(max_active, **levels):
    """Return a schedule that uses the dual at each point after the first."""
    dual = np.where(np.arange(max_active.shape[1]) == 0, max_active, newton.ALWAYS_DUAL)
    return SCHEDULE(max_active=dual, **levels)


SCHEDULE = newton.PathSchedule
FORMS = {
    "chosen": {},
    "primal": {"STIFF_MU_SHARE": np.inf},
    "dual": {"PathSchedule": dual_schedule},
}
GRIDS = [[1e-6, 1e-4, 1e-2], [1e-5, 1e-4, 1e-3], [1e-4], [1e-3, 1e-1], [1e-2, 1.0, 100.0]]


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 900)) + rng.normal(size=(30, 900))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    rows = np.arange(30)[:, None] % 5 != np.arange(3)
    return training_sets(X, np.repeat(y[:, None], 3, axis=1), rows, centre=True, unit_variance=True)


def solve_path(sets, mu, form, monkeypatch):
    with monkeypatch.context() as patch:
        for name, value in FORMS[form].items():
            patch.setattr(newton, name, value)
        tau = 0.05 * sets.tau_max[:, None]
        settings = {"solver": "landweber-newton", "tolerance": 1e-9}
        return path(sets, tau, sets.norm[:, None] * mu, **settings)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mu", GRIDS, ids=str)
def test_every_form_finds_the_same_lists(sets, mu, monkeypatch):
    chosen, *other_solutions = (solve_path(sets, mu, form, monkeypatch) for form in FORMS)
    assert chosen.gap.max() < 1e-12
    for solution in other_solutions:
        assert solution.indptr.tolist() == chosen.indptr.tolist()
        assert solution.indices.tolist() == chosen.indices.tolist()
        assert solution.values == pytest.approx(
            chosen.values, abs=1e-9 * np.abs(chosen.values).max()
        )


@pytest.mark.slow
@pytest.mark.parametrize("mu", GRIDS, ids=str)
def test_abandoned_form_costs_less_than_the_other_form(sets, mu, monkeypatch):
    steps = {form: solve_path(sets, mu, form, monkeypatch).iterations.sum() for form in FORMS}
    assert steps["chosen"] <= steps["primal"] + steps["dual"]
    assert steps["chosen"] <= max(steps["primal"], steps["dual"])


def test_a_list_longer_than_the_samples_leaves_the_primal_at_the_smallest_of_large_mu(
    sets, monkeypatch
):
    chosen, primal = (solve_path(sets, [1e-4], form, monkeypatch) for form in ("chosen", "primal"))
    assert chosen.sizes().min() > sets.rows[:, 0].sum()
    assert chosen.iterations.sum() < primal.iterations.sum()


@pytest.mark.parametrize("has_free_features", [False, True])
def test_features_whose_gradient_is_largest_for_their_weight_enter_first(sets, has_free_features):
    weights = np.random.default_rng(1).uniform(0.3, 3, sets.X.shape[1])
    is_free = has_free_features & (np.arange(len(weights)) < 2)
    weights[is_free] = 0.0  # without a penalty they come before all others
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    rows = sets.rows[:, :1]
    one_set = training_sets(
        sets.X, y[:, None], rows, centre=True, unit_variance=True, weights=weights
    )
    Z = sets.X[rows[:, 0]]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    residual = y[rows[:, 0]] - y[rows[:, 0]].mean()
    gradient = np.abs(2 / len(Z) * Z.T @ residual)
    ratio = gradient[~is_free] / weights[~is_free]
    tau = 0.5 * ratio.max()
    is_violator = gradient > tau * weights
    above = (gradient - tau * weights)[is_violator]
    first = is_free
    if not has_free_features:
        first = is_violator & (gradient / weights >= 0.6 * ratio.max())
    assert 0 < first.sum() < is_violator.sum()

    chunk = newton._Chunk(one_set, newton.single_precision(one_set), slice(0, 1))
    chunk.fits.point.tau[:] = tau
    chunk.progress.stage[:] = CHECK
    scanned = newton.scan_features(chunk.fits, chunk.screen, np.arange(1), np.zeros(1))
    check_all_features(chunk.fits, chunk.feature_sets, chunk.progress, scanned)
    entered = chunk.feature_sets.working[0, : chunk.feature_sets.n_working[0]]
    assert sorted(entered) == np.flatnonzero(first).tolist()
    assert chunk.progress.stage[0] == SOLVE
    assert scanned.largest_ratio[0] == pytest.approx(ratio.max() / tau)
    assert scanned.excess_squares[0] == pytest.approx(above @ above)

    excess = np.where(is_violator & ~first, gradient / np.where(is_free, 1, weights), 0)
    second = excess >= 0.6 * excess.max()
    chunk.progress.stage[:] = CHECK
    scanned = newton.scan_features(chunk.fits, chunk.screen, np.arange(1), np.zeros(1))
    check_all_features(chunk.fits, chunk.feature_sets, chunk.progress, scanned)
    entered = chunk.feature_sets.working[0, : chunk.feature_sets.n_working[0]]
    assert sorted(entered) == np.flatnonzero(first | second).tolist()
