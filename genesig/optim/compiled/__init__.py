"""Numerical kernels in compiled code: fixed order of arithmetic, one column at a time.

Whatever becomes a result is computed here, never by a matrix product over many columns, so its
bytes depend neither on the batching of columns nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
# Sums may be split over vector lanes; infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def jit(function: F) -> F:
    """Compile `function`, cached on disk where there is a writable place for it."""
    try:
        made: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
        return cast(F, made(function))
    except RuntimeError:
        made = numba.njit(nogil=True, error_model="numpy", fastmath=FAST)
        return cast(F, made(function))
