"""What model.json says of samples, written down from its description and by no part of predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from genesig.data.steps.normalise import Reference


def score(
    model: Mapping[str, Any], expression: Mapping[str, Any], *, mu: float | None = None,
    by: str | None = None, about: pd.DataFrame | None = None,
) -> np.ndarray[Any, Any]:  # fmt: skip
    """f(x) = intercept + Σ_j x_j β_j, of the answer or of the list `by`.

    `expression` has all values of each gene, as measured.
    """
    some = [each for each in model["models"] if each["mu"] is not None]
    if mu is None:
        (chosen,) = (each for each in model["models"] if each["list"] == (by or model["answer"]))
    else:
        (chosen,) = (each for each in some if np.isclose(each["mu"], mu))
    normalisation = model["normalisation"]
    needed = normalisation["genes"] or chosen["genes"]
    X = np.stack([np.atleast_1d(np.asarray(expression[gene], float)) for gene in needed], axis=1)
    if normalisation["steps"]:
        steps = Reference.of(normalisation)
        X, needed = steps.transform(X, about), [needed[gene] for gene in steps.genes]
    columns = [needed.index(gene) for gene in chosen["genes"]]
    return np.asarray(chosen["intercept"] + X[:, columns] @ np.array(chosen["coefficients"]))
