"""Figures as SVG for the page: described, with unique ids, without style attributes, in few paths.

matplotlib writes each dot and tick as a copy (``<use>``) of a shape in ``<defs>``, often in a group
of its own. Here each copy becomes a path, and copies that look alike become one path. Samples and
genes in a figure have names with their positions (`Marks`), so that the page can mark the same
sample or gene in all figures.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page.style import COLUMN_FONT_SIZES, STYLE, in_column
from genesig.report.page.words import clean, gene_label, shorten

if TYPE_CHECKING:  # the job that collects report_data.json does not load matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}"
_HREF = f"{_LINK}href"
_COMMAND_OR_NUMBER = re.compile(r"([MLCQZmlcqz])|(-?[\d.]+(?:e-?\d+)?)")
COPY = "data-copy"  # attribute of the paths that `unfold_copies` makes; `merge_paths` deletes it


def svg_text(root: ET.Element) -> str:
    """Return the text of an SVG without namespace prefixes, which HTML does not know."""
    ET.register_namespace("", SVG.strip("{}"))
    ET.register_namespace("xlink", _LINK.strip("{}"))
    return ET.tostring(root, encoding="unicode")


def unfold_copies(root: ET.Element) -> None:
    """Replace every ``<use>`` of a path by a path; delete shapes that nothing uses any more."""
    shapes = {e.get("id", ""): e for d in root.iter(f"{SVG}defs") for e in d.iter(f"{SVG}path")}
    for use in list(root.iter(f"{SVG}use")):
        shape = shapes.get(use.get(_HREF, "").removeprefix("#"))
        if shape is not None and "transform" not in use.attrib:
            _become_path(use, shape)
    used_shapes = {use.get(_HREF, "").removeprefix("#") for use in root.iter(f"{SVG}use")}
    for defs in root.iter(f"{SVG}defs"):
        for shape in [e for e in defs if e.get("id") in shapes.keys() - used_shapes]:
            if shape.tag == f"{SVG}path":
                defs.remove(shape)


def _become_path(use: ET.Element, shape: ET.Element) -> None:
    """Turn the copy `use` of `shape` into a path at the position of the copy, with `COPY`."""
    x = float(use.attrib.pop("x", 0))
    y = float(use.attrib.pop("y", 0))
    use.attrib.pop(_HREF)
    use.tag = f"{SVG}path"
    # Where both state a property, the style of the shape counts, so it comes last.
    use.set("style", f"{use.get('style', '')}; {shape.get('style', '')}")
    use.set("d", shifted_path(shape.get("d", ""), x, y))
    use.set(COPY, "")


def shifted_path(d: str, x: float, y: float) -> str:
    """Return a path (absolute commands in pairs of coordinates) moved by (x, y)."""
    if r := _circle_radius(d):
        return circle_path(x, y, r)
    parts = []
    is_x = True
    for command, number in _COMMAND_OR_NUMBER.findall(d):
        if command:
            parts.append(command)
        else:
            parts.append(f"{float(number) + (x if is_x else y):.2f} ")
            is_x = not is_x
    return "".join(parts)


def circle_path(x: float, y: float, r: float) -> str:
    """Return the path of a circle around (x, y)."""
    arc = f"a{r:.2f} {r:.2f} 0 1 0"
    return f"M{x - r:.2f} {y:.2f}{arc} {2 * r:.2f} 0{arc} {-2 * r:.2f} 0"


def _circle_radius(d: str) -> float:
    """Return the radius of a path that is matplotlib's circle around the origin; else 0."""
    if d.count("C") != 8 or "L" in d:  # matplotlib draws a circle as eight curves
        return 0.0
    segments = [coordinates.strip(" \nz").split() for coordinates in re.split("[MC]", d)]
    end_points = [tuple(map(float, segment[-2:])) for segment in segments if segment]
    radii = [math.hypot(x, y) for x, y in end_points]
    return radii[0] if max(radii) - min(radii) < 1e-3 * max(radii) else 0.0


