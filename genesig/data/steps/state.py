"""Fitted values as JSON has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def state_of(step: Any) -> dict[str, Any]:
    """Return what is stored of a fitted step: arrays as lists, None where a number is missing."""
    return {name: _plain(getattr(step, name)) for name in stored(step)}


def stored(step: Any) -> list[str]:
    """Return the names of what is stored of a step, or of its class."""
    return [field.name for field in fields(step) if field.metadata.get("stored", True)]


def _plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    if value.dtype.kind == "f" and np.isnan(value).any():
        value = np.where(np.isnan(value), np.array(None), value)
    return value.tolist()
