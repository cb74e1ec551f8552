"""The part of report_data.json about covariates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.report.covariates.record import CovariatesRecord, CovariateWeight
from genesig.report.page.compared import Difference
from genesig.report.page.rounding import rounded
from genesig.report.page.words import significant
from genesig.selection.assess.beside_covariates import NAME as ALONE
from genesig.selection.assess.beside_covariates import WITH_ALL

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits

Array = np.ndarray[Any, Any]


def covariates(
    dataset: Dataset, observed: Fits, final: Fits, controls: pd.DataFrame
) -> dict[str, CovariatesRecord]:
    """Sum up what the study holds fixed, under its key; nothing where it has no covariates."""
    held, answer, answers = dataset.design.covariates, final.with_chosen(), observed.with_chosen()
    gamma, of_splits = answer.gamma, answers.gamma
    if gamma is None or of_splits is None:
        return {}
    classes = dataset.design.classes or ()
    rows = [
        _row(step, name, weight, splits)
        for step in _steps(dataset, final)
        for name, weight, splits in _of_each(_gain(answer, step), _gain(answers, step), classes)
    ]
    own, ridge = (_controls(controls, name) for name in ("genesig", WITH_ALL))
    alone = _controls(controls, ALONE)
    return {"covariates": {
        "columns": [c.column for c in held], "curved": [c.column for c in held if c.knots],
        "missing": _missing(dataset.covariates()), "weights": rows,
        "alone": _gained(own, alone), "whole": _gained(ridge, alone),
        "p": rounded(own["p_value"], 5), "p_whole": rounded(ridge["p_value"], 5),
    }}  # fmt: skip


class _Step(NamedTuple):
    """From where to where the score is followed, and what the row says of it.

    ``low`` and ``high`` (r,) are covariates as `encoded` has them, NaN but for one column; ``sd``
    is that of a straight line.
    """

    name: str
    reference: str | None
    low: Array
    high: Array
    sd: float


def _steps(dataset: Dataset, final: Fits) -> Iterator[_Step]:
    """Give a step for each word and straight line, and one from knot to knot of each spline."""
    C, column = dataset.covariates(), 0
    for one in dataset.design.covariates:
        first = one.levels[0] if one.levels else None
        for name in one.names if one.levels is not None else (one.column,):
            sd, knots = float(np.nanstd(C[:, column])), np.array([0.0, 1.0])
            if one.knots and final.knots is not None:
                sd, knots = np.nan, final.knots[0, column, : one.knots]
            for low, high in pairwise(knots.tolist()):
                ends = np.full((2, C.shape[1]), np.nan)
                ends[:, column] = low, high
                span = f" {significant(low)} to {significant(high)}" if one.knots else ""
                yield _Step(name + span, first, ends[0], ends[1], sd)
            column += 1


def _gain(fits: Fits, step: _Step) -> Array:
    """Return what the score of each fit's last list gains over a step, (m,) or (m, T)."""
    ends = np.stack([step.low, step.high])
    found = [np.asarray(fits.of_covariates(fit, ends)) for fit in range(len(fits))]
    return np.stack([each[1, -1] - each[0, -1] for each in found])


def _of_each(
    weight: Array, splits: Array, classes: Sequence[str]
) -> Iterator[tuple[str, float, Array]]:  # fmt: skip
    """Give the weight, and those of the splits, with the class that they are of, if of several."""
    if weight.ndim == 1:
        yield "", float(weight[0]), splits
        return
    for t, name in enumerate(classes):
        yield f" ({name})", float(weight[0, t]), splits[:, t]


def _row(step: _Step, of: str, own: float, each: Array) -> CovariateWeight:
    return {
        "name": step.name + of, "reference": step.reference, "weight": rounded(own, 5),
        "per_sd": rounded(own * step.sd, 5), "mean": rounded(each.mean(), 5),
        "low": rounded(each.min(), 5), "high": rounded(each.max(), 5),
        "sign": rounded(np.mean(np.sign(each) == np.sign(each.mean())), 4),
    }  # fmt: skip


def _missing(C: Any) -> int:
    return int(np.isnan(C).any(axis=1).sum())


def _controls(controls: pd.DataFrame, name: str) -> pd.Series[float]:
    return controls[(controls["model"] == name) & controls["mu"].isna()].iloc[0]


def _gained(model: pd.Series[float], alone: pd.Series[float]) -> Difference:
    return {
        "error": rounded(alone["error"], 5), "linear": rounded(model["error"], 5),
        "difference": rounded(alone["error"] - model["error"], 5),
        "low": rounded(model["added_low"], 5), "high": rounded(model["added_high"], 5),
    }  # fmt: skip
