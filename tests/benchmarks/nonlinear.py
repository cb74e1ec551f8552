"""Scale and published tables of the nonlinear selection, printed.

    OMP_NUM_THREADS=1 python tests/benchmarks/nonlinear.py scale
    OMP_NUM_THREADS=1 python tests/benchmarks/nonlinear.py tables [replications]

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

sys.path.insert(0, str(Path(__file__).parents[1] / "references"))

SHAPES = [
    *((50, 20), (100, 100), (100, 1000), (60, 7129)),
    *((100, 20_000), (60, 54_675), (100, 200_000)),
]
REACH = {(100, 1000): 0.3, (60, 7129): 0.5, (100, 20_000): 0.8, (100, 200_000): 3.0}
DENSE_LIMIT = 5000
"""n d of the dense form at which its matrices are 0.6 GB."""


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one_row(n, d, solver):
    """Time one fit (step length included, tau_max's conjugate gradients not); print it as JSON."""
    from genesig.optim.kernels import Gaussian, median_distance
    from genesig.optim.nonlinear.instance import make_instance
    from genesig.optim.nonlinear.solution import conclude
    from genesig.optim.nonlinear.solvers import SOLVERS
    from genesig.optim.nonlinear.spectrum import row_space, step_length

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + X[:, 1] + X[:, 2] * X[:, 0] + X[:, 3] * X[:, 1] + 0.1 * rng.standard_normal(n)
    X -= X.mean(axis=0)
    inner = X @ X.T
    made = make_instance(
        X, y, kernel=Gaussian(median_distance(inner)), penalty="lasso", nu=1e-3,
        block=np.arange(d), weights=np.ones(d), mu=1.0, inner=inner,
    )  # fmt: skip
    tau = 0.75 * made.tau_max
    wall, cpu = time.perf_counter(), time.process_time()
    V, s = row_space(inner)
    step_length(made.problem, V * s, d)
    q, steps = SOLVERS[solver](made, made.penalty(tau), made.start, 1e-6, 20_000)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = conclude(made, tau, made.penalty(tau), q, steps, 1e-6)
    row = {"wall": wall, "cpu": cpu, "peak": peak(), "steps": steps, "gap": found.gap}
    print(json.dumps({**row, "selected": len(found.support), "X": X.nbytes / 2**20}))


def fresh(n, d, solver):
    command = [sys.executable, __file__, "row", str(n), str(d), solver]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return json.loads(done.stdout)


def scale():
    print("n,d,solver,seconds,cpu seconds,peak MB,X MB,steps,relative gap,selected,reach s")
    for n, d in SHAPES:
        for solver in ("auto", "fista", "admm"):
            if solver == "admm" and n * d > DENSE_LIMIT:
                print(f"{n},{d},admm,not run: {24 * (n * d) ** 2 / 2**30:.3g} GB")
                continue
            if solver == "fista" and d > 10_000:
                continue
            row = fresh(n, d, solver)
            print(
                f"{n},{d},{solver},{row['wall']:.2f},{row['cpu']:.2f},{row['peak']:.0f},"
                f"{row['X']:.0f},{row['steps']},{row['gap']:.1e},{row['selected']},"
                f"{REACH.get((n, d), '') if solver == 'auto' else ''}",
                flush=True,
            )


def tables(replications):
    from nonlinear_tasks import alg1_debiased, gregorova, ridge_of_all

    print("Rosasco et al. (2010), Alg1^GR on [-1, 1]^6: squared error, share with both variables")
    for name in ("f1", "f2", "f3"):
        found = [alg1_debiased(name, seed) for seed in range(replications)]
        both = np.mean([{0, 1} <= set(support) for _, support in found])
        print(f"{name}: {np.mean([e for e, _ in found]):.4f}  {both:.2f}", flush=True)
    print("Gregorova et al. (2018): task n penalty rmse ± se, selection error")
    for task, other in (("E1", "group"), ("E2", "elastic"), ("E3", "group")):
        for n in (30, 70, 110):
            seeds = range(max(2, replications * 30 // n // 2))
            full = np.mean([ridge_of_all(task, n, seed) for seed in seeds])
            print(f"{task} {n} Krls {full:.2f}", flush=True)
            for penalty in ("lasso", other):
                got = np.array([gregorova(task, penalty, n, seed) for seed in seeds])
                se = got[:, 0].std(ddof=1) / np.sqrt(len(got))
                print(
                    f"{task} {n} {penalty} {got[:, 0].mean():.2f} ± {se:.2f}, "
                    f"{got[:, 1].mean():.2f}  ({len(got)} replications)",
                    flush=True,
                )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["row", n, d, solver]:
            one_row(int(n), int(d), solver)
        case ["scale"]:
            scale()
        case ["tables", *count]:
            tables(int(count[0]) if count else 10)
        case _:
            sys.exit(__doc__)
