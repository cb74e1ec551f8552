"""Squared differences to a line of features, added up over many subsets of the rows.

The rows stand in blocks; the sum over each subset of a block is taken once, so that any subset of
all rows is a sum of one line for each block. All is in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import plain
from genesig.compiled.lanes import INT, cgutils, ir, place, types, written_out
from genesig.compiled.operations import smaller
from genesig.compiled.tiles import LINE

Array = np.ndarray[Any, Any]
REGISTER = ir.VectorType(ir.FloatType(), LINE // 4)
HALVES = (0, REGISTER.count)
BITS = ir.IntType(REGISTER.count)


@plain
def tabulate(x: Array, tile: Array, top: Any, block: int, table: Array) -> None:
    """Fill ``table[2**block g + m]`` with the sums over the rows of block g that are bits of m.

    Of ``(x - y)² - top``, x (n,) one feature, y the SINGLES of tile (n, SINGLES); a row that either
    misses, NaN, adds nothing.
    """
    size = 1 << block
    for first in range(0, len(x), block):
        at = first // block * size
        for i in range(first, smaller(first + block, len(x))):
            bit = 1 << (i - first)
            set_squares(table, at + bit, x[i], tile, i, top)
            for m in range(1, bit):
                set_sum(table, at + bit, at + m, at + bit + m)


@written_out
def set_squares(typing: Any, table: Any, at: Any, x: Any, tile: Any, i: Any, top: Any) -> Any:
    """Set ``table[at] = (x - tile[i])² - top``, 0 where that is NaN."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, tile = _arrays(context, builder, signature, values, (0, 3))
        wide, top = _splat(builder, values[2]), _splat(builder, values[5])
        none = ir.Constant(REGISTER, [0.0] * REGISTER.count)
        for half in HALVES:
            gap = builder.fsub(wide, builder.load(_line(builder, tile, values[4], half), align=4))
            there = builder.fcmp_ordered("ord", gap, gap)
            more = builder.fsub(builder.fmul(gap, gap), top)
            more = builder.select(there, more, none)
            builder.store(more, _line(builder, table, values[1], half), align=4)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.float32, tile, types.intp, types.float32), build


@written_out
def set_sum(typing: Any, table: Any, a: Any, b: Any, at: Any) -> Any:
    """Set ``table[at] = table[a] + table[b]``."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        (table,) = _arrays(context, builder, signature, values, (0,))
        for half in HALVES:
            a, b = (builder.load(_line(builder, table, k, half), align=4) for k in values[1:3])
            builder.store(builder.fadd(a, b), _line(builder, table, values[3], half), align=4)
        return context.get_dummy_value()

    return types.void(table, *3 * [types.intp]), build


@written_out
def below(typing: Any, table: Any, lines: Any, t: Any, limit: Any) -> Any:
    """Return as bits which of the SINGLES sums of table[lines[t]], int32, are at most `limit`."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, lines = _arrays(context, builder, signature, values, (0, 1))
        zero = ir.Constant(REGISTER, [0.0] * REGISTER.count)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in HALVES]
        count = builder.extract_value(lines.shape, 1)
        with cgutils.for_range(builder, count) as loop:
            line = builder.load(place(builder, lines, values[2], loop.index, INT))
            line = builder.zext(line, ir.IntType(64))
            for half, total in zip(HALVES, sums, strict=True):
                more = builder.load(_line(builder, table, line, half), align=4)
                builder.store(builder.fadd(builder.load(total), more), total)
        most, both, wide = _splat(builder, values[3]), ir.Constant(ir.IntType(64), 0), None
        for half, total in zip(HALVES, sums, strict=True):
            low = builder.fcmp_ordered("<=", builder.load(total), most)
            wide = builder.zext(builder.bitcast(low, BITS), both.type)
            both = builder.or_(both, builder.shl(wide, both.type(half)))
        return both

    return types.int64(table, lines, types.intp, types.float32), build


@written_out
def lowest(typing: Any, bits: Any) -> Any:
    """Return the number of the lowest bit that is set."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


def _arrays(context: Any, builder: Any, signature: Any, values: Any, which: Any) -> list[Any]:
    return [context.make_array(signature.args[k])(context, builder, values[k]) for k in which]


def _line(builder: Any, matrix: Any, row: Any, half: int) -> Any:
    return place(builder, matrix, row, row.type(half), REGISTER)


def _splat(builder: Any, number: Any) -> Any:
    none = ir.Constant(REGISTER, ir.Undefined)
    first = builder.insert_element(none, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), REGISTER.count), [0] * REGISTER.count)
    return builder.shuffle_vector(first, none, zeros)
