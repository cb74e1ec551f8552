"""The HTML page, figure files and the composite figure, by several processes."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple, TypeVar

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
    draw_section,
    embedded_data,
    flat_items,
    item_labels,
    item_rows,
    outline,
    without_pictures,
)
from genesig.report.page.style import STYLE, in_panel
from genesig.report.page.svg import Picture, as_svg, draw_picture, make_narrow
from genesig.report.page.verdict import headline
from genesig.report.page.words import counted
from genesig.report.record import VERSION, Report
from genesig.report.sections import summary, writers
from genesig.results import save_text
from genesig.results.files import whole_file

T = TypeVar("T")

# names of pictures: each panel is the first one of its row that the page has
PANEL_CHOICE = (
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
MAX_PANELS = 6
PANEL_COLUMNS = 2
FIGURE_WIDTH = 178 / 25.4  # inches: a page of a journal
PANEL_HEIGHT = 2.35  # inches
MAX_PANEL_ROW_NAMES = 22  # names of rows that fit into a panel
COMPOSITE_NAME = "figure1"

_TEMPLATES = Path(templates.__path__[0])  # imported, so that edits of these files are noticed
SCRIPTS = ("start.js", "tables.js", "figures.js", "copies.js", "names.js", "lists.js", "search.js")
STYLES = ("page.css", "print.css")
_CAPTION = Markup("<p><strong>{}. {}</strong></p>\n<p>{}</p>\n")
_SCRIPT = '"use strict";\n(function () {{\n{}}})();\n'

MAX_UNBROKEN_LETTERS = 16  # longer texts may break after each underscore


def render(
    data: Report,
    html_path: str | Path,
    figures_dir: str | Path,
    processes: int = 1,
    *,
    title: str,
    gene_cards: int,
    table_rows: int,
) -> None:
    """Write the report and its figures from the value of report_data.json.

    data: what `collect` returned, or what was read back from report_data.json.
    html_path: one self-contained page.
    figures_dir: gets an SVG file for each figure, another one for a column of 85 mm in ``85mm``,
        and its caption in ``captions``; the main figures as panels of ``figure1``, in SVG and PDF;
        and the references of Methods as BibTeX.
    processes: number of processes that draw figures.
    title: title of the page. gene_cards, table_rows: see `Limits`.

    Raises GenesigError: if the value is of another version.
    """
    if data["version"] != VERSION:
        raise GenesigError(
            f"report_data.json is of version {data['version']}, version {VERSION} is needed:"
            " delete it and run the workflow again"
        )
    limits = Limits(gene_cards, table_rows)
    first_screen = summary(data, limits)
    composite_figure, first_images, sections = _draw(data, limits, first_screen.items, processes)
    first_screen = replace(first_screen, items=first_images)
    page_parts = outline(sections)
    page_sections = [section for page_part in page_parts for section in page_part.sections]
    section_items = [item for section in page_sections for item in flat_items(section.items)]
    items = [*first_images, *section_items]
    labels = item_labels(first_images, page_parts)
    css = Asset.from_text("".join(map(_template_text, STYLES)))
    js = Asset.from_text(_SCRIPT.format("\n".join(map(_template_text, SCRIPTS))))
    page = _environment().get_template("page.html.j2")
    html = page.render(
        title=title,
        data=data,
        summary=first_screen,
        parts=page_parts,
        labels=labels,
        cards={item.key for item in items if isinstance(item, Card)},
        embedded=embedded_data(items),
        css=css,
        js=js,
    )
    folder = Path(figures_dir)
    file_pictures = [image for section in sections for image in section.pictures]
    for image in [*(item for item in items if isinstance(item, Picture)), *file_pictures]:
        save_text(folder / f"{image.name}.svg", image.svg + "\n")
        save_text(folder / "85mm" / f"{image.name}.svg", image.column + "\n")
        label = labels.get(anchor(image), "Figure beside the page")
        words = _CAPTION.format(label, image.title, image.caption)
        save_text(folder / "captions" / f"{image.name}.html", words)
    if composite_figure is not None:
        _save_composite(composite_figure, folder)
    save_text(folder / "references.bib", bibtex(references(data)) + "\n")
    save_text(html_path, html)


def _draw(
    data: Report, limits: Limits, first_images: Sequence[Picture], processes: int
) -> tuple[Composite | None, list[Picture], list[Section]]:
    """Return the composite figure, the first pictures and all sections, drawn by the processes.

    Sections come without the pictures that the first screen has.
    """
    first_names = {image.name for image in first_images}
    section_writers = writers(data)

    def work(piece: int) -> Any:
        """Return the composite figure (0), the first pictures (1) or a drawn section (2, 3, ..)."""
        if piece == 0:
            return composite(data, limits)
        if piece == 1:
            return [draw_picture(image) for image in first_images]
        section = section_writers[piece - 2](data, limits)
        if section is not None:
            section = without_pictures(section, first_names)
        return None if section is None else draw_section(section)

    composite_figure, drawn_images, *sections = share_work(
        work, len(section_writers) + 2, processes
    )
    return composite_figure, drawn_images, [section for section in sections if section is not None]


def _save_composite(composite_figure: Composite, folder: Path) -> None:
    """Write the composite figure as SVG and PDF, and its legend."""
    save_text(folder / f"{COMPOSITE_NAME}.svg", composite_figure.svg + "\n")
    save_text(
        folder / "captions" / f"{COMPOSITE_NAME}.html",
        f"<p>{escape(composite_figure.legend)}</p>\n",
    )
    with whole_file(folder / f"{COMPOSITE_NAME}.pdf") as path:
        path.write_bytes(composite_figure.pdf)


@dataclass(frozen=True)
class Asset:
    """A style sheet or script of the page, and its hash for the content security policy."""

    text: Markup
    sha256: str

    @classmethod
    def from_text(cls, text: str) -> Asset:
        """Return the asset of a text."""
        sha256 = hashlib.sha256(text.encode()).digest()
        return cls(Markup(text), f"sha256-{base64.b64encode(sha256).decode()}")


def _template_text(name: str) -> str:
    """Return the text of a style sheet or script."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    """Return the environment of the page's templates, with the filters that they use."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda item: type(item).__name__.lower()
    environment.filters["anchor"] = anchor
    environment.filters["rows"] = item_rows
    environment.filters["rowcount"] = lambda count: f"({counted(count, 'row')})"
    environment.filters["number"] = lambda number: f"{number:,}"
    environment.filters["morefiles"] = more_files
    environment.filters["broken"] = breakable
    # matplotlib has escaped the text of pictures already.
    environment.filters["drawn"] = lambda image: Markup(image.svg)
    environment.filters["column"] = lambda image: Markup(image.column)
    return environment


