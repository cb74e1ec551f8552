"""Precision@k of the nonlinear selection and of other methods.

    OMP_NUM_THREADS=1 python benchmarks/accuracy/nonlinear_peers.py [SEEDS [METHOD ...]]

k, the number of relevant variables, is known; precision@k is their share among the first k of a
ranking. Every method is tuned on the same held-out third of the rows and then fitted to all rows.
Methods that predict (derivative penalty, extra-trees, LassoCV, LassoNet) are tuned by their own
error, methods that only rank (HSIC Lasso, mutual information, FVM) by the error of a kernel ridge
(Gaussian) on their first k variables. A sparse model with fewer than k variables is filled up by
the order of entry along its path. Columns are shuffled, so that ties favour no method.

A method is a function of X, y, k and a seed and returns columns, the most relevant first. Seconds
are processor seconds with tuning, the median of all fits. Peers that are not installed are printed
as such (``pip install '.[nonlinear-bench]'``).
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.feature_selection import mutual_info_regression
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV, KFold

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/references"))

from nonlinear_tasks import RELEVANT, e1, e3

from genesig.models.derivative import DerivativeRegressor, FeatureVectorMachine
from genesig.optim.kernels import Gaussian, median_distance
from genesig.optim.nonlinear.path import Ridge, fit_path

LAM = np.geomspace(1, 1e-6, 7)  # penalties of kernel ridge
TREES_GRID = {"max_features": [0.33, 1.0], "min_samples_leaf": [1, 5]}


def interactions(rng, n, d):
    """Return X (n, d), standard normal, and y = x0 + x1 + x2 x0 + x3 x1 with noise."""
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + X[:, 1] + X[:, 2] * X[:, 0] + X[:, 3] * X[:, 1] + 0.1 * rng.normal(size=n)


def smooth(rng, n, d):
    """Return X (n, d), standard normal, and y = x0² + x1 x2 + sin 2 x3 with noise."""
    X = rng.normal(size=(n, d))
    return X, X[:, 0] ** 2 + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.1 * rng.normal(size=n)


FOUR = np.arange(4)
# Name -> function of a generator that draws X and y, relevant columns.
TASKS = {
    "E1": (lambda rng: e1(rng, 110), RELEVANT),
    "E3": (lambda rng: e3(rng, 110), RELEVANT),
    "I300": (lambda rng: interactions(rng, 100, 300), FOUR),
    "S300": (lambda rng: smooth(rng, 200, 300), FOUR),
    "I2000": (lambda rng: interactions(rng, 150, 2000), FOUR),
}


def folds(n, seed):
    """Return one pair of rows: two thirds for training, the held-out third."""
    return list(KFold(3, shuffle=True, random_state=seed).split(np.zeros(n)))[:1]


def fill_path(norms, path_norms):
    """Return columns by descending norm; columns of norm 0 by the step at which they enter a path.

    norms (d,); path_norms (n_steps, d).
    """
    entered = path_norms > 0
    first_step = np.where(entered.any(axis=0), entered.argmax(axis=0), len(path_norms))
    return np.lexsort((-path_norms.max(axis=0, initial=0), first_step, -norms))


def derivative(X, y, k, seed, **kernel):
    """Rank by the norms of the derivatives; kernel: settings of the kernel."""
    model = DerivativeRegressor(
        nu=[1e-3, 1e-2], cv=folds(len(y), seed), n_tau=10, tau_min=0.05, tolerance=1e-4, **kernel
    ).fit(X, y)
    if len(model.get_support(indices=True)) >= k:
        return np.argsort(-model.derivative_norms_, kind="stable")
    tau = np.geomspace(model.tau_, 0.01, 8).tolist()
    path = fit_path(X, y, model._settings(LAM), nu=model.nu_, width=model.width_, tau=tau).path
    return fill_path(model.derivative_norms_, np.array([fit.norms for fit in path.solutions]))


def gaussian(X, y, k, seed):
    return derivative(X, y, k, seed, kernel="gaussian", width=[0.5, 1.0, 2.0])


def polynomial(X, y, k, seed):
    return derivative(X, y, k, seed, kernel="polynomial", degree=3)


def lasso(X, y, k, seed):
    model = LassoCV(cv=folds(len(y), seed), max_iter=20_000).fit(X, y)
    return fill_path(np.abs(model.coef_), np.abs(model.path(X, y - y.mean())[1].T))


def trees(X, y, k, seed):
    search = GridSearchCV(
        ExtraTreesRegressor(200, random_state=seed),
        TREES_GRID,
        cv=folds(len(y), seed),
        scoring="neg_mean_squared_error",
    )
    return np.argsort(-search.fit(X, y).best_estimator_.feature_importances_)


def ridge_error(X, y, rows, held_out, columns):
    """Return the held-out squared error for each of `LAM` of a Gaussian kernel ridge on columns."""
    Z = X[:, columns]
    centred = Z[rows] - Z[rows].mean(axis=0)
    width = median_distance(centred @ centred.T) or 1.0
    f = Ridge.fit(Gaussian(width), Z[rows], y[rows], LAM).predict(Z[held_out])
    return np.sum((f - y[held_out]) ** 2, axis=1)


def tune(rank, grid):
    """Return a method that tunes a function (X, y, k, **setting) -> columns over a grid."""

    def method(X, y, k, seed):
        def error(setting):
            return min(
                sum(
                    ridge_error(X, y, rows, held_out, rank(X[rows], y[rows], k, **setting)[:k])
                    for rows, held_out in folds(len(y), seed)
                )
            )

        return rank(X, y, k, **min(grid, key=error))

    return method


def mutual_information(X, y, k, n_neighbors):
    return np.argsort(
        -mutual_info_regression(X, y, n_neighbors=n_neighbors, random_state=0), kind="stable"
    )


def fvm(X, y, k, n_bins, nonnegative):
    model = FeatureVectorMachine(n_features=k, lam=0.0, n_bins=n_bins, nonnegative=nonnegative)
    return model.fit(X, y).order_


def hsic(X, y, k, blocks):
    """Rank by HSIC Lasso; blocks: samples of a block, 0 for one block."""
    from pyHSICLasso import HSICLasso

    model = HSICLasso()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.input(X, y)
        model.regression(k, B=blocks, M=3, n_jobs=1, max_neighbors=0)
    return np.array(model.get_index(), dtype=int)


def lassonet(X, y, k, seed):
    """Rank by the penalty at which a variable leaves; held-out error chooses the hidden units."""
    import torch
    from lassonet import LassoNetRegressor

    def make(hidden):
        # Penalties grow by 20% instead of 2% a step, with 50 epochs each instead of 100.
        return LassoNetRegressor(
            hidden_dims=hidden,
            path_multiplier=1.2,
            n_iters=(500, 50),
            random_state=seed,
            torch_seed=seed,
        )

    torch.set_num_threads(1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    response = (y - y.mean()) / y.std()
    rows, held_out = folds(len(y), seed)[0]
    best = (np.inf, None)  # smallest held-out loss, hidden units
    for hidden in ((16,), (64,)):
        model = make(hidden)
        path = model.path(
            Z[rows],
            response[rows],
            X_val=Z[held_out],
            y_val=response[held_out],
            return_state_dicts=False,
        )
        best = min(best, (min(step.val_loss for step in path), hidden))
    model = make(best[1])
    model.path(Z, response, return_state_dicts=False)
    return np.argsort(-np.asarray(model.feature_importances_), kind="stable")


OURS = ("derivative, Gaussian", "derivative, polynomial")
METHODS = {
    OURS[0]: gaussian,
    OURS[1]: polynomial,
    "FVM": tune(
        fvm, [{"n_bins": b, "nonnegative": s} for b, s in product((3, 5, 10), (False, True))]
    ),
    "HSIC Lasso": tune(hsic, [{"blocks": 0}, {"blocks": 10}]),
    "extra-trees": trees,
    "LassoCV": lasso,
    "mutual information": tune(mutual_information, [{"n_neighbors": b} for b in (3, 5, 10)]),
    "LassoNet": lassonet,
}
NEEDS = {"HSIC Lasso": "pyHSICLasso", "LassoNet": "lassonet"}


def precision(method, task, seed):
    """Return precision@k and processor seconds of a method on one draw of a task."""
    draw_task, truth = TASKS[task]
    rng = np.random.default_rng([seed, 4])
    X, y = draw_task(rng)
    columns = rng.permutation(X.shape[1])
    began = time.process_time()
    order = columns[METHODS[method](X[:, columns], y, len(truth), seed)[: len(truth)]]
    share = len(set(order) & set(truth)) / len(truth)
    seconds = time.process_time() - began
    print(f"{method} {task} {seed}: {share:.2f}, {seconds:.1f} s", file=sys.stderr, flush=True)
    return share, seconds


def print_losses(precisions):
    """Print tasks on which a peer is better than the better of the two derivative penalties.

    precisions: method -> task -> precision@k of each seed.
    """
    print("\nLosses: peer ahead of the derivative penalty, by mean ± standard error of pairs")
    for task in TASKS:
        ours = max(
            (precisions[m][task] for m in OURS if m in precisions), key=np.mean, default=None
        )
        for method in precisions:
            if ours is None or method in OURS or np.mean(precisions[method][task]) <= np.mean(ours):
                continue
            lead = np.subtract(precisions[method][task], ours)
            error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
            print(f"{task}: {method} by {lead.mean():.2f} ± {error:.2f}")


def main(seeds, methods):
    """Print a line for each method, and the tasks on which peers are better."""
    print(",".join(["method", *TASKS, "seconds"]))
    results = {}
    for method in methods:
        if method in NEEDS and importlib.util.find_spec(NEEDS[method]) is None:
            print(f"{method},not installed", flush=True)
            continue
        cells = {task: [precision(method, task, s) for s in range(seeds)] for task in TASKS}
        results[method] = {task: [p for p, _ in pairs] for task, pairs in cells.items()}
        times = [seconds for pairs in cells.values() for _, seconds in pairs]
        shares = [f"{np.mean(results[method][task]):.2f}" for task in TASKS]
        print(",".join([f'"{method}"', *shares, f"{np.median(times):.2g}"]), flush=True)
    print_losses(results)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8, sys.argv[2:] or list(METHODS))
