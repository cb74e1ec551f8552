"""A changed model with a valid digest is refused or gives finite scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Any

import fitted_models
import numpy as np
import pytest
from fitted_models import CHAINS

from genesig.data.files.delimited import Matrix
from genesig.errors import InvalidInput
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import model_digest

ODD_NUMBERS = [0, -1, 10**9, 5e-324, -1e100, sys.float_info.max]
SHAPES: list[Callable[[list[Any]], Any]] = [
    lambda v: [],
    lambda v: v[:-1],
    lambda v: v + v[-1:],
    lambda v: v[::-1],
    lambda v: [v],
    lambda v: [[value] for value in v],
    lambda v: [None] * len(v),
    lambda v: None,
    lambda v: 1.5,
]
KINDS = ["several_classes", "survival", "regression"]


def _parts(part: Any, path_to_part: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Go through the parts and their places, of a list the first and the last one."""
    yield path_to_part, part
    children: list[tuple[Any, Any]] = []
    if isinstance(part, dict):
        children = list(part.items())
    elif isinstance(part, list):
        children = [(k, part[k]) for k in sorted({0, len(part) - 1} & {*range(len(part))})]
    for key, child in children:
        yield from _parts(child, (*path_to_part, key))


def _with(model: dict[str, Any], path_to_part: tuple[Any, ...], replacement: Any) -> dict[str, Any]:
    changed = deepcopy(model)
    place: Any = changed
    for key in path_to_part[:-1]:
        place = place[key]
    place[path_to_part[-1]] = replacement
    return changed | {"digest": model_digest(changed)}


def _model(name: str) -> tuple[dict[str, Any], Matrix]:
    if name == "both answers":
        model, data = fitted_models.model_of("plain", permutations=3)
    elif name in CHAINS:
        model, data = fitted_models.model_of(name)
    else:
        data, model = fitted_models.fitted_of_kind(name)
    return model, Matrix(tuple(data.samples), tuple(data.genes), data.X, {}, (2,) * len(data.X))


def _changed(name: str) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield places and what to put there; chains differ in their steps alone."""
    own_steps = name in CHAINS and name != "plain"
    for path_to_part, part in _parts(_model(name)[0]):
        if path_to_part and (path_to_part[0] == "normalisation" or not own_steps):
            replacements = ODD_NUMBERS if type(part) in (int, float) else []
            yield from ((path_to_part, replacement) for replacement in replacements)
            yield from (
                (path_to_part, shape(part)) for shape in (SHAPES if isinstance(part, list) else [])
            )


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("both answers", 4),
        *(
            pytest.param(name, 1, marks=pytest.mark.slow)
            for name in ("both answers", *CHAINS, *KINDS)
        ),
    ],
)
def test_any_part_is_refused_or_scored(name: str, step: int) -> None:
    """Change one part after the other: in README's test line every fourth of one model."""
    model, matrix = _model(name)
    refused = 0
    for path_to_part, replacement in islice(_changed(name), 0, None, step):
        try:
            table, _ = predict(
                _with(model, path_to_part, replacement),
                matrix,
                "new",
                missing=0.2,
                mu=None,
                fdr_selected=name == "both answers",
            )
        except InvalidInput:
            refused += 1
        else:
            assert np.isfinite(table.select_dtypes("number").to_numpy()).all(), (
                path_to_part,
                replacement,
            )
    assert refused > 0
