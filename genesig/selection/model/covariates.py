"""The covariates of a final model: what model.json says of them, and what they add to a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.covariates import check_known
from genesig.errors import Problem, refuse
from genesig.response.covariates import Covariate, encoded, knot_counts, names_of, splined
from genesig.results import Dataset, Fits

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Model = Mapping[str, Any]


def described_covariates(dataset: Dataset, final: Fits) -> dict[str, Any]:
    """Return the part ``covariates`` of model.json; nothing where the study has none."""
    design = dataset.design
    if final.covariate_mean is None:
        return {}
    knots = _knots_of_each(design.covariates, final)
    columns = [{"column": c.column, "levels": c.levels and list(c.levels), "knots": own,
                "words": dict(c.words)}
               for c, own in zip(design.covariates, knots, strict=True)]  # fmt: skip
    return {"covariates": {
        "columns": columns, "names": names_of(design.covariates),
        "means": final.covariate_mean[0].tolist(), "filled": design.filled,
    }}  # fmt: skip


def _knots_of_each(covariates: Sequence[Covariate], final: Fits) -> list[list[float] | None]:
    """Return the knots of each covariate in the final model, None where it has no spline."""
    at, found = 0, []
    for each in covariates:
        known = final.knots is not None and each.knots
        found.append(final.knots[0, at, : each.knots].tolist() if known else None)  # type: ignore[index]
        at += len(knot_counts([each]))
    return found


def weights_at(final: Fits, at: int) -> dict[str, Any]:
    """Return the weights of the covariates in the model at one mu, for model.json."""
    return {} if final.gamma is None else {"covariates": final.gamma[0, at].tolist()}


def covariates_of(model: Model) -> tuple[Covariate, ...]:
    """Return the covariates that a model needs, none where it has none."""
    columns = model.get("covariates", {"columns": []})["columns"]
    return tuple(
        Covariate(c["column"], c["levels"] and tuple(c["levels"]), len(c["knots"] or ()),
                  c["words"]) for c in columns
    )  # fmt: skip


def _knots(model: Model) -> Array:
    """Return the knots of the columns of `encoded`, as `splined` has them."""
    covariates = covariates_of(model)
    counts = knot_counts(covariates)
    knots = np.full((len(counts), max(counts, default=0)), np.nan)
    given = [c["knots"] for c in model["covariates"]["columns"] if c["knots"]]
    for row, own in zip(np.flatnonzero(counts), given, strict=True):
        knots[row, : len(own)] = own
    return knots


def covariate_scores(model: Model, chosen: Model, about: pd.DataFrame | None) -> Array | float:
    """Return what the covariates add to the score of each sample, (n_samples,) or of each class.

    `about` is the sample table of these samples, in their order, as `check_known` has passed it; a
    missing value is the mean of the training samples.
    """
    covariates = covariates_of(model)
    if not covariates or about is None:
        return 0.0
    C = splined(encoded(covariates, about), _knots(model))
    C = np.where(np.isnan(C), np.array(model["covariates"]["means"]), C)
    weights = np.array(chosen["covariates"], dtype=float)
    return np.asarray(((C if weights.ndim == 1 else C[..., None]) * weights).sum(axis=1))


def refuse_unknown(model: Model, about: pd.DataFrame | None, where: str) -> list[Problem]:
    """Return the warnings of `check_known`; raise its first error."""
    filled = model.get("covariates", {"filled": False})["filled"]
    problems = list(check_known(covariates_of(model), filled, about, where))
    for problem in problems:
        if problem.level == "error":
            raise refuse(problem.where, problem.what)
    return problems
