"""Whether a value of report_data.json is what its record says: every key, every type."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

UNIONS = (Union, types.UnionType)


def misfits(kind: Any, value: Any, where: str = "") -> list[str]:
    """Return where a value differs from a TypedDict or another type; nothing where it does not."""
    return list(_misfits(kind, value, where))


def _misfits(kind: Any, value: Any, where: str) -> Iterator[str]:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is NotRequired:
        yield from _misfits(inside[0], value, where)
    elif is_typeddict(kind):
        yield from _keys(kind, value, where)
    elif origin in UNIONS:
        if all(misfits(one, value, where) for one in inside):
            yield f"{where}: {value!r} is no {kind}"
    elif origin in (list, dict):
        if not isinstance(value, origin):
            yield f"{where}: {value!r} is no {origin.__name__}"
            return
        items = value.items() if origin is dict else enumerate(value)
        for key, one in items:
            yield from _misfits(inside[-1], one, f"{where}[{key!r}]")
    elif kind is not Any and not _plain(kind, value):
        yield f"{where}: {value!r} is no {kind}"


def _keys(kind: Any, value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where}: {value!r} is no {kind.__name__}"
        return
    hints = get_type_hints(kind, include_extras=True)
    required = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
    for key in sorted(required - value.keys() | value.keys() - hints.keys()):
        yield f"{where}[{key!r}]: {'unknown' if key in value else 'absent'}"
    for key in value.keys() & hints.keys():
        yield from _misfits(hints[key], value[key], f"{where}[{key!r}]")


def _plain(kind: Any, value: Any) -> bool:
    if kind is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if kind is type(None) else isinstance(value, kind)
