"""The part of report_data.json about covariates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.covariates.record import CovariatesRecord, CovariateWeight
from genesig.report.page.compared import Difference
from genesig.report.page.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits

Array = np.ndarray[Any, Any]
ALONE = "covariates"
"""Their name in controls.tsv."""


def covariates(
    dataset: Dataset, observed: Fits, final: Fits, controls: pd.DataFrame
) -> dict[str, CovariatesRecord]:
    """Sum up what the study holds fixed, under its key; nothing where it has no covariates."""
    held, answer, answers = dataset.design.covariates, final.with_chosen(), observed.with_chosen()
    gamma, of_splits = answer.gamma, answers.gamma
    if gamma is None or of_splits is None:
        return {}
    C, classes = dataset.covariates(), dataset.design.classes or ()
    weight, each = gamma[0, -1], of_splits[:, -1]
    named = [(name, c.levels[0] if c.levels else None) for c in held for name in c.names]
    rows = [
        _row(name + of, reference, float(np.nanstd(C[:, k])), own, splits)
        for k, (name, reference) in enumerate(named)
        for of, own, splits in _of_each(weight[k], each[:, k], classes)
    ]
    return {"covariates": {
        "columns": [c.column for c in held], "missing": _missing(C), "weights": rows,
        "alone": _alone(controls),
    }}  # fmt: skip


def _of_each(
    weight: Array, splits: Array, classes: Sequence[str]
) -> Iterator[tuple[str, float, Array]]:  # fmt: skip
    """Give the weight, and those of the splits, with the class that they are of, if of several."""
    if weight.ndim == 0:
        yield "", float(weight), splits
        return
    for t, name in enumerate(classes):
        yield f" ({name})", float(weight[t]), splits[:, t]


def _row(name: str, reference: str | None, sd: float, own: float, each: Array) -> CovariateWeight:
    return {
        "name": name, "reference": reference, "weight": rounded(own, 5),
        "per_sd": rounded(own * sd, 5), "mean": rounded(each.mean(), 5),
        "low": rounded(each.min(), 5), "high": rounded(each.max(), 5),
        "sign": rounded(np.mean(np.sign(each) == np.sign(each.mean())), 4),
    }  # fmt: skip


def _missing(C: Any) -> int:
    return int(np.isnan(C).any(axis=1).sum())


def _alone(controls: pd.DataFrame) -> Difference:
    row = controls[controls["model"] == ALONE].iloc[0]
    own = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    return {
        "error": rounded(row["error"], 5), "linear": rounded(own["error"], 5),
        "difference": rounded(row["difference"], 5), "low": rounded(row["difference_low"], 5),
        "high": rounded(row["difference_high"], 5),
    }  # fmt: skip