def more_files(section: Section) -> list[str]:
    """Return the paths of the tables and figures of a section that are files only."""
    return [*section.files, *(f"figures/{image.name}.svg" for image in section.pictures)]


def breakable(text: str) -> Markup:
    """Return the escaped text of a cell, in which long names may break after underscores.

    tables.js does the same for rows that it adds.
    """
    words = text.split("_") if len(text) > MAX_UNBROKEN_LETTERS else [text]
    return Markup("_<wbr>").join(words)


class Composite(NamedTuple):
    """The main pictures of the page as panels of one figure."""

    svg: str
    pdf: bytes
    legend: str


def composite(data: Report, limits: Limits) -> Composite | None:
    """Return the composite figure for a paper; None if the page has no picture for it."""
    sections = [write(data, limits) for write in writers(data)]
    item_lists = [
        summary(data, limits).items,
        *(flat_items(section.items) for section in sections if section is not None),
    ]
    pictures = {
        item.name: item for items in item_lists for item in items if isinstance(item, Picture)
    }
    chosen = [
        next((pictures[name] for name in names if name in pictures), None) for names in PANEL_CHOICE
    ]
    images = [image for image in chosen if image is not None][:MAX_PANELS]
    if not images:
        return None
    panels = list(zip(ascii_lowercase, images, strict=False))
    captions = (f"({letter}) {image.title}. {image.caption}" for letter, image in panels)
    description = "; ".join(f"{letter}: {image.description}" for letter, image in panels)
    title = headline(data)
    svg, pdf = _draw_panels(images, title, description)
    return Composite(svg, pdf, " ".join([title, *captions]))


