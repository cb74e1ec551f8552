"""Make costly test inputs once per process and give each test a copy."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def kept(build: Callable[P, T]) -> Callable[P, T]:
    """Let a function, whose arguments can be hashed, make each thing once and return copies."""
    cached_build = cache(build)

    @wraps(build)
    def copy_of(*args: P.args, **kwargs: P.kwargs) -> T:
        return deepcopy(cached_build(*args, **kwargs))

    return copy_of
