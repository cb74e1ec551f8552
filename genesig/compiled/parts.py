"""Functions that only compiled code calls need no machine code of their own.

numba makes each function that it compiles ready to run: it optimises it, with all that it calls,
and emits its object code. What the entry points are made from is optimised once more with them and
never run by itself, so for these functions that work is left out: half of the time of a first run.
"""

from __future__ import annotations

import importlib
from typing import Any

import numba
import numba.core.codegen
import numba.core.compiler

JITCodeLibrary: Any = numba.core.codegen.JITCodeLibrary
Compiler: Any = numba.core.compiler.Compiler
NEEDED = (
    *("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals"),
    *("get_pointer_to_function", "codegen"),
)
TRIED = (0, 61), (0, 68)
"""First and last version of numba whose inside is known to work like this."""


class _Nowhere:
    """In the place of the code generator that would be told where the function is."""

    def set_env(self, name: str, env: object) -> None:
        """There is no environment to set: the function is nowhere in memory."""


class Part(JITCodeLibrary):  # type: ignore[misc]
    """A module that is linked into others and not made into machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Finish the module and return 0, numba's word for a function that is not there."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _Nowhere:
        """Return what has no memory to write to."""
        return _Nowhere()


class PartCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, with a library of its own kind."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Any,
        local: Any,
    ) -> None:  # fmt: skip
        if library is None:
            library = Part(target.codegen(), "part")
        super().__init__(typing, target, library, args, returns, flags, local)


def load_arrays() -> None:
    """Import numba's array functions without scipy.linalg: a third of a warm first call.

    All that they do with it is to look whether it is there. What uses it asks for it again.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    there = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = there


def of_any_number(function: Any) -> Any:
    """Have a function compiled for numbers of a type alone, and not for 0 or 1 once more."""
    template = function.get_call_template

    def general(args: Any, keywords: Any) -> Any:
        return template(tuple(map(numba.types.unliteral, args)), keywords)

    function.get_call_template = general
    return function


def compiler_of_parts() -> Any:
    """Return `PartCompiler`, or numba's own where this numba may be built in another way."""
    first, last = TRIED
    known = first <= tuple(map(int, numba.__version__.split(".")[:2])) <= last
    return PartCompiler if known and all(hasattr(JITCodeLibrary, n) for n in NEEDED) else Compiler
