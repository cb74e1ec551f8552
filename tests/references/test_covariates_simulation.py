"""Genes that follow only age are listed without adjustment and left out with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model
from settings import MOMENTS, SPLITS, linear
from study_data import task_of

from genesig.data.splits.draw import draw_splits
from genesig.data.study.label_rules import LABEL_RULES as LABELLED
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design

pytestmark = pytest.mark.slow

N_SAMPLES = 80
N_GENES = 1000
FOLLOWERS = 50
TRUE = 999


def _times(y: np.ndarray, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    event_time = rng.exponential(np.exp(-2 * y))
    lost = rng.exponential(3.0, N_SAMPLES)
    columns = {"y": np.minimum(event_time, lost).round(6), "end": (event_time <= lost).astype(int)}
    return columns, {"event": "end", "occurred": "1", "horizon": 1.0, "ties": "efron"}


CRITERIA = {
    "regression": {"criterion": "squared_error"},
    "classification": {"criterion": "balanced_error"},
}
LABELS: dict[str, Any] = {
    "regression": lambda y, rng: ({"y": [f"{v:.9f}" for v in y]}, {}),
    "classification": lambda y, rng: ({"y": np.where(y > 0, "b", "a")}, {"classes": ("a", "b")}),
    "several_classes": lambda y, rng: (
        {"y": np.array(["a", "b", "c"])[np.searchsorted([-0.7, 0.7], y)]},
        {"classes": ("a", "b", "c")},
    ),
    "survival": _times,
}


def simulated(seed: int, task: str) -> Dataset:
    """The label depends on age and on the last gene, both alike; the first 50 genes follow age."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 10, N_SAMPLES)
    aged = (age - 60) / 10
    X = rng.normal(size=(N_SAMPLES, N_GENES))
    X[:, :FOLLOWERS] = aged[:, None] + rng.normal(size=(N_SAMPLES, FOLLOWERS))
    y = aged + X[:, TRUE] + 0.5 * rng.normal(size=N_SAMPLES)
    columns, extra_rows = LABELS[task](y, rng)
    names = [f"s{k}" for k in range(N_SAMPLES)]
    genes = [f"g{k}" for k in range(N_GENES)]
    obs = pd.DataFrame(columns | {"age": [f"{v:.6f}" for v in age]}, index=names).astype(str)
    keys: dict[str, Any] = {"classes": None} | extra_rows
    design = Design(
        "y", task_of(task), group=None, pair=None, covariates=(Covariate("age", None),), **keys
    )
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def chosen(dataset: Dataset) -> np.ndarray:
    """Return the genes of the final model, by the defaults but for its length."""
    splits = draw_splits(dataset, seed=0, **{**SPLITS, "inner_folds": 5})
    kind = dataset.design.kind
    defaults = LABELLED[kind].defaults.get("linear", {})
    final = fit_final_model(
        dataset, splits, fold_steps=MOMENTS, **linear(**{**CRITERIA.get(kind, {}), **defaults})
    )
    return final.coef(0, int(final.choice[0, 2]))[0]


def lists(seeds: range, task: str, *, adjusted: bool) -> tuple[float, float]:
    """Return the share of followers in the lists and how often they have the true gene."""
    n_listed = 0
    n_followers = 0
    n_hits = 0
    for seed in seeds:
        dataset = simulated(seed, task)
        if not adjusted:
            dataset = replace(dataset, design=replace(dataset.design, covariates=()))
        genes = chosen(dataset)
        n_listed += len(genes)
        n_followers += int((genes < FOLLOWERS).sum())
        n_hits += TRUE in genes
    return n_followers / max(n_listed, 1), n_hits / len(seeds)


@pytest.mark.parametrize("task", LABELS)
def test_adjusting_for_age_keeps_followers_out_of_ten_studies(task: str) -> None:
    """One follower in a list of ten genes or fewer fails; without adjustment a third are."""
    assert lists(range(2), task, adjusted=False)[0] > 0.3
    followers, hits = lists(range(10), task, adjusted=True)
    assert followers <= 0.02
    assert hits == 1.0
