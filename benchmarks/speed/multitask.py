"""Time of a path for several responses, for one response, and by scikit-learn.

    OMP_NUM_THREADS=1 python benchmarks/speed/multitask.py [RUNS]

Seconds of processor time of 30 tau from tau_max to .1 tau_max, mu = 1e-6 ||Z'Z||/n, 5 folds of 100
samples and 20,000 genes, best of RUNS (3). scikit-learn's MultiTaskElasticNet is timed on one fold,
warm from tau to tau, with the tolerance at which its largest gap comes nearest to genesig's.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

import numpy as np

from genesig.optim.multitask import joint_path, joint_sets
from genesig.optim.solvers import path

N = 100
D = 20_000
N_TAU = 30
N_FOLDS = 5


def time_call(call, runs):
    """Return the shortest processor time of some calls, in seconds, and the value of the last."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return min(times), result


def draw_classes(T, seed=0):
    """Return X (N, D) with 40 common factors, and T classes, each with 20 higher genes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 40)) @ rng.normal(size=(40, D)) / np.sqrt(40)
    X += rng.normal(size=(N, D))
    y = rng.permutation(np.arange(N) % T)
    for c in range(T):
        X[y == c, 20 * c : 20 * (c + 1)] += 1.0
    return X, y


def code_classes(y, T, rows):
    """Return class indicators over the square root of the class shares of each fold, (N, k, T)."""
    indicators = np.eye(T)[y]
    shares = [indicators[rows[:, k]].mean(axis=0) for k in range(N_FOLDS)]
    return np.stack([indicators / np.sqrt(share) for share in shares], axis=1)


def fold_data(joint, k):
    """Return standardised X (n, D) and responses (n, T) of the training samples of a fold."""
    rows = joint.training_sets.rows[:, k]
    return joint.training_sets.standardised(k)[rows], joint.Y[k][:, : len(rows)].T[rows]


def relative_gap(Z, Y, coef, tau, mu):
    """Return the duality gap of coefficients (D, T) over the objective of zero coefficients."""
    n = len(Y)
    r = Y - Z @ coef
    g = 2 / n * Z.T @ r - 2 * mu * coef
    s = min(1.0, tau / np.linalg.norm(g, axis=1).max())
    q = (r**2).sum() + n * mu * (coef**2).sum()
    gap = tau * np.linalg.norm(coef, axis=1).sum() - (coef * g).sum()
    return (gap + (1 - s) / n * (2 * (Y * r).sum() - (1 + s) * q)) / ((Y**2).sum() / n)


def by_sklearn(joint, tau, mu, tol):
    """Return the largest gap of scikit-learn's path of fold 0, with warm starts.

    Its criterion is ||.||²/(2n) + alpha (...), half of genesig's.
    """
    from sklearn.linear_model import MultiTaskElasticNet

    Z, Y = fold_data(joint, 0)
    max_gap = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultiTaskElasticNet(
            fit_intercept=False, warm_start=True, tol=tol, max_iter=20_000, copy_X=True
        )
        for t in tau:
            alpha = t / 2 + mu
            model.set_params(alpha=alpha, l1_ratio=t / 2 / alpha)
            model.fit(Z, Y)
            max_gap = max(max_gap, relative_gap(Z, Y, model.coef_.T, t, mu))
    return max_gap


def time_both(T, runs):
    """Print the seconds of paths for T classes and for one response.

    Return the joint training sets, tau, mu and the seconds for T classes.
    """
    rows = (np.arange(N) % N_FOLDS)[:, None] != np.arange(N_FOLDS)
    X, y = draw_classes(T)
    joint = joint_sets(X, code_classes(y, T, rows), rows, centre=True, unit_variance=True)
    mu = 1e-6 * joint.norm[:, None]
    fractions = np.geomspace(1, 0.1, N_TAU + 1)[1:]
    tau = joint.tau_max[:, None] * fractions
    sets = joint.training_sets
    single_tau = sets.tau_max[:, None] * fractions
    solver = {"solver": "landweber-newton", "tolerance": 1e-9}
    # One run more, as the first one compiles.
    joint_seconds, joint_fit = time_call(
        partial(joint_path, joint, tau, mu, tolerance=1e-9), runs + 1
    )
    single_seconds, single_fit = time_call(partial(path, sets, single_tau, mu, **solver), runs + 1)
    joint_genes, single_genes = (fit.sizes()[:, -1].max() for fit in (joint_fit, single_fit))
    print(
        f"T = {T}: {joint_seconds:.3f} s, gap {joint_fit.gap.max():.1e}, {joint_genes} genes; one"
        f" response {single_seconds:.3f} s, {single_genes} genes:"
        f" {joint_seconds / single_seconds:.1f} times, bound {3 * T}",
        flush=True,
    )
    return joint, tau, mu, joint_seconds


def main(runs=3):
    """Print a line for each number of classes; four classes also by scikit-learn."""
    print(f"n = {N}, d = {D}, {N_TAU} tau, {N_FOLDS} folds")
    for T in (3, 4, 5, 8):
        joint, tau, mu, joint_seconds = time_both(T, runs)
        if T != 4:
            continue
        for tol in (1e-4, 1e-6, 1e-8):
            peer_seconds, gap = time_call(partial(by_sklearn, joint, tau[0], mu[0, 0], tol), 1)
            ratio = N_FOLDS * peer_seconds / joint_seconds
            line = f"  scikit-learn, tol {tol:g}: {peer_seconds:.2f} s a fold, gap {gap:.1e}:"
            print(f"{line} {ratio:.0f} times genesig's", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
