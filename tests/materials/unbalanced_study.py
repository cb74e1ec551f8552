"""A study in memory whose positive class is a quarter of the samples."""

import numpy as np
import pandas as pd

from genesig.results import Dataset, Design

FOLDS = [{"step": "centre"}, {"step": "unit_variance"}]
SPLITS = {
    "scheme": "stratified_kfold", "folds": 4, "repeats": 1, "column": None, "file": None,
    "inner_scheme": "stratified_kfold", "inner_folds": 3, "subsamples": 0, "batches": 1,
}  # fmt: skip


def study(X, y, task="classification"):
    names, genes = [f"s{i:03d}" for i in range(len(y))], [f"g{j}" for j in range(X.shape[1])]
    classes = ("a", "b") if task == "classification" else None
    label = np.where(y > 0, "b", "a") if classes else [f"{value:.6f}" for value in y]
    return Dataset(X, pd.DataFrame({"label": label}, index=names, dtype=str),
                   pd.DataFrame({"symbol": genes}, index=genes),
                   Design("label", task, classes, None, None), {})  # fmt: skip


def unbalanced(seed, n=32, d=40):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 4 == 0, 1.0, -1.0)
    return rng.standard_normal((n, d)) + np.outer(y, np.arange(d) < 3), y
