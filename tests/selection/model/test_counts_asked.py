"""New samples as rates are remarked by a model that was trained on counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted_models import CHAINS, GENES, N, values
from linear_loops import fit_final_model
from settings import LINEAR, SPLITS

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Design
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

COUNTS = np.round(values(raw=True))


def model_of(chain: str, X: Any) -> dict[str, Any]:
    """Fit a final model of these counts."""
    samples, folds, _ = CHAINS[chain]
    names = [f"t{k}" for k in range(N)]
    data = Dataset(
        X,
        pd.DataFrame({"label": ["healthy", "ill"] * (N // 2)}, index=names),
        pd.DataFrame({"symbol": GENES}, index=GENES),
        Design("label", "classification", ("healthy", "ill"), None, None),
        {},
    )
    data = normalise_samples(data, samples=samples, folds=folds)
    final = fit_final_model(data, draw_splits(data, seed=1, **SPLITS), fold_steps=folds, **LINEAR)
    return final_model(data, final, fold_steps=folds)


def said_of(model: dict[str, Any], X: Any) -> list[str]:
    names = tuple(f"n{k}" for k in range(N))
    matrix = Matrix(names, tuple(GENES), X, {}, tuple(range(N)))
    _, problems = predict(model, matrix, "new.tsv", missing=0.0, mu=None)
    return [problem.message for problem in problems if "whole numbers" in problem.message]


@pytest.mark.parametrize("chain", ["size factors", "stabilised"])
def test_rates_are_remarked(chain: str) -> None:
    model = model_of(chain, COUNTS)
    assert said_of(model, COUNTS) == []
    (message,) = said_of(model, 1e6 * COUNTS / COUNTS.sum(axis=1, keepdims=True))
    assert "the model was trained on counts of reads: give it the raw counts" in message


def test_estimated_counts_are_as_they_were_in_training() -> None:
    shared = COUNTS + 0.37
    assert said_of(model_of("size factors", shared), shared) == []
