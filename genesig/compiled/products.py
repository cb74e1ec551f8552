"""Sums of products of many rows at once, each with the bytes that `lanes.dot` gives it.

One sum waits for itself at every step; sixteen fill the time, and share what they read.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from genesig.compiled import inner
from genesig.compiled.lanes import (
    INT,
    LANES,
    SCALAR,
    VECTOR,
    accumulate,
    cgutils,
    ir,
    matrices,
    multiply_add,
    place,
    types,
    written_out,
)
from genesig.compiled.operations import larger, smaller, zeros

Array = np.ndarray[Any, Any]
BLOCK = 16  # rows that are read once for eight others


@inner
def products(Z: Array, start: int, stop: int, gram: Array) -> None:
    """Fill rows and columns start to stop of ``Z[:stop] Z[:stop]'``; rows are whole lanes."""
    sums = zeros((2, LANES), np.float64)
    for block in range(start, stop, BLOCK):
        last = smaller(block + BLOCK, stop)
        for first in range(0, last, LANES):
            for p in range(larger(block, first - first % 2), last, 2):
                dots(Z, first, Z, p, Z.shape[1], sums, 0)
                for k in range(smaller(2, last - p)):
                    for q in range(first, smaller(first + LANES, p + k + 1)):
                        gram[p + k, q] = gram[q, p + k] = sums[k, q - first]


@written_out
def dots(typing: Any, A: Any, i: Any, B: Any, j: Any, length: Any, out: Any, c: Any) -> Any:
    """Set ``out[c + k, r] = A[i + r, :length]'B[j + k, :length]``, r < 8, k < 2; whole lanes.

    Rows beyond the last are the last.
    """
    return _many(A, B, out)


@written_out
def fused(typing: Any, a: Any, b: Any, total: Any) -> Any:
    """Return ``total + a b`` with one rounding, as a sum of products does at its end."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return multiply_add(builder, *values)

    return numba.float64(a, b, total), build


@written_out
def reflect_four(
    typing: Any, M: Any, i: Any, work: Any, p: Any, scales: Any, first: Any, last: Any
) -> Any:  # fmt: skip
    """Do as `reflect_one` for rows i to i + 3, with columns 0 to 3 of the scales."""
    return _reflected(4, M, work, scales)


@written_out
def reflect_one(
    typing: Any, M: Any, i: Any, work: Any, p: Any, scales: Any, first: Any, last: Any
) -> Any:  # fmt: skip
    """Add ``scales[0] p + scales[1] v`` to a row of M, and scales[2] times the row to the next p.

    M[i, first:last], whole lanes; p and v are rows p and p + 1 of `work`, the next p row 2 - p.
    """
    return _reflected(1, M, work, scales)


def _reflected(count: int, M: Any, work: Any, scales: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        M, work, scales = (
            context.make_array(signature.args[k])(context, builder, values[k]) for k in (0, 2, 4)
        )
        i, p, first, last = values[1], values[3], values[5], values[6]
        after = builder.sub(p.type(2), p)
        factors = [
            [_wide(builder, scales, i.type(k), i.type(r)) for r in range(count)] for k in range(3)
        ]
        ways = [p, builder.add(p, p.type(1))]
        step = first.type(LANES)
        with cgutils.for_range_slice(builder, first, last, step, step.type) as (at, _):
            rows = [builder.load(place(builder, work, way, at, VECTOR), align=8) for way in ways]
            to = place(builder, work, after, at, VECTOR)
            total = cgutils.alloca_once_value(builder, builder.load(to, align=8))
            for r in range(count):
                here = place(builder, M, builder.add(i, i.type(r)), at, VECTOR)
                for k in range(2):
                    accumulate(builder, factors[k][r], rows[k], here, align=8)
                accumulate(builder, factors[2][r], builder.load(here, align=8), total)
            builder.store(builder.load(total), to, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(M, whole, work, whole, scales, whole, whole), build


def _wide(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Return a vector that is one entry of a matrix everywhere."""
    number = builder.load(place(builder, matrix, row, column, SCALAR))
    none = ir.Constant(VECTOR, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(INT, LANES), [0] * LANES)
    return builder.shuffle_vector(builder.insert_element(none, number, INT(0)), none, zeros)


def _many(A: Any, B: Any, out: Any) -> Any:
    matrices(A, B, out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, B, out = (
            context.make_array(signature.args[k])(context, builder, values[k]) for k in (0, 2, 5)
        )
        i, j, length, c = values[1], values[3], values[4], values[6]
        left = [_row(builder, A, i, r) for r in range(LANES)]
        right = [_row(builder, B, j, k) for k in range(2)]
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        sums = [[cgutils.alloca_once_value(builder, zero) for _ in left] for _ in right]
        step = length.type(LANES)
        with cgutils.for_range_slice(builder, length.type(0), length, step, step.type) as (at, _):
            there = [_load(builder, row, at) for row in right]
            for r, row in enumerate(left):
                here = _load(builder, row, at)
                for k, other in enumerate(there):
                    accumulate(builder, here, other, sums[k][r])
        for k, column in enumerate(sums):
            total = _across([builder.load(s) for s in column], builder)
            to = place(builder, out, builder.add(c, c.type(k)), c.type(0), VECTOR)
            builder.store(total, to, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(A, whole, B, whole, whole, out, whole), build


def _row(builder: Any, matrix: Any, first: Any, k: int) -> Any:
    """Return a pointer to row first + k, or to the last row."""
    last = builder.sub(builder.extract_value(matrix.shape, 0), first.type(1))
    at = builder.add(first, first.type(k))
    at = builder.select(builder.icmp_signed("<", at, last), at, last)
    return place(builder, matrix, at, first.type(0), SCALAR)


def _load(builder: Any, row: Any, at: Any) -> Any:
    here = builder.bitcast(builder.gep(row, [at]), VECTOR.as_pointer())
    return builder.load(here, align=8)


def _across(vectors: list[Any], builder: Any) -> Any:
    """Return the sums over each of 8 vectors: in each the upper half is added to the lower one."""
    width = LANES
    while len(vectors) > 1:
        width //= 2
        vectors = [
            _folded(builder, a, b, width) for a, b in zip(vectors[::2], vectors[1::2], strict=True)
        ]
    order = [int(f"{r:03b}"[::-1], 2) for r in range(LANES)]
    return builder.shuffle_vector(
        vectors[0], vectors[0], ir.Constant(ir.VectorType(INT, LANES), order)
    )


def _folded(builder: Any, a: Any, b: Any, width: int) -> Any:
    """Fold each group of 2 width numbers of a and of b; those of a come first in each group."""
    low: list[int] = []
    high: list[int] = []
    for start in range(0, LANES, 2 * width):
        for shift in (0, LANES):
            low += range(shift + start, shift + start + width)
            high += range(shift + start + width, shift + start + 2 * width)
    kind = ir.VectorType(INT, LANES)
    return builder.fadd(
        builder.shuffle_vector(a, b, ir.Constant(kind, low)),
        builder.shuffle_vector(a, b, ir.Constant(kind, high)),
    )
