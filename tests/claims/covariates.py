"""Trials of covariates: permutation p, added value of expression and its interval.

Genes carry the covariates as the response does, and nothing else unless `signal` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from linear_loops import nested_cross_validation
from settings import MOMENTS, SPLITS, of_kind

from genesig.data.splits.draw import draw_splits
from genesig.response.covariates import Covariate
from genesig.results import CrossValidation, Dataset, Design
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import controls_table, null_errors
from genesig.selection.assess.covariates import COVARIATES_AND_RIDGE

Array = np.ndarray[Any, Any]

N_SAMPLES = 60
SHAPES: dict[str, Callable[[Array, Array], Array]] = {
    "linear": lambda age, sex: age,
    "U": lambda age, sex: (age**2 - 1) / np.sqrt(2),
    "threshold": lambda age, sex: np.where(age > 0.5, 1.5, -0.67),
    "interaction": lambda age, sex: age * (2 * sex - 1),
}


def _number(eta: Array, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"y": [repr(float(v)) for v in eta + rng.normal(size=N_SAMPLES)]}, {}


def _two(eta: Array, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    score = eta + 0.7 * rng.logistic(size=N_SAMPLES)
    return {"y": np.where(score > np.median(score), "b", "a")}, {"classes": ("a", "b")}


def _three(eta: Array, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    order = np.argsort(np.argsort(eta + 0.7 * rng.logistic(size=N_SAMPLES)))
    return {"y": np.array(["a", "b", "c"])[3 * order // N_SAMPLES]}, {"classes": ("a", "b", "c")}


def _times(eta: Array, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    event_time = rng.exponential(np.exp(-eta))
    lost = rng.exponential(3.0, N_SAMPLES)
    columns = {
        "y": [f"{v:.6f}" for v in np.minimum(event_time, lost)],
        "end": (event_time <= lost).astype(int),
    }
    return columns, {"event": "end", "occurred": "1", "horizon": 1.0, "ties": "efron"}


LABELS = {
    "regression": _number,
    "classification": _two,
    "several classes": _three,
    "survival": _times,
}
TASKS = {"several classes": "classification"}


def simulated(
    seed: int, kind: str, shape: str, *, genes: int, carriers: int, strength: float, signal: float
) -> Dataset:
    """The first genes carry what the covariates say, the last two add to it."""
    rng = np.random.default_rng([seed, 7])
    age = rng.normal(size=N_SAMPLES)
    sex = rng.integers(0, 2, N_SAMPLES)
    covariate_signal = SHAPES[shape](age, sex)
    X = rng.normal(size=(N_SAMPLES, genes))
    X[:, :carriers] += covariate_signal[:, None]
    eta = strength * covariate_signal + 0.4 * sex + signal * (X[:, -1] + X[:, -2])
    columns, extra_rows = LABELS[kind](eta, rng)
    columns |= {"age": [f"{60 + 10 * v:.4f}" for v in age], "sex": np.where(sex, "m", "f")}
    obs = pd.DataFrame(columns, index=[f"s{k:02d}" for k in range(N_SAMPLES)]).astype(str)
    covariates = (Covariate.from_cells("age", obs["age"], 3), Covariate("sex", ("f", "m")))
    task = TASKS.get(kind, kind)
    design: dict[str, Any] = {
        "label": "y",
        "task": task,
        "classes": None,
        "group": None,
        "pair": None,
        "covariates": covariates,
    } | extra_rows
    names = [f"g{k}" for k in range(genes)]
    return Dataset(X, obs, pd.DataFrame({"symbol": names}, index=names), Design(**design), {})


def rows_of(
    dataset: Dataset, permutations: int, splits: dict[str, Any], **settings: Any
) -> dict[str, Any]:
    """Return the rows of controls.tsv of the answer and of ridge on all genes."""
    drawn = draw_splits(dataset, seed=1, **{**SPLITS, **splits})
    run = {"fold_steps": MOMENTS, **of_kind(dataset.design.kind), "mu": [1e-3], **settings}
    fits = nested_cross_validation(dataset, drawn, labels="observed", batch="1of1", **run)
    null = fits.take(np.arange(0))
    if permutations:
        labels = f"permuted-001-{permutations:03d}"
        null = nested_cross_validation(dataset, drawn, labels=labels, batch="1of1", **run)
    alone = run_baselines(dataset, drawn, fold_steps=MOMENTS, baselines=[])
    errors = null_errors(dataset, drawn, null.with_chosen())
    table = controls_table(CrossValidation.from_batches(dataset, drawn, [fits]), errors, [alone])
    chosen = table[table["mu"].isna()].set_index("model")
    return {name: chosen.loc[name] for name in ("genesig", COVARIATES_AND_RIDGE)}


def nothing_added(seed: int, kind: str) -> Mapping[str, float]:
    """Return whether p is at most .05 and .5, and whether expression is said to add."""
    shape = list(SHAPES)[seed % len(SHAPES)]
    dataset = simulated(seed, kind, shape, genes=40, carriers=10, strength=1.0, signal=0.0)
    small = {"lam": [1e-2], "tau_count": 4}
    gain_row, total_row = rows_of(dataset, 19, {"inner_folds": 2}, **small).values()
    adds = [row["added_low"] > 0 and row["p_value"] <= 0.05 for row in (gain_row, total_row)]
    return {
        "small": float(gain_row["p_value"] <= 0.05),
        "half": float(gain_row["p_value"] <= 0.5),
        "all_small": float(total_row["p_value"] <= 0.05),
        "all_half": float(total_row["p_value"] <= 0.5),
        "adds": float(any(adds)),
    }


# Mean gain of 80 to 100 independent draws (seeds from 5000), standard errors .007, .005 and .002.
EXPECTED = {"regression": 0.029, "classification": -0.041, "survival": 0.006}


def gain_covered(seed: int, kind: str) -> Mapping[str, float]:
    """Return whether the interval of the gain holds the expected one."""
    dataset = simulated(seed, kind, "linear", genes=100, carriers=20, strength=1.5, signal=0.5)
    gain_row = rows_of(dataset, 0, {"folds": 5, "repeats": 4})["genesig"]
    return {"covered": float(gain_row["added_low"] <= EXPECTED[kind] <= gain_row["added_high"])}


def _nothing(kind: str, draws: int, few: int) -> Trial:
    return Trial(
        "covariates",
        f"{kind}, n 60, response and 10 of 40 genes follow age and sex: straight, in a U, by a"
        " threshold, otherwise in each sex; genes add nothing; 3 folds, 19 permutations",
        partial(nothing_added, kind=kind),
        (
            Claim("small", "permutation p", "p ≤ .05 in 3 to 7 %", 0.03, 0.07),
            Claim("half", "permutation p, the middle", "p ≤ .5 in 43 to 57 %", 0.43, 0.57),
            Claim("all_small", "p of all genes", "p ≤ .05 in 3 to 7 %", 0.03, 0.07),
            Claim("all_half", "p of all genes, the middle", "p ≤ .5 in 43 to 57 %", 0.43, 0.57),
            Claim("adds", "'expression adds'", "in at most 5 %", 0.0, 0.05),
        ),
        draws=draws,
        few=few,
    )


def _covered(kind: str, draws: int) -> Trial:
    return Trial(
        "covariates",
        f"{kind}, n 60, two of 100 genes add to age, which 20 others follow; 5 folds x 4",
        partial(gain_covered, kind=kind),
        (Claim("covered", "95 % CI of what expression adds", "93 to 98 %", 0.93, 0.98),),
        draws=draws,
        few=1,
    )


TRIALS: tuple[Trial, ...] = (
    _nothing("regression", 300, 8),
    _nothing("classification", 300, 1),
    _nothing("several classes", 300, 1),
    _nothing("survival", 300, 1),
    _covered("regression", 200),
    _covered("classification", 200),
    _covered("survival", 200),
)
