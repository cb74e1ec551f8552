"""The coefficients of Cox's elastic net against glmnet on this machine, stopped late."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reference_formulas import dense
from test_cox_references import FILES, example, needs_glmnet, stored

from genesig.optim.cox.training import FollowUp, cox_sets

GLMNET_SCRIPT = Path(__file__).with_name("cox_by_glmnet.R")


def glmnet(folder: Path, X, time, event, lam, weights, ratio: float) -> np.ndarray:
    """Return its coefficients (m, d); skip where R or glmnet is missing."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not here")
    tables = {
        "example": np.column_stack([X, time, event]),
        "lambda": lam,
        "weights": weights,
        "ratio": [ratio],
    }
    for name, table in tables.items():
        np.savetxt(folder / f"{name}.tsv", table, delimiter="\t", fmt="%.17g")
    process = subprocess.run(
        ["Rscript", str(GLMNET_SCRIPT), str(folder)], capture_output=True, text=True, check=False
    )
    if "there is no package" in process.stderr:
        pytest.skip("R has no glmnet")
    assert process.returncode == 0, process.stderr
    return np.loadtxt(folder / "coefficients.tsv", ndmin=2).T


def farthest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference, as a share of the largest coefficient of its fit.

    At the largest lambda, rounded when it was written, both are 0 but for the last digits.
    """
    largest = np.abs(theirs).max(axis=1)
    assert np.abs(ours - theirs)[largest < 1e-9].max(initial=0) < 1e-9
    is_nonzero = largest >= 1e-9
    return float((np.abs(ours - theirs).max(axis=1)[is_nonzero] / largest[is_nonzero]).max())


@needs_glmnet
@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_all_stored_lambdas_agree_once_glmnet_goes_on_to_the_minimum(file, tmp_path) -> None:
    X, time, event = example()
    B, weights, tau, mu = stored(file)
    lam = tau / (2 * FILES[file]) * weights.sum() / 30
    theirs = glmnet(tmp_path, X, time, event, lam, weights, FILES[file])
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((1000, 1), bool),
        centre=True,
        unit_variance=False,
        weights=weights,
    )
    ours = dense(sets, tau, mu)
    assert farthest(ours, theirs) <= 1e-4
    assert farthest(B, theirs) <= 6e-3  # the stored ones are glmnet's own, stopped early


@pytest.mark.slow
def test_small_problem_agrees(tmp_path) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 6))
    time = rng.exponential(np.exp(-X[:, 0]))
    event = rng.random(80) < 0.6
    lam = np.geomspace(0.2, 0.01, 5)
    weights = np.ones(6)
    theirs = glmnet(tmp_path, X, time, event, lam, weights, 0.7)
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((80, 1), bool),
        centre=True,
        unit_variance=False,
        weights=weights,
    )
    ours = dense(sets, 2 * 0.7 * lam, 0.3 * lam)
    assert farthest(ours, theirs) <= 1e-5
