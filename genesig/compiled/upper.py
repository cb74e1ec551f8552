"""The factor U'U of a symmetric matrix, in blocks of eight rows and columns, from its upper part.

A block takes its products row after row with no sum across lanes. Matrices have whole lanes of rows
and columns in use; the factor's diagonal holds inverses. Each entry is what is there, less one
product after the other, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from genesig.compiled import plain
from genesig.compiled.chain import set_row
from genesig.compiled.lanes import (
    INT,
    LANES,
    SCALAR,
    VECTOR,
    accumulate,
    add_row,
    cgutils,
    dot,
    ir,
    lanes,
    matrices,
    multiply_add,
    place,
    types,
    written_out,
)
from genesig.compiled.tiles import splat

Array = np.ndarray[Any, Any]


@plain
def spread(n: int) -> int:
    """Return an odd number of whole lanes for n: columns of a block do not fall on each other."""
    return lanes(n) if lanes(n) // LANES % 2 == 1 else lanes(n) + LANES


@plain
def factor(M: Array, m: int) -> bool:
    """Overwrite the upper triangle of M[:m, :m] by U; False where it is not definite."""
    for first in range(0, m, LANES):
        if not corner(M, first):
            return False
        for j in range(first + LANES, m, LANES):
            reduce(M, first, M, j)
    return True


@plain
def solve_left(U: Array, m: int, B: Array, last: int) -> None:
    """Solve U'X = B in place, for the first columns of B."""
    for j in range(0, last, LANES):
        for first in range(0, m, LANES):
            reduce(U, first, B, j)