def merge_paths(root: ET.Element) -> None:
    """Join paths with the same attributes: copies in one group, and lines that follow one another.

    Text between copies does not matter; any other element between them could lie above or below.
    """
    for parent in root.iter():
        copy_by_appearance: dict[tuple[tuple[str, str], ...], ET.Element] = {}
        children: list[ET.Element] = []
        for child in parent:
            appearance = _attributes_without_path(child)
            if COPY not in child.attrib:
                if (
                    children
                    and _is_line(child)
                    and appearance == _attributes_without_path(children[-1])
                ):
                    children[-1].set("d", f"{children[-1].get('d', '')} {child.get('d', '')}")
                    continue
                if child.tag != f"{SVG}text":
                    copy_by_appearance.clear()
                children.append(child)
                continue
            first_copy = copy_by_appearance.get(appearance)
            if first_copy is not None:
                first_copy.set("d", first_copy.get("d", "") + child.get("d", ""))
            else:
                copy_by_appearance[appearance] = child
                children.append(child)
        if len(children) != len(parent):
            parent[:] = children
    for element in root.iter(f"{SVG}path"):
        element.attrib.pop(COPY, None)


def _attributes_without_path(element: ET.Element) -> tuple[tuple[str, str], ...]:
    """Return name and value of all attributes but the path ``d``, sorted so that they compare."""
    return tuple(sorted((name, value) for name, value in element.attrib.items() if name != "d"))


def _is_line(element: ET.Element) -> bool:
    """Return whether a path is an opaque line; transparent ones darken where they cross."""
    is_solid = not any("opacity" in key for key in element.attrib)
    return element.tag == f"{SVG}path" and element.get("fill") == "none" and is_solid


def move_clips_to_children(root: ET.Element) -> None:
    """Move the clip path of each group with one child to the child, so that the group can go."""
    for group in root.iter(f"{SVG}g"):
        if set(group.attrib) != {"clip-path"} or len(group) != 1:
            continue
        (child,) = group
        if "clip-path" not in child.attrib and "transform" not in child.attrib:
            child.set("clip-path", group.attrib.pop("clip-path"))


SAMPLE = "sample"
GENE = "gene"
MAX_NAME_LETTERS = 60  # letters of a name that the page shows beside the pointer
DPI = 72  # units per inch of the SVG that matplotlib writes
NAMES_ATTRIBUTE = "names_on_the_page"  # attribute of axes that holds their `Names`


class Marks(TypedDict):
    """Positions of samples or genes on one pair of axes, in the units of the SVG, y downwards."""

    kind: str  # SAMPLE, GENE, or the kind of sample of a cohort
    names: list[str]
    box: list[float]  # left, top, right and bottom of the axes
    x: list[float] | None  # None if each name is that of a row
    y: list[float] | None  # None if each name is that of a column


@dataclass(frozen=True)
class Names:
    """Samples or genes on axes, in data coordinates; drawing turns them into `Marks`."""

    kind: str  # as in `Marks`, like the next three
    names: Sequence[str]
    x: Any
    y: Any

    def marks(self, ax: Axes) -> Marks:
        """Return the positions in the SVG, once the figure is drawn."""
        figure = ax.get_figure(root=True)
        scale = DPI / figure.dpi  # type: ignore[union-attr]
        height = figure.bbox.height * scale  # type: ignore[union-attr]
        zero = np.zeros(len(self.names))
        x, y = (
            zero if coordinates is None else np.asarray(coordinates, float)
            for coordinates in (self.x, self.y)
        )
        points = ax.transData.transform(np.column_stack([x, y])) * scale
        edges = np.asarray(ax.get_window_extent().extents) * scale
        x_min, y_min, x_max, y_max = (round(float(edge), 1) for edge in edges)
        return {
            "kind": self.kind,
            "names": [shorten(name, MAX_NAME_LETTERS) for name in self.names],
            "box": [x_min, round(height - y_max, 1), x_max, round(height - y_min, 1)],
            "x": None if self.x is None else points[:, 0].round(1).tolist(),
            "y": None if self.y is None else (height - points[:, 1]).round(1).tolist(),
        }


def name_points(ax: Axes, x: Any, y: Any, names: Sequence[str], kind: str = SAMPLE) -> None:
    """Let the page name the sample or gene at each point (x, y)."""
    _attach_names(ax, Names(kind, names, x, y))


