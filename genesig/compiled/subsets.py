"""Squared differences to a line of features, added up over all rows but some.

Sums are whole numbers of 16 bits that stay at the largest where they would pass it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled.lanes import (
    INT,
    LANES,
    accumulate,
    across,
    cgutils,
    ir,
    place,
    types,
    written_out,
)
from genesig.compiled.tiles import LINE, splat

Array = np.ndarray[Any, Any]
SHORT = ir.IntType(16)
REGISTER = ir.VectorType(SHORT, LINE // 2)
HALVES = (0, REGISTER.count)
SHORTS, MOST = 2 * REGISTER.count, 2**16 - 1
SINGLE_REGISTER = ir.VectorType(ir.FloatType(), REGISTER.count)
BITS = ir.IntType(REGISTER.count)


@written_out
def tabulate(
    typing: Any, x: Any, k: Any, tile: Any, scale: Any, missing: Any, most: Any, table: Any
) -> Any:
    """Set ``table[i] = scale (x[k, i] - tile[i])²``, whole and `most` at most; `missing` for NaN.

    Of n rows, SHORTS numbers in each; table[n] is 0, table[n + 1] the sum of all.
    """

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        x, tile, table = _arrays(context, builder, signature, values, (0, 2, 6))
        scale, missing, most = (splat(builder, each, SINGLE_REGISTER) for each in values[3:6])
        zero = ir.Constant(REGISTER, [0] * REGISTER.count)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in HALVES]
        count = builder.extract_value(x.shape, 1)
        with cgutils.for_range(builder, count) as loop:
            number = builder.load(place(builder, x, values[1], loop.index, ir.FloatType()))
            number = splat(builder, number, SINGLE_REGISTER)
            for half, total in zip(HALVES, sums, strict=True):
                y = builder.load(_line(builder, tile, loop.index, half, SINGLE_REGISTER), align=4)
                short = _square(builder, builder.fsub(number, y), scale, missing, most)
                builder.store(short, _line(builder, table, loop.index, half), align=2)
                builder.store(_added(builder, builder.load(total), short), total)
        for half, total in zip(HALVES, sums, strict=True):
            builder.store(zero, _line(builder, table, count, half), align=2)
            last = builder.add(count, count.type(1))
            builder.store(builder.load(total), _line(builder, table, last, half), align=2)
        return context.get_dummy_value()

    single = types.float32
    return types.void(x, types.intp, tile, single, single, single, table), build


@written_out
def below(typing: Any, table: Any, out: Any, t: Any, limit: Any) -> Any:
    """Return as bits which of the SHORTS sums less table[out[t]], int32, are at most `limit`.

    These lines add up to the largest number at most.
    """

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, out = _arrays(context, builder, signature, values, (0, 1))
        zero = ir.Constant(REGISTER, [0] * REGISTER.count)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in HALVES]
        with cgutils.for_range(builder, builder.extract_value(out.shape, 1)) as loop:
            line = builder.load(place(builder, out, values[2], loop.index, INT))
            line = builder.zext(line, ir.IntType(64))
            for half, total in zip(HALVES, sums, strict=True):
                more = builder.load(_line(builder, table, line, half), align=2)
                builder.store(builder.add(builder.load(total), more), total)
        most, both = splat(builder, values[3], REGISTER), ir.Constant(ir.IntType(64), 0)
        last = builder.extract_value(table.shape, 0)
        last = builder.sub(last, last.type(1))
        for half, total in zip(HALVES, sums, strict=True):
            whole = builder.load(_line(builder, table, last, half), align=2)
            low = builder.icmp_unsigned("<=", whole, _added(builder, builder.load(total), most))
            wide = builder.zext(builder.bitcast(low, BITS), both.type)
            both = builder.or_(both, builder.shl(wide, both.type(half)))
        return both

    return types.int64(table, out, types.intp, types.uint16), build


@written_out
def differences(typing: Any, X: Any, i: Any, j: Any, outside: Any, t: Any) -> Any:
    """Return the sum of ``(X[i] - X[j])²``, and of how many terms.

    Of those that neither misses, NaN, where outside[t] is 0 and not NaN; rows of whole lanes.
    """

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        X, outside = _arrays(context, builder, signature, values, (0, 3))
        kind = ir.VectorType(ir.DoubleType(), LANES)
        none, one = (ir.Constant(kind, [number] * LANES) for number in (0.0, 1.0))
        total, count = (cgutils.alloca_once_value(builder, none) for _ in range(2))
        width = builder.extract_value(X.shape, 1)
        step = width.type(LANES)
        with cgutils.for_range_slice(builder, step.type(0), width, step, step.type) as (at, _):
            x, y, part = (
                builder.load(place(builder, rows, row, at, kind), align=8)
                for rows, row in ((X, values[1]), (X, values[2]), (outside, values[4]))
            )
            gap = builder.fadd(builder.fsub(x, y), part)
            there = builder.fcmp_ordered("ord", gap, gap)
            gap = builder.select(there, gap, none)
            accumulate(builder, gap, gap, total)
            more = builder.select(there, one, none)
            builder.store(builder.fadd(builder.load(count), more), count)
        found = [across(builder, builder.load(each)) for each in (total, count)]
        return context.make_tuple(builder, signature.return_type, found)

    whole, pair = types.intp, types.UniTuple(types.float64, 2)
    return pair(X, whole, whole, outside, whole), build


@written_out
def lowest(typing: Any, bits: Any) -> Any:
    """Return the number of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


def _square(builder: Any, gap: Any, scale: Any, missing: Any, most: Any) -> Any:
    square = builder.fmul(builder.fmul(gap, gap), scale)
    square = builder.select(builder.fcmp_ordered("ord", gap, gap), square, missing)
    square = builder.select(builder.fcmp_ordered("<", square, most), square, most)
    return builder.trunc(builder.fptosi(square, ir.VectorType(INT, REGISTER.count)), REGISTER)


def _arrays(context: Any, builder: Any, signature: Any, values: Any, which: Any) -> list[Any]:
    return [context.make_array(signature.args[k])(context, builder, values[k]) for k in which]


def _line(builder: Any, matrix: Any, row: Any, half: int, kind: Any = REGISTER) -> Any:
    at = builder.add(builder.mul(row, row.type(SHORTS)), row.type(half))
    return builder.bitcast(builder.gep(matrix.data, [at]), kind.as_pointer())


def _added(builder: Any, a: Any, b: Any) -> Any:
    signature = ir.FunctionType(REGISTER, [REGISTER] * 2)
    name = f"llvm.uadd.sat.v{REGISTER.count}i16"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [a, b])
