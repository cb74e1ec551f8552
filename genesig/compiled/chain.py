"""Recurrences over the rows of a matrix, eight of its columns at a time, each by itself."""

from __future__ import annotations

from typing import Any

from genesig.compiled.lanes import (
    LANES,
    VECTOR,
    cgutils,
    ir,
    load,
    matrices,
    multiply_add,
    place,
    types,
    written_out,
)
from genesig.compiled.tiles import splat


@written_out
def pass_down(typing: Any, ratio: Any, rows: Any, X: Any, j: Any) -> Any:
    """Subtract ``ratio[i - 1] X[i - 1]`` from X[i], i = 1 to rows - 1, in columns j to j + 7."""
    matrices(ratio, X)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        ratio, X = _arrays(context, builder, signature, values, (0, 2))
        rows, j = values[1], values[3]
        above = cgutils.alloca_once_value(builder, load(builder, X, j.type(0), j))
        one = rows.type(1)
        with cgutils.for_range_slice(builder, one, rows, one, rows.type) as (i, _):
            share = builder.fneg(load(builder, ratio, builder.sub(i, one), j))
            here = multiply_add(builder, share, builder.load(above), load(builder, X, i, j))
            builder.store(here, above)
            builder.store(here, place(builder, X, i, j, VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(ratio, types.intp, X, types.intp), build


@written_out
def pass_up(typing: Any, inverse: Any, ratio: Any, rows: Any, X: Any, j: Any) -> Any:
    """Replace X[i] by ``inverse[i] X[i] - ratio[i] X[i + 1]``, from rows - 1 (without i + 1) to 0.

    In columns j to j + 7.
    """
    matrices(inverse, ratio, X)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        inverse, ratio, X = _arrays(context, builder, signature, values, (0, 1, 3))
        rows, j = values[2], values[4]
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        below = cgutils.alloca_once_value(builder, zero)
        one = rows.type(1)
        with cgutils.for_range_slice(builder, one.type(0), rows, one, rows.type) as (k, _):
            i = builder.sub(builder.sub(rows, one), k)
            own = builder.fmul(load(builder, inverse, i, j), load(builder, X, i, j))
            share = builder.fneg(load(builder, ratio, i, j))
            here = multiply_add(builder, share, builder.load(below), own)
            builder.store(here, below)
            builder.store(here, place(builder, X, i, j, VECTOR), align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(inverse, ratio, whole, X, whole), build


@written_out
def subtract(typing: Any, A: Any, a: Any, B: Any, b: Any, count: Any, out: Any, c: Any) -> Any:
    """Subtract ``sum_k A[a + k] B[b + k]``, k < count, from out[c], column by column."""
    matrices(A, B, out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, B, out = _arrays(context, builder, signature, values, (0, 2, 5))
        a, b, count, c = (values[k] for k in (1, 3, 4, 6))
        width, step = builder.extract_value(out.shape, 1), a.type(LANES)
        with cgutils.for_range_slice(builder, a.type(0), width, step, a.type) as (j, _):
            to = place(builder, out, c, j, VECTOR)
            total = cgutils.alloca_once_value(builder, builder.load(to, align=8))
            with cgutils.for_range_slice(builder, a.type(0), count, a.type(1), a.type) as (k, _):
                left = builder.fneg(load(builder, A, builder.add(a, k), j))
                right = load(builder, B, builder.add(b, k), j)
                builder.store(multiply_add(builder, left, right, builder.load(total)), total)
            builder.store(builder.load(total), to, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(A, whole, B, whole, whole, out, whole), build


@written_out
def set_row(typing: Any, number: Any, out: Any, k: Any) -> Any:
    """Write a number to all of out[k]."""
    matrices(out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        out = _arrays(context, builder, signature, values, (1,))[0]
        k, width = values[2], builder.extract_value(out.shape, 1)
        wide, step = splat(builder, values[0], VECTOR), k.type(LANES)
        with cgutils.for_range_slice(builder, k.type(0), width, step, k.type) as (j, _):
            builder.store(wide, place(builder, out, k, j, VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(types.float64, out, types.intp), build


@written_out
def times_row(typing: Any, A: Any, i: Any, out: Any, k: Any) -> Any:
    """Multiply out[k] by A[i], entry by entry."""
    matrices(A, out)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, out = _arrays(context, builder, signature, values, (0, 2))
        i, k, width = values[1], values[3], builder.extract_value(out.shape, 1)
        step = k.type(LANES)
        with cgutils.for_range_slice(builder, k.type(0), width, step, k.type) as (j, _):
            product = builder.fmul(load(builder, A, i, j), load(builder, out, k, j))
            builder.store(product, place(builder, out, k, j, VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(A, types.intp, out, types.intp), build


def _arrays(context: Any, builder: Any, signature: Any, values: Any, which: Any) -> list[Any]:
    return [context.make_array(signature.args[k])(context, builder, values[k]) for k in which]