def name_columns(ax: Axes, names: Sequence[str], kind: str = SAMPLE) -> None:
    """Let the page name the columns 0, 1, .. of axes."""
    _attach_names(ax, Names(kind, names, range(len(names)), None))


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Let the page name the rows 0, 1, .. of axes, each a gene."""
    _attach_names(ax, Names(GENE, names, None, range(len(names))))


def _attach_names(ax: Axes, names: Names) -> None:
    """Keep names on the axes until the figure is drawn."""
    if len(names.names):
        vars(ax).setdefault(NAMES_ATTRIBUTE, []).append(names)


def gene_names(genes: Sequence[str], symbols: Sequence[str]) -> list[str]:
    """Return the name of each gene that appears beside the pointer: symbol and id."""
    return [gene_label(*pair, MAX_NAME_LETTERS) for pair in zip(genes, symbols, strict=True)]


FigureColumns = Mapping[str, Sequence[Any]]
_FAMILY = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")  # of more than two decimals
_URL = re.compile(r"url\(#([^)]+)\)")
LETTERS_PER_LINE = 44  # letters that fit below the axes of a figure of column width
MAX_ROW_LETTERS = 24  # letters of the name of a row that fit beside such axes in one line
MAX_TWO_LINE_ROWS = 14  # rows up to which each has room for two lines
_ROUNDED_ATTRIBUTES = ("d", "x", "y", "transform", "width", "height")


@dataclass(frozen=True)
class Picture:
    """A figure of the page with all its words; `draw_picture` draws it."""

    name: str  # file name without suffix, and the stem of every id in the SVG
    draw: Callable[[], Figure] | None  # None once it is drawn, so that processes can exchange it
    title: str
    description: str  # its content in words, for screen readers
    caption: str  # how to read it
    data: FigureColumns  # its values, as columns of one length
    svg: str = ""  # like the next three: empty until it is drawn
    width: float = 0.0  # inches
    marks: Sequence[Marks] = ()  # positions of its samples and genes
    column: str = ""  # SVG for a column of a journal (85 mm), and for a telephone


def draw_picture(image: Picture) -> Picture:
    """Return a figure drawn in the style of the report, wide and for a column."""
    if image.draw is None:
        return image
    import matplotlib as mpl

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Letters that the font of matplotlib lacks come from the fonts of the browser.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = image.draw()
        svg = as_svg(figure, image.name, image.title, image.description)
        with in_column():
            narrow_figure = image.draw()
            make_narrow(narrow_figure)
            column = as_svg(narrow_figure, f"{image.name}-column", image.title, image.description)
    return replace(
        image,
        draw=None,
        svg=svg,
        width=float(figure.get_figwidth()),
        marks=[
            names.marks(ax) for ax in figure.axes for names in vars(ax).get(NAMES_ATTRIBUTE, ())
        ],
        column=column,
    )


def make_narrow(figure: Figure | SubFigure) -> None:
    """Fit a figure to a column: letters of one size, names in several lines or shortened."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_fontsize(min(text.get_fontsize(), COLUMN_FONT_SIZES["font.size"]))
    for axes in figure.axes:
        subplot = axes.get_subplotspec()
        letters = LETTERS_PER_LINE // (1 if subplot is None else subplot.get_gridspec().ncols)
        axes.set_xlabel(fill(axes.get_xlabel(), letters))
        title = axes.get_title(loc="left").split("\n")
        axes.set_title("\n".join(shorten(line, letters) for line in title), loc="left")
        if len(axes.get_xticks()) > letters // 2:  # names of samples, each as wide as a letter
            axes.set_xticks([])
        names = [label.get_text() for label in axes.get_yticklabels()]
        if any(len(name) > MAX_ROW_LETTERS for name in names):
            axes.set_yticks(axes.get_yticks(), [_fit_row_name(name, len(names)) for name in names])


def _fit_row_name(name: str, n_rows: int) -> str:
    """Break a long name of a row into lines; if the rows are many, shorten it instead."""
    if len(name) <= MAX_ROW_LETTERS:
        return name
    if n_rows <= MAX_TWO_LINE_ROWS:
        return fill(name, MAX_ROW_LETTERS)
    return shorten(name.split(" · ")[0], MAX_ROW_LETTERS)


