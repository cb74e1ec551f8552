"""A study of each kind of response: genes of noise, of which some may carry the response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from genesig.results import Dataset, Design

Array = np.ndarray[Any, Any]


def _classes(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    above = f + 0.3 * rng.standard_normal(len(f)) > np.quantile(f, 0.6)
    return {"state": ["ill" if each else "well" for each in above]}, {"classes": ("well", "ill")}


def _several(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    own = f + 0.3 * rng.standard_normal(len(f))
    third = np.searchsorted(np.quantile(own, [0.35, 0.7]), own)
    classes = ("well", "ill", "worse")
    return {"state": [classes[each] for each in third]}, {"classes": classes}


def _number(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    return {"state": [repr(float(v)) for v in f + 0.3 * rng.standard_normal(len(f))]}, {}


def _times(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    own, lost = rng.exponential(np.exp(-f)), rng.exponential(2 * np.exp(-f.mean()), len(f))
    columns = {"state": [f"{v:.3f}" for v in np.minimum(own, lost)],
               "end": ["dead" if each else "alive" for each in own <= lost]}  # fmt: skip
    return columns, {"event": "end", "occurred": "dead", "horizon": 1.0, "ties": "efron"}


COLUMNS: dict[str, Callable[..., tuple[dict[str, list[str]], dict[str, Any]]]] = {
    "classification": _classes,
    "several_classes": _several,
    "regression": _number,
    "survival": _times,
}


def task_of(kind: str) -> str:
    """Return ``data.task`` of a kind: of classes there may be two or more."""
    return "classification" if kind == "several_classes" else kind


def study_of(kind: str, seed: int, *, n: int = 40, d: int = 30, signal: float = 0.0) -> Dataset:
    """Return n samples; the first three genes drive the response as strongly as `signal` says."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = signal * X[:, :3].sum(axis=1) + (0 if signal else 1) * rng.standard_normal(n)
    columns, more = COLUMNS[kind](f, rng)
    names = [f"S{row:02d}" for row in range(n)]
    genes = [f"g{gene}" for gene in range(d)]
    return Dataset(
        X, pd.DataFrame(columns, index=names), pd.DataFrame({"symbol": genes}, index=genes),
        Design(**{"label": "state", "task": task_of(kind), "classes": None, "group": None,
                  "pair": None} | more), {},
    )  # fmt: skip
