"""Figures as SVG that may stand in a page: named, described, without style attributes."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from genesig.report.page.marks import hand_down_clips, merge, unfold, written
from genesig.report.page.named import Marks, marks_of
from genesig.report.page.style import SIZES, STYLE, in_column
from genesig.report.page.words import clean, shorten

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HREF = f"{{{_LINK}}}href"
Columns = Mapping[str, Sequence[Any]]
_FAMILY = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_URL = re.compile(r"url\(#([^)]+)\)")
SVG_DPI = 72
IN_A_LINE, LONG, FEW = 44, 24, 14
"""Letters below the axes of a column, and of the name of a row; rows with room for two lines."""
_ROUNDED = ("d", "x", "y", "transform", "width", "height")


@dataclass(frozen=True)
class Picture:
    """A figure with all its words.

    Attributes
    ----------
    name : str
        File name without suffix, and the stem of every id in the SVG.
    title, description : str
        What it is; what it shows, for those who do not see it.
    caption : str
        How to read it.
    svg : str
        An ``<svg>`` element.
    width : float
        Inches.
    data : mapping
        Columns of what it shows, by name, all of one length.
    marks : list of Marks
        Names of what it shows, with their places.
    column : str
        The same, drawn for a column of a journal (85 mm).
    """

    name: str
    title: str
    description: str
    caption: str
    svg: str
    width: float
    data: Columns
    marks: Sequence[Marks] = ()
    column: str = ""


def picture(
    name: str, draw: Callable[[], Figure], *, title: str, description: str, caption: str,
    data: Columns,
) -> Picture:  # fmt: skip
    """Call `draw` in the report's style and keep what it drew as SVG."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # The browser has the letters that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = draw()
        svg = _tidy(_written(figure), name, title, description)
        with in_column():
            column = draw()
            _make_narrow(column)
            narrow = _tidy(_written(column), name, title, description)
    width = float(figure.get_figwidth())
    return Picture(name, title, description, caption, svg, width, data, marks_of(figure), narrow)


def _make_narrow(figure: Figure) -> None:
    """Give letters one size, and names the room of a column: broken into lines, or shorter."""
    for text in figure.findobj(Text):
        text.set_fontsize(min(text.get_fontsize(), SIZES["font.size"]))
    for axes in figure.axes:
        place = axes.get_subplotspec()
        letters = IN_A_LINE // (1 if place is None else place.get_gridspec().ncols)
        axes.set_xlabel(fill(axes.get_xlabel(), letters))
        title = axes.get_title(loc="left").split("\n")
        axes.set_title("\n".join(shorten(line, letters) for line in title), loc="left")
        if len(axes.get_xticks()) > letters // 2:  # names of samples, one a letter's width
            axes.set_xticks([])
        names = [label.get_text() for label in axes.get_yticklabels()]
        if any(len(name) > LONG for name in names):
            axes.set_yticks(axes.get_yticks(), [_in_rows(name, len(names)) for name in names])


def _in_rows(name: str, rows: int) -> str:
    """Break the name of one of a few rows into lines; of many, shorten it."""
    if len(name) <= LONG:
        return name
    return fill(name, LONG) if rows <= FEW else shorten(name.split(" · ")[0], LONG)


def _written(figure: Figure) -> str:
    """Return the SVG of matplotlib."""
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        # Axes of a fixed shape move after their labels were given room: a second pass.
        figure.draw_without_rendering()
    _lay_out(figure)
    stream = io.StringIO()
    meta = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", metadata=meta)
    return stream.getvalue()


def _lay_out(figure: Figure) -> None:
    """Give labels their room, which `savefig` would do by drawing everything once more."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.dpi = SVG_DPI
        engine.execute(figure)
        figure.set_layout_engine(None)


def _tidy(text: str, name: str, title: str, description: str) -> str:
    """Make ids unique to the page, styles into attributes, and say what is shown."""
    root = ET.fromstring(text)
    _strip(root)
    unfold(root)
    used = {link for element in root.iter() for link in _links(element)}
    for element in root.iter():
        _unstyle(element)
        _rename(element, f"figure-{name}", used)
        for key in _ROUNDED:
            if key in element.attrib:
                element.set(key, _shorter(element.get(key, ""), key))
        element.tail = None
        if element.tag != f"{{{_SVG}}}text":
            element.text = None
    hand_down_clips(root)
    _flatten(root)
    merge(root)
    _describe(root, f"figure-{name}", title, description)
    return written(root)


def _strip(root: ET.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)


def _links(element: ET.Element) -> list[str]:
    found = [match for value in element.attrib.values() for match in _URL.findall(value)]
    href = element.get(_HREF, "")
    return [*found, href[1:]] if href.startswith("#") else found


def _unstyle(element: ET.Element) -> None:
    """Turn ``style="fill: red"`` into ``fill="red"``: a strict page forbids style attributes."""
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = (piece.strip() for piece in part.partition(":"))
        if key == "image-rendering":
            value = "pixelated"  # a cell never runs into its neighbours
        if key and key != "font-family":
            element.set(key, value)


def _rename(element: ET.Element, stem: str, used: set[str]) -> None:
    if "id" in element.attrib:
        old = element.attrib.pop("id")
        if old in used:
            element.set("id", f"{stem}-{old}")
    for key, value in list(element.attrib.items()):
        if key == _HREF and value.startswith("#"):
            element.set(key, f"#{stem}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, _URL.sub(rf"url(#{stem}-\1)", value))


def _shorter(value: str, key: str) -> str:
    digits = 5 if key == "transform" else 2
    value = _NUMBER.sub(
        lambda match: f"{float(match[0]):.{digits}f}".rstrip("0").rstrip("."), value
    )
    return " ".join(value.split())


def _flatten(root: ET.Element) -> None:
    """Drop groups that carry nothing but their children, the innermost first, and empty defs."""
    for parent in reversed(list(root.iter())):
        children: list[ET.Element] = []
        for child in parent:
            if child.tag == f"{{{_SVG}}}defs" and not len(child):
                continue
            bare = child.tag == f"{{{_SVG}}}g" and not child.attrib
            children += list(child) if bare else [child]
        if children != list(parent):
            parent[:] = children


def _describe(root: ET.Element, stem: str, title: str, description: str) -> None:
    for place, (kind, words) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{kind}", {"id": f"{stem}-{kind}"})
        element.text = clean(words)
        root.insert(place, element)
    root.attrib.update({
        "role": "img",
        "aria-labelledby": f"{stem}-title {stem}-desc",
        "font-family": _FAMILY,
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "text-rendering": "geometricPrecision",
    })  # fmt: skip
