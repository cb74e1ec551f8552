"""Small matrix products in vector registers, every sum over the rows in their order.

A tile is COLUMNS by one or two cache lines of numbers. The order of its sums does not depend on
the tile's place, on what is computed beside it, or on how wide the processor's registers are.
"""

from __future__ import annotations

from typing import Any

import numba.core.codegen

from genesig.compiled.lanes import accumulate, cgutils, ir, place, types, written_out

LINE = 64  # bytes
codegen: Any = numba.core.codegen
WIDE = "+avx512f" in codegen.get_host_cpu_features().split(",")
COLUMNS = 8 if WIDE else 4  # columns of a tile, so that its sums stay in registers
SINGLES, DOUBLES = 32, 16  # numbers in two cache lines: the other side of a tile


@written_out
def add_products(typing: Any, A: Any, a: Any, B: Any, b: Any, rows: Any, out: Any) -> Any:
    """Add ``sum_i A[i, a+c] B[i, b+w]``, i < rows, to out[c, w]; out is (COLUMNS, two lines)."""
    _matrices(A, B, out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        matrices = [
            context.make_array(signature.args[k])(context, builder, values[k]) for k in (0, 2, 5)
        ]
        _tile(builder, matrices, values[1], values[3], values[4])
        return context.get_dummy_value()

    return types.void(A, types.intp, B, types.intp, types.intp, out), build


@written_out
def any_above(
    typing: Any, values: Any, c: Any, w: Any, scale: Any, q: Any, j: Any, low: Any
) -> Any:
    """Replace a line of `values` from [c, w] by |value scale[q, j...]|; True if one is >= low."""
    _matrices(values, scale)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.FloatType(), LINE // 4)
        data, c, w, scale, q, j, low = args
        data, scale = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 3)
        )
        at = place(builder, data, c, w, kind)
        product = builder.fmul(
            builder.load(at, align=4), builder.load(place(builder, scale, q, j, kind), align=4)
        )
        absolute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind]), "llvm.fabs.v16f32"
        )
        product = builder.call(absolute, [product])
        builder.store(product, at, align=4)
        below = builder.fcmp_ordered("<", product, splat(builder, low, kind))
        mask = builder.bitcast(below, ir.IntType(LINE // 4))
        return builder.icmp_unsigned("!=", mask, mask.type(2 ** (LINE // 4) - 1))

    return types.boolean(values, *2 * [types.intp], scale, *2 * [types.intp], types.float32), build


def _matrices(*kinds: Any) -> None:
    for kind in kinds:
        if kind.ndim != 2 or kind.layout != "C" or kind.dtype != kinds[0].dtype:
            raise TypeError(f"tiles need C-contiguous matrices of one type, not {kinds}")


def splat(builder: Any, number: Any, kind: Any) -> Any:
    """Return a vector of one number."""
    none = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(none, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, none, zeros)


def _tile(builder: Any, matrices: Any, a: Any, b: Any, rows: Any) -> None:
    A, B, out = matrices
    scalar = A.data.type.pointee
    size = 4 if isinstance(scalar, ir.FloatType) else 8
    kind = ir.VectorType(scalar, LINE // size)
    places = [
        place(builder, out, a.type(c), b.type(half * kind.count), kind)
        for c in range(COLUMNS)
        for half in range(2)
    ]
    sums = [cgutils.alloca_once_value(builder, builder.load(at, align=size)) for at in places]
    with cgutils.for_range_slice(builder, rows.type(0), rows, rows.type(1), rows.type) as (i, _):
        lines = [builder.add(b, b.type(half * kind.count)) for half in range(2)]
        pair = [builder.load(place(builder, B, i, at, kind), align=size) for at in lines]
        for c in range(COLUMNS):
            number = builder.load(place(builder, A, i, builder.add(a, a.type(c)), scalar))
            wide = splat(builder, number, kind)
            for half in range(2):
                accumulate(builder, wide, pair[half], sums[2 * c + half])
    for at, total in zip(places, sums, strict=True):
        builder.store(builder.load(total), at, align=size)
