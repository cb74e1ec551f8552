"""Scale and published tables of the nonlinear selection, printed.

    OMP_NUM_THREADS=1 python benchmarks/speed/nonlinear.py scale
    OMP_NUM_THREADS=1 python benchmarks/speed/nonlinear.py tables [most replications]

Scale: Gaussian kernel at the median distance, ν 1e-3 relative, τ = .75 tau_max, relative gap 1e-6,
each row in a fresh process, so that peak memory is its own. "dense" is ADMM as published in Schur
form, where it fits in memory at all.
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
REACH = {(100, 1000): 0.3, (60, 7129): 0.5, (100, 20_000): 0.8, (100, 200_000): 3.0}
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_size(n, d, solver):
    """Time one fit (without tau_max's conjugate gradients); print it as JSON."""
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
        "peak": peak(),
        "steps": minimum.iterations,
        "gap": solution.gap,
    }
    print(json.dumps({**row, "selected": len(solution.support), "X": X.nbytes / 2**20}))


def run_in_fresh_process(n, d, solver):
    command = [sys.executable, __file__, "row", str(n), str(d), solver]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return json.loads(process.stdout)


def scale():
    print("n,d,solver,seconds,cpu seconds,peak MB,X MB,steps,relative gap,selected,reach s")
    for n, d in SHAPES:
        for solver in ("auto", "fista", "admm"):
            dense = 32 * (n * d) ** 2
            if solver == "admm" and dense > MEMORY / 2:
                print(f"{n},{d},admm,not run: {dense / 2**30:.3g} GB")
                continue
            if solver == "fista" and d > 10_000:
                continue
            row = run_in_fresh_process(n, d, solver)
            print(
                f"{n},{d},{solver},{row['wall']:.2f},{row['cpu']:.2f},{row['peak']:.0f},"
                f"{row['X']:.0f},{row['steps']},{row['gap']:.1e},{row['selected']},"
                f"{REACH.get((n, d), '') if solver == 'auto' else ''}",
                flush=True,
            )


def tables(max_rows):
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
    print("share of the two variables found, of the others taken | published")
    for name, published in ALG1_PUBLISHED.items():
        runs = [alg1_debiased(name, seed) for seed in range(min(10, max_rows))]
        print(alg1_line(name, runs, published), flush=True)
    print("Gregorova et al. (2018): task n penalty, replications: RMSE ± se, selection error ± se")
    print("| independent implementation | published")
    for row in TABLE:
        seeds = range(min(row.count, max_rows))
        if row.penalty == "lasso":
            full = [ridge_of_all(row.task, row.n, seed) for seed in seeds]
            print(f"{row.task} {row.n} all variables, {len(full)}: {mean_and_error(full)}")
        early = EARLY if stopped_early(row) else None
        runs = [gregorova(row.task, row.penalty, row.n, seed, early=early) for seed in seeds]
        print(table_line(row, np.array(runs)), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["row", n, d, solver]:
            measure_size(int(n), int(d), solver)
        case ["scale"]:
            scale()
        case ["tables", *count]:
            tables(int(count[0]) if count else 99)
        case _:
            sys.exit(__doc__)
