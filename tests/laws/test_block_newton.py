"""Newton steps of the block solver: stationary points, compiled and uncompiled, within bounds."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genesig.optim.structured.columns import lower_triangle
from genesig.optim.structured.newton import BlockProblem, minimise_blocks

N_ROWS = 12
BLOCK_CASES = {  # blocks, responses, genes of a block, mu
    "few columns": (5, 2, 1, 0.0),
    "many columns": (60, 2, 1, 0.2),
    "one response": (20, 1, 1, 0.0),
    "sets": (8, 2, 3, 0.1),
    "many sets": (40, 1, 4, 0.5),
}


def problem(case):
    """Return the blocks (W, N, size) of a case, and its problem."""
    W, T, size, mu = BLOCK_CASES[case]
    rng = np.random.default_rng(0)
    none = np.zeros((0, 0))
    A = rng.normal(size=(W, N_ROWS, size))
    Y = rng.normal(size=(T, N_ROWS))
    w = rng.uniform(0.5, 2, W)
    rows = np.ascontiguousarray(A[:, :, 0]) if size == 1 else none
    grams = none if size == 1 else np.ascontiguousarray(lower_triangle(A @ A.transpose(0, 2, 1)))
    tau = 0.1 * (2 / N_ROWS * np.linalg.norm(Y @ A, axis=(1, 2)) / w).max()
    return A, BlockProblem(
        Y, grams, rows, np.ascontiguousarray(rows.T), w, tau, mu, float(N_ROWS), 0.0
    )


def found(case):
    point, _ = minimise_blocks(problem(case)[1], np.zeros(BLOCK_CASES[case][0]), 1e-13)
    return np.concatenate([point.rho, point.e, point.q, point.alpha.ravel(), [point.gap]])


@pytest.mark.parametrize("case", BLOCK_CASES)
def test_the_minimum_is_stationary_and_its_gap_is_nothing(case):
    """``(2/n) A_k'r - 2 mu v_k = tau w_k v_k / ||v_k||``, or no longer than that where v_k is 0."""
    A, p = problem(case)
    point, steps = minimise_blocks(p, np.zeros(len(A)), 1e-13)
    v = point.e[:, None, None] * (A.transpose(0, 2, 1) @ point.alpha.T)
    r = p.Y.T - np.einsum("knj,kjt->nt", A, v)
    np.testing.assert_allclose(r, N_ROWS * point.alpha.T, atol=1e-10)
    g = 2 / N_ROWS * A.transpose(0, 2, 1) @ r - 2 * p.mu * v
    size = np.linalg.norm(v, axis=(1, 2))
    limit = p.tau * p.weights
    chosen = size > 0
    assert 0 < chosen.sum() < len(A)
    np.testing.assert_allclose(size, point.rho, atol=1e-6)
    radial_part = (limit[chosen] / size[chosen])[:, None, None] * v[chosen]
    np.testing.assert_allclose(g[chosen], radial_part, atol=1e-5)
    assert (np.linalg.norm(g, axis=(1, 2))[~chosen] <= limit[~chosen] * (1 + 1e-5)).all()
    assert (point.gap <= 1e-13, steps < 50) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("switch", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_the_steps_are_plain_python_and_stay_within_their_arrays(tmp_path, switch):
    code = (
        "import sys, numpy; sys.path[:0] = [sys.argv[1]]; import test_block_newton as t;"
        "numpy.savez(sys.argv[2], **{case: t.found(case) for case in t.BLOCK_CASES})"
    )
    environment = {**os.environ, switch: "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    folder = Path(__file__).parent
    arrays_file = tmp_path / "found.npz"
    subprocess.run([sys.executable, "-c", code, folder, arrays_file], check=True, env=environment)
    for case, values in np.load(arrays_file).items():
        np.testing.assert_allclose(values, found(case), atol=1e-7, err_msg=case)