@plain
def invert_left(U: Array, m: int, B: Array) -> None:
    """Fill the lower triangle, in whole blocks, of B[:m, :m] with the inverse of U'."""
    for i in range(m):
        row = B[i][: i // LANES * LANES + LANES]
        for k in range(len(row)):
            row[k] = 0.0
        row[i] = 1.0
    for j in range(0, m, LANES):
        for first in range(j, m, LANES):
            reduce_from(U, first, B, j, j)


@plain
def solve_right(U: Array, m: int, B: Array, last: int) -> None:
    """Solve U X = B in place, for the first columns of B."""
    for k in range(m - 1, -1, -1):
        for t in range(last):
            B[k, t] *= U[k, k]
        for i in range(k):
            add_row(-U[i, k], B, k, B, i, 0, last)


@plain
def add_times(scale: float, x: Array, out: Array) -> None:
    """Add ``scale x`` to another vector of its length."""
    for a in range(len(out)):  # from 0: only then is an index known to need no turn from the end
        out[a] += scale * x[a]


@plain
def solve_both(U: Array, m: int, x: Array) -> None:
    """Solve U'U x = x in place."""
    for k in range(m):
        x[k] *= U[k, k]
        add_times(-x[k], U[k][k + 1 : m], x[k + 1 : m])
    for k in range(m - 1, -1, -1):
        row = U[k]
        x[k] = (x[k] - dot(row[k + 1 : m], x[k + 1 : m])) * row[k]


@written_out
def outer(typing: Any, A: Any, i: Any, B: Any, j: Any, first: Any, last: Any, C: Any) -> Any:
    """Set ``C[i:i+8, j:j+8] = A[first:last, i:i+8]' B[first:last, j:j+8]``."""
    matrices(A, B, C)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, B, C = (context.make_array(signature.args[k])(context, builder, values[k])
                   for k in (0, 2, 6))  # fmt: skip
        i, j, first, last = (values[k] for k in (1, 3, 4, 5))
        sums = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0.0] * LANES))
                for _ in range(LANES)]  # fmt: skip
        _add(builder, (A, i), (B, j), (first, last), sums, lambda here: here)
        for q, total in enumerate(sums):
            to = place(builder, C, builder.add(i, i.type(q)), j, VECTOR)
            builder.store(builder.load(total), to, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(A, whole, B, whole, whole, whole, C), build


@plain
def clear(X: Array, first: int, last: int) -> None:
    """Write 0 to some rows, which are whole lanes."""
    for i in range(first, last):
        set_row(0.0, X, i)


@plain
def add_products(
    scale: float, A: Array, i: int, last: int, B: Array, width: int, rows: int, C: Array
) -> None:  # fmt: skip
    """Add ``scale A[:rows]'B[:rows]`` to C, but for columns i to last of A and :width of B alone.

    Rows i to last of C, in whole blocks of eight; C is none of the others.
    """
    for k in range(i, last, LANES):
        for j in range(0, width, LANES):
            add_block(scale, A, k, B, j, rows, C)


@written_out
def add_block(typing: Any, scale: Any, A: Any, i: Any, B: Any, j: Any, rows: Any, C: Any) -> Any:
    """Add ``scale A[:rows, i:i+8]'B[:rows, j:j+8]`` to ``C[i:i+8, j:j+8]``."""
    matrices(A, B, C)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, B, C = (context.make_array(signature.args[k])(context, builder, values[k])
                   for k in (1, 3, 6))  # fmt: skip
        scale, i, j, rows = (values[k] for k in (0, 2, 4, 5))
        wide = splat(builder, scale, VECTOR)
        places = [place(builder, C, builder.add(i, i.type(q)), j, VECTOR) for q in range(LANES)]
        sums = [cgutils.alloca_once_value(builder, builder.load(to, align=8)) for to in places]
        _add(
            builder, (A, i), (B, j), (i.type(0), rows), sums, lambda here: builder.fmul(wide, here)
        )
        for to, total in zip(places, sums, strict=True):
            builder.store(builder.load(total), to, align=8)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(numba.float64, A, whole, B, whole, whole, C), build


@written_out
def reduce(typing: Any, U: Any, i: Any, B: Any, j: Any) -> Any:
    """Solve U'X = B in place for rows i to i + 7 of columns j to j + 7; those above are solved."""
    matrices(U, B)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        U, B = (context.make_array(signature.args[k])(context, builder, values[k]) for k in (0, 2))
        _solve_block(builder, U, values[1], B, values[3], values[1].type(0))
        return context.get_dummy_value()

    return types.void(U, types.intp, B, types.intp), build


@written_out
def reduce_from(typing: Any, U: Any, i: Any, B: Any, j: Any, first: Any) -> Any:
    """Do as `reduce` where rows before `first` are 0."""
    matrices(U, B)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        U, B = (context.make_array(signature.args[k])(context, builder, values[k]) for k in (0, 2))
        _solve_block(builder, U, values[1], B, values[3], values[4])
        return context.get_dummy_value()

    return types.void(U, types.intp, B, types.intp, types.intp), build


@written_out
def corner(typing: Any, M: Any, i: Any) -> Any:
    """Factor the block of M on the diagonal at i, the rows above being factored; False if not so.

    What is below the diagonal of the block is overwritten by numbers of no use.
    """
    matrices(M)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        M, i = context.make_array(signature.args[0])(context, builder, values[0]), values[1]
        sums = _reduced(builder, M, i, M, i, i.type(0))
        rows = [builder.load(total) for total in sums]
        kind = ir.FunctionType(SCALAR, [SCALAR])
        root = cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.f64")
        good = ir.Constant(ir.IntType(1), 1)
        for q in range(LANES):
            left = builder.extract_element(rows[q], INT(q))
            positive = builder.fcmp_ordered(">", left, SCALAR(0.0))
            good = builder.and_(good, positive)
            inverse = builder.fdiv(SCALAR(1.0), builder.call(root, [left]))
            rows[q] = builder.fmul(rows[q], splat(builder, inverse, VECTOR))
            negative = builder.fneg(rows[q])
            for r in range(q + 1, LANES):
                at = ir.Constant(ir.VectorType(INT, LANES), [r] * LANES)
                wide = builder.shuffle_vector(negative, negative, at)
                rows[r] = multiply_add(builder, wide, rows[q], rows[r])
            rows[q] = builder.insert_element(rows[q], inverse, INT(q))
        for q, row in enumerate(rows):
            to = place(builder, M, builder.add(i, i.type(q)), i, VECTOR)
            builder.store(row, to, align=8)
        return good

    return types.boolean(M, types.intp), build


def _entry(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    return splat(builder, builder.load(place(builder, matrix, row, column, SCALAR)), VECTOR)


def _add(builder: Any, left: Any, right: Any, rows: Any, sums: Any, of: Any) -> None:
    (A, i), (B, j), (first, last) = left, right, rows
    with cgutils.for_range_slice(builder, first, last, i.type(1), i.type) as (k, _):
        here = of(builder.load(place(builder, B, k, j, VECTOR), align=8))
        for q, total in enumerate(sums):
            accumulate(builder, _entry(builder, A, k, builder.add(i, i.type(q))), here, total)


def _reduced(builder: Any, U: Any, i: Any, B: Any, j: Any, first: Any) -> list[Any]:
    """Return rows i to i + 7 of columns j to j + 7 of B, less what the rows above say of them."""
    places = [place(builder, B, builder.add(i, i.type(q)), j, VECTOR) for q in range(LANES)]
    sums = [cgutils.alloca_once_value(builder, builder.load(p, align=8)) for p in places]
    _add(builder, (U, i), (B, j), (first, i), sums, builder.fneg)
    return sums


def _solve_block(builder: Any, U: Any, i: Any, B: Any, j: Any, first: Any) -> None:
    rows: list[Any] = []
    for q, total in enumerate(_reduced(builder, U, i, B, j, first)):
        column, row = builder.add(i, i.type(q)), builder.load(total)
        for s, above in enumerate(rows):
            entry = _entry(builder, U, builder.add(i, i.type(s)), column)
            row = multiply_add(builder, builder.fneg(entry), above, row)
        rows.append(builder.fmul(row, _entry(builder, U, column, column)))
        builder.store(rows[q], place(builder, B, column, j, VECTOR), align=8)
