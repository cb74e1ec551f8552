"""The shares of the classes that probabilities are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

STUDY, EQUAL = "study", "equal"


def class_shares(y: Array) -> Array:
    """Return the share of each class among the samples, (T,), in the order of their numbers."""
    size = np.unique(y, return_counts=True)[1]
    return np.asarray(size / size.sum())


def asked_shares(asked: str | Sequence[float], y: Array) -> Array:
    """Return the shares that are asked for, (T,).

    Parameters
    ----------
    asked : str or sequence of float
        `STUDY`, those of the samples; `EQUAL`; or the shares themselves.
    y : (n,) array
    """
    known = class_shares(y)
    if isinstance(asked, str):
        return known if asked == STUDY else np.full(len(known), 1 / len(known))
    return np.asarray(asked, dtype=float)
