"""The HTML page, figure files, Figure 1 of a paper: what of the report opens files."""

from __future__ import annotations

import base64
import hashlib
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from genesig.errors import GenesigError
from genesig.report.methods import bibtex, references
from genesig.report.page import templates
from genesig.report.page.section import (
    Card,
    Limits,
    Section,
    anchor,
    each,
    embedded,
    labels,
    outline,
    rows,
    without_pictures,
)
from genesig.report.page.shared import shared
from genesig.report.page.style import STYLE, in_panel
from genesig.report.page.svg import Picture, as_svg, make_narrow, undrawn
from genesig.report.page.verdict import headline
from genesig.report.page.words import counted
from genesig.report.record import VERSION, Report
from genesig.report.sections import summary, writers
from genesig.results import save_text
from genesig.results.files import whole_file

CHOICE = (
    ("held_out_scores", "survival_curves", "observed_predicted", "confusion", "studies_forest"),
    ("gene_frequencies", "studies_genes"),
    ("controls",),
    ("roc", "beyond_covariates"),
    ("brevity",),
    ("null",),
    ("heat_map",),
    ("volcano",),
    ("subgroups",),
)
"""Names of pictures, one of each row: patients, genes, other methods, accuracy by length."""
MOST, COLUMNS = 6, 2
WIDTH, ROW = 178 / 25.4, 2.35
"""Inches: a page of a journal, and one row of panels."""


ROWS = 22
"""Names of rows that a panel has room for."""
NAME = "figure1"


class Composite(NamedTuple):
    """The figure as SVG and as PDF, and its legend."""

    svg: str
    pdf: bytes
    legend: str


def composite(data: Report, limits: Limits) -> Composite | None:
    """Draw what the page has pictures for as panels; None where it has none."""
    shown: dict[str, Picture] = {}
    with undrawn() as draws:
        sections = [write(data, limits) for write in writers(data)]
        found = [summary(data, limits).items, *(each(section.items) for section in sections)]
        shown |= {item.name: item for items in found for item in items if isinstance(item, Picture)}
    names = [there[0] for row in CHOICE if (there := [name for name in row if name in shown])]
    if not (names := names[:MOST]):
        return None
    panels = [(letter, shown[name]) for letter, name in zip(ascii_lowercase, names, strict=False)]
    words = (f"({letter}) {one.title}. {one.caption}" for letter, one in panels)
    description = "; ".join(f"{letter}: {one.description}" for letter, one in panels)
    title = headline(data)
    svg, pdf = _panel([draws[name] for name in names], title, description)
    return Composite(svg, pdf, " ".join([title, *words]))


def _panel(
    draws: Sequence[Callable[[], object]], title: str, description: str
) -> tuple[str, bytes]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = -(-len(draws) // COLUMNS)
    with mpl.rc_context({**STYLE, "pdf.fonttype": 42}), warnings.catch_warnings():
        # A reader of PDF and SVG has the letters that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure((WIDTH, rows * ROW), layout="constrained")
        panels = figure.subfigures(rows, COLUMNS, squeeze=False).ravel()
        for letter, panel, draw in zip(ascii_lowercase, panels, draws, strict=False):
            with in_panel(panel):
                draw()
                make_narrow(panel)
            for axes in panel.axes:
                if len(axes.get_yticks()) > ROWS:
                    axes.set_yticks([])
            panel.suptitle(letter, x=0.01, ha="left", fontsize=9, fontweight="bold")
        svg, stream = as_svg(figure, NAME, title, description), io.BytesIO()
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None})
    return svg, stream.getvalue()


_TEMPLATES = Path(templates.__file__).parent
SCRIPTS = ("start.js", "tables.js", "figures.js", "copies.js", "names.js", "lists.js", "search.js")
STYLES = ("page.css", "print.css")
_CAPTION = Markup("<p><strong>{}. {}</strong></p>\n<p>{}</p>\n")
_SCRIPT = '"use strict";\n(function () {{\n{}}})();\n'


