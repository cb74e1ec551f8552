"""What many tests begin with is made once in a process; each of them has a copy to change."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def kept(make: Callable[P, T]) -> Callable[P, T]:
    """Let a function, whose arguments can be hashed, make each thing once and return copies."""
    made = cache(make)

    @wraps(make)
    def copy_of(*given: P.args, **named: P.kwargs) -> T:
        return deepcopy(made(*given, **named))

    return copy_of
