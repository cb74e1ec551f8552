"""What a kind of response adds to model.json, and reads from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from genesig.arrays import Array
from genesig.results import Dataset
from genesig.selection.model.external_scores import Row

Model = Mapping[str, Any]


class Asked(NamedTuple):
    """The study, its model and the number of the one that is used; responses y and scores f.

    `group` (n,) has the number of each sample's group; None if every sample has its own.
    """

    dataset: Dataset
    model: Model
    at: int
    y: Array
    f: Array
    group: Array | None = None


@dataclass(frozen=True)
class Modelled:
    """One kind of response, as model.json has it.

    Attributes
    ----------
    parts : callable
        Data set and training scores (n, n_models) of the models to ``classes``, ``threshold`` and
        what else stands at the top level.
    predicted : callable
        The model, the number of the one that is used among its ``models`` and scores (n,) to the
        columns that follow the score.
    faults : callable
        The model to the parts that contradict each other.
    tested : callable
        What is `Asked` of a data set of another study to the rows of its scores.tsv, and to what
        else a report shows of it, as JSON has it.
    """

    parts: Callable[[Dataset, Array], dict[str, Any]]
    predicted: Callable[[Model, int, Array], dict[str, Array]]
    faults: Callable[[Model], list[str]]
    tested: Callable[[Asked], tuple[Iterable[Row], dict[str, Any]]]
