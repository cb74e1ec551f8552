"""What makes a test of the model on another data set say less than it seems to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from genesig.data.cohorts.read import Cohort
from genesig.results import Dataset
from genesig.selection.model.chain import Model
from genesig.selection.model.new_samples import HELD, Prepared, scale_values
from genesig.selection.model.panel import panel_fault
from genesig.selection.model.same_scale import other_scale

Array = np.ndarray[Any, Any]
OTHER_MIX = 0.2
"""Difference of the shares of a class from which ComBat is warned of."""


def off_scale(model: Model, found: Prepared, values: Array, where: str) -> Iterator[str]:
    """Warn of what `predict` would refuse: here labels tell what the scores are worth."""
    own, many = (scale_values(model, found, values, of=of) for of in HELD)
    if fault := panel_fault(*many):
        yield f"{where}: {fault}"
    elif odd := other_scale(*own):
        yield f"{where}{odd[0]}: {odd[1]}"


def no_batch_of_the_study(model: Model) -> Iterator[str]:
    """Warn where ComBat is a step of the model, which knows none of these batches."""
    if any(step["step"] == "combat" for step in model["normalisation"]["steps"]):
        yield (
            "the study's batches were brought together by combat; this data set is none of them,"
            " and goes past that step as it is"
        )


def other_mix(dataset: Dataset, cohort: Cohort, combat: bool) -> Iterator[str]:
    """Warn where ComBat takes part of the difference of the classes for one of the batches."""
    classes, here = dataset.design.classes, dataset.response()
    if not (combat and classes):
        return
    codes = list(zip(np.unique(here), classes, strict=True))[1 if len(classes) == 2 else 0 :]
    mixes = [(float(np.mean(here == c)), float(np.mean(cohort.y == c)), name) for c, name in codes]
    own, there, name = max(mixes, key=lambda mix: abs(mix[0] - mix[1]))
    if abs(own - there) > OTHER_MIX:
        yield (
            f"combat: {100 * there:.0f} % of the samples are {name}, and {100 * own:.0f} %"
            " of the study's; part of the difference of the classes was taken for one of the"
            " batches"
        )