def render(
    data: Report,
    html_path: str | Path,
    figures_dir: str | Path,
    processes: int = 1,
    *,
    title: str,
    top_genes: int,
    table_rows: int,
) -> None:
    """Write the report and its figures from the value of report_data.json alone.

    Parameters
    ----------
    data : Report
        What `collect` returned, or what was read back from report_data.json.
    html_path : path
        One self-contained page.
    figures_dir : path
        Gets one SVG file for each figure, in plain colours for print, one for a column of 85 mm in
        ``85mm``, and its words in ``captions``; the main ones as panels of ``figure1``, in SVG and
        PDF; and what Methods cites, as BibTeX.
    processes : int
        That draw the figures together.
    title : str
        Title of the page.
    top_genes : int
        Genes that get a plot of their own.
    table_rows : int
        Rows of a table that stand on the page at once.

    Raises
    ------
    GenesigError
        Where the value is of another version.
    """
    if data["version"] != VERSION:
        raise GenesigError(
            f"report_data.json is of version {data['version']}, version {VERSION} is needed:"
            " delete it and run the workflow again"
        )
    limits = Limits(top_genes, table_rows)
    found, one = _drawn(data, limits, processes)
    first = summary(data, limits)
    shown = {image.name for image in first.items}
    sections = [without_pictures(section, shown) for section in found]
    parts = outline([section for section in sections if not section.empty])
    items = [*first.items, *(i for part in parts for s in part.sections for i in each(s.items))]
    numbers = labels(first.items, parts)
    css = Asset.of("".join(map(_text, STYLES)))
    js = Asset.of(_SCRIPT.format("\n".join(map(_text, SCRIPTS))))
    page = _environment().get_template("page.html.j2")
    html = page.render(
        title=title,
        data=data,
        summary=first,
        parts=parts,
        labels=numbers,
        cards={item.key for item in items if isinstance(item, Card)},
        embedded=embedded(items),
        css=css,
        js=js,
    )
    folder = Path(figures_dir)
    beside = [image for section in sections for image in section.pictures]
    for image in [*(item for item in items if isinstance(item, Picture)), *beside]:
        save_text(folder / f"{image.name}.svg", image.svg + "\n")
        save_text(folder / "85mm" / f"{image.name}.svg", image.column + "\n")
        number = numbers.get(anchor(image), "Figure beside the page")
        words = _CAPTION.format(number, image.title, image.caption)
        save_text(folder / "captions" / f"{image.name}.html", words)
    if one is not None:
        _save_composite(one, folder)
    save_text(folder / "references.bib", bibtex(references(data)) + "\n")
    save_text(html_path, html)


def _drawn(data: Report, limits: Limits, processes: int) -> tuple[list[Section], Composite | None]:
    """Let processes share what takes the time: the sections and the figure of panels."""
    work: list[Callable[[Report, Limits], Any]] = [composite, *writers(data)]
    one, *found = shared(lambda number: work[number](data, limits), len(work), processes)
    return found, one


def _save_composite(one: Composite, folder: Path) -> None:
    save_text(folder / f"{NAME}.svg", one.svg + "\n")
    save_text(folder / "captions" / f"{NAME}.html", f"<p>{escape(one.legend)}</p>\n")
    with whole_file(folder / f"{NAME}.pdf") as path:
        path.write_bytes(one.pdf)


@dataclass(frozen=True)
class Asset:
    """A style sheet or script that stands in the page, and its hash for the page's policy."""

    text: Markup
    sha256: str

    @classmethod
    def of(cls, text: str) -> Asset:
        """Keep a text with its hash."""
        digest = hashlib.sha256(text.encode()).digest()
        return cls(Markup(text), f"sha256-{base64.b64encode(digest).decode()}")


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = _kind
    environment.filters["anchor"] = anchor
    environment.filters["rows"] = rows
    environment.filters["rowcount"] = lambda count: f"({counted(count, 'row')})"
    environment.filters["number"] = lambda number: f"{number:,}"
    environment.filters["morefiles"] = more_files
    environment.filters["broken"] = broken
    # Pictures come from matplotlib, whose text is escaped where it is written.
    environment.filters["drawn"] = lambda image: Markup(image.svg)
    environment.filters["column"] = lambda image: Markup(image.column)
    return environment


def more_files(section: Section) -> list[str]:
    """Return the tables and the figures beside the page that belong to a section."""
    return [*section.files, *(f"figures/{image.name}.svg" for image in section.pictures)]


LONG = 16
"""Letters of a name that may go on in the next line after each of its underscores."""


def broken(text: str) -> Markup:
    """Escape a cell; names of gene sets break where their words end. Also tables.js."""
    parts = text.split("_") if len(text) > LONG else [text]
    return Markup("_<wbr>").join(parts)


def _kind(item: object) -> str:
    return type(item).__name__.lower()
