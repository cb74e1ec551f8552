"""Names of what a figure shows, with their places: for a reader who points at them.

A name stands at a point, or on a whole column or row of axes; what has the same name and kind in
several figures is marked in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.words import gene_label, shorten

Array = np.ndarray[Any, Any]
SAMPLE, GENE = "sample", "gene"
MOST = 60
"""Letters of a name."""
POINTS = 72
"""Units of an SVG per inch, as matplotlib writes it."""


class Marks(TypedDict):
    """Things of one kind on one pair of axes, in the units of the SVG, y downwards.

    ``box`` is left, top, right, bottom of the axes. Without y a name is that of a column, without x
    of a row.
    """

    kind: str
    names: list[str]
    box: list[float]
    x: list[float] | None
    y: list[float] | None


class Names(Artist):
    """Names on axes, in their data coordinates; nothing is drawn."""

    def __init__(self, kind: str, names: Sequence[str], x: Any, y: Any) -> None:
        super().__init__()
        self.kind = kind
        self.names = [shorten(name, MOST) for name in names]
        self.x, self.y = x, y
        self.set_in_layout(False)

    def placed(self, ax: Axes) -> Marks:
        """Return where the names are, after the figure was drawn."""
        figure = ax.get_figure(root=True)
        scale = POINTS / figure.dpi  # type: ignore[union-attr]
        height = figure.bbox.height * scale  # type: ignore[union-attr]
        zero = np.zeros(len(self.names))
        x, y = (zero if given is None else np.asarray(given, float) for given in (self.x, self.y))
        at = ax.transData.transform(np.column_stack([x, y])) * scale
        edges = np.asarray(ax.get_window_extent().extents) * scale
        left, low, right, high = (round(float(edge), 1) for edge in edges)
        return {
            "kind": self.kind,
            "names": self.names,
            "box": [left, round(height - high, 1), right, round(height - low, 1)],
            "x": None if self.x is None else at[:, 0].round(1).tolist(),
            "y": None if self.y is None else (height - at[:, 1]).round(1).tolist(),
        }


def name_points(ax: Axes, x: Any, y: Any, names: Sequence[str], kind: str = SAMPLE) -> None:
    """Name points."""
    _add(ax, Names(kind, names, x, y))


def name_columns(ax: Axes, names: Sequence[str], kind: str = SAMPLE) -> None:
    """Name the columns 0, 1, .. of axes."""
    _add(ax, Names(kind, names, range(len(names)), None))


def name_rows(ax: Axes, names: Sequence[str], kind: str = GENE) -> None:
    """Name the rows 0, 1, .. of axes."""
    _add(ax, Names(kind, names, None, range(len(names))))


def _add(ax: Axes, names: Names) -> None:
    if names.names:
        names.set_clip_on(False)
        ax.add_artist(names)


def marks_of(figure: Figure) -> list[Marks]:
    """Return all names of a figure that was drawn."""
    return [
        artist.placed(ax)
        for ax in figure.axes
        for artist in ax.artists
        if isinstance(artist, Names)
    ]


def gene_names(genes: Sequence[str], symbols: Sequence[str]) -> list[str]:
    """Return the names that genes have when a reader points at them."""
    return [gene_label(*pair, MOST) for pair in zip(genes, symbols, strict=True)]
