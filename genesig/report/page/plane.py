"""Points on two components: the axes, and samples by what they are to be told apart by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from genesig.report.page.sides import codes
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    MUTED,
    PAPER,
    SEQUENTIAL,
    bare,
)
from genesig.report.page.words import percent, shorten


def plane(ax: Axes, explained: Sequence[float], a: int, b: int, noun: str) -> None:
    """Turn axes into a plane through two components, with the share that each explains."""
    for axis, k in ((ax.xaxis, a), (ax.yaxis, b)):
        axis.set_label_text(f"{noun} {k + 1} ({percent(explained[k])})")
    ax.axhline(0, color=MUTED, lw=0.5, zorder=0)
    ax.axvline(0, color=MUTED, lw=0.5, zorder=0)
    ax.set_xticks([])
    ax.set_yticks([])
    bare(ax)


def by_response(
    ax: Axes, x: Any, y: Any, response: Sequence[float], classes: Sequence[str] | None, *,
    label: bool,
) -> Any:  # fmt: skip
    """Scatter samples: by class, or coloured by a real response (returns the colours)."""
    value = np.array(response, dtype=float)
    if classes is None:
        return ax.scatter(x, y, c=value, cmap=SEQUENTIAL, s=30, edgecolor=MUTED, lw=0.6)
    for side, name in enumerate(classes):
        mine = value == codes(classes)[side]
        ax.scatter(x[mine], y[mine], s=34, color=CLASS_COLOURS[side], edgecolor=PAPER, lw=0.6,
                   marker=CLASS_MARKERS[side], label=shorten(name, 24))  # fmt: skip
    if label:
        ax.legend(loc="best", fontsize=8, handletextpad=0.2, labelcolor=INK)
    return None
