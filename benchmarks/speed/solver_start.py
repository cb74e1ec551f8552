"""Time of the first and of later starts of the compiled solver, in new processes.

    python benchmarks/speed/solver_start.py [RUNS]

The first start has an empty cache and compiles; later starts load the compiled code. Processor
seconds of a small study that calls every entry point: selection, scores and coefficients.
"""

import os
import subprocess
import sys
import tempfile
from statistics import median

CALL = """
import time
begin = time.process_time()
import numpy as np
import genesig
imported = time.process_time()
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import training_sets
loaded = time.process_time()
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 50)), np.where(np.arange(20) % 2, 1.0, -1.0)
rows = np.arange(20)[:, None] % 5 != np.arange(5)
sets = training_sets(X, np.repeat(y[:, None], 5, axis=1), rows, centre=True, unit_variance=True)
tau = sets.tau_max[:, None] * np.geomspace(1, 0.1, 5)
for mu in (0.1, 1e-6):  # the first is solved in the dual
    fits = path(sets, tau, mu * sets.norm[:, None], solver="landweber-newton", tolerance=1e-9)
refit_scores(sets, fits, sets.norm[:, None] * [0.1, 1.0])
refit_coef(sets, fits, 0.1)
print(imported - begin, loaded - imported, time.process_time() - loaded)
"""
NAMES = "import genesig", "import solver", "call"


def start(cache: str) -> list[float]:
    """Return processor seconds of a new process: import of genesig, of the solver, and the call."""
    variables = os.environ | {"NUMBA_CACHE_DIR": cache}
    process = subprocess.run(
        [sys.executable, "-c", CALL], env=variables, capture_output=True, text=True, check=True
    )
    return [float(word) for word in process.stdout.split()]


def main(runs: int) -> None:
    """Print the table of medians; each run begins with an empty cache."""
    cold_starts = []
    warm_starts = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            cold_starts.append(start(cache))
            warm_starts += [start(cache) for _ in range(5)]
    print("\t".join(["start", *NAMES]))
    for name, starts in (("first, compiles", cold_starts), ("warm", warm_starts)):
        medians = [f"{median(column):.2f}" for column in zip(*starts, strict=True)]
        print("\t".join([name, *medians]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
