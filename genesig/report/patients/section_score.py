"""Sections about the held-out score: its effect, alone and adjusted, and its error in subgroups."""

from __future__ import annotations

from functools import partial

from genesig.report.page.columns import Column
from genesig.report.page.measure import Measure, measure
from genesig.report.page.rows import Row, columns_of, records
from genesig.report.page.section import Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import LOWER, UPPER, filled_table
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    enumerated,
    rate,
    shorten,
    significant,
)
from genesig.report.patients import figures
from genesig.report.patients.record import Patients

RATIOS = (Column("Adjusted for", "text"), Column("Value", "number"),
          Column("from", "number", LOWER), Column("to", "number", UPPER))  # fmt: skip
PARTS = (Column("Subgroup", "text"), Column("Samples", "integer"), Column("Events", "integer"))


def score_effect(data: Patients, limits: Limits) -> Section:
    """Show the odds ratio, hazard ratio or slope of the held-out score, alone and adjusted."""
    title = "Effect of the score"
    rows = [row for row in records(data["tables"]["score_effect"]) if row["value"] is not None]
    if not rows:
        return Section("score-effect", title, part="evidence")
    several = len({row["class"] for row in rows}) > 1
    held = enumerated(data["config"]["data"]["covariates"] or ["nothing"])
    cells = [[clean(row["class"]), held if row["adjusted"] == "yes" else "nothing", row["value"],
              row["low"], row["high"]] for row in rows]  # fmt: skip
    heads = (Column("Class", "text"), *RATIOS)
    caption = f"{rows[0]['measure'].capitalize()} per standard deviation of the held-out score."
    words = [] if several else [_effect_words(data, row, held) for row in rows]
    first = 0 if several else 1
    table = filled_table(
        "score-effect", caption, heads[first:], [row[first:] for row in cells], limits.table_rows,
        shown=several, file="score_effect.tsv",
    )  # fmt: skip
    words.append(_of_what(data))
    return Section("score-effect", title, [" ".join(words)], [table], part="evidence",
                   folded=True)  # fmt: skip


def _of_what(data: Patients) -> str:
    """Say what is compared, and what the interval is an interval of."""
    alone = data["design"]["test"][1] == 1
    compared = (
        "Each test set has one sample, so that scores of different models are compared, and the"
        " interval is somewhat short."
        if alone
        else "Only samples of one test set are compared, which one model scored."
    )
    return (
        f"{compared} The interval is for scores of models built in this way, over samples and"
        " training sets; the final model itself is not tested here."
    )


def _effect_words(data: Patients, row: Row, held: str) -> str:
    """Write what a standard deviation of the score goes with."""
    value = significant(row["value"]) + between(row["low"], row["high"], significant)
    if row["adjusted"] == "yes":
        return f"Adjusted for {held}: {value}."
    label = clean(data["study"]["label"])
    of = label if row["measure"] == "slope" else "the event"
    of = f"{clean(row['class'])} ({label})" if row["class"] else of
    name = row["measure"].capitalize()
    return f"{name} of {of} per standard deviation of the held-out score: {value}."


def subgroups(data: Patients, limits: Limits) -> Section:
    """Show the held-out error in parts of the samples; nothing without evidence, or parts."""
    title, shown = "Error in subgroups", measure(data)
    rows = [_measured(row, shown) for row in records(data["tables"]["subgroups"])]
    if len(rows) < 2 or rows[0]["value"] is None or grade(data) is Grade.NONE:
        return Section("subgroups", title, part="evidence")
    write = rate if data["study"]["classes"] else decimal
    columns = enumerated(list(dict.fromkeys(row["column"] for row in rows[1:])))
    words = (
        f"{counted(len(rows) - 1, 'subgroup')} by {columns}, of ten samples or more; numbers are"
        f" cut at their median. All samples together: {shown.name} {write(rows[0]['value'])}. Among"
        " many small subgroups some lie apart by chance alone, and the intervals do not allow for"
        " how many were looked at: a difference here is a question for the next study."
    )
    keys = ["name", "samples", "events", "value", "low", "high"]
    heads = [*PARTS, Column(shown.title, "number"), Column("from", "number", LOWER),
             Column("to", "number", UPPER)]  # fmt: skip
    if rows[0]["events"] is None:
        del heads[2], keys[2]
    table = filled_table(
        "subgroups", "The same in numbers.", heads, [[row[key] for key in keys] for row in rows],
        limits.table_rows, file="subgroups.tsv",
    )  # fmt: skip
    return Section("subgroups", title, [words], [_forest(rows, shown), table], part="evidence",
                   folded=True)  # fmt: skip


def _measured(row: Row, shown: Measure) -> Row:
    """Give a row its name, and value and limits of what the page measures."""
    low, high = shown.interval(row)
    part = f"{shorten(row['column'] or '', 24)}: {shorten(row['level'] or '', 24)}"
    name = part if row["column"] else "all samples"
    return {**row, "name": name, "value": shown.value(row["error"]), "low": low, "high": high}


def _forest(rows: list[Row], shown: Measure) -> Picture:
    return picture(
        "subgroups",
        partial(figures.subgroups, rows, shown),
        data=columns_of(rows, "name", "samples", "value", "low", "high"),
        title=f"{shown.title} in subgroups",
        description="; ".join(f"{row['name']} {decimal(row['value'])}" for row in rows),
        caption="Held-out samples of each subgroup, with 95 % CI. Dashed line: all samples; dotted"
        f" line: {decimal(shown.chance)}, no information.",
    )
