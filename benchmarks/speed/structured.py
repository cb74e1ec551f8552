"""The block solver: ratios to products with X, growth, and peers where they solve the same problem.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/structured.py [RUNS]

Seconds are of the processor, medians of RUNS (3); the ratio is to 30 products X'R of the same X.
Peers that are not installed are named as such: `pip install -e '.[bench]'`; group-lasso has the
name group-lasso.
"""

from __future__ import annotations

import sys
import time
import warnings
from statistics import median

import numpy as np

from genesig.optim.structured.columns import Blocks, Columns, Kernels
from genesig.optim.structured.path import block_path, block_paths, tau_max, tau_maxima
from genesig.optim.structured.solvers import Composite, LatentOverlap, structured_path
from genesig.optim.structured.weights import equal_chance_weights

N = 100


def seconds(call, runs):
    times = []
    for _ in range(runs):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return median(times), result


def expression(n, d, seed=0):
    """Return genes with 40 factors in common, centred and of unit variance, and two classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40)) @ rng.normal(size=(40, d)) / np.sqrt(40)
    X += rng.normal(size=(n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0), rng


def sets_of(rng, d, number, least=8):
    """Return sets that overlap, most of them small, the largest of 299 genes."""
    sizes = np.minimum((rng.pareto(1.2, number) * 18 + least).astype(int), min(299, d))
    return [rng.choice(d, size, replace=False) for size in sizes]


def labels(X, lists, rng):
    y = sum(X[:, group].sum(axis=1) / np.sqrt(len(group)) for group in lists[:5])
    y = np.sign(y + 3 * rng.normal(size=len(X)))
    return y - y.mean()


def products(X, runs):
    R = np.random.default_rng(0).normal(size=(len(X), 1))
    return seconds(lambda: [X.T @ R for _ in range(30)], runs)[0]


def print_row(name, run_seconds, floor, note=""):
    print(f"{name:62} {run_seconds:8.3f} s {run_seconds / floor:7.1f} x  {note}", flush=True)


def time_overlapping(d, number, runs, share=0.05):
    X, rng = expression(N, d)
    lists = sets_of(rng, d, number)
    y = labels(X, lists, rng)
    floor = products(X, runs)
    blocks = Blocks.from_lists(lists, np.sqrt([len(group) for group in lists]))
    tau = tau_max(X, y, blocks) * np.geomspace(1, share, 30)
    run_seconds, fit = seconds(lambda: block_path(X, y, blocks, tau, 0.0), runs)
    note = f"gap {fit.gap.max():.0e}, {fit.steps.sum()} steps, {len(fit.support(29))} sets"
    print_row(f"latent overlap, {d} genes, {number} sets, 30 tau", run_seconds, floor, note)
    return X, y, blocks, tau, floor


def study(runs):
    """6000 sets, 100 permuted responses at once: what a study asks for in each fold."""
    X, rng = expression(64, 20_000)
    lists = sets_of(rng, 15_000, 6000)
    y = np.where(np.arange(64) % 2, 1.0, -1.0)
    permuted = np.stack([rng.permutation(y) for _ in range(200)], axis=1)
    floor = products(X, runs)
    parts = Blocks.from_lists(lists, np.ones(6000))
    null = y[:, None], permuted[:, :, None]
    run_seconds, weights = seconds(
        lambda: equal_chance_weights(X, *null, parts.members, parts.starts), runs
    )
    print_row("weights of 6000 sets, 64 x 20000, 200 permutations", run_seconds, floor)
    blocks = Blocks(parts.members, parts.starts, weights)
    design = Columns(X, blocks)
    Y = permuted.T[:100, :, None]
    tau = tau_maxima(design, Y)[:, None] * np.geomspace(1, 0.1, 15)
    mu = 1e-3 * np.linalg.norm(X, 2) ** 2 / 64
    for tolerance in (1e-9, 1e-6):
        run_seconds, fits = seconds(
            lambda t=tolerance: block_paths(design, Y, tau, mu, tolerance=t, max_blocks=50), 1
        )
        steps = np.mean([fit.steps.sum() for fit in fits])
        note = (
            f"a path {10 * run_seconds:.1f} ms, {steps:.0f} steps; gap {tolerance:.0e}, 50 sets at"
            " most"
        )
        print_row("the same, 15 tau, 100 responses together", run_seconds, floor, note)


def time_other_penalties(X, floor, runs):
    """Several responses, kernels, and the iterative projection, which is a reference."""
    rng = np.random.default_rng(1)
    Y = np.stack([X[:, :5].sum(axis=1) + 2 * rng.normal(size=N) for _ in range(4)], axis=1)
    Y -= Y.mean(axis=0)
    rows = Blocks.from_lists(np.arange(X.shape[1])[:, None], np.ones(X.shape[1]))
    tau = tau_max(X, Y, rows) * np.geomspace(1, 0.1, 30)
    run_seconds, fit = seconds(lambda: block_path(X, Y, rows, tau, 0.0), 1)
    note = f"gap {fit.gap.max():.0e}, {len(fit.support(29))} genes"
    print_row("multi-task, 4 responses, 20000 genes, 30 tau to .1", run_seconds, floor, note)
    lists = [rng.choice(X.shape[1], 50, replace=False) for _ in range(400)]
    K = np.array([X[:, group] @ X[:, group].T / 50 for group in lists])
    kernels = Kernels(K, np.ones(400))
    y = Y[:, :1]
    tau = tau_maxima(kernels, y[None]) * np.geomspace(1, 0.1, 20)
    run_seconds, fits = seconds(lambda: block_paths(kernels, y[None], tau[None], 0.0), 1)
    note = f"gap {fits[0].gap.max():.0e}, {len(fits[0].support(19))} kernels"
    print_row("400 kernels, 20 tau to .1", run_seconds, floor, note)
    small = X[:, :2000]
    lists = sets_of(rng, 2000, 200)
    lists += [[j] for j in range(2000)]
    blocks = Blocks.from_lists(lists, np.sqrt([len(group) for group in lists]))
    for name, penalty in (("composite", Composite(blocks)), ("latent", LatentOverlap(blocks))):
        tau = [0.2 * tau_max(small, y, blocks)]
        run_seconds, fit = seconds(
            lambda p=penalty, t=tau: structured_path(
                small, y, p, t, 0.0, solver="projection", tolerance=1e-6
            ),
            1,
        )
        note = f"gap {fit.gap[0]:.0e}, {fit.steps[0]} steps"
        print_row(
            f"projection, {name}, 2000 genes, 200 sets, .2 of tau_max", run_seconds, floor, note
        )


def multi_task(X, Y, groups, tau):
    from sklearn.linear_model import MultiTaskLasso

    model = MultiTaskLasso(alpha=tau[-1] / 2, fit_intercept=False, tol=1e-7, max_iter=100_000)
    return model.fit(X, Y).coef_.T


def celer(X, Y, groups, tau):
    from celer import GroupLasso

    model = GroupLasso(
        groups=groups,
        weights=np.sqrt([len(g) for g in groups]),
        tol=1e-7,
        fit_intercept=False,
        warm_start=True,
        max_iter=1000,
    )
    for t in tau:
        model.set_params(alpha=t / 2).fit(X, Y[:, 0])
    return model.coef_[:, None]


def skglm(X, Y, groups, tau):
    from skglm import GroupLasso

    model = GroupLasso(
        groups=groups,
        weights=np.sqrt([len(g) for g in groups]),
        tol=1e-7,
        fit_intercept=False,
        warm_start=True,
    )
    for t in tau:
        model.set_params(alpha=t / 2).fit(X, Y[:, 0])
    return model.coef_[:, None]


def adelie(X, Y, groups, tau):
    import adelie as ad

    state = ad.grpnet(
        X=ad.matrix.dense(np.asfortranarray(X), n_threads=1),
        glm=ad.glm.gaussian(y=Y[:, 0]),
        groups=np.array([g[0] for g in groups]),
        penalty=np.sqrt([len(g) for g in groups]),
        lmda_path=tau / 2,
        intercept=False,
        tol=1e-12,
        progress_bar=False,
        early_exit=False,
    )
    return state.betas[-1].toarray().T


def group_lasso(X, Y, groups, tau):
    from group_lasso import GroupLasso

    number = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    model = GroupLasso(
        groups=number,
        group_reg=tau[-1] / 2,
        l1_reg=0,
        fit_intercept=False,
        tol=1e-6,
        n_iter=30,
        supress_warning=True,
        scale_reg="group_size",
    )
    return model.fit(X, Y).coef_


PEERS = {
    "celer 1e-7": celer,
    "skglm 1e-7": skglm,
    "adelie 1e-12": adelie,
    "group-lasso, last tau alone, 30 steps": group_lasso,
}


def peers(X, y, floor):
    """Compare on 2000 groups of ten genes, and with scikit-learn on four responses."""
    d = X.shape[1]
    groups = [list(range(j, j + 10)) for j in range(0, d, 10)]
    Y = y[:, None]
    blocks = Blocks.from_lists(groups, np.sqrt([10] * len(groups)))
    tau = tau_max(X, y, blocks) * np.geomspace(1, 0.1, 30)[1:]
    run_seconds, fit = seconds(lambda: block_path(X, Y, blocks, tau, 0.0), 3)
    best = objective(X, Y, fit.coef(28), blocks, tau[-1])
    print_row(
        "group lasso, 2000 groups of 10, 29 tau to .1",
        run_seconds,
        floor,
        f"gap {fit.gap.max():.0e}",
    )
    for name, solve in PEERS.items():
        compare_peer(name, solve, (X, Y, groups, tau, blocks), best, floor)
    rng = np.random.default_rng(1)
    Y = X[:, :5].sum(axis=1)[:, None] + 2 * rng.normal(size=(N, 4))
    Y -= Y.mean(axis=0)
    rows = Blocks.from_lists(np.arange(d)[:, None], np.ones(d))
    tau = tau_max(X, Y, rows) * np.array([0.1])
    run_seconds, fit = seconds(lambda: block_path(X, Y, rows, tau, 0.0), 3)
    print_row(
        "multi-task, .1 of tau_max alone, from nothing", run_seconds, floor, f"gap {fit.gap[0]:.0e}"
    )
    best = objective(X, Y, fit.coef(0), rows, tau[0])
    compare_peer("scikit-learn 1e-7", multi_task, (X, Y, None, tau, rows), best, floor)


def objective(X, Y, B, blocks, tau):
    norms = blocks.norms(B)
    return ((Y - X @ B) ** 2).sum() / len(X) + tau * blocks.weights @ norms


def compare_peer(name, solve, problem, best, floor):
    """Print the time of a peer, and how far its last objective lies above the best."""
    X, Y, groups, tau, blocks = problem
    try:
        solve(X[:20, :100], Y[:20], groups and groups[:10], tau)  # compiled code first
    except ImportError as error:
        print(f"   {name:59} not installed ({error.name})")
        return
    run_seconds, B = seconds(lambda: solve(X, Y, groups, tau), 1)
    excess = objective(X, Y, np.asarray(B).reshape(X.shape[1], -1), blocks, tau[-1]) / best - 1
    print_row(f"   {name}", run_seconds, floor, f"objective {excess:+.0e}")


def main(runs):
    warnings.simplefilter("ignore")
    X, y, blocks, tau, floor = time_overlapping(20_000, 2000, runs)
    mu = 1e-3 * np.linalg.norm(X, 2) ** 2 / N
    run_seconds, fit = seconds(lambda: block_path(X, y, blocks, tau, mu), runs)
    print_row("the same, mu = 1e-3 ||X'X||/n", run_seconds, floor, f"gap {fit.gap.max():.0e}")
    for d, number in ((20_000, 500), (20_000, 8000), (5000, 2000), (80_000, 2000)):
        time_overlapping(d, number, runs)
    study(runs)
    time_other_penalties(X, floor, runs)
    peers(X, y, floor)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
