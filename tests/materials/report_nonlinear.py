"""Tables of nonlinear selection for the study in report_study.py, gathered as in a real run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from genesig.results import Dataset, Fits, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.nonlinear.gather import gather_nonlinear

CONFIG = {
    "enabled": True, "genes": 50, "kernel": "gaussian", "width": [1.0], "degree": 2, "offset": 1.0,
    "penalty": "lasso", "mu": 0.5, "groups": None, "block_tau": 0.2, "nu": [0.01, 0.1],
    "tau_min": 0.5, "tau_count": 12, "debias": True, "lam": [1e-4, 1e-2, 1.0], "solver": "auto",
    "tolerance": 1e-4, "max_iterations": 5000, "fvm_genes": [1, 2, 4], "fvm_bins": 5,
}  # fmt: skip


def with_nonlinear(
    tables: dict[str, pd.DataFrame], dataset: Dataset, splits: Splits, observed: Fits,
    noise: float = 0.6,
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Return the tables with those of nonlinear selection, whose scores are y and noise."""
    rng = np.random.default_rng(11)
    y = dataset.response()
    rows = [_row(dataset, split, y, rng, noise) for split in splits.outer]
    final = ModelFits.of([_row(dataset, splits.final, y, rng, noise)])
    made = gather_nonlinear(
        dataset, splits, [ModelFits.of(rows)], final, [observed], tables["nested_lists"],
        tables["signature"], frequency=0.75,
    )  # fmt: skip
    apart = made["nonlinear_difference"]
    others = pd.DataFrame({
        "model": apart["model"], "error": apart["error"], "low": apart["error"] - 0.1,
        "high": apart["error"] + 0.1,
    })  # fmt: skip
    controls = tables["controls"].copy()
    for row in others.to_dict("records"):
        controls.loc[len(controls)] = {name: row.get(name, np.nan) for name in controls.columns}
    return {**tables, **made, "controls": controls, "nonlinear_curves": _curves(dataset, final)}


def _row(dataset: Dataset, split: Any, y: Any, rng: Any, noise: float) -> dict[str, Any]:
    test, d = dataset.rows(split.test), len(dataset.genes)
    genes = np.flatnonzero(rng.random(d) < np.linspace(1, 0, d) ** 4)
    cut = rng.random() < 0.3
    return {
        "split": split.name, "permutation": 0, "screened": min(50, d), "tau": 0.7, "nu": 0.1,
        "width": 1.0,
        "message": "the path ends before tau = 0.6 tau_max, where 40 variables are selected from"
        " 24 samples" if cut else "",
        "lam": 0.01, "explained_by_none": rng.uniform(0.1, 0.9), "gap": 1e-5, "cut": 3,
        "paths": 10, "indices": genes, "sizes": np.exp(-genes / 20.0), "test_rows": test,
        "scores": y[test] + noise * rng.normal(size=len(test)), "fvm_genes": 3,
        "fvm_scores": y[test] + 0.9 * rng.normal(size=len(test)),
    }  # fmt: skip


def _curves(dataset: Dataset, final: ModelFits) -> pd.DataFrame:
    x = np.linspace(-2, 2, 41)
    genes, norms = final.selected(0)
    parts = [
        pd.DataFrame({"gene": dataset.genes[g], "symbol": dataset.var["symbol"].iloc[g],
                      "norm": norm, "straight": 0.97 - 0.3 * (k % 3), "value": x,
                      "effect": np.tanh(x) if k % 2 else x**2 / 4,
                      "samples": np.round(3 * np.exp(-(x**2))).astype(int)})
        for k, (g, norm) in enumerate(zip(genes, norms, strict=True))
    ]  # fmt: skip
    columns = ["gene", "symbol", "norm", "straight", "value", "effect", "samples"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
