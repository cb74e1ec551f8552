"""Numbers on their way into JSON: rounded, never NaN, of very many samples some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def rounded(values: Any, digits: int) -> Any:
    """Round to `digits` significant digits; nested lists, None for NaN and infinities."""
    array = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.floor(np.log10(np.abs(array)))
    size = np.where(np.isfinite(size), size, 0.0)
    # Python's own round gives the shortest decimal, so the JSON stays small.
    pairs = zip(array.ravel().tolist(), size.ravel().astype(int).tolist(), strict=True)
    flat = [round(v, digits - 1 - s) if np.isfinite(v) else None for v, s in pairs]
    return _nested(flat, array.shape)


def rounded_row(row: Any, digits: int, *keys: str) -> Any:
    """Return these values of a row, rounded, by their names."""
    return {key: rounded(row[key], digits) for key in keys}


def _nested(flat: list[float | None], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = int(np.prod(shape[1:]))
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def plain(value: Any) -> Any:
    """Turn a value into what JSON can hold: str keys, Python numbers, None for NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        return [plain(inner) for inner in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return None if value is None else str(value)


MOST_SAMPLES = 1000


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` row numbers, evenly spaced over `count` rows."""
    return sorted(set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist()))
