"""The parts of model.json that depend on the kind of response."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from genesig.arrays import Array
from genesig.results import Dataset
from genesig.selection.model.schema import ModelJson


@dataclass(frozen=True)
class ModelKind:
    """Parts of model.json and predictions for one kind of response."""

    # data set, training scores (n, n_models) of the models, their entries in model.json ->
    # ``classes``, ``threshold`` and further keys of the top level
    parts: Callable[[Dataset, Array, Sequence[ModelJson]], dict[str, Any]]
    # model.json, number of the model that scores among its ``models``, scores (n,) -> columns of
    # predictions after the score
    predicted: Callable[[ModelJson, int, Array], dict[str, Array]]
    # model.json -> names of the parts that contradict each other
    faults: Callable[[ModelJson], list[str]]
