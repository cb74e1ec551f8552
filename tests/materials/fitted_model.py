"""A final model of each chain of steps, fitted on a few samples, and its data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import settings
from format_files import tabbed
from kept import kept
from settings import MOMENTS

from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Design, Fits, Split, Splits
from genesig.selection.linear.double_loop import fit_final
from genesig.selection.linear.halves import chance_study
from genesig.selection.model.final import final_model

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
N, D = 16, 25
NAMES = [f"s{k}" for k in range(N)]
GENES = [f"g{k}" for k in range(D)]
PLACED = pd.DataFrame(
    {"symbol": GENES, "chromosome": ["2", "1", "X", "1", ""] * 5,
     "position": [np.nan if k % 5 == 4 else float(7 * k % 25) for k in range(D)]},
    index=GENES,
)  # fmt: skip


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
        values(raw), pd.DataFrame({"label": labels}, index=NAMES),
        PLACED,
        Design("label", task, classes, None, None), {},
    )  # fmt: skip
    inner = tuple(tuple(NAMES[2 * k : 2 * k + 2]) + tuple(NAMES[8 + 2 * k : 10 + 2 * k])
                  for k in range(4))  # fmt: skip
    final = Split("final", 0, 0, tuple(NAMES), (), inner, (1,))
    splits = Splits("predefined", "stratified_kfold", 0, (), final, ())
    dataset = normalise_samples(data, samples=samples, folds=folds)
    chance = chance_study(dataset, splits, permutations=permutations, folds=folds, **LINEAR)
    fits = fit_final(dataset, splits, chance, folds=folds, **LINEAR)
    return final_model(dataset, fits, folds=folds), data, fits


def table(X: Any, names: list[str], genes: list[str]) -> str:
    body = [[gene, *map(repr, map(float, column))] for gene, column in zip(genes, X.T, strict=True)]
    return tabbed([["gene", *names], *body])
