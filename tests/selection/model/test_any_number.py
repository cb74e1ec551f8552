"""Whatever number stands in a model that is well sealed: refused, or every score is finite."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import fitted_model
import kinds_cohort
import numpy as np
import pytest
from fitted_model import CHAINS

from genesig.data.files.delimited import Matrix
from genesig.errors import InvalidInput
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import digest_of

NUMBERS = [0, -1, 3, 10**9, 5e-324, 1e100, -1e100, sys.float_info.max, -sys.float_info.max]
KINDS = ["several_classes", "survival", "regression"]


def _numbers(part: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Go through the places of the numbers, of a list the first two and the last one."""
    if isinstance(part, dict):
        below = list(part.items())
    elif isinstance(part, list):
        places = sorted({0, 1, len(part) - 1} & {*range(len(part))})
        below = [(k, part[k]) for k in places]
    else:
        below = []
        if type(part) in (int, float):
            yield way
    for key, each in below:
        yield from _numbers(each, (*way, key))


def _with(model: dict[str, Any], way: tuple[Any, ...], number: float) -> dict[str, Any]:
    changed = deepcopy(model)
    place: Any = changed
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = number
    return changed | {"digest": digest_of(changed)}


def _model(name: str) -> tuple[dict[str, Any], Matrix]:
    if name in CHAINS:
        model, data = fitted_model.model_of(name)
    else:
        data, model = kinds_cohort.fitted(name)
    return model, Matrix(tuple(data.samples), tuple(data.genes), data.X, {}, (2,) * len(data.X))


@pytest.mark.parametrize("name", [*CHAINS, *KINDS])
def test_a_number_is_refused_or_scored(name: str) -> None:
    model, matrix = _model(name)
    own_steps = name in CHAINS and name != "plain"
    ways = [way for way in _numbers(model) if not own_steps or way[0] == "normalisation"]
    refused = 0
    for way in ways:
        for number in NUMBERS:
            try:
                table, _ = predict(_with(model, way, number), matrix, "new", missing=0.2, mu=None)
            except InvalidInput:
                refused += 1
            else:
                assert np.isfinite(table.select_dtypes("number").to_numpy()).all(), (way, number)
    assert refused > len(ways)
