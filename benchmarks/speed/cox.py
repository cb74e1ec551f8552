"""Time of a path of the Cox elastic net and of the squared loss on the same matrix.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/cox.py [RUNS]

Processor seconds, median of the runs, from the matrix to the coefficients at 30 tau down to a tenth
of the largest; d = 20,000 independent genes, ten of which have an effect.
"""

import sys
import time
from statistics import median

import numpy as np

from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

D = 20_000
TAU_FRACTIONS = np.geomspace(1, 0.1, 30)
MAX_RATIO = 20  # of the times
TOLERANCE = 1e-7  # of the Cox path
SCALING = {"centre": True, "unit_variance": True}


def draw_study(n):
    """Return X (n, D), times, events, and numbers y (n,) with the same linear predictor."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    eta = 0.5 * X[:, :10].sum(axis=1)
    event_time, censoring_time = rng.exponential(size=(2, n)) * [np.exp(-eta), np.full(n, 1.5)]
    events = event_time <= censoring_time
    return X, np.minimum(event_time, censoring_time), events, eta + rng.normal(size=n)


def squared_loss_path(X, y, mu):
    """Return the path of the squared loss; mu in units of ||X'X||/n."""
    sets = training_sets(X, y[:, None], np.ones((len(y), 1), bool), **SCALING)
    tau = sets.tau_max[:, None] * TAU_FRACTIONS
    return path(sets, tau, mu * sets.norm, solver="landweber-newton", tolerance=1e-9)


def survival_path(X, times, events, mu):
    """Return the path of the partial likelihood; mu in units of ||X'X||/n."""
    cox = cox_sets(X, FollowUp(times, events), np.ones((len(X), 1), bool), **SCALING)
    sets = cox.training_sets
    tau = sets.tau_max[:, None] * TAU_FRACTIONS
    return cox_path(cox, tau, mu * sets.norm, tolerance=TOLERANCE)


def time_path(solve, runs, *arguments):
    """Return the median of the processor seconds, and the path; the first run compiles."""
    fits = solve(*arguments)
    seconds = []
    for _ in range(runs):
        begin = time.process_time()
        fits = solve(*arguments)
        seconds.append(time.process_time() - begin)
    return median(seconds), fits


def main(runs):
    """Print the table; return 1 if a ratio is above its bound or a path has not converged."""
    print("n\tevents\tmu\tsquared (s)\tCox (s)\tratio\tfeatures\tNewton steps\tlargest gap")
    missed = False
    for n, mu in ((100, 1e-6), (100, 1e-2), (300, 1e-6)):
        X, times, events, y = draw_study(n)
        squared_seconds, _ = time_path(squared_loss_path, runs, X, y, mu)
        cox_seconds, fits = time_path(survival_path, runs, X, times, events, mu)
        ratio = cox_seconds / squared_seconds
        print(
            f"{n}\t{events.sum()}\t{mu:g}\t{squared_seconds:.3f}\t{cox_seconds:.3f}\t{ratio:.1f}"
            f"\t{fits.sizes()[0, -1]}\t{fits.iterations.sum()}\t{fits.gap.max():.1e}"
        )
        missed |= ratio > MAX_RATIO or not fits.converged.all()
    verdict = "missed" if missed else "held"
    print(f"bound: {MAX_RATIO} times the squared loss, every gap within {TOLERANCE:g}: {verdict}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
