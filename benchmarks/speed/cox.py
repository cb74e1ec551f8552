"""What a path of the Cox elastic net costs, beside one of the squared loss on the same matrix.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/cox.py [RUNS]

Processor seconds, median of the runs, from the matrix to the coefficients at 30 tau down to a tenth
of the largest; d = 20,000 independent genes, ten of which matter.
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
TAU = np.geomspace(1, 0.1, 30)
BOUND = 20
KEYS = {"centre": True, "unit_variance": True}


def study(n):
    """Return X (n, D), times, events, and a response of the same linear predictor."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    eta = 0.5 * X[:, :10].sum(axis=1)
    failure, censored = rng.exponential(size=(2, n)) * [np.exp(-eta), np.full(n, 1.5)]
    return X, np.minimum(failure, censored), failure <= censored, eta + rng.normal(size=n)


def time_squared_loss(X, y, mu, tolerance):
    """Return the path of the squared loss."""
    sets = training_sets(X, y[:, None], np.ones((len(y), 1), bool), **KEYS)
    tau = sets.tau_max[:, None] * TAU
    return path(sets, tau, mu * sets.norm, solver="landweber-newton", tolerance=tolerance)


def time_survival(X, times, events, mu, tolerance):
    """Return the path of the partial likelihood."""
    sets = cox_sets(X, FollowUp(times, events), np.ones((len(X), 1), bool), **KEYS)
    return cox_path(
        sets,
        sets.training_sets.tau_max[:, None] * TAU,
        mu * sets.training_sets.norm,
        tolerance=tolerance,
    )


def time_fit(solve, *arguments):
    """Return processor seconds, and the path."""
    begin = time.process_time()
    fits = solve(*arguments)
    return time.process_time() - begin, fits


def main(runs):
    """Print the table; fail where the ratio is above the bound at n = 100."""
    print("n\tevents\tmu\tsquared (s)\tCox (s)\tratio\tfeatures\tNewton steps\tlargest gap")
    missed = False
    for n, mu in ((100, 1e-6), (100, 1e-2), (300, 1e-6)):
        X, times, events, y = study(n)
        time_squared_loss(X, y, mu, 1e-9), time_survival(X, times, events, mu, 1e-7)
        plain = median(time_fit(time_squared_loss, X, y, mu, 1e-9)[0] for _ in range(runs))
        timings = [time_fit(time_survival, X, times, events, mu, 1e-7) for _ in range(runs)]
        cox = median(seconds for seconds, _ in timings)
        fits = timings[0][1]
        ratio = cox / plain
        features = fits.sizes()[0, -1]
        steps = fits.iterations.sum()
        print(
            f"{n}\t{events.sum()}\t{mu:g}\t{plain:.3f}\t{cox:.3f}\t{ratio:.1f}\t{features}"
            f"\t{steps}\t{fits.gap.max():.1e}"
        )
        missed |= ratio > BOUND or not fits.converged.all()
    print(
        f"bound: {BOUND} times the squared loss, every gap within 1e-7:"
        f" {'missed' if missed else 'held'}"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
