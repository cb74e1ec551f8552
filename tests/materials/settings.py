"""Sections of a config as the stages take them, small; a test changes what it is about."""

from __future__ import annotations

from typing import Any

from linear_settings import linear

MOMENTS = [{"step": "centre"}, {"step": "unit_variance"}]
LINEAR = linear(list="minimal", mu=[1e-6, 1.0], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=5)
SPLITS: dict[str, Any] = {
    "scheme": "stratified_kfold", "folds": 3, "repeats": 1, "column": None, "file": None,
    "inner_scheme": "stratified_kfold", "inner_folds": 3, "subsamples": 0, "batches": 1,
}  # fmt: skip
