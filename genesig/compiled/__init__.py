"""Numerical kernels: loops of small decisions in plain numba, which Python may call and step into.

With ``NUMBA_DISABLE_JIT=1`` they run uncompiled; with ``NUMBA_BOUNDSCHECK=1`` every index is
checked. Products of large matrices are NumPy's ``dot``.

Kernels write their results into arrays that the caller passes: a name that begins with ``fill_``
says so, and a docstring names the arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.extending import register_jitable

from genesig.compiled.cache import cache_folder

F = TypeVar("F", bound=Callable[..., Any])

JIT_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "no_cfunc_wrapper": True,
}
"""Division by 0 gives ∞ or NaN, as in NumPy. Sums may be taken in any order, for the sake of vector
instructions. No kernel is passed as a value, so none needs the second copy for callers in C.
"""
CACHE_FOLDER = cache_folder()


def compiled(function: F) -> F:
    """Return a function compiled by numba, cached on disk if there is a writable folder."""
    if CACHE_FOLDER is None:
        return jit_uncached(function)
    # numba keys cached code by the path of its file. With the real path, studies that link to one
    # clone share its code.
    file = os.path.realpath(function.__code__.co_filename)
    function.__code__ = function.__code__.replace(co_filename=file)
    previous_folder = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
    try:
        return cast(F, numba.njit(cache=True, **JIT_OPTIONS)(function))
    except RuntimeError:  # a function without a file
        return jit_uncached(function)
    finally:
        numba.config.CACHE_DIR = previous_folder  # type: ignore[attr-defined]


def jitable(function: F) -> F:
    """Return a function unchanged for Python; a compiled caller compiles it separately.

    A `jit_inline` function is optimised only as part of its caller.
    """
    registered: F = register_jitable(**JIT_OPTIONS)(function)
    return registered


def jit_inline(function: F) -> F:
    """Return a function that numba copies into its compiled caller; it should have one caller."""
    return cast(F, numba.njit(inline="always", **JIT_OPTIONS)(function))


def jit_uncached(function: F) -> F:
    """Return a function compiled without a cache: for functions made from other functions.

    The cached kernel that calls it contains its code.
    """
    return cast(F, numba.njit(**JIT_OPTIONS)(function))
