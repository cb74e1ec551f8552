"""The path for several responses beside that for one, and beside scikit-learn's.

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
TAUS = 30
FOLDS = 5


def seconds(call, runs):
    times = []
    for _ in range(runs):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return min(times), result


def classes(T, seed=0):
    """Return genes with 40 factors in common, and T classes of which each moves 20 genes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 40)) @ rng.normal(size=(40, D)) / np.sqrt(40)
    X += rng.normal(size=(N, D))
    y = rng.permutation(np.arange(N) % T)
    for c in range(T):
        X[y == c, 20 * c : 20 * (c + 1)] += 1.0
    return X, y


def code_classes(y, T, rows):
    """Return one column a class over the square root of its share, (n, k, T)."""
    member = np.eye(T)[y]
    return np.stack([member / np.sqrt(member[rows[:, k]].mean(axis=0)) for k in range(FOLDS)], 1)


def sklearn_gap(joint, k, coef, tau, mu):
    rows = joint.training_sets.rows[:, k]
    Z = joint.training_sets.standardised(k)[rows]
    Y = joint.Y[k][:, : len(rows)].T[rows]
    n = len(Y)
    r = Y - Z @ coef
    g = 2 / n * Z.T @ r - 2 * mu * coef
    s = min(1.0, tau / np.linalg.norm(g, axis=1).max())
    q = (r**2).sum() + n * mu * (coef**2).sum()
    gap = tau * np.linalg.norm(coef, axis=1).sum() - (coef * g).sum()
    return (gap + (1 - s) / n * (2 * (Y * r).sum() - (1 + s) * q)) / ((Y**2).sum() / n)


def by_sklearn(joint, tau, mu, tol):
    """Go down the path of fold 0; alpha and l1_ratio of 1/(2n) ||.||² + alpha (...)."""
    from sklearn.linear_model import MultiTaskElasticNet

    rows = joint.training_sets.rows[:, 0]
    Z = joint.training_sets.standardised(0)[rows]
    Y = joint.Y[0][:, : len(rows)].T[rows]
    model = None
    worst = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultiTaskElasticNet(
            fit_intercept=False, warm_start=True, tol=tol, max_iter=20_000, copy_X=True
        )
        for t in tau:
            alpha = t / 2 + mu
            model.set_params(alpha=alpha, l1_ratio=t / 2 / alpha)
            model.fit(Z, Y)
            worst = max(worst, sklearn_gap(joint, 0, model.coef_.T, t, mu))
    return worst


def time_both(T, runs):
    """Print the seconds for T classes beside those for one response."""
    rows = (np.arange(N) % FOLDS)[:, None] != np.arange(FOLDS)
    X, y = classes(T)
    joint = joint_sets(X, code_classes(y, T, rows), rows, centre=True, unit_variance=True)
    mu = 1e-6 * joint.norm[:, None]
    share = np.geomspace(1, 0.1, TAUS + 1)[1:]
    tau, tau_1 = (m[:, None] * share for m in (joint.tau_max, joint.training_sets.tau_max))
    alone = partial(path, joint.training_sets, tau_1, mu, solver="landweber-newton", tolerance=1e-9)
    joint_seconds, joint_fit = seconds(
        partial(joint_path, joint, tau, mu, tolerance=1e-9), runs + 1
    )
    single_seconds, single = seconds(alone, runs + 1)
    genes = [fit.sizes()[:, -1].max() for fit in (joint_fit, single)]
    line = (
        f"T = {T}: {joint_seconds:.3f} s, gap {joint_fit.gap.max():.1e}, {genes[0]} genes; one"
        " response"
    )
    line += (
        f" {single_seconds:.3f} s, {genes[1]} genes: {joint_seconds / single_seconds:.1f} times,"
        f" bound {3 * T}"
    )
    print(line, flush=True)
    return joint, tau, mu, joint_seconds


def main(runs=3):
    print(f"n = {N}, d = {D}, {TAUS} tau, {FOLDS} folds")
    for T in (3, 4, 5, 8):
        joint, tau, mu, joint_seconds = time_both(T, runs)
        if T != 4:
            continue
        for tol in (1e-4, 1e-6, 1e-8):
            peer, worst = seconds(partial(by_sklearn, joint, tau[0], mu[0, 0], tol), 1)
            line = f"  scikit-learn, tol {tol:g}: {peer:.2f} s a fold, gap {worst:.1e}:"
            print(f"{line} {FOLDS * peer / joint_seconds:.0f} times genesig's", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
