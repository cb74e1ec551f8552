"""Sums of products in a fixed order: eight running sums, then these, then what is left over.

numba compiles a function anew for every caller, and the copy that runs depends on which others the
process has loaded. Were the order of a sum left to the optimiser, so would be its last bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba.core.cgutils
import numba.extending

cgutils: Any = numba.core.cgutils
types: Any = numba.types
ir = cgutils.ir
LANES = 8
SCALAR, INT = ir.DoubleType(), ir.IntType(32)
VECTOR = ir.VectorType(SCALAR, LANES)


def written_out(function: Callable[..., Any]) -> Any:
    """Make a call that is put in as machine operations."""
    return numba.extending.intrinsic(function)


@written_out
def dot(typing: Any, a: Any, b: Any) -> Any:
    """Return a'b for contiguous vectors of one length."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _products(context, builder, signature.args, values, [(0, 1)])[0]

    return numba.float64(_contiguous(a), _contiguous(b)), build


@written_out
def dots(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return (a'c, a'd, b'c, b'd) for contiguous vectors of one length."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pairs = [(0, 2), (0, 3), (1, 2), (1, 3)]
        sums = _products(context, builder, signature.args, values, pairs)
        return context.make_tuple(builder, signature.return_type, sums)

    four = types.UniTuple(numba.float64, 4)
    return four(*map(_contiguous, (a, b, c, d))), build


def _contiguous(array: Any) -> Any:
    if array.dtype != numba.float64 or array.ndim != 1 or array.layout not in "CF":
        raise TypeError(f"sums of products need contiguous float64 vectors, not {array}")
    return array


def _products(
    context: Any, builder: Any, kinds: Any, values: Any, pairs: Sequence[tuple[int, int]]
) -> list[Any]:
    arrays = [
        context.make_array(t)(context, builder, v) for t, v in zip(kinds, values, strict=True)
    ]
    length = builder.extract_value(arrays[0].shape, 0)
    sums = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0.0] * LANES)) for _ in pairs]
    whole = builder.and_(length, length.type(-LANES))
    step = length.type(LANES)
    with cgutils.for_range_slice(builder, length.type(0), whole, step, length.type) as (at, _):
        _accumulate(builder, arrays, at, VECTOR, sums, pairs)
    totals = [cgutils.alloca_once_value(builder, _across(builder, builder.load(s))) for s in sums]
    with cgutils.for_range_slice(builder, whole, length, length.type(1), length.type) as (at, _):
        _accumulate(builder, arrays, at, SCALAR, totals, pairs)
    return [builder.load(total) for total in totals]


def _accumulate(
    builder: Any, arrays: Any, at: Any, kind: Any, sums: Any, pairs: Sequence[tuple[int, int]]
) -> None:
    name = "llvm.fma.v8f64" if kind is VECTOR else "llvm.fma.f64"
    signature = ir.FunctionType(kind, [kind] * 3)
    fma = cgutils.get_or_insert_function(builder.module, signature, name)
    here = []
    for array in arrays:
        place = builder.bitcast(builder.gep(array.data, [at]), kind.as_pointer())
        here.append(builder.load(place, align=8))
    for (a, b), total in zip(pairs, sums, strict=True):
        builder.store(builder.call(fma, [here[a], here[b], builder.load(total)]), total)


def _across(builder: Any, vector: Any) -> Any:
    """Add the upper half to the lower one until one sum is left."""
    width = LANES
    while width > 1:
        width //= 2
        low = ir.Constant(ir.VectorType(INT, width), list(range(width)))
        high = ir.Constant(ir.VectorType(INT, width), list(range(width, 2 * width)))
        none = ir.Constant(vector.type, ir.Undefined)
        vector = builder.fadd(
            builder.shuffle_vector(vector, none, low), builder.shuffle_vector(vector, none, high)
        )
    return builder.extract_element(vector, INT(0))
