"""Doubtful new samples are scored with a warning: zeros, or another scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fitted_models import GENES, NAMES, model_of, values

from genesig.data.files.delimited import Matrix
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import model_digest


def _said(chain: str, X: Any, **changes: Any) -> list[str]:
    model, _ = model_of(chain)
    model["training"] |= changes
    model["digest"] = model_digest(model)
    matrix = Matrix(tuple(NAMES), tuple(GENES), X, {}, tuple(range(2, len(NAMES) + 2)))
    _, problems = predict(model, matrix, "new.tsv", missing=0.2, mu=None)
    return [str(problem) for problem in problems if problem.location != "the model"]


@pytest.mark.parametrize("chain", ["plain", "log2", "filter", "imputed"])
def test_zeros_below_all_training_values_are_named(chain: str) -> None:
    X = values(raw=chain == "log2")
    assert _said(chain, X) == []
    X[4, [1, 20]] = 0.0
    (message,) = _said(chain, X)
    assert message.startswith(
        "warning: new.tsv, gene 'g1', sample 's4': 0 (1 further zero), where the"
    )
    assert message.endswith("; if it stands for a missing value, write NA")


def test_zeros_of_genes_that_nearly_reached_it_are_measurements() -> None:
    X = values(raw=False)
    X[4, 1] = 0.0
    assert len(_said("plain", X)) == 1
    assert _said("plain", X, min=0.9) == []
    assert len(_said("plain", X, min=1.5)) == 1


def test_samples_that_alone_would_be_refused_are_named() -> None:
    X = values(raw=False)
    assert _said("plain", X) == []
    X[[2, 5]] += 3.0
    (message,) = _said("plain", X)
    assert message.startswith("warning: new.tsv, sample 's2': the ")
    assert "standard deviations above the training samples; alone it would be refused" in message
    assert message.endswith(" (as would be 's5'): look at it before you use its score")


def test_the_order_of_the_samples_is_of_no_account() -> None:
    X = values(raw=False)
    X[9] += 2.5
    order = np.random.default_rng(0).permutation(len(X))
    messages = _said("plain", X)
    messages_of_reordered = _said("plain", X[order])
    at = NAMES[int(np.flatnonzero(order == 9)[0])]
    assert [line.replace("'s9'", f"'{at}'") for line in messages] == messages_of_reordered
