"""Squared differences to a line of features, added up over many subsets of the rows.

The rows stand in blocks; the sum over each subset of a block is taken once, so that any subset of
all rows is a sum of one line for each block. Sums are whole numbers of 16 bits that stay at the
largest where they would pass it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import plain
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
from genesig.compiled.operations import smaller
from genesig.compiled.tiles import LINE, splat

Array = np.ndarray[Any, Any]
SHORT = ir.IntType(16)
REGISTER = ir.VectorType(SHORT, LINE // 2)
HALVES = (0, REGISTER.count)
SHORTS, MOST = 2 * REGISTER.count, 2**16 - 1
SINGLE_REGISTER = ir.VectorType(ir.FloatType(), REGISTER.count)
BITS = ir.IntType(REGISTER.count)


@plain
def tabulate(
    x: Array, tile: Array, scale: Any, missing: Any, block: int, table: Array
) -> None:  # fmt: skip
    """Fill ``table[2**block g + m]`` with the sums over the rows of block g that are bits of m.

    Of ``scale (x - y)²`` without its fraction, x (n,) one feature, y the SHORTS of tile
    (n, SHORTS); of `missing` for a row that either misses, NaN.
    """
    size = 1 << block
    for first in range(0, len(x), block):
        at = first // block * size
        for i in range(first, smaller(first + block, len(x))):
            bit = 1 << (i - first)
            set_squares(table, at + bit, x[i], tile, i, scale, missing)
            for m in range(1, bit):
                set_sum(table, at + bit, at + m, at + bit + m)


@written_out
def set_squares(
    typing: Any, table: Any, at: Any, x: Any, tile: Any, i: Any, scale: Any, missing: Any
) -> Any:
    """Set ``table[at] = scale (x - tile[i])²``, whole and MOST at most; `missing` for NaN."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, tile = _arrays(context, builder, signature, values, (0, 3))
        wide, scale, missing, most = (
            splat(builder, number, SINGLE_REGISTER)
            for number in (values[2], *values[5:], ir.FloatType()(MOST))
        )
        whole = ir.VectorType(INT, REGISTER.count)
        for half in HALVES:
            y = builder.load(_line(builder, tile, values[4], half, SINGLE_REGISTER), align=4)
            gap = builder.fsub(wide, y)
            square = builder.fmul(builder.fmul(gap, gap), scale)
            square = builder.select(builder.fcmp_ordered("<", square, most), square, most)
            square = builder.select(builder.fcmp_ordered("ord", gap, gap), square, missing)
            short = builder.trunc(builder.fptosi(square, whole), REGISTER)
            builder.store(short, _line(builder, table, values[1], half), align=2)
        return context.get_dummy_value()

    single = types.float32
    return types.void(table, types.intp, single, tile, types.intp, single, single), build


@written_out
def set_sum(typing: Any, table: Any, a: Any, b: Any, at: Any) -> Any:
    """Set ``table[at] = table[a] + table[b]``."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        (table,) = _arrays(context, builder, signature, values, (0,))
        for half in HALVES:
            a, b = (builder.load(_line(builder, table, k, half), align=2) for k in values[1:3])
            builder.store(_added(builder, a, b), _line(builder, table, values[3], half), align=2)
        return context.get_dummy_value()

    return types.void(table, *3 * [types.intp]), build


@written_out
def below(typing: Any, table: Any, lines: Any, t: Any, limit: Any) -> Any:
    """Return as bits which of the SHORTS sums of table[lines[t]], int32, are at most `limit`."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, lines = _arrays(context, builder, signature, values, (0, 1))
        zero = ir.Constant(REGISTER, [0] * REGISTER.count)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in HALVES]
        count = builder.extract_value(lines.shape, 1)
        with cgutils.for_range(builder, count) as loop:
            line = builder.load(place(builder, lines, values[2], loop.index, INT))
            line = builder.zext(line, ir.IntType(64))
            for half, total in zip(HALVES, sums, strict=True):
                more = builder.load(_line(builder, table, line, half), align=2)
                builder.store(_added(builder, builder.load(total), more), total)
        most, both = splat(builder, values[3], REGISTER), ir.Constant(ir.IntType(64), 0)
        for half, total in zip(HALVES, sums, strict=True):
            low = builder.icmp_unsigned("<=", builder.load(total), most)
            wide = builder.zext(builder.bitcast(low, BITS), both.type)
            both = builder.or_(both, builder.shl(wide, both.type(half)))
        return both

    return types.int64(table, lines, types.intp, types.uint16), build


@written_out
def differences(typing: Any, own: Any, t: Any, X: Any, j: Any) -> Any:
    """Return the sum of ``(own[t] - X[j])²`` over what neither misses, NaN, and how many these are.

    Rows of whole lanes.
    """
    for kind in (own, X):
        if kind.dtype != types.float64 or kind.ndim != 2 or kind.layout != "C":
            raise TypeError(f"rows are those of C-contiguous float64 matrices, not {kind}")

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        own, X = _arrays(context, builder, signature, values, (0, 2))
        kind = ir.VectorType(ir.DoubleType(), LANES)
        none, one = (ir.Constant(kind, [number] * LANES) for number in (0.0, 1.0))
        total, count = (cgutils.alloca_once_value(builder, none) for _ in range(2))
        width = builder.extract_value(X.shape, 1)
        step = width.type(LANES)
        with cgutils.for_range_slice(builder, step.type(0), width, step, step.type) as (at, _):
            x = builder.load(place(builder, own, values[1], at, kind), align=8)
            gap = builder.fsub(x, builder.load(place(builder, X, values[3], at, kind), align=8))
            there = builder.fcmp_ordered("ord", gap, gap)
            gap = builder.select(there, gap, none)
            accumulate(builder, gap, gap, total)
            more = builder.select(there, one, none)
            builder.store(builder.fadd(builder.load(count), more), count)
        found = [across(builder, builder.load(each)) for each in (total, count)]
        return context.make_tuple(builder, signature.return_type, found)

    pair = types.UniTuple(types.float64, 2)
    return pair(own, types.intp, X, types.intp), build


@written_out
def lowest(typing: Any, bits: Any) -> Any:
    """Return the number of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


def _arrays(context: Any, builder: Any, signature: Any, values: Any, which: Any) -> list[Any]:
    return [context.make_array(signature.args[k])(context, builder, values[k]) for k in which]


def _line(builder: Any, matrix: Any, row: Any, half: int, kind: Any = REGISTER) -> Any:
    return place(builder, matrix, row, row.type(half), kind)


def _added(builder: Any, a: Any, b: Any) -> Any:
    signature = ir.FunctionType(REGISTER, [REGISTER] * 2)
    name = f"llvm.uadd.sat.v{REGISTER.count}i16"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [a, b])
