"""The HTML page and the figure files; the one module of the report that opens files."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from genesig.errors import GenesigError
from genesig.report.methods import bibtex, references
from genesig.report.page import templates
from genesig.report.page.section import Card, Limits, anchor, each, embedded, labels, outline, rows
from genesig.report.page.svg import Picture
from genesig.report.page.words import counted
from genesig.report.record import VERSION, Report
from genesig.report.sections import summary, written
from genesig.results import save_text

_TEMPLATES = Path(templates.__file__).parent
SCRIPTS = ("start.js", "tables.js", "figures.js", "copies.js", "names.js", "search.js")
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
        ``85mm``, and its words in ``captions``; and what Methods cites, as BibTeX.
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
    found = written(data, limits, processes)
    parts = outline([section for section in found if not section.empty])
    first = summary(data)
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
    for item in items:
        if isinstance(item, Picture):
            save_text(Path(figures_dir) / f"{item.name}.svg", item.svg + "\n")
            save_text(Path(figures_dir) / "85mm" / f"{item.name}.svg", item.column + "\n")
            words = _CAPTION.format(numbers[anchor(item)], item.title, item.caption)
            save_text(Path(figures_dir) / "captions" / f"{item.name}.html", words)
    save_text(Path(figures_dir) / "references.bib", bibtex(references(data)) + "\n")
    save_text(html_path, html)


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
    # Pictures come from matplotlib, whose text is escaped where it is written.
    environment.filters["drawn"] = lambda image: Markup(image.svg)
    return environment


def _kind(item: object) -> str:
    return type(item).__name__.lower()
