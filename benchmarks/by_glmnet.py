"""glmnet (Friedman, Hastie and Tibshirani 2010), run in R, as a rival: see `answers_rivals`."""

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
"""glmnet's word for each kind of response."""
MIN_FOLDS = 3
"""Folds that cv.glmnet needs."""


@cache
def installed() -> bool:
    """Tell whether R and the package are there."""
    command = ["Rscript", "-e", "library(glmnet)"]
    return (
        bool(shutil.which("Rscript"))
        and not subprocess.run(command, capture_output=True, check=False).returncode
    )


def by_glmnet(kind: str, alpha: float) -> Rival:
    """Return cv.glmnet with l1 share `alpha`: its own path, the penalty of the least deviance.

    kind: key of `FAMILIES`. Classes have equal weight. Of several classes a gene has weights in all
    or in none.
    """

    def fit(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
        classes = FAMILIES[kind].endswith("nomial")
        values = times(y) if y.dtype.names else y
        arrays = {
            "z": Z,
            "test": Z_test,
            "y": values,
            "fold": number_folds(inner, y),
            "weights": _balanced(y) if classes else np.ones(len(y)),
        }
        with tempfile.TemporaryDirectory() as name:
            for part, numbers in arrays.items():
                np.asfortranarray(numbers, dtype="<f8").T.tofile(Path(name) / f"{part}.bin")
            command = [
                "Rscript",
                SCRIPT,
                name,
                len(y),
                len(Z_test),
                Z.shape[1],
                FAMILIES[kind],
                alpha,
            ]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
            score = np.fromfile(Path(name) / "score.bin").reshape(-1, len(Z_test)).T
            genes = np.fromfile(Path(name) / "genes.bin").astype(np.int64)
        return score[:, 0] if score.shape[1] == 1 else score, genes

    return fit


def number_folds(inner: Folds, y: Array) -> Array:
    """Return the fold of each row, from 1 on; of two folds the first is cut in two.

    Every second of its rows in the order of the response goes to the third fold, so that each class
    is in both parts.
    """
    fold = np.zeros(len(y))
    for number, (_, left_out) in enumerate(inner, 1):
        fold[left_out] = number
    if len(inner) < MIN_FOLDS:
        first_fold_rows = np.flatnonzero(fold == 1)
        fold[first_fold_rows[np.argsort(y[first_fold_rows], kind="stable")][::2]] = len(inner) + 1
    return fold


def times(y: Array) -> Array:
    """Return times and events (n, 2); glmnet refuses a time of 0, which comes before all others."""
    time = np.asarray(y["time"], dtype=float)
    return np.column_stack([np.maximum(time, time[time > 0].min() / 2), y["event"]])


def _balanced(y: Array) -> Array:
    """Return weights (n,) that sum to the same for each class."""
    _, class_of_sample, size = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(len(y) / len(size) / size[class_of_sample])
