"""Colours, fonts, sizes and empty figures for all pictures of the report.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish; classes also
differ in shape. In its dark theme page.css replaces INK, MUTED, RULE, PAPER and the data colours.
Images keep their colours, so ON_IMAGE and PAPER_ON_IMAGE are not replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the job that collects report_data.json does not load matplotlib
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure, SubFigure

INK = "#1d1d1f"
MUTED = "#5c6066"
RULE = "#d5d8dd"
PAPER = "#fcfcfd"
NEGATIVE = "#0072b2"
POSITIVE = "#d55e00"
GENESIG_COLOUR = "#007a58"
GREY = "#8a8f98"
ON_IMAGE = "#111213"
PAPER_ON_IMAGE = "#f8f8f6"
BLOCK_COLOURS = ("#0072b2", "#d55e00", "#007a58", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195")
# names of BLOCK_COLOURS for captions
COLOUR_NAMES = ("blue", "orange", "green", "pink", "yellow", "light blue", "purple")
BLOCK_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
CLASS_COLOURS = 3 * BLOCK_COLOURS  # of up to twenty classes
CLASS_MARKERS = 3 * BLOCK_MARKERS
SEQUENTIAL = "cividis"  # colour map of values from small to large
BLUE_TO_ORANGE = (
    "#003c63",
    "#0072b2",
    "#5fa5d0",
    "#b3d3e6",
    "#f3f2ee",
    "#f6cfae",
    "#eda063",
    "#d55e00",
    "#7a3300",
)

# inches: a page's width, and half a page that still fits a telephone
PAGE_WIDTH = 7.4
HALF_WIDTH = 4.6

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "image.interpolation": "none",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "patch.linewidth": 0.8,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "genesig",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8,
}


# box behind a label, so that no line crosses it
BEHIND_LABEL: Any = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.85, "pad": 0.4}
COLUMN_WIDTH = 85 / 25.4  # inches: a column of a journal
COLUMN_FONT_SIZES: Any = {
    "font.size": 6.5,
    "axes.labelsize": 6.5,
    "axes.titlesize": 6.5,
    "figure.labelsize": 6.5,
    "legend.fontsize": 6.0,
    "xtick.labelsize": 6.0,
    "ytick.labelsize": 6.0,
}
_IN_COLUMN = ContextVar("in_column", default=False)
_PANEL: ContextVar[SubFigure | None] = ContextVar("panel", default=None)


@contextmanager
def in_column() -> Iterator[None]:
    """Make figures inside the ``with`` block as wide as a column, with smaller letters."""
    import matplotlib as mpl

    token = _IN_COLUMN.set(True)
    try:
        with mpl.rc_context(COLUMN_FONT_SIZES):
            yield
    finally:
        _IN_COLUMN.reset(token)


@contextmanager
def in_panel(panel: SubFigure) -> Iterator[None]:
    """Draw the next figure inside the ``with`` block as a panel, with a column's letters."""
    token = _PANEL.set(panel)
    try:
        with in_column():
            yield
    finally:
        _PANEL.reset(token)


def new_figure(
    width: float,
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    gap: float = 0.02,
    **options: Any,
) -> tuple[Figure, Any]:
    """Return (figure, axes): one Axes, or an array (rows, columns) of them.

    Inside `in_panel` the figure is that panel; inside `in_column` it is as narrow as a column, and
    lower, as its letters are smaller. width, height: inches; options: those of `Figure.subplots`.
    """
    options = {"squeeze": rows == columns == 1, **options}
    panel: Any = _PANEL.get()  # a SubFigure has all methods of Figure that drawing needs
    if panel is not None:
        return panel, panel.subplots(rows, columns, **options)
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(wspace=gap)
    size = (min(width, COLUMN_WIDTH), height * 0.85) if _IN_COLUMN.get() else (width, height)
    figure = Figure(figsize=size, layout=layout)
    FigureCanvasSVG(figure)
    return figure, figure.subplots(rows, columns, **options)


def diverging() -> Colormap:
    """Return the colour map of values on both sides of 0."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue-orange", BLUE_TO_ORANGE)


def reference_line(ax: Axes, *, x: float | None = None, y: float | None = None) -> None:
    """Draw a dashed line at x or at y, or both, behind the data; none where both are None."""
    kind: Any = {"color": MUTED, "linewidth": 0.9, "dashes": (4, 3), "zorder": 0.5}
    if x is not None:
        ax.axvline(x, **kind)
    if y is not None:
        ax.axhline(y, **kind)


def small_label(ax: Axes, x: float, y: float, text: str, **options: Any) -> None:
    """Write a small label in data coordinates, or in those of the option `transform`."""
    ax.text(x, y, text, **{"color": MUTED, "fontsize": 8, **options})


def hide_frame(ax: Axes) -> None:
    """Hide the frame of axes."""
    for spine in ax.spines.values():
        spine.set_visible(False)


def colour_bar(figure: Figure, image: Any, ax: Any, label: str, **options: Any) -> None:
    """Draw a slim colour bar without a frame."""
    bar = figure.colorbar(image, ax=ax, **{"aspect": 26, "pad": 0.02, **options})
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(length=2, labelsize=8)
