"""Time of the block solver by size and penalty, and of peers that solve the same problem.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/structured.py [RUNS]

Processor seconds, medians of RUNS (3); the ratio is to the floor, 30 products X'R of the same X.
Peers that are not installed are printed as such: `pip install -e '.[bench]' group-lasso`.
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from functools import partial
from statistics import median

import numpy as np

from genesig.optim.structured.columns import Blocks, Columns, Kernels
from genesig.optim.structured.path import block_path, block_paths, tau_max, tau_maxima
from genesig.optim.structured.solvers import Composite, LatentOverlap, structured_path
from genesig.optim.structured.weights import equal_chance_weights

N = 100  # samples


def time_call(call, runs):
    """Return the median of the processor seconds of some calls, and the value of the last."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return median(times), result


def draw_genes(n, d, seed=0):
    """Return X (n, d) with 40 common factors, standardised, and the generator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40)) @ rng.normal(size=(40, d)) / np.sqrt(40)
    X += rng.normal(size=(n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0), rng


def draw_sets(rng, d, n_sets, smallest=8):
    """Return overlapping sets of columns, most of them small, the largest of 299 genes."""
    sizes = np.minimum((rng.pareto(1.2, n_sets) * 18 + smallest).astype(int), min(299, d))
    return [rng.choice(d, size, replace=False) for size in sizes]


def draw_labels(X, sets, rng):
    """Return centred labels that depend on the first five sets."""
    y = sum(X[:, genes].sum(axis=1) / np.sqrt(len(genes)) for genes in sets[:5])
    y = np.sign(y + 3 * rng.normal(size=len(X)))
    return y - y.mean()


def time_products(X, runs):
    """Return the seconds of 30 products X'R."""
    R = np.random.default_rng(0).normal(size=(len(X), 1))
    return time_call(lambda: [X.T @ R for _ in range(30)], runs)[0]


def print_row(name, run_seconds, floor, note=""):
    """Print a line: seconds, and ratio to the floor (seconds)."""
    print(f"{name:62} {run_seconds:8.3f} s {run_seconds / floor:7.1f} x  {note}", flush=True)


def blocks_of(sets):
    """Return the blocks of sets, weighted by the square root of their sizes."""
    return Blocks.from_lists(sets, np.sqrt([len(genes) for genes in sets]))


def single_columns(d):
    """Return a block of weight 1 for each of d columns."""
    return Blocks.from_lists(np.arange(d)[:, None], np.ones(d))


def time_overlapping(d, n_sets, runs):
    """Print a row for overlapping sets; return X, y, blocks, tau and the floor."""
    X, rng = draw_genes(N, d)
    sets = draw_sets(rng, d, n_sets)
    y = draw_labels(X, sets, rng)
    floor = time_products(X, runs)
    blocks = blocks_of(sets)
    tau = tau_max(X, y, blocks) * np.geomspace(1, 0.05, 30)
    run_seconds, fit = time_call(lambda: block_path(X, y, blocks, tau, 0.0), runs)
    note = f"gap {fit.gap.max():.0e}, {fit.steps.sum()} steps, {len(fit.support(29))} sets"
    print_row(f"latent overlap, {d} genes, {n_sets} sets, 30 tau", run_seconds, floor, note)
    return X, y, blocks, tau, floor


def time_study(runs):
    """Print rows of 6000 sets with 100 permuted responses together, as in a fold of a study."""
    X, rng = draw_genes(64, 20_000)
    sets = draw_sets(rng, 15_000, 6000)
    y = np.where(np.arange(64) % 2, 1.0, -1.0)
    permuted = np.stack([rng.permutation(y) for _ in range(200)], axis=1)
    floor = time_products(X, runs)
    unweighted = Blocks.from_lists(sets, np.ones(6000))
    run_seconds, weights = time_call(
        lambda: equal_chance_weights(
            X, y[:, None], permuted[:, :, None], unweighted.members, unweighted.starts
        ),
        runs,
    )
    print_row("weights of 6000 sets, 64 x 20000, 200 permutations", run_seconds, floor)
    blocks = Blocks(unweighted.members, unweighted.starts, weights)
    design = Columns(X, blocks)
    Y = permuted.T[:100, :, None]
    tau = tau_maxima(design, Y)[:, None] * np.geomspace(1, 0.1, 15)
    mu = 1e-3 * np.linalg.norm(X, 2) ** 2 / 64
    for tolerance in (1e-9, 1e-6):
        run_seconds, fits = time_call(
            lambda t=tolerance: block_paths(design, Y, tau, mu, tolerance=t, max_blocks=50), 1
        )
        steps = np.mean([fit.steps.sum() for fit in fits])
        milliseconds = 1000 * run_seconds / len(fits)
        note = (
            f"a path {milliseconds:.1f} ms, {steps:.0f} steps; gap {tolerance:.0e}, at most 50 sets"
        )
        print_row("the same, 15 tau, 100 responses together", run_seconds, floor, note)


