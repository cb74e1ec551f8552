"""Nonlinear selection without files: small settings, drawn splits, the calls of the scripts."""

from gathered_study import make_dataset

from genesig.data.splits.draw import draw_splits
from genesig.selection.nonlinear.loop import nonlinear_final, nonlinear_loop

SCALED = ({"step": "centre"}, {"step": "unit_variance"})
SPLITS = {
    "scheme": "stratified_kfold", "folds": 3, "repeats": 1, "column": None, "file": None,
    "inner_scheme": "stratified_kfold", "inner_folds": 2, "subsamples": 0, "batches": 1,
}  # fmt: skip
QUICK = {
    "genes": 12, "kernel": "gaussian", "width": [1.0], "degree": 2, "offset": 1.0,
    "penalty": "lasso", "mu": 0.5, "groups": None, "block_tau": 0.3, "nu": [0.1], "tau_min": 0.5,
    "tau_count": 3, "debias": True, "lam": [1e-3, 1e-1], "solver": "auto", "tolerance": 1e-3,
    "max_iterations": 5000, "fvm_genes": [1, 3], "fvm_bins": 4,
}  # fmt: skip


def study(X, y, task="classification", group=None, **splits):
    """Return a data set and its splits."""
    dataset = make_dataset(X, y, task, group)
    return dataset, draw_splits(dataset, seed=0, **{**SPLITS, **splits})


def outer(dataset, splits, *, batch="1of1", folds=SCALED, **settings):
    return nonlinear_loop(dataset, splits, batch=batch, folds=folds, **{**QUICK, **settings})


def final(dataset, splits, *, folds=SCALED, **settings):
    return nonlinear_final(dataset, splits, folds=folds, **{**QUICK, **settings})
