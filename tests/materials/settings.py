"""Sections of a config as the stages take them, small; a test changes what it is about."""

from __future__ import annotations

from typing import Any

MOMENTS = [{"step": "centre"}, {"step": "unit_variance"}]
LINEAR: dict[str, Any] = {
    "tau_min": 0.1, "tau_count": 5, "lam": [1e-3, 1e-1], "mu": [1e-6, 1.0],
    "criterion": "squared_error", "one_standard_error": False, "solver": "landweber-newton",
    "tolerance": 1e-9,
}  # fmt: skip
SPLITS: dict[str, Any] = {
    "scheme": "stratified_kfold", "folds": 3, "repeats": 1, "column": None, "file": None,
    "inner_scheme": "stratified_kfold", "inner_folds": 3, "subsamples": 0, "batches": 1,
}  # fmt: skip