def time_other_penalties(X, floor, runs):
    """Print rows of several responses, of kernels, and of the iterative projection, a reference."""
    rng = np.random.default_rng(1)
    Y = np.stack([X[:, :5].sum(axis=1) + 2 * rng.normal(size=N) for _ in range(4)], axis=1)
    Y -= Y.mean(axis=0)
    columns = single_columns(X.shape[1])
    tau = tau_max(X, Y, columns) * np.geomspace(1, 0.1, 30)
    run_seconds, fit = time_call(lambda: block_path(X, Y, columns, tau, 0.0), 1)
    note = f"gap {fit.gap.max():.0e}, {len(fit.support(29))} genes"
    print_row("multi-task, 4 responses, 20000 genes, 30 tau to .1", run_seconds, floor, note)
    sets = [rng.choice(X.shape[1], 50, replace=False) for _ in range(400)]
    K = np.array([X[:, genes] @ X[:, genes].T / 50 for genes in sets])
    kernels = Kernels(K, np.ones(400))
    y = Y[:, :1]
    tau = tau_maxima(kernels, y[None]) * np.geomspace(1, 0.1, 20)
    run_seconds, fits = time_call(lambda: block_paths(kernels, y[None], tau[None], 0.0), 1)
    note = f"gap {fits[0].gap.max():.0e}, {len(fits[0].support(19))} kernels"
    print_row("400 kernels, 20 tau to .1", run_seconds, floor, note)
    small = X[:, :2000]
    blocks = blocks_of([*draw_sets(rng, 2000, 200), *([gene] for gene in range(2000))])
    for name, penalty in (("composite", Composite(blocks)), ("latent", LatentOverlap(blocks))):
        tau = [0.2 * tau_max(small, y, blocks)]
        projection = {"solver": "projection", "tolerance": 1e-6}
        run_seconds, fit = time_call(
            partial(structured_path, small, y, penalty, tau, 0.0, **projection), 1
        )
        note = f"gap {fit.gap[0]:.0e}, {fit.steps[0]} steps"
        title = f"projection, {name}, 2000 genes, 200 sets, .2 of tau_max"
        print_row(title, run_seconds, floor, note)


# Peers: functions of X (n, d), Y (n, T), groups of columns and tau -> coefficients at the last tau.


def multi_task(X, Y, groups, tau):
    from sklearn.linear_model import MultiTaskLasso

    model = MultiTaskLasso(alpha=tau[-1] / 2, fit_intercept=False, tol=1e-7, max_iter=100_000)
    return model.fit(X, Y).coef_.T


def warm_group_lasso(X, Y, groups, tau, module, **options):
    """Fit the class GroupLasso of a module at each tau, with warm starts."""
    model = importlib.import_module(module).GroupLasso(
        groups=groups,
        weights=np.sqrt([len(g) for g in groups]),
        tol=1e-7,
        fit_intercept=False,
        warm_start=True,
        **options,
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

    group_of_column = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    model = GroupLasso(
        groups=group_of_column,
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
    "celer 1e-7": partial(warm_group_lasso, module="celer", max_iter=1000),
    "skglm 1e-7": partial(warm_group_lasso, module="skglm"),
    "adelie 1e-12": adelie,
    "group-lasso, last tau alone, 30 steps": group_lasso,
}


def compare_peers(X, y, floor):
    """Print rows of peers for groups of ten genes, and of scikit-learn for four responses."""
    d = X.shape[1]
    groups = [list(range(j, j + 10)) for j in range(0, d, 10)]
    Y = y[:, None]
    blocks = blocks_of(groups)
    tau = tau_max(X, y, blocks) * np.geomspace(1, 0.1, 30)[1:]
    run_seconds, fit = time_call(lambda: block_path(X, Y, blocks, tau, 0.0), 3)
    best = objective(X, Y, fit.coef(28), blocks, tau[-1])
    title = f"group lasso, {len(groups)} groups of 10, 29 tau to .1"
    print_row(title, run_seconds, floor, f"gap {fit.gap.max():.0e}")
    for name, solve in PEERS.items():
        compare_peer(name, solve, (X, Y, groups, tau, blocks), best, floor)
    rng = np.random.default_rng(1)
    Y = X[:, :5].sum(axis=1)[:, None] + 2 * rng.normal(size=(N, 4))
    Y -= Y.mean(axis=0)
    columns = single_columns(d)
    tau = tau_max(X, Y, columns) * np.array([0.1])
    run_seconds, fit = time_call(lambda: block_path(X, Y, columns, tau, 0.0), 3)
    title = "multi-task, .1 of tau_max alone, from 0"
    print_row(title, run_seconds, floor, f"gap {fit.gap[0]:.0e}")
    best = objective(X, Y, fit.coef(0), columns, tau[0])
    compare_peer("scikit-learn 1e-7", multi_task, (X, Y, None, tau, columns), best, floor)


def objective(X, Y, B, blocks, tau):
    """Return the mean squared error plus tau times the weighted norms of the blocks of B (d, T)."""
    norms = blocks.norms(B)
    return ((Y - X @ B) ** 2).sum() / len(X) + tau * blocks.weights @ norms


def compare_peer(name, solve, problem, best, floor):
    """Print the time of a peer, and the relative excess of its last objective over `best`."""
    X, Y, groups, tau, blocks = problem
    try:
        solve(X[:20, :100], Y[:20], groups and groups[:10], tau)  # compiles
    except ImportError as error:
        print(f"   {name:59} not installed ({error.name})")
        return
    run_seconds, B = time_call(lambda: solve(X, Y, groups, tau), 1)
    excess = objective(X, Y, np.asarray(B).reshape(X.shape[1], -1), blocks, tau[-1]) / best - 1
    print_row(f"   {name}", run_seconds, floor, f"objective {excess:+.0e}")


def main(runs):
    """Print all rows."""
    warnings.simplefilter("ignore")
    X, y, blocks, tau, floor = time_overlapping(20_000, 2000, runs)
    mu = 1e-3 * np.linalg.norm(X, 2) ** 2 / N
    run_seconds, fit = time_call(lambda: block_path(X, y, blocks, tau, mu), runs)
    print_row("the same, mu = 1e-3 ||X'X||/n", run_seconds, floor, f"gap {fit.gap.max():.0e}")
    for d, n_sets in ((20_000, 500), (20_000, 8000), (5000, 2000), (80_000, 2000)):
        time_overlapping(d, n_sets, runs)
    time_study(runs)
    time_other_penalties(X, floor, runs)
    compare_peers(X, y, floor)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
