"""The least-squares solver gives the same uncompiled and in jobs that compile at the same time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from genesig.optim.solvers import path
from genesig.optim.training import training_sets

CODE = """
import sys
sys.path[:0] = sys.argv[2:]
from test_compiled_plain import found, np
np.savez(sys.argv[1], **found())
"""


def found() -> dict[str, np.ndarray]:
    """Return paths that call every kernel: few and many active features, twins, no ridge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 60))
    y = np.where(np.arange(15) % 3, 1.0, -1.0)
    X[:, 30] = X[:, 31]
    rows = np.arange(15)[:, None] % 4 != np.arange(2)
    paths = {}
    Y = np.repeat(y[:, None], 2, axis=1)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = sets.tau_max[:, None] * np.geomspace(0.99, 0.02, 5)  # at 1 rounding decides
    for mu in (0.0, 1e-6, 1.0):
        fits = path(sets, tau, mu * sets.norm[:, None], solver="landweber-newton", tolerance=1e-9)
        assert fits.converged.all()
        paths |= {f"{name} {mu}": getattr(fits, name) for name in ("indptr", "indices", "values")}
    return paths


def start(file: Path, **variables: str) -> subprocess.Popen[bytes]:
    """Start an interpreter that writes what it found to a file."""
    folders = ROOT / "tests" / "laws", ROOT / "tests" / "materials"
    command = [sys.executable, "-c", CODE, *map(str, (file, *folders))]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def assert_same(job: subprocess.Popen[bytes], file: Path) -> None:
    """Hold what a job found against this process: the same lists, numbers within 1e-9."""
    _, error = job.communicate()
    assert job.returncode == 0, error.decode()
    arrays = np.load(file)
    for name, values in found().items():
        np.testing.assert_allclose(arrays[name], values, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    "switch", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.slow)]
)
def test_the_solver_is_plain_python_and_stays_within_its_arrays(tmp_path, switch):
    file = tmp_path / "found.npz"
    assert_same(start(file, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **{switch: "1"}), file)


@pytest.mark.slow
def test_jobs_that_start_together_on_an_empty_cache_all_succeed(tmp_path):
    files = [tmp_path / f"{number}.npz" for number in range(3)]
    cache = tmp_path / "cache"
    jobs = [start(file, NUMBA_CACHE_DIR=str(cache)) for file in files]
    for job, file in zip(jobs, files, strict=True):
        assert_same(job, file)
    cache_files = [file for file in cache.rglob("*") if file.is_file()]
    assert {file.suffix for file in cache_files} == {".nbi", ".nbc"}
