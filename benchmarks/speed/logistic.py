"""Time and duality gap of the l1 logistic regression by genesig, adelie, glmnet and liblinear.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/logistic.py [RUNS]

Processor seconds, median of the interleaved runs, of paths of 12 tau down to .05 tau_max at mu = 0
on standardised features. The gap is the largest relative duality gap of the coefficients by
genesig's certificate: only fits of equal gap are comparable. Peers that are not installed are
printed as such.
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

TAU_FRACTIONS = np.geomspace(0.95, 0.05, 12)
SIZES = ((30, 3000), (60, 7000), (100, 12000))  # samples, features


def draw_study(n, d):
    """Return standardised X (n, d) and y (n,) of ±1."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, :10].sum(axis=1) + 2 * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def training_set(Z, y):
    """Return all samples as a training set, with unscaled features."""
    return logistic_sets(Z, y[:, None], np.ones((len(y), 1), bool), unit_variance=False)


def by_genesig(Z, y, tau):
    """Return the coefficients (m, d) of the path; the time includes the training set."""
    path, _ = logistic_path(training_set(Z, y), tau[None], 0.0, tolerance=1e-9)
    B = np.zeros((len(tau), Z.shape[1]))
    for m in range(len(tau)):
        features, values = path.coef(0, m)
        B[m, features] = values
    return B


def time_permuted(Z, y, k=40):
    """Return seconds of a path, and the largest gap, of k permuted responses fitted together."""
    rng = np.random.default_rng(0)
    Y = np.stack([rng.permutation(y) for _ in range(k)], axis=1)
    rows = np.ones((len(y), k), bool)

    def solve():
        sets = logistic_sets(Z, Y, rows, unit_variance=False)
        return logistic_path(sets, sets.tau_max[:, None] * TAU_FRACTIONS, 0.0, tolerance=1e-9)[0]

    seconds, path = time_solver(solve)
    return seconds / k, path.gap.max()


def by_adelie(tol):
    """Return a function (Z, y, tau) -> coefficients (m, d) by adelie."""
    import adelie

    def solve(Z, y, tau):
        # Its loss is also a mean, so that tau is its lambda; alpha 1: l1 alone.
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
    """Return a function (Z, y, tau) -> coefficients (m, d) by liblinear, without warm starts.

    Its intercept is penalised, but weakly.
    """

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
    """Return seconds inside R, and the coefficients (m, d)."""
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
    sets = training_set(Z, y)
    gaps = []
    zero = np.zeros(1)
    loss_data = sets.loss_data(slice(0, 1))
    for one_tau, b in zip(tau, B, strict=True):
        offset = np.zeros(loss_data.F.shape[1])
        offset[: len(y)] = Z @ b
        a = best_intercept(offset[: len(y)], y)
        point = sets.start._replace(
            b=b[None].copy(),
            a=np.array([[a]]),
            g=np.zeros((1, len(b))),
            eta=(a + offset)[None],
            u=np.zeros((1, len(offset))),
        )
        # Derivative of the mean logistic loss.
        point.u[0, : len(y)] = -y / len(y) / (1 + np.exp(y * (a + offset[: len(y)])))
        np.matmul(point.u, loss_data.F.T, out=point.g)
        gap = np.zeros(1)
        levels = PathLevels(np.array([one_tau]), zero, zero, zero)
        certify_sets(loss_data, point, np.arange(1), levels, gap, zero.copy())
        gaps.append(gap[0] / sets.deviance[0])
    return max(gaps)


def best_intercept(offset, y):
    """Return the intercept of the smallest loss with an offset (n,), by bisection."""
    low = -50.0
    high = 50.0
    for _ in range(200):
        a = (low + high) / 2
        if np.sum(y / (1 + np.exp(y * (a + offset)))) > 0:
            low = a
        else:
            high = a
    return a


def time_solver(solve, *arguments):
    """Return processor seconds, and the value of `solve`."""
    begin = time.process_time()
    result = solve(*arguments)
    return time.process_time() - begin, result


def main(runs):
    """Print the table."""
    peers = {f"liblinear {tol:g}": by_liblinear(tol) for tol in (1e-4, 1e-7)}
    try:
        peers |= {f"adelie {tol:g}": by_adelie(tol) for tol in (1e-7, 1e-12)}
    except ImportError as error:
        print(f"adelie: {error}")
    for n, d in SIZES:
        Z, y = draw_study(n, d)
        tau = training_set(Z, y).tau_max[0] * TAU_FRACTIONS
        by_genesig(Z, y, tau)  # compiles
        solvers = {"genesig": by_genesig, **peers}
        timings_of = {name: [] for name in solvers}
        for _ in range(runs):
            for name, solve in solvers.items():
                timings_of[name].append(time_solver(solve, Z, y, tau))
        for thresh in (1e-7, 1e-14):
            try:
                timings = [by_glmnet(Z, y, tau, thresh) for _ in range(runs)]
                timings_of[f"glmnet {thresh:g}"] = timings
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"glmnet: {error}")
        rows = {}  # name -> seconds, gap
        permuted = [time_permuted(Z, y) for _ in range(runs)]
        rows["genesig, one of 40"] = median(seconds for seconds, _ in permuted), permuted[0][1]
        for name, timings in timings_of.items():
            gap = largest_gap(Z, y, tau, timings[0][1])
            rows[name] = median(seconds for seconds, _ in timings), gap
        for name, (seconds, gap) in rows.items():
            ratio = seconds / rows["genesig"][0]
            print(
                f"{n} x {d}\t{name}\t{seconds:.4f} s\t{ratio:.1f} times\tgap {gap:.1e}", flush=True
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
