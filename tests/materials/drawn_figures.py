"""The data of the artists that a figure of the report draws, to compare with its record."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from genesig.report.page.svg import NAMES_ATTRIBUTE

Array = np.ndarray[Any, Any]


def dots(ax: Axes) -> list[tuple[list[list[float]], str]]:
    """Return the positions of each set of dots, and the colour of its first dot."""
    collections = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    return [
        (np.ma.getdata(artist.get_offsets()).tolist(), _colour(artist)) for artist in collections
    ]


def segments(ax: Axes) -> list[tuple[list[list[float]], str]]:
    """Return [x, y, x, y] of each segment of each set of lines, and the colour of the first."""
    collections = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return [
        (
            [np.ravel(segment).tolist() for segment in artist.get_segments()],
            to_hex(artist.get_edgecolor()[0]) if len(artist.get_segments()) else "",
        )
        for artist in collections
    ]


def curves(ax: Axes) -> list[Array]:
    """Return the points (n, 2) of each line; a line across the axes is (x, 0), (x, 1) or turned."""
    return [np.array(line.get_xydata(), dtype=float) for line in ax.lines]


def boxes(ax: Axes) -> list[list[float]]:
    """Return [left, bottom, right, top] of each rectangle."""
    return [
        np.ravel(artist.get_bbox().get_points()).tolist()
        for artist in ax.patches
        if isinstance(artist, Rectangle)
    ]


def labels(ax: Axes) -> dict[str, tuple[float, float]]:
    """Return the position of each text in the axes; of equal texts, the last one's."""
    return {text.get_text(): text.get_position() for text in ax.texts}


def x_ticks(ax: Axes) -> dict[str, float]:
    """Return the position of each name on the horizontal axis."""
    return _ticks(ax.xaxis)


def y_ticks(ax: Axes) -> dict[str, float]:
    """Return the position of each name on the vertical axis."""
    return _ticks(ax.yaxis)


def named_points(ax: Axes) -> list[tuple[list[str], list[list[float]]]]:
    """Return the names that the pointer shows and their positions, for each set of points."""
    return [
        (list(names.names), np.column_stack([names.x, names.y]).tolist())
        for names in vars(ax)[NAMES_ATTRIBUTE]
    ]


def rows_have_room(figure: Figure) -> bool:
    """Return whether row names run downwards without overlap, in some half an inch for each."""
    figure.canvas.draw()
    extents = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    are_apart = all(upper.y0 > lower.y1 for upper, lower in pairwise(extents))
    return are_apart and figure.get_figheight() < 0.5 * len(extents) + 1.5


def _ticks(axis: Any) -> dict[str, float]:
    """Return the position of each tick label of an axis."""
    texts = [label.get_text() for label in axis.get_ticklabels()]
    return dict(zip(texts, axis.get_ticklocs(), strict=True))


def _colour(collection: PathCollection) -> str:
    """Return the colour of the inside of the first dot, or "none"."""
    faces = collection.get_facecolor()
    return to_hex(to_rgba(faces[0])[:3]) if len(faces) else "none"
