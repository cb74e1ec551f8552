"""Numerical kernels: loops of small decisions, in plain numba, which Python may call and step into.

With ``NUMBA_DISABLE_JIT=1`` they run uncompiled, with ``NUMBA_BOUNDSCHECK=1`` every index is
checked. What is a product or a factor of whole matrices is NumPy's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.extending import register_jitable

from genesig.compiled.cache import folder

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "no_cfunc_wrapper": True,
}
"""Sums may be taken in any order, which is what vectors of a processor need. No function is passed
as a value, so none needs a copy that C may call, which would be compiled as well."""
CACHE = folder()


def compiled(function: F) -> F:
    """Compile a function, kept on disk where there is a writable place for it."""
    if CACHE is None:
        return made_here(function)
    # numba keeps code by the place of its file: of one clone, from wherever a study links to it.
    file = os.path.realpath(function.__code__.co_filename)
    function.__code__ = function.__code__.replace(co_filename=file)
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]
    try:
        return cast(F, numba.njit(cache=True, **OPTIONS)(function))
    except RuntimeError:  # a function without a file
        return made_here(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


def inner(function: F) -> F:
    """Leave a function as it is for Python; what is compiled and calls it is compiled with it."""
    made: F = register_jitable(**OPTIONS)(function)
    return made


def part(function: F) -> F:
    """Compile a function into the one place that calls it, as if it stood there.

    What is `inner` is optimised once by itself and once more in each function above it.
    """
    return cast(F, numba.njit(inline="always", **OPTIONS)(function))


def made_here(function: F) -> F:
    """Compile a function that is made around others; what calls it is kept, with all of it."""
    return cast(F, numba.njit(**OPTIONS)(function))
