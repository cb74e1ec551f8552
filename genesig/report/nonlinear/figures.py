"""Pictures of nonlinear selection: frequencies and derivatives, errors, partial dependence."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.nonlinear.record import Curve, SelectedGene
from genesig.report.page.measure import measure
from genesig.report.page.named import gene_names, name_rows
from genesig.report.page.predictors import predictor_axes
from genesig.report.page.record import Study
from genesig.report.page.rows import control_rows
from genesig.report.page.style import (
    INK,
    MUTED,
    NEGATIVE,
    OTHER,
    OWN,
    PAPER,
    RULE,
    WIDE,
    rule,
    sheet,
)
from genesig.report.page.words import decimal, gene_label, percent, shorten

NONLINEAR = NEGATIVE  # blue; the linear lists are green as everywhere
COLUMNS = 3


def genes(rows: Sequence[SelectedGene], bound: float) -> Figure:
    """How often each gene is selected, by both; and the size of the derivative by it.

    Parameters
    ----------
    rows : sequence of SelectedGene
        From top to bottom.
    bound : float
        Frequency of the genes of a list.
    """
    figure, (left, right) = sheet(
        WIDE, 1.2 + 0.2 * len(rows), 1, 2, sharey=True, width_ratios=[2.2, 1], squeeze=True,
        gap=0.03,
    )  # fmt: skip
    for y, row in enumerate(rows):
        left.hlines(y, *sorted((row["frequency"], row["linear_frequency"])), color=RULE, lw=2.4)
        left.scatter(row["linear_frequency"], y, s=30, facecolor=PAPER, edgecolor=OWN, lw=1.4,
                     zorder=3)  # fmt: skip
        left.scatter(row["frequency"], y, s=24, marker="D", color=NONLINEAR, zorder=4)
        if row["mean_norm"] is not None:
            right.hlines(y, 0, row["mean_norm"], color=NONLINEAR, lw=3.2)
    rule(left, x=bound)
    left.text(bound, 1.005, percent(bound), color=MUTED, fontsize=8, ha="center", va="bottom",
              transform=left.get_xaxis_transform())  # fmt: skip
    left.set_yticks(range(len(rows)), [gene_label(r["gene"], r["symbol"], 30) for r in rows])
    for ax in (left, right):
        name_rows(ax, gene_names([r["gene"] for r in rows], [r["symbol"] for r in rows]))
    for label, row in zip(left.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row["in_signature"] else "normal")
    left.set_ylim(len(rows) - 0.4, -0.7)
    left.set_xlim(-0.03, 1.03)
    left.set_xlabel("selection frequency")
    right.set_xlabel("size of the derivative")
    right.set_xlim(left=0)
    right.ticklabel_format(axis="x", style="plain")
    right.locator_params(axis="x", nbins=3)
    for ax in (left, right):
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", color=RULE, lw=0.5)
        ax.spines["left"].set_visible(False)
    return figure


def errors(data: Study) -> Figure:
    """Every predictor on the same splits; the linear lists and the two nonlinear ones stand out."""
    rows, shown = control_rows(data), measure(data)
    figure, ax = sheet(WIDE, 1.0 + 0.3 * len(rows))
    colours = {"genesig": OWN, "nonlinear": NONLINEAR, "fvm": NONLINEAR}
    for y, row in enumerate(rows):
        colour = colours.get(row["model"], OTHER)
        limits = shown.interval(row)
        if None not in limits:
            ax.hlines(y, *limits, color=colour, lw=2.2 if row["model"] in colours else 1.4)
        marker = "D" if colour == NONLINEAR else "o"
        ax.scatter(
            [shown.value(row["error"])],
            [y],
            s=44,
            marker=marker,
            color=colour,
            zorder=3,
            clip_on=False,
        )
    predictor_axes(ax, rows, shown, bold=colours)
    return figure


def curves(found: Sequence[Curve], noun: str) -> Figure:
    """Mean of the final model, called `noun`, along each of its first genes; ticks: samples."""
    columns = min(COLUMNS, len(found))
    lines = -(-len(found) // columns)
    figure, axes = sheet(WIDE, 0.5 + 1.75 * lines, lines, columns, gap=0.05, sharey=True,
                         squeeze=False)  # fmt: skip
    for number, ax in enumerate(axes.flat):
        if number >= len(found):
            ax.set_visible(False)
            continue
        _curve(ax, found[number])
    for row in axes:
        row[0].set_ylabel(noun)
    axes[-1][0].set_xlabel("normalised expression")
    return figure


def _curve(ax: Axes, one: Curve) -> None:
    ax.plot(one["value"], one["effect"], color=NONLINEAR, lw=2)
    ticks = [value for value, many in zip(one["value"], one["samples"], strict=True) if many]
    low = 0.045
    ax.vlines(ticks, 0, low, color=INK, lw=0.8, transform=ax.get_xaxis_transform())
    ax.set_title(shorten(one["symbol"], 20), fontsize=8)
    ax.set_title(f"r² {decimal(one['straight'])}", fontsize=7, loc="right", color=MUTED)
    ax.locator_params(axis="both", nbins=4)
    ax.grid(axis="y", color=RULE, lw=0.5)
