"""The solver of penalised likelihoods, on every loss, compiled, uncompiled, every index checked."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genesig.optim import likelihood_path
from genesig.optim.cox.likelihood import COX
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.likelihood_newton import (
    PenalisedProblem,
    dual_point_function,
    newton_solver,
    penalty_value,
    ridge_solver,
)
from genesig.optim.logistic import LOGISTIC, Classes

N_SAMPLES = 12
N_FEATURES = 30
LOSSES = {"logistic": LOGISTIC, "cox": COX}
SOLVE = {name: newton_solver(loss) for name, loss in LOSSES.items()}
DUAL = {
    name: getattr(dual_point_function(loss), "py_func", dual_point_function(loss))
    for name, loss in LOSSES.items()
}


def given(loss):
    """Return what a loss is given of N samples."""
    rng = np.random.default_rng(0)
    if loss == "logistic":
        return Classes(
            np.where(np.arange(N_SAMPLES) < 5, 1.0, -1.0), np.full(N_SAMPLES, 1 / N_SAMPLES)
        )
    time = np.ceil(4 * rng.exponential(size=N_SAMPLES))
    event = rng.random(N_SAMPLES) < 0.7
    return RiskSets.from_times(time, event, weights=rng.uniform(0.5, 2, N_SAMPLES)).terms


def problem(tau, mu):
    """Return a problem of D features, and two columns without a penalty."""
    rng = np.random.default_rng(1)
    penalty_weights = np.append(np.ones(N_FEATURES), [0, 0])
    return PenalisedProblem(
        rng.normal(size=(N_FEATURES + 2, N_SAMPLES)),
        tau * penalty_weights,
        2 * mu * penalty_weights,
    )


LOSS_CASES = {"few": problem(0.1, 0.0), "many": problem(0.02, 0.5), "ridge": problem(0.0, 0.1)}


def found(loss, case):
    """Return x, η, z and u of a fit."""
    x, eta, z, u = np.zeros(N_FEATURES + 2), *np.zeros((3, N_SAMPLES))
    SOLVE[loss](given(loss), LOSS_CASES[case], x, eta, 1e-15)
    DUAL[loss](given(loss), LOSS_CASES[case], eta, z, u)
    return np.concatenate([x, eta, z, u])


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_ridge_steps_of_a_problem_without_l1_term_end_where_the_proximal_steps_do(loss):
    solve = ridge_solver(LOSSES[loss])
    x = np.zeros(N_FEATURES + 2)
    eta = np.zeros(N_SAMPLES)
    ridge_problem = LOSS_CASES["ridge"]
    getattr(solve, "py_func", solve)(
        given(loss), ridge_problem.D, ridge_problem.ridge, x, eta, 1e-15
    )
    expected = found(loss, "ridge")
    np.testing.assert_allclose(x, expected[: N_FEATURES + 2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        eta, expected[N_FEATURES + 2 : N_FEATURES + 2 + N_SAMPLES], rtol=0, atol=1e-9
    )


def assert_stationary(loss, case):
    """Hold a fit, its dual point and its gap against the conditions of a minimum."""
    x, eta, z, u = np.split(found(loss, case), np.cumsum([N_FEATURES + 2, N_SAMPLES, N_SAMPLES]))
    of = LOSSES[loss]
    loss_case = LOSS_CASES[case]
    loss_values = of.evaluate(given(loss), eta)
    g = loss_case.D @ u + loss_case.ridge * x
    np.testing.assert_allclose(eta, x @ loss_case.D, atol=1e-12)
    np.testing.assert_allclose(loss_values.u, u, atol=1e-8)
    off = np.where(
        x != 0,
        np.abs(g + loss_case.thresholds * np.sign(x)),
        np.maximum(np.abs(g) - loss_case.thresholds, 0),
    )
    assert off.max() < 1e-8
    dual = of.conjugate(given(loss), loss_values, eta, z, u, 1.0) + x @ (loss_case.ridge * x) / 2
    assert loss_values.value + penalty_value(loss_case, x) + dual == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("case", LOSS_CASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_fit_is_stationary_and_its_gap_is_nothing(loss, case):
    assert_stationary(loss, case)


@pytest.mark.parametrize(
    "switch", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.slow)]
)
def test_the_solver_is_plain_python_and_stays_within_its_arrays(tmp_path, switch):
    """With few features, and with so many that the system is one of samples."""
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]; import test_likelihood as t;"
        "[t.assert_stationary(loss, case) for loss in t.LOSSES for case in t.LOSS_CASES]"
    )
    environment = {**os.environ, switch: "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code, Path(__file__).parent], check=True, env=environment)


@pytest.mark.parametrize(
    ("n_features", "group_sizes", "tile_sizes"),
    [
        (5, [1] * 9, [4, 4, 1]),
        (5, [2, 2, 3, 1], [4, 4]),
        (5, [3, 3], [3, 3]),
        (5, [4, 1, 2], [4, 3]),
        (5, [6, 1, 1], [6, 2]),  # a group that is too large is whole nevertheless
        (5, [1, 6], [1, 6]),
        (6, [1] * 4, [3, 1]),
        (99, [1, 1], [1, 1]),
        (1, [1] * 12, [8, 4]),  # no more than eight
    ],
)
def test_tiles_hold_whole_groups_as_far_as_the_cache_holds_them(
    n_features, group_sizes, tile_sizes, monkeypatch
):
    monkeypatch.setattr(likelihood_path, "TILE_BYTES", 8 * 5 * 4)  # 4 training sets of 5 features
    monkeypatch.setattr(likelihood_path, "MAX_TILE_SETS", 8)
    groups = np.repeat(np.arange(len(group_sizes)), group_sizes)
    ends = np.cumsum(tile_sizes).tolist()
    expected = [slice(end - size, end) for end, size in zip(ends, tile_sizes, strict=True)]
    assert list(likelihood_path._tiles(groups, n_features)) == expected
