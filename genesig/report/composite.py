"""Figure 1 of a paper: what the page shows, as panels a to f at the width of a page, one legend."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from genesig.report.page.section import Limits, each
from genesig.report.page.style import STYLE, in_panel
from genesig.report.page.svg import Picture, as_svg, make_narrow, undrawn
from genesig.report.page.verdict import headline
from genesig.report.record import Report
from genesig.report.sections import summary, writers

CHOICE = (
    ("forest",),
    ("roc", "survival_curves", "observed_predicted", "confusion"),
    ("null",),
    ("volcano",),
    ("heat_map",),
    ("brevity",),
    ("waterfall",),
    ("subgroups",),
)
"""Names of pictures, one of each row: error, prediction, chance, genes, values, length."""
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
        found = [summary(data).items, *(each(write(data, limits).items) for write in writers(data))]
        shown |= {item.name: item for items in found for item in items if isinstance(item, Picture)}
    names = [there[0] for row in CHOICE if (there := [name for name in row if name in shown])]
    if not (names := names[:MOST]):
        return None
    panels = [(letter, shown[name]) for letter, name in zip(ascii_lowercase, names, strict=False)]
    words = (f"({letter}) {one.title}. {one.caption}" for letter, one in panels)
    description = "; ".join(f"{letter}: {one.description}" for letter, one in panels)
    title = headline(data)
    svg, pdf = _drawn([draws[name] for name in names], title, description)
    return Composite(svg, pdf, " ".join([title, *words]))


def _drawn(
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
