"""The signature beside published signatures and random lists of genes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from genesig.report.page.measure import Measure, measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.style import (
    GENESIG_COLOUR,
    GREY,
    INK,
    PAGE_WIDTH,
    new_figure,
    reference_line,
)
from genesig.report.page.svg import Picture
from genesig.report.page.tables import (
    CI_FROM,
    CI_TO,
    Column,
    TableRow,
    accuracy_difference,
    filled_table,
    table_rows,
)
from genesig.report.page.wording import Wording
from genesig.report.page.words import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED_TITLE = "Published signatures"
PUBLISHED_TABLE = "published"
MIDDLE_PERCENTILES = (2.5, 97.5)  # between which 95% of the random lists lie
WORDS = Wording(__file__)  # sentences: the macros of published.j2, by name


def published_section(data: Study, limits: Limits) -> Section | None:
    """Return the section about published signatures; None without any."""
    if PUBLISHED_TABLE not in data["tables"]:
        return None
    rows = table_rows(data["tables"][PUBLISHED_TABLE])
    metric = measure(data)
    random_values = metric.values([row["error"] for row in rows if row["row"] == "random"])
    signatures = [row for row in rows if row["row"] != "random" and row["error"] is not None]
    # The first row is this signature, unless its error is not defined.
    if not signatures or signatures[0]["row"] == "published" or not random_values:
        words = ["The error of this signature is not defined."]
        return Section(PUBLISHED_TABLE, PUBLISHED_TITLE, words, part="prediction")
    columns = (
        Column("Signature", "name"),
        Column("Genes", "count", "In the study"),
        Column(metric.title, "number"),
        Column(CI_FROM, "number"),
        Column(CI_TO, "number"),
        Column("Difference", "number", "Less that of genesig, on the same samples"),
        Column(CI_FROM, "number"),
        Column(CI_TO, "number"),
        Column("Random lists", "share", "That are at least as good"),
    )
    cells = [
        [
            row["name"],
            row["genes"],
            metric.value(row["error"]),
            *metric.interval(row),
            *accuracy_difference(row),
            row["as_good"],
        ]
        for row in signatures
    ]
    caption = "Each signature refitted on the training samples of each split, lam by inner folds."
    table = filled_table(
        PUBLISHED_TABLE, caption, columns, cells, limits.table_rows, file=f"{PUBLISHED_TABLE}.tsv"
    )
    low, high = np.percentile(random_values, MIDDLE_PERCENTILES)
    words = WORDS.paragraphs("rank", signatures[0], len(random_values), metric, low, high)
    return Section(
        PUBLISHED_TABLE,
        PUBLISHED_TITLE,
        words,
        [_random_lists_figure(signatures, random_values, metric), table],
        part="prediction",
    )


def _random_lists_figure(
    signatures: Sequence[TableRow], random_values: Sequence[float], metric: Measure
) -> Picture:
    """Return the figure of random lists and signatures."""
    random_names = [f"random {number}" for number in range(1, len(random_values) + 1)]
    names = [row["name"] for row in signatures] + random_names
    limits = [*map(metric.interval, signatures), *[(None, None)] * len(random_values)]
    values = [*(metric.value(row["error"]) for row in signatures), *random_values]
    return Picture(
        PUBLISHED_TABLE,
        partial(_draw_random_lists, signatures, random_values, metric),
        data={
            "name": names,
            metric.column: values,
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
        },
        title="The signature among random lists",
        description=WORDS.text("figure_description", signatures, len(random_values), metric),
        caption=WORDS.text("figure_caption", metric.name),
    )


def _draw_random_lists(
    signatures: Sequence[TableRow], random_values: Sequence[float], metric: Measure
) -> Figure:
    """Draw the histogram of random lists, and below it each signature with its interval."""
    figure, axes = new_figure(
        PAGE_WIDTH,
        2.2 + 0.26 * len(signatures),
        2,
        1,
        sharex=True,
        height_ratios=[1.5, 0.26 * len(signatures) + 0.2],
        gap=0.04,
    )
    histogram_axes, interval_axes = axes[:, 0]
    histogram_axes.hist(random_values, bins=24, color=GREY, alpha=0.6)
    histogram_axes.set_ylabel("random lists")
    for y, row in enumerate(signatures):
        colour = GENESIG_COLOUR if y == 0 else INK
        value = metric.value(row["error"])
        low, high = metric.interval(row)
        if low is not None and high is not None:
            interval_axes.hlines(y, low, high, color=colour, lw=1.8)
        interval_axes.scatter([value], [y], s=34, color=colour, zorder=3)
        histogram_axes.axvline(value, color=colour, lw=1.6 if y == 0 else 0.6)
    interval_axes.set_yticks(
        range(len(signatures)), [shorten(row["name"], 34) for row in signatures]
    )
    interval_axes.set_ylim(len(signatures) - 0.4, -0.6)
    for ax in (histogram_axes, interval_axes):
        reference_line(ax, x=metric.chance)
    interval_axes.set_xlabel(f"{metric.name} (dashed: chance)")
    interval_axes.tick_params(axis="y", length=0)
    return figure


def published_sentences(data: Study) -> list[str]:
    """Return the sentence of Methods about published signatures; [] without any."""
    if PUBLISHED_TABLE not in data["tables"]:
        return []
    kinds = [row["row"] for row in table_rows(data["tables"][PUBLISHED_TABLE])]
    return WORDS.paragraphs("methods", kinds)