def _draw_panels(images: Sequence[Picture], title: str, description: str) -> tuple[str, bytes]:
    """Return the pictures drawn as lettered panels, as SVG and as PDF."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panel_rows = -(-len(images) // PANEL_COLUMNS)
    with mpl.rc_context({**STYLE, "pdf.fonttype": 42}), warnings.catch_warnings():
        # Programs that show PDF and SVG have the letters that the font of matplotlib lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure((FIGURE_WIDTH, panel_rows * PANEL_HEIGHT), layout="constrained")
        panels = figure.subfigures(panel_rows, PANEL_COLUMNS, squeeze=False).ravel()
        for letter, panel, image in zip(ascii_lowercase, panels, images, strict=False):
            with in_panel(panel):
                if image.draw is not None:
                    image.draw()
                make_narrow(panel)
            for axes in panel.axes:
                if len(axes.get_yticks()) > MAX_PANEL_ROW_NAMES:
                    axes.set_yticks([])
            panel.suptitle(letter, x=0.01, ha="left", fontsize=9, fontweight="bold")
        svg = as_svg(figure, COMPOSITE_NAME, title, description)
        stream = io.BytesIO()
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None})
    return svg, stream.getvalue()


def share_work(work: Callable[[int], T], count: int, processes: int) -> list[T]:
    """Return work(0), ..., work(count - 1), each done by the next free process.

    Processes are forked where that is safe, so libraries and data need not be loaded again. They
    read the numbers of pieces from a pipe, so they end if the first process is killed. A piece
    without a result is done again by the first process, which raises its error.

    work: takes the number of a piece; its result must be picklable.
    count: pieces, fewer than 256: each number is a byte of the pipe.
    """
    if processes == 1 or sys.platform in ("win32", "darwin"):
        return [work(piece) for piece in range(count)]
    queue = _fill_queue(count)
    workers = [_start_worker(work, queue) for _ in range(processes - 1)]  # this process works, too
    results = _work_off(work, queue)
    for result, process in workers:
        with suppress(EOFError):
            results |= result.recv()
        process.join()
    os.close(queue)
    return [results[piece] if piece in results else work(piece) for piece in range(count)]


def _fill_queue(count: int) -> int:
    """Return the reading end of a pipe that holds the numbers of all pieces."""
    queue, queue_end = os.pipe()
    os.write(queue_end, bytes(range(count)))
    os.close(queue_end)
    return queue


def _work_off(work: Callable[[int], T], queue: int) -> dict[int, T]:
    """Return the results, by number, of the pieces that this process takes from the queue."""
    results = {}
    while number := os.read(queue, 1):
        results[number[0]] = work(number[0])
    return results


def _start_worker(work: Callable[[int], T], queue: int) -> tuple[Any, Any]:
    """Start a process that works off the queue; return the pipe of its results, and the process."""
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_send_results, args=(sender, work, queue), daemon=True)
    with warnings.catch_warnings():
        # It warns of the threads of the linear algebra library, which is made to be forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    return receiver, process


def _send_results(sender: Any, work: Callable[[int], T], queue: int) -> None:
    """Work off the queue and send the results; nothing is sent if a piece fails."""
    with suppress(Exception):
        sender.send(_work_off(work, queue))
