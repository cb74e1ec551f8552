"""Records of a study as gathering sees them: random supports, weights and scores."""

import numpy as np
import pandas as pd

from genesig.results import Dataset, Design, Fits, Split, Splits

MU = np.array([1e-6, 1e-2, 1.0])


def make_dataset(X, y, task="classification", group=None):
    """Return a data set with genes g0, g1, .. and samples s0, s1, ..; y is ±1 or real."""
    classes = ("healthy", "ill") if task == "classification" else None
    label = (
        np.where(np.asarray(y) > 0, "ill", "healthy") if classes else [repr(float(v)) for v in y]
    )
    obs = pd.DataFrame({"label": label}, index=[f"s{i}" for i in range(len(y))])
    if group is not None:
        obs["pair"] = [str(each) for each in group]
    genes = [f"g{j}" for j in range(X.shape[1])]
    var = pd.DataFrame({"symbol": [f"SYM{j}" for j in range(len(genes))]}, index=genes)
    column = None if group is None else "pair"
    design = Design("label", task, classes, column, column)
    return Dataset(np.asarray(X, dtype=float), obs, var, design, {"steps": []})


def make_splits(dataset, folds, repeats, seed=0):
    """Return k-fold splits, stratified by the response, and two pairs of halves a repeat."""
    rng, names = np.random.default_rng(seed), np.array(dataset.samples, dtype=object)
    order = np.argsort(dataset.response(), kind="stable")
    outer = []
    for repeat in range(1, repeats + 1):
        shuffled = order[np.lexsort((rng.random(len(order)), dataset.response()[order]))]
        for fold in range(folds):
            test = np.sort(shuffled[fold::folds])
            train = np.setdiff1d(np.arange(len(names)), test)
            inner = tuple(tuple(names[train[k::3]]) for k in range(3))
            seeds = (1, 0, repeat, fold)
            outer.append(
                Split(f"r{repeat}f{fold + 1}", repeat, fold + 1, tuple(names[train]),
                      tuple(names[test]), inner, seeds)
            )  # fmt: skip
    final = Split("final", 0, 0, tuple(names), (), (), (1,))
    halves = []
    for pair in range(1, 2 * repeats + 1):
        shuffled = rng.permutation(len(names))
        halves += [
            Split(f"s{pair}{'ab'[k]}", pair, k + 1, tuple(names[np.sort(shuffled[k::2])]), (), (),
                  (3, 0, pair, 0))
            for k in range(2)
        ]  # fmt: skip
    return Splits("stratified_kfold", "stratified_kfold", seed, tuple(outer), final, tuple(halves))


def make_fits(dataset, splits, seed=0, permutations=(0,), signal=0.0):
    """Return fits whose supports grow with mu; scores are noise plus `signal` times y.

    Each is cut at a threshold of its own, and chooses a list of its own.
    """
    rng = np.random.default_rng(seed)
    tests = [dataset.rows(split.test) for split in splits] * len(permutations)
    m, n_mu, y = len(tests), len(MU), dataset.response()
    supports = []
    for _ in range(m):
        order = rng.permutation(len(dataset.genes))
        sizes = np.sort(rng.integers(0, len(order), n_mu))
        supports += [np.sort(order[:size]) for size in sizes]
    rows = np.concatenate(tests) if tests else np.zeros(0, dtype=int)
    indptr = np.concatenate([[0], np.cumsum([len(s) for s in supports])])
    return Fits(
        split=np.array([split.name for split in splits] * len(permutations)),
        permutation=np.repeat(np.array(permutations, dtype=int), len(splits)),
        tau=np.array([0.5, 0.1]),
        lam=np.array([0.01, 0.1]),
        mu=MU,
        searched=MU[:2],
        tau_max=rng.random(m),
        norm=rng.random(m),
        cv_error=rng.random((m, 2, 2, 2)),
        cv_se=rng.random((m, 2, 2, 2)),
        cv_size=rng.random((m, 2, 2)),
        cv_agreement=rng.random((m, 2, 2)),
        choice=rng.integers(0, [2, 2, n_mu], (m, 3)),
        threshold=np.zeros(m) if dataset.design.classes is None else rng.normal(0, 0.2, m),
        indptr=indptr,
        indices=np.concatenate(supports).astype(int),
        values=rng.standard_normal(indptr[-1]),
        intercept=rng.standard_normal((m, n_mu)),
        gap=np.zeros((m, n_mu)),
        test_indptr=np.concatenate([[0], np.cumsum([len(t) for t in tests])]).astype(int),
        test_rows=rows,
        scores=rng.standard_normal((len(rows), n_mu)) + signal * y[rows][:, None],
    )


def make_study(seed=0, n=24, genes=15, folds=4, repeats=2, task="classification", signal=0.5):
    """Return (dataset, splits, observed, final)."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < n // 3, 1.0, -1.0))
    y = y if task == "classification" else rng.standard_normal(n)
    dataset = make_dataset(rng.standard_normal((n, genes)), y, task)
    splits = make_splits(dataset, folds, repeats, seed)
    observed = make_fits(dataset, splits.outer, seed, signal=signal)
    return dataset, splits, observed, make_fits(dataset, [splits.final], seed + 1)
