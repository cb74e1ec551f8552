"""Numerical kernels in compiled code: fixed order of arithmetic, one column at a time.

Whatever becomes a result is computed here, never by a matrix product over many columns, so its
bytes depend neither on the batching of columns nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from genesig.compiled.kept import content, keep
from genesig.compiled.parts import compiler_of_parts, load_arrays, of_any_number

load_arrays()
F = TypeVar("F", bound=Callable[..., Any])

CONTENT = content()

# Strict floating point: the copy that runs is one of several, each optimised by itself.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
PART = OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": compiler_of_parts()}


def jit(function: F) -> F:
    """Compile an entry point, cached on disk where there is a writable place for it."""
    try:
        made: Any = numba.njit(cache=True, **OPTIONS)(function)
        # numba looks at the file of the entry point alone; what it calls is in all of this folder.
        keep(made, CONTENT)
    except RuntimeError:
        made = numba.njit(**OPTIONS)(function)
    return cast(F, made)


def inner(function: F) -> F:
    """Compile a function that only compiled code calls."""
    made: Any = numba.njit(**PART | {"_nrt": True})(function)
    return cast(F, of_any_number(made))


def plain(function: F) -> F:
    """Compile an inner function that makes no array: references need no counting."""
    made: Any = numba.njit(**PART | {"_nrt": False})(function)
    return cast(F, of_any_number(made))


def inlined(function: F) -> F:
    """Mark a function that is put in where it is called: numba compiles it with its one caller."""
    made: Any = numba.njit(inline="always", **OPTIONS)(function)
    return cast(F, made)
