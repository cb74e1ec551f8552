"""Sums of products in a fixed order: eight running sums, then these, then what is left over.

numba compiles a function anew for every caller, and the copy that runs depends on which others the
process has loaded. Were the order of a sum left to the optimiser, so would be its last bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba.core.cgutils
import numba.extending

from genesig.compiled import plain

cgutils: Any = numba.core.cgutils
types: Any = numba.types
ir = cgutils.ir
LANES = 8
SCALAR, INT = ir.DoubleType(), ir.IntType(32)
VECTOR = ir.VectorType(SCALAR, LANES)


@plain
def lanes(n: int) -> int:
    """Return n, or the next number that is whole lanes."""
    return (n + LANES - 1) // LANES * LANES


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
def add_row(
    typing: Any, scale: Any, X: Any, i: Any, out: Any, k: Any, first: Any, last: Any
) -> Any:
    """Add ``scale X[i, first:last]`` to the same places of out[k]; first, last are whole lanes."""
    matrices(X, out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        x, to = (context.make_array(signature.args[k])(context, builder, values[k]) for k in (1, 3))
        none = ir.Constant(VECTOR, ir.Undefined)
        number = builder.insert_element(none, values[0], INT(0))
        zeros = ir.Constant(ir.VectorType(INT, LANES), [0] * LANES)
        wide = builder.shuffle_vector(number, none, zeros)
        first, last = values[5:]
        step = first.type(LANES)
        with cgutils.for_range_slice(builder, first, last, step, first.type) as (at, _):
            here = builder.load(place(builder, x, values[2], at, VECTOR), align=8)
            accumulate(builder, wide, here, place(builder, to, values[4], at, VECTOR), align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(numba.float64, X, whole, out, whole, whole, whole), build


def matrices(*kinds: Any) -> None:
    """Raise unless all are C-contiguous float64 matrices, whose rows operations may load."""
    for kind in kinds:
        if kind.dtype != numba.float64 or kind.ndim != 2 or kind.layout != "C":
            raise TypeError(f"rows are those of C-contiguous float64 matrices, not {kind}")


def load(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Return whole lanes of a row from a column on."""
    return builder.load(place(builder, matrix, row, column, VECTOR), align=8)


def place(builder: Any, matrix: Any, row: Any, column: Any, kind: Any) -> Any:
    """Return a pointer to [row, column] of a matrix, as to a number or vector of `kind`."""
    at = builder.add(builder.mul(row, builder.extract_value(matrix.shape, 1)), column)
    return builder.bitcast(builder.gep(matrix.data, [at]), kind.as_pointer())


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
    totals = [cgutils.alloca_once_value(builder, across(builder, builder.load(s))) for s in sums]
    with cgutils.for_range_slice(builder, whole, length, length.type(1), length.type) as (at, _):
        _accumulate(builder, arrays, at, SCALAR, totals, pairs)
    return [builder.load(total) for total in totals]


def _accumulate(
    builder: Any, arrays: Any, at: Any, kind: Any, sums: Any, pairs: Sequence[tuple[int, int]]
) -> None:
    here = []
    for array in arrays:
        place = builder.bitcast(builder.gep(array.data, [at]), kind.as_pointer())
        here.append(builder.load(place, align=8))
    for (a, b), total in zip(pairs, sums, strict=True):
        accumulate(builder, here[a], here[b], total)


def accumulate(builder: Any, a: Any, b: Any, total: Any, align: int | None = None) -> None:
    """Add a b to the number or vector that `total` points to, with one rounding."""
    at_hand = builder.load(total, align=align)
    builder.store(multiply_add(builder, a, b, at_hand), total, align=align)


def multiply_add(builder: Any, a: Any, b: Any, total: Any) -> Any:
    """Return ``total + a b`` with one rounding, for numbers or vectors."""
    kind = a.type
    scalar = kind.element if isinstance(kind, ir.VectorType) else kind
    name = "f32" if isinstance(scalar, ir.FloatType) else "f64"
    name = f"v{kind.count}{name}" if kind is not scalar else name
    signature = ir.FunctionType(kind, [kind] * 3)
    fma = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fma.{name}")
    return builder.call(fma, [a, b, total])


def across(builder: Any, vector: Any) -> Any:
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