def as_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """Return a figure as an ``<svg>`` whose ids begin with ``figure-NAME``."""
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        # Axes of a fixed shape move after their labels were given room: a second pass.
        figure.draw_without_rendering()
    _lay_out(figure)
    stream = io.StringIO()
    meta = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", metadata=meta)
    return _tidy_svg(stream.getvalue(), name, title, description)


def _lay_out(figure: Figure) -> None:
    """Make room for labels; ``savefig`` would draw everything a second time for it."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.dpi = DPI
        engine.execute(figure)
        figure.set_layout_engine(None)


def _tidy_svg(text: str, name: str, title: str, description: str) -> str:
    """Return matplotlib's SVG `text` for the page, with title and description, in few paths.

    Ids become unique to the page, styles become attributes, and numbers are rounded.
    """
    root = ET.fromstring(text)
    _delete_metadata_and_styles(root)
    unfold_copies(root)
    linked_ids = {link for element in root.iter() for link in _linked_ids(element)}
    for element in root.iter():
        _turn_style_into_attributes(element)
        _prefix_ids(element, f"figure-{name}", linked_ids)
        for key in _ROUNDED_ATTRIBUTES:
            if key in element.attrib:
                element.set(key, _round_numbers(element.get(key, ""), key))
        element.tail = None
        if element.tag != f"{SVG}text":
            element.text = None
    move_clips_to_children(root)
    _drop_empty_groups(root)
    merge_paths(root)
    _describe(root, f"figure-{name}", title, description)
    return svg_text(root)


def _delete_metadata_and_styles(root: ET.Element) -> None:
    """Delete matplotlib's metadata and style elements."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)


def _linked_ids(element: ET.Element) -> list[str]:
    """Return the ids that an element links to, by ``url(#id)`` or ``href="#id"``."""
    links = [match for value in element.attrib.values() for match in _URL.findall(value)]
    href = element.get(_HREF, "")
    return [*links, href[1:]] if href.startswith("#") else links


def _turn_style_into_attributes(element: ET.Element) -> None:
    """Turn ``style="fill: red"`` into ``fill="red"``: a strict page forbids style attributes."""
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = (piece.strip() for piece in declaration.partition(":"))
        if key == "image-rendering":
            value = "pixelated"  # a cell never runs into its neighbours
        if key and key != "font-family":
            element.set(key, value)


def _prefix_ids(element: ET.Element, stem: str, linked_ids: set[str]) -> None:
    """Put `stem` before the id of an element and the ids it links to; drop an id without a link."""
    if "id" in element.attrib:
        old = element.attrib.pop("id")
        if old in linked_ids:
            element.set("id", f"{stem}-{old}")
    for key, value in list(element.attrib.items()):
        if key == _HREF and value.startswith("#"):
            element.set(key, f"#{stem}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, _URL.sub(rf"url(#{stem}-\1)", value))


def _round_numbers(value: str, key: str) -> str:
    """Return an attribute's value with two decimals, five in a transform, and single blanks."""
    digits = 5 if key == "transform" else 2
    value = _NUMBER.sub(
        lambda match: f"{float(match[0]):.{digits}f}".rstrip("0").rstrip("."), value
    )
    return " ".join(value.split())


def _drop_empty_groups(root: ET.Element) -> None:
    """Replace groups without attributes by their children, the innermost first; drop empty defs."""
    for parent in reversed(list(root.iter())):
        children: list[ET.Element] = []
        for child in parent:
            if child.tag == f"{SVG}defs" and not len(child):
                continue
            is_plain_group = child.tag == f"{SVG}g" and not child.attrib
            children += list(child) if is_plain_group else [child]
        if children != list(parent):
            parent[:] = children


def _describe(root: ET.Element, stem: str, title: str, description: str) -> None:
    """Add title and description for screen readers, and the attributes of the whole figure.

    `stem` is the prefix of the ids of both.
    """
    for position, (kind, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{SVG}{kind}", {"id": f"{stem}-{kind}"})
        element.text = clean(text)
        root.insert(position, element)
    root.attrib.update(
        {
            "role": "img",
            "aria-labelledby": f"{stem}-title {stem}-desc",
            "font-family": _FAMILY,
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
            "text-rendering": "geometricPrecision",
        }
    )
