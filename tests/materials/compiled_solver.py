"""A small path with every kernel of the compiled solver, run by an interpreter of its own."""

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT

STUDY = """
import sys
import numpy as np
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

rng = np.random.default_rng(0)
X, y = rng.normal(size=(31, 300)), np.where(np.arange(31) % 3, 1.0, -1.0)
rows = np.arange(31)[:, None] % 4 != np.arange(4)
settings = {"solver": "landweber-newton", "tolerance": 1e-9}
if sys.argv[1] == "refit first":
    one = training_sets(X, y[:, None], rows[:, :1], centre=False, unit_variance=False)
    refit_coef(one, path(one, 0.5 * one.tau_max, 1e-3, **settings), 0.1)
sets = training_sets(X, np.repeat(y[:, None], 4, axis=1), rows, centre=True, unit_variance=True)
tau, mu = sets.tau_max[:, None] * np.geomspace(1, 0.02, 12), sets.norm[:, None]
small, large = path(sets, tau, 1e-6 * mu, **settings), path(sets, tau, mu, **settings)
lam = mu * np.array([1e-14, 1e-3, 1.0])
results = [sets.norm, sets.tau_max, *sets.moments(slice(None))]
for fits in (small, large):
    results += [fits.values, fits.gap, refit_scores(sets, fits, lam), *refit_coef(sets, fits, 0.1)]
sys.stdout.buffer.write(b"".join(np.ascontiguousarray(a).tobytes() for a in results))
"""


def run(cache: Path, order: str) -> bytes:
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", STUDY, order]
    return subprocess.run(command, env=env, check=True, capture_output=True).stdout
