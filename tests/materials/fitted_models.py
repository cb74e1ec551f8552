"""Fitted models: each chain of steps, each kind of response, and scores by model.json alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import settings
from format_files import tabbed
from kept import kept
from linear_loops import fit_final_model, study_half_samples
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import Reference, normalise_samples
from genesig.data.study.settings import CohortSettings
from genesig.results import Dataset, Design, Fits, Split, Splits
from genesig.selection.model.external import CohortResult, score_cohort
from genesig.selection.model.final import final_model

# A final model of each chain of steps, fitted on a few samples, and its data.

LOG2 = [{"step": "log2", "floor": 1.0, "ceiling": 65536.0}]
LINEAR = settings.LINEAR | {"list_mu": 1.0}
CHAINS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], bool]] = {
    "plain": ([], MOMENTS, False),
    "never logged": ([], MOMENTS, True),
    "log2": (LOG2, MOMENTS, True),
    "ranks": ([{"step": "rank_samples"}], [{"step": "centre"}], True),
    "samples standardised": ([*LOG2, {"step": "standardise_samples"}], MOMENTS, True),
    "quantile": (LOG2, [{"step": "quantile"}, *MOMENTS], True),
    "imputed": ([], [{"step": "knn_impute", "neighbours": 3}, *MOMENTS], False),
    "left censored": ([], [{"step": "left_censored", "quantile": 0.01}, *MOMENTS], False),
    "half minimum": ([], [{"step": "half_minimum", "logarithms": True}, *MOMENTS], False),
    "filter": ([], [{"step": "variance_filter", "keep": 0.5}, *MOMENTS], False),
    "counts": ([{"step": "log_cpm", "prior": 1.0}], MOMENTS, True),
    "size factors": ([], [{"step": "size_factors", "method": "tmm", "prior": 1.0}, *MOMENTS], True),
    "stabilised": ([], [{"step": "vst", "method": "median_of_ratios"}, *MOMENTS], True),
    "segmented": ([{"step": "segment", "tau": 0.3}], MOMENTS, False),
    "background": (
        [{"step": "rma_background"}],
        [{"step": "median_polish", "by": None}, *MOMENTS],
        True,
    ),
}
N = 16
D = 25
NAMES = [f"s{k}" for k in range(N)]
GENES = [f"g{k}" for k in range(D)]
PLACED = pd.DataFrame(
    {
        "symbol": GENES,
        "chromosome": ["2", "1", "X", "1", ""] * 5,
        "position": [np.nan if k % 5 == 4 else float(7 * k % 25) for k in range(D)],
    },
    index=GENES,
)


def values(raw: bool, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    X = 8 + rng.standard_normal((N, D)) + np.outer(y, np.arange(D) < 3)
    return np.exp2(X) if raw else X


def model_of(
    chain: str, task: str = "classification", permutations: int = 0
) -> tuple[dict[str, Any], Dataset]:
    model, data, _ = fitted(chain, task, permutations)
    return json.loads(json.dumps(model, allow_nan=False)), data


@kept
def fitted(
    chain: str, task: str = "classification", permutations: int = 0
) -> tuple[dict[str, Any], Dataset, Fits]:
    """Fit a model; with permutations it has both answers, and nothing to claim."""
    samples, folds, raw = CHAINS[chain]
    number = task == "regression"
    labels = [str(k) for k in range(N)] if number else ["healthy", "ill"] * (N // 2)
    classes = None if number else ("healthy", "ill")
    data = Dataset(
        values(raw),
        pd.DataFrame({"label": labels}, index=NAMES),
        PLACED,
        Design("label", task, classes, None, None),
        {},
    )
    inner = tuple(
        tuple(NAMES[2 * k : 2 * k + 2]) + tuple(NAMES[8 + 2 * k : 10 + 2 * k]) for k in range(4)
    )
    final = Split("final", 0, 0, tuple(NAMES), (), inner, (1,))
    splits = Splits("predefined", "stratified_kfold", 0, (), final, ())
    dataset = normalise_samples(data, samples=samples, folds=folds)
    chance = study_half_samples(
        dataset, splits, permutations=permutations, fold_steps=folds, **LINEAR
    )
    fits = fit_final_model(dataset, splits, chance, fold_steps=folds, **LINEAR)
    return final_model(dataset, fits, fold_steps=folds), data, fits


def table(X: Any, names: list[str], genes: list[str]) -> str:
    body = [[gene, *map(repr, map(float, column))] for gene, column in zip(genes, X.T, strict=True)]
    return tabbed([["gene", *names], *body])


# A model of each kind of response, and a data set of another study that it is tested on.

ITEM: dict[str, Any] = {
    "name": "other",
    "expression": "other.tsv",
    "samples": "sheet.tsv",
    "label": None,
    "event": None,
    "classes": {},
    "annotation": None,
    "symbol": None,
    "part": None,
    "batch": None,
    "group": None,
    "covariate_words": {},
    "renamed": None,
    "combat": False,
    "missing": 0.1,
}


@cache
def fitted_of_kind(kind: str) -> tuple[Dataset, dict[str, Any]]:
    dataset = study_of(kind, 3, n=60, d=20, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 1})
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **of_kind(kind))
    return dataset, json.loads(json.dumps(final_model(dataset, final, fold_steps=MOMENTS)))


def written(kind: str, n: int = 40) -> Dataset:
    """Write another data set of the kind, and return it."""
    new_study = study_of(kind, 11, n=n, d=20, signal=1.2)
    names = [f"x{k}" for k in range(n)]
    rows = [
        [g, *map(repr, map(float, x))] for g, x in zip(new_study.genes, new_study.X.T, strict=True)
    ]
    Path("other.tsv").write_text(tabbed([["gene", *names], *rows]))
    cells = new_study.obs.astype(str).to_numpy().tolist()
    sheet = [
        ["id", *new_study.obs.columns],
        *([n, *row] for n, row in zip(names, cells, strict=True)),
    ]
    Path("sheet.tsv").write_text(tabbed(sheet))
    return new_study


def scored(kind: str, **changes: Any) -> CohortResult:
    return score_cohort(*fitted_of_kind(kind), {}, CohortSettings(**{**ITEM, **changes}))


# What model.json says of samples, written down from its description and by no part of predict.


def score(
    model: Mapping[str, Any],
    expression: Mapping[str, Any],
    *,
    mu: float | None = None,
    by: str | None = None,
    about: pd.DataFrame | None = None,
) -> np.ndarray[Any, Any]:
    """f(x) = intercept + Σ_j x_j β_j, of the answer or of the list `by`.

    `expression` has all values of each gene, as measured.
    """
    linear_models = [
        model_entry for model_entry in model["models"] if model_entry["mu"] is not None
    ]
    if mu is None:
        (chosen,) = (
            model_entry
            for model_entry in model["models"]
            if model_entry["list"] == (by or model["answer"])
        )
    else:
        (chosen,) = (
            model_entry for model_entry in linear_models if np.isclose(model_entry["mu"], mu)
        )
    normalisation = model["normalisation"]
    needed = normalisation["genes"] or chosen["genes"]
    X = np.stack([np.atleast_1d(np.asarray(expression[gene], float)) for gene in needed], axis=1)
    if normalisation["steps"]:
        steps = Reference.from_state(normalisation)
        X = steps.transform(X, about)
        needed = [needed[gene] for gene in steps.genes]
    columns = [needed.index(gene) for gene in chosen["genes"]]
    return np.asarray(chosen["intercept"] + X[:, columns] @ np.array(chosen["coefficients"]))
