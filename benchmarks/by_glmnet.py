"""glmnet (Friedman, Hastie and Tibshirani 2010), run in R, as a rival (see `answers_rivals`)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from answers_rivals import Array, Folds, Rival, ScoresAndGenes

SCRIPT = Path(__file__).with_name("by_glmnet.R")
FAMILIES = {
    "classification": "binomial",
    "several_classes": "multinomial",
    "regression": "gaussian",
    "survival": "cox",
}
"""Kind of response -> glmnet's name of it."""
MIN_FOLDS = 3  # of cv.glmnet


@cache
def is_glmnet_installed() -> bool:
    """Return whether R and its package glmnet are installed."""
    command = ["Rscript", "-e", "library(glmnet)"]
    return (
        bool(shutil.which("Rscript"))
        and not subprocess.run(command, capture_output=True, check=False).returncode
    )


def by_glmnet(kind: str, alpha: float) -> Rival:
    """Return the rival cv.glmnet with l1 share `alpha`; left-out deviance chooses the penalty.

    kind: key of `FAMILIES`. Classes have equal weight. A gene has weights for all of several
    classes or for none.
    """

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        has_classes = FAMILIES[kind].endswith("nomial")
        arrays = {
            "z": Z,
            "test": Z_test,
            "y": positive_times(y) if y.dtype.names else y,
            "fold": number_folds(inner, y),
            "weights": _balancing_weights(y) if has_classes else np.ones(len(y)),
        }
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for part, numbers in arrays.items():
                np.asfortranarray(numbers, dtype="<f8").T.tofile(folder / f"{part}.bin")
            sizes = (len(y), len(Z_test), Z.shape[1])
            command = ["Rscript", SCRIPT, folder, *sizes, FAMILIES[kind], alpha]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
            scores = np.fromfile(folder / "score.bin").reshape(-1, len(Z_test)).T
            genes = np.fromfile(folder / "genes.bin").astype(np.int64)
        return scores[:, 0] if scores.shape[1] == 1 else scores, genes

    return fit


def number_folds(inner: Folds, y: Array) -> Array:
    """Return the number, from 1, of the inner fold that leaves each row out; 0 if none does.

    Two folds become three: every second row of the first fold, in the order of the response, goes
    to the third fold, so that both have all classes.
    """
    fold = np.zeros(len(y))
    for number, (_, left_out) in enumerate(inner, 1):
        fold[left_out] = number
    if len(inner) < MIN_FOLDS:
        first_fold_rows = np.flatnonzero(fold == 1)
        fold[first_fold_rows[np.argsort(y[first_fold_rows], kind="stable")][::2]] = len(inner) + 1
    return fold


def positive_times(y: Array) -> Array:
    """Return times and events (n, 2); times of 0, which glmnet refuses, stay before all others."""
    time = np.asarray(y["time"], dtype=float)
    return np.column_stack([np.maximum(time, time[time > 0].min() / 2), y["event"]])


def _balancing_weights(y: Array) -> Array:
    """Return weights (n,) that sum to the same for each class."""
    _, class_of_sample, size = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(len(y) / len(size) / size[class_of_sample])
