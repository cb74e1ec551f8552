"""Time of the nonlinear selection by size, and published tables of its errors.

    OMP_NUM_THREADS=1 python benchmarks/speed/nonlinear.py scale
    OMP_NUM_THREADS=1 python benchmarks/speed/nonlinear.py tables [MAX_REPLICATIONS]

`scale`: Gaussian kernel at the median distance, ν 1e-3 relative, τ = .75 tau_max, relative gap
1e-6, each row in a new process, so that its peak memory is separate. `admm`, as published, in Schur
form, runs only if it fits in memory. `tables`: methods of this package beside published values.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/references"))

SHAPES = [
    *((50, 20), (100, 100), (100, 1000), (60, 7129)),
    *((100, 20_000), (60, 54_675), (100, 200_000)),
]
TARGET_SECONDS = {(100, 1000): 0.3, (60, 7129): 0.5, (100, 20_000): 0.8, (100, 200_000): 3.0}
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def peak_memory():
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_size(n, d, solver):
    """Print a line of JSON: time, memory, steps and gap of one fit, without the time of tau_max."""
    from genesig.optim.kernels import Gaussian, median_distance
    from genesig.optim.nonlinear.instance import DerivativeCriterion, make_instance
    from genesig.optim.nonlinear.path import certified_solution
    from genesig.optim.nonlinear.solvers import SOLVERS

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + X[:, 1] + X[:, 2] * X[:, 0] + X[:, 3] * X[:, 1] + 0.1 * rng.standard_normal(n)
    X -= X.mean(axis=0)
    inner = X @ X.T
    instance = make_instance(
        X,
        y,
        DerivativeCriterion(Gaussian(median_distance(inner)), "lasso", nu=1e-3),
        inner=inner,
    )
    tau = 0.75 * instance.tau_max
    wall = time.perf_counter()
    cpu = time.process_time()
    minimum = SOLVERS[solver](instance, instance.penalty(tau), instance.start, 1e-6, 20_000)
    wall = time.perf_counter() - wall
    cpu = time.process_time() - cpu
    solution = certified_solution(instance, tau, instance.penalty(tau), minimum, 1e-6)
    row = {
        "wall": wall,
        "cpu": cpu,
        "peak": peak_memory(),
        "steps": minimum.iterations,
        "gap": solution.gap,
    }
    print(json.dumps({**row, "selected": len(solution.support), "X": X.nbytes / 2**20}))


def measure_in_new_process(n, d, solver):
    """Return the values that `measure_size` prints in a new process."""
    command = [sys.executable, __file__, "row", str(n), str(d), solver]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return json.loads(process.stdout)


def print_scale():
    """Print a line for each shape and solver."""
    print("n,d,solver,seconds,cpu seconds,peak MB,X MB,steps,relative gap,selected,reach s")
    for n, d in SHAPES:
        for solver in ("auto", "fista", "admm"):
            admm_memory = 32 * (n * d) ** 2  # bytes
            if solver == "admm" and admm_memory > MEMORY / 2:
                print(f"{n},{d},admm,not run: {admm_memory / 2**30:.3g} GB")
                continue
            if solver == "fista" and d > 10_000:
                continue
            row = measure_in_new_process(n, d, solver)
            print(
                f"{n},{d},{solver},{row['wall']:.2f},{row['cpu']:.2f},{row['peak']:.0f},"
                f"{row['X']:.0f},{row['steps']},{row['gap']:.1e},{row['selected']},"
                f"{TARGET_SECONDS.get((n, d), '') if solver == 'auto' else ''}",
                flush=True,
            )


def print_tables(max_replications):
    """Print the measured and the published values of two papers."""
    from nonlinear_tasks import (
        ALG1_PUBLISHED,
        EARLY,
        TABLE,
        alg1_debiased,
        alg1_line,
        gregorova,
        mean_and_error,
        ridge_of_all,
        stopped_early,
        table_line,
    )

    print("Rosasco et al. (2010), Alg1^GR on [-1, 1]^6: function, squared error ± se,")
    print("share of the two variables selected, of the other variables | published")
    for name, published in ALG1_PUBLISHED.items():
        runs = [alg1_debiased(name, seed) for seed in range(min(10, max_replications))]
        print(alg1_line(name, runs, published), flush=True)
    print("Gregorova et al. (2018): task n penalty, replications: RMSE ± se, selection error ± se")
    print("| independent implementation | published")
    for row in TABLE:
        seeds = range(min(row.count, max_replications))
        if row.penalty == "lasso":
            ridge_errors = [ridge_of_all(row.task, row.n, seed) for seed in seeds]
            text = mean_and_error(ridge_errors)
            print(f"{row.task} {row.n} all variables, {len(ridge_errors)}: {text}")
        early = EARLY if stopped_early(row) else None
        runs = [gregorova(row.task, row.penalty, row.n, seed, early=early) for seed in seeds]
        print(table_line(row, np.array(runs)), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["row", n, d, solver]:
            measure_size(int(n), int(d), solver)
        case ["scale"]:
            print_scale()
        case ["tables", *count]:
            print_tables(int(count[0]) if count else 99)
        case _:
            sys.exit(__doc__)
