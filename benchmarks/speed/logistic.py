"""The logistic elastic net beside adelie, glmnet and liblinear: seconds, and how far from minimal.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/logistic.py [RUNS]

Processor seconds, median of the runs, interleaved, of paths of 12 tau down to .05 tau_max at mu = 0
on standardised features. The largest duality gap of what each returns is told by this package's
certificate: only fits of equal gap compare. A peer that is not installed is named so.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.linear_model import LogisticRegression

from genesig.optim.likelihood_path import PathLevels
from genesig.optim.logistic import certify_sets, logistic_path, logistic_sets

SHARES = np.geomspace(0.95, 0.05, 12)
SIZES = ((30, 3000), (60, 7000), (100, 12000))


def study(n, d):
    """Return standardised X (n, d) and y (n,) of ±1."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, :10].sum(axis=1) + 2 * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def describe_study(Z, y):
    """Return the one training set, of features as they are."""
    return logistic_sets(Z, y[:, None], np.ones((len(y), 1), bool), unit_variance=False)


def ours(Z, y, tau):
    """Return coefficients (m, d), the description of the set included."""
    path, _ = logistic_path(describe_study(Z, y), tau[None], 0.0, tolerance=1e-9)
    B = np.zeros((len(tau), Z.shape[1]))
    for m in range(len(tau)):
        features, values = path.coef(0, m)
        B[m, features] = values
    return B


def fit_many(Z, y, tau, k=40):
    """Return seconds of one path of k permuted responses side by side, as a study has them."""
    rng = np.random.default_rng(0)
    Y = np.stack([rng.permutation(y) for _ in range(k)], axis=1)
    rows = np.ones((len(y), k), bool)

    def solve():
        sets = logistic_sets(Z, Y, rows, unit_variance=False)
        return logistic_path(sets, sets.tau_max[:, None] * SHARES, 0.0, tolerance=1e-9)[0]

    seconds, path = time_solver(solve)
    return seconds / k, path.gap.max()


def by_adelie(tol):
    """Return the path by adelie."""
    import adelie

    def solve(Z, y, tau):
        # One path over its own lambda, l1 alone; its loss is the mean, too.
        solution = adelie.grpnet(
            X=adelie.matrix.dense(Z, method="naive", n_threads=1),
            glm=adelie.glm.binomial(y=(y + 1) / 2),
            lmda_path=tau,
            alpha=1,
            early_exit=False,
            progress_bar=False,
            tol=tol,
            irls_tol=tol,
        )
        return solution.betas.toarray()

    return solve


def by_liblinear(tol):
    """Return the path by liblinear, each fit from 0; its intercept is penalised, but weakly."""

    def solve(Z, y, tau):
        fits = (
            LogisticRegression(
                C=1 / (len(y) * t),
                l1_ratio=1,
                solver="liblinear",
                tol=tol,
                intercept_scaling=100,
                max_iter=10_000,
                random_state=0,
            )
            for t in tau
        )
        return np.array([fit.fit(Z, y).coef_[0] for fit in fits])

    return solve


R = r"""
suppressPackageStartupMessages(library(glmnet)); a <- commandArgs(TRUE)
n <- as.integer(a[2]); d <- as.integer(a[3]); f <- function(p) file.path(a[1], p)
z <- matrix(readBin(f("z"), "double", n * d), n, d); y <- readBin(f("y"), "double", n)
l <- readBin(f("l"), "double", 100)
t <- system.time(m <- glmnet(z, y, family = "binomial", lambda = l, standardize = FALSE,
                             thresh = as.numeric(a[4]), maxit = 1e8))
b <- matrix(0, d, length(l)); b[, seq_along(m$lambda)] <- as.matrix(m$beta)
writeBin(as.vector(b), f("b")); cat(sum(t[c("user.self", "sys.self")]), "\n")
"""


def by_glmnet(Z, y, tau, thresh):
    """Return seconds inside R, and the coefficients."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, numbers in {"z": Z.T, "y": (y + 1) / 2, "l": tau}.items():
            np.ascontiguousarray(numbers, dtype="<f8").tofile(folder / part)
        (folder / "path.R").write_text(R)
        command = ["Rscript", str(folder / "path.R"), name, *map(str, Z.shape), str(thresh)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(process.stdout), np.fromfile(folder / "b").reshape(len(tau), -1)


def largest_gap(Z, y, tau, B):
    """Return the largest relative gap of coefficients B (m, d), each with its best intercept."""
    sets = describe_study(Z, y)
    gaps = []
    none = np.zeros(1)
    ground = sets.loss_data(slice(0, 1))
    state = sets.start
    for level, b in zip(tau, B, strict=True):
        offset = np.zeros(ground.F.shape[1])
        offset[: len(y)] = Z @ b
        a = intercept(offset[: len(y)], y)
        point = state._replace(
            b=b[None].copy(),
            a=np.array([[a]]),
            g=np.zeros((1, len(b))),
            eta=(a + offset)[None],
            u=np.zeros((1, len(offset))),
        )
        u = -y / len(y) / (1 + np.exp(y * (a + offset[: len(y)])))
        point.u[0, : len(y)] = u
        np.matmul(point.u, ground.F.T, out=point.g)
        gap = np.zeros(1)
        levels = PathLevels(np.array([level]), none, none, none)
        certify_sets(ground, point, np.arange(1), levels, gap, none.copy())
        gaps.append(gap[0] / sets.deviance[0])
    return max(gaps)


def intercept(offset, y):
    """Return the best intercept beside an offset."""
    low = -50.0
    high = 50.0
    for _ in range(200):
        a = (low + high) / 2
        low, high = (a, high) if np.sum(y / (1 + np.exp(y * (a + offset)))) > 0 else (low, a)
    return a


def time_solver(solve, *arguments):
    """Return processor seconds, and the coefficients."""
    begin = time.process_time()
    B = solve(*arguments)
    return time.process_time() - begin, B


def main(runs):
    """Print the table."""
    peers = {f"liblinear {tol:g}": by_liblinear(tol) for tol in (1e-4, 1e-7)}
    try:
        peers |= {f"adelie {tol:g}": by_adelie(tol) for tol in (1e-7, 1e-12)}
    except ImportError as error:
        print(f"adelie: {error}")
    for n, d in SIZES:
        Z, y = study(n, d)
        tau = describe_study(Z, y).tau_max[0] * SHARES
        ours(Z, y, tau)
        solvers = {"genesig": ours, **peers}
        runs_of = {name: [] for name in solvers}
        for _ in range(runs):
            for name, solve in solvers.items():
                runs_of[name].append(time_solver(solve, Z, y, tau))
        for thresh in (1e-7, 1e-14):
            try:
                runs_of[f"glmnet {thresh:g}"] = [by_glmnet(Z, y, tau, thresh) for _ in range(runs)]
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"glmnet: {error}")
        own_seconds = median(seconds for seconds, _ in runs_of["genesig"])
        many = [fit_many(Z, y, tau) for _ in range(runs)]
        shared = median(seconds for seconds, _ in many)
        print(
            f"{n} x {d}\tgenesig, one of 40\t{shared:.4f} s\t{shared / own_seconds:.1f} times"
            f"\tgap {many[0][1]:.1e}"
        )
        for name, timings in runs_of.items():
            seconds = median(run_seconds for run_seconds, _ in timings)
            print(
                f"{n} x {d}\t{name}\t{seconds:.4f} s\t{seconds / own_seconds:.1f} times"
                f"\tgap {largest_gap(Z, y, tau, timings[0][1]):.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
