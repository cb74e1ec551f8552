"""The lists of a study side by side: the chosen ones first, then those along mu."""

from __future__ import annotations

from matplotlib.axes import Axes

from genesig.report.page.often import often
from genesig.report.page.record import Study
from genesig.report.page.style import mu_ticks
from genesig.report.page.words import counted


def list_ticks(ax: Axes, data: Study) -> None:
    """Give the chosen lists and each mu a place on the x axis, with the length of the list."""
    lengths = [_length(one["size"], data["config"]["linear"]["longest"]) for one in data["lists"]]
    _, median, _ = data["answer"]["lengths"]
    mu_ticks(ax, [None, *data["mu"]], [counted(median, "gene"), *lengths])
    ax.set_xlabel(f"chosen lists (median length), then {often(data)}s of the list at each μ")


def _length(size: int | None, longest: int | None) -> str:
    return f"> {longest} genes" if size is None else counted(size, "gene")
