"""Make costly test inputs once per process and give each test a copy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def kept(build: Callable[P, T]) -> Callable[P, T]:
    """Return a function that builds the value of each call once per process and returns copies.

    Arguments must be hashable, and values must be picklable.
    """

    @cache
    def build_bytes(*args: P.args, **kwargs: P.kwargs) -> bytes:
        return pickle.dumps(build(*args, **kwargs), pickle.HIGHEST_PROTOCOL)

    @wraps(build)
    def copy_of(*args: P.args, **kwargs: P.kwargs) -> T:
        copy: T = pickle.loads(build_bytes(*args, **kwargs))  # faster than deepcopy
        return copy

    return copy_of
