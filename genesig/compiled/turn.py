"""Q'X and Q X for the Q of a tridiagonal form, sixteen reflections at a time (compact WY form)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.chain import set_row
from genesig.compiled.lanes import (
    LANES,
    SCALAR,
    VECTOR,
    accumulate,
    add_row,
    cgutils,
    dot,
    lanes,
    matrices,
    place,
    types,
    written_out,
)
from genesig.compiled.operations import zeros
from genesig.compiled.tiles import splat

Array = np.ndarray[Any, Any]
PANEL = 2 * LANES


class Panel(NamedTuple):
    """Room for the product I - V T V' of PANEL reflections of s rows.

    V (s, PANEL), also as rows (PANEL, s), both 0 where a reflector is; T (PANEL, PANEL) upper;
    inside, share (PANEL, w): V'X and T V'X.
    """

    V: Array
    rows: Array
    T: Array
    inside: Array
    share: Array


@inner
def panel_room(s: int, w: int) -> Any:
    """Return room for reflectors of s rows and matrices of w columns, in whole lanes."""
    return Panel(
        zeros((s, PANEL), np.float64), zeros((PANEL, s), np.float64),
        zeros((PANEL, PANEL), np.float64), zeros((PANEL, w), np.float64),
        zeros((PANEL, w), np.float64),
    )  # fmt: skip


@plain
def turn(
    M: Array, m: int, beta: Array, X: Array, width: int, panel: Panel, back: bool
) -> None:  # fmt: skip
    """Replace X (m, :width), in whole lanes, by Q'X, or by Q X to turn it `back`.

    Q = H_0 H_1 ..., its reflectors in the rows of M, as `dense.tridiagonal` leaves them.
    """
    number = (m - 2 + PANEL - 1) // PANEL
    for b in range(number):
        k = (number - 1 - b if back else b) * PANEL
        gather(M, m, k, beta, panel)
        reflect(k, lanes(m), X, width, panel, back)


@plain
def gather(M: Array, m: int, k: int, beta: Array, panel: Panel) -> None:
    """Fill the panel with reflectors from k on."""
    V, rows, T, width = panel.V, panel.rows, panel.T, lanes(m)
    for r in range(PANEL):
        q = k + r
        for j in range(k, width):
            rows[r, j] = M[q, j] if q < j < m and q < m - 2 else 0.0
            V[j, r] = rows[r, j]
        for p in range(PANEL):
            T[p, r] = 0.0
        T[r, r] = beta[q] if q < m - 2 else 0.0
        for p in range(r):
            along = -T[r, r] * dot(rows[p][k:width], rows[r][k:width])
            for s in range(p + 1):
                T[s, r] += T[s, p] * along


@plain
def reflect(first: int, last: int, X: Array, width: int, panel: Panel, back: bool) -> None:
    """Apply the product of the panel to X, or its transpose, which is not `back`."""
    clear(panel.inside, 0, PANEL)
    clear(panel.share, 0, PANEL)
    add_products(1.0, panel.V[first:], 0, PANEL, X[first:], width, last - first, panel.inside)
    for r in range(PANEL):
        for p in range(r if back else 0, PANEL if back else r + 1):
            number = panel.T[r, p] if back else panel.T[p, r]
            add_row(number, panel.inside, p, panel.share, r, 0, width)
    add_products(-1.0, panel.rows, first, last, panel.share, width, PANEL, X)


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


def _entry(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    return splat(builder, builder.load(place(builder, matrix, row, column, SCALAR)), VECTOR)


def _add(builder: Any, left: Any, right: Any, rows: Any, sums: Any, of: Any) -> None:
    (A, i), (B, j), (first, last) = left, right, rows
    with cgutils.for_range_slice(builder, first, last, i.type(1), i.type) as (k, _):
        here = of(builder.load(place(builder, B, k, j, VECTOR), align=8))
        for q, total in enumerate(sums):
            accumulate(builder, _entry(builder, A, k, builder.add(i, i.type(q))), here, total)
