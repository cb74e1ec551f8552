"""What a model.json must look like before it scores: it may have been edited or mixed up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from genesig.errors import InvalidInput, refuse

PARTS = ("training", "normalisation", "models", "signature_mu", "classes", "threshold")
NUMBER = {"type": "number"}
NAMES = {"type": "array", "items": {"type": "string"}}
LIST = {"type": "array"}
NUMBERS = {"type": "array", "items": NUMBER}


def _object(**parts: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(parts)}


BOUNDS = _object(low=NUMBER, high=NUMBER, sd=NUMBER)
SCALE = _object(
    samples=NUMBER, genes=NAMES, means=NUMBERS, sds=NUMBERS, location=BOUNDS, slope=BOUNDS
)
SHAPE = _object(
    training=_object(
        genes=NAMES, means=LIST, sds=LIST, p99=NUMBER, min=NUMBER, max=NUMBER, scale=SCALE
    ),
    normalisation=_object(
        steps={"type": "array", "items": _object(step={"type": "string"})},
    ),
    models={
        "type": "array",
        "minItems": 1,
        "items": _object(mu=NUMBER, intercept=NUMBER, genes=NAMES, coefficients=NUMBERS),
    },
    signature_mu=NUMBER,
    classes={
        "anyOf": [
            {"type": "null"},
            _object(negative={"type": "string"}, positive={"type": "string"}),
        ]
    },
    threshold={"type": ["number", "null"]},
)


def check_model(model: Any, source: str) -> None:
    """Refuse a file that is no model, or none of this version, or was changed by hand.

    Raises
    ------
    InvalidInput
        With the first part that is not as it should be.
    """
    lacks = [key for key in PARTS if not isinstance(model, Mapping) or key not in model]
    if lacks:
        what = f"is no model.json of this version of genesig (it has no '{lacks[0]}'); name "
        raise refuse(source, what + "results/model.json, or run the study again")
    for fault in Draft202012Validator(SHAPE).iter_errors(model):
        raise damaged(source, ".".join(map(str, fault.absolute_path)))
    training = model["training"]
    for part in ("means", "sds"):
        if len(training["genes"]) != len(training[part]):
            raise damaged(source, f"training.{part}")
    scale = training["scale"]
    whole = {len(scale[part]) for part in ("genes", "means", "sds")} == {len(scale["genes"])}
    if not whole or not set(training["genes"]).issuperset(scale["genes"]):
        raise damaged(source, "training.scale")
    if model["classes"] is not None and model["threshold"] is None:
        raise damaged(source, "threshold")
    known = set(training["genes"])
    for number, each in enumerate(model["models"]):
        if len(each["genes"]) != len(each["coefficients"]) or not known.issuperset(each["genes"]):
            raise damaged(source, f"models.{number}.genes")


def damaged(source: str, part: str) -> InvalidInput:
    """Say which part of a model is not as genesig wrote it."""
    what = f"is damaged or was edited: '{part}' is not as genesig writes it; copy it again from "
    return refuse(source, what + "results/, or run the study again")
