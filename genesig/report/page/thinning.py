"""Which of very many samples the page shows."""

from __future__ import annotations

import numpy as np

MOST_SAMPLES = 1000


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` row numbers, evenly spaced over `count` rows."""
    return sorted(set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist()))
