"""What numba would compile a function of its own for, as machine operations put in.

It does so anew for each form of the arguments and each kind of caller: fifty functions in all, an
eighth of a first start.
"""

from __future__ import annotations

from typing import Any

import numba.np.arrayobj

from genesig.compiled.lanes import cgutils, ir, types, written_out

arrayobj: Any = numba.np.arrayobj


@written_out
def zeros(typing: Any, shape: Any, kind: Any) -> Any:
    """Return a new array of zeros; shape is a number or a tuple, kind a type such as np.float64."""
    counts = [shape] if isinstance(shape, types.Integer) else list(shape)
    array = types.Array(kind.dtype, len(counts), "C")

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        sizes = values[:1] if counts == [shape] else cgutils.unpack_tuple(builder, values[0])
        sizes = [
            context.cast(builder, size, count, types.intp)
            for size, count in zip(sizes, counts, strict=True)
        ]
        made = arrayobj._empty_nd_impl(context, builder, array, sizes)
        size = builder.mul(made.nitems, made.itemsize)
        cgutils.memset(builder, made.data, size, 0)
        return made._getvalue()

    return array(shape, kind), build


@written_out
def larger(typing: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers, the first where neither is."""
    return _one_of(typing, ">", a, b)


@written_out
def smaller(typing: Any, a: Any, b: Any) -> Any:
    """Return the smaller of two numbers, the first where neither is."""
    return _one_of(typing, "<", a, b)


def _one_of(typing: Any, order: str, a: Any, b: Any) -> Any:
    kind = types.unliteral(typing.unify_types(a, b))

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first, second = (
            context.cast(builder, value, given, kind)
            for value, given in zip(values, (a, b), strict=True)
        )
        whole = isinstance(first.type, ir.IntType)
        compare = builder.icmp_signed if whole else builder.fcmp_ordered
        return builder.select(compare(order, second, first), second, first)

    return kind(a, b), build
