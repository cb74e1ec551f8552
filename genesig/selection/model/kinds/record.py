"""What a kind of response adds to model.json, and reads from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genesig.arrays import Array
from genesig.results import Dataset

Model = Mapping[str, Any]


@dataclass(frozen=True)
class Modelled:
    """One kind of response, as model.json has it.

    Attributes
    ----------
    parts : callable
        Data set, training scores (n, n_models) of the models and their entries in model.json, to
        ``classes``, ``threshold`` and what else stands at the top level.
    predicted : callable
        The model, the number of the one that is used among its ``models`` and scores (n,) to the
        columns that follow the score.
    faults : callable
        The model to the parts that contradict each other.
    """

    parts: Callable[[Dataset, Array, Sequence[Model]], dict[str, Any]]
    predicted: Callable[[Model, int, Array], dict[str, Array]]
    faults: Callable[[Model], list[str]]
