"""Sections about who was studied, and how many patients a validation needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from genesig.report.page.columns import Column
from genesig.report.page.rows import Row, records
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import Table, filled_table
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    enumerated,
    percent,
    significant,
)
from genesig.report.patients.record import Patients
from genesig.response.design import SEVERAL

MOST_GROUPS = 6
"""Classes, beyond which the table is of all samples."""
MOST_ROWS = 40
"""Of Table 1, which readers want whole."""
FLOW = (Column("Step", "text"), Column("Samples", "integer"), Column("Genes", "integer"))
NEEDS = (Column("Measure", "text"), Column("If it is", "text"), Column("Its value", "number"),
         Column("Patients", "integer"), Column("Events, or rarer class", "integer"))  # fmt: skip
OF_CLASSES = (
    "Whether probabilities are right takes more: at least 100 samples of each class are usually"
    " advised."
)
CALIBRATION = {
    "classification": OF_CLASSES,
    SEVERAL: OF_CLASSES,
    "survival": "Whether risks are right takes more: at least 100 events are usually advised.",
    "regression": "With fewer than 234 patients the standard deviation of the response is not known"
    " to within 10\u00a0%.",
}

NOT_YET = (
    "No number is given: as long as chance is not ruled out here, more samples of this kind come"
    " before a validation."
)


def studied(data: Patients, limits: Limits) -> Section:
    """Show Table 1 and the flow of samples and genes."""
    rows = records(data["tables"]["patients"])
    steps = [[f"Left out: {clean(one['step'])}" if one["out"] else clean(one["step"]),
              one["samples"], one["genes"]] for one in data["flow"]]  # fmt: skip
    flow = filled_table("flow", "From the files to the analysis.", FLOW, steps, limits.table_rows,
                        shown=True)  # fmt: skip
    words = " ".join(_who(data, rows))
    return Section(
        "patients", "Who was studied", [words], [_table_one(rows, limits), flow], part="evidence"
    )


def _who(data: Patients, rows: Sequence[Row]) -> Iterator[str]:
    """Say how many there are of each side, how long they were followed, what the table lacks."""
    of_each = [(row["group"], row["samples"]) for row in rows
               if row["kind"] == "samples" and row["group"]]  # fmt: skip
    counts = ", ".join(f"{number} {clean(group)}" for group, number in of_each)
    if of_each and data["study"]["classes"] is None:
        counts = f"{of_each[0][1]} with the event, {of_each[1][1]} without"
    yield f"{counted(data['study']['samples'], 'sample')}{f': {counts}' if counts else ''}."
    for row in rows:
        if row["kind"] == "follow-up":
            yield _followed(row)
    out = [f"{row['column']} ({row['level']})" for row in rows if row["kind"] == "left out"]
    if out:
        yield f"Columns that are not in the table: {enumerated(out)}."


def _followed(row: Row) -> str:
    if row["median"] is None:
        return "The median follow-up is not reached: most samples had the event."
    median = significant(row["median"]) + between(row["low"], row["high"], significant)
    return f"Median follow-up ({clean(row['column'])}, reversed Kaplan-Meier curve): {median}."


def _table_one(rows: Sequence[Row], limits: Limits) -> Table:
    """Put groups side by side, a row for each column or word, and one for what is missing."""
    size = {row["group"]: row["samples"] for row in rows if row["kind"] == "samples"}
    groups = list(size) if len(size) <= MOST_GROUPS + 1 else list(size)[-1:]
    heads = [Column(f"{clean(group or 'All')} (n = {size[group]})", "text") for group in groups]
    lines: list[list[str]] = []
    told = [row for row in rows if row["kind"] not in ("samples", "follow-up", "left out")]
    for column, of_column in groupby(told, key=lambda row: row["column"]):
        missing: dict[str | None, int] = {}
        for label, parts in groupby(of_column, key=_label):
            each = {row["group"]: row for row in parts}
            lines.append([label, *(_cell(each[group]) for group in groups)])
            missing = {group: each[group]["missing"] for group in groups}
        if any(missing.values()):
            lines.append([f"{clean(column)}, missing", *map(str, missing.values())])
    caption = "Numbers: median (smallest to largest). Words: count (share of those with a value)."
    return filled_table("patients", caption, [Column("Characteristic", "text"), *heads], lines,
                        max(MOST_ROWS, limits.table_rows), shown=True,
                        file="patients.tsv")  # fmt: skip


def _label(row: Row) -> str:
    name = clean(row["column"])
    if row["kind"] == "units":
        return f"{name}, different"
    if row["kind"] == "others":
        return f"{name}: {row['level']} others"
    return f"{name}: {clean(row['level'])}" if row["level"] else name


def _cell(row: Row) -> str:
    if row["kind"] == "number":
        middle, low, high = (significant(row[key], 4) for key in ("median", "low", "high"))
        return f"{middle} ({low} to {high})"
    share = "" if row["share"] is None else f" ({percent(row['share'])})"
    return f"{row['count']:.0f}{share}"


def next_study(data: Patients, limits: Limits) -> Section:
    """Say how many patients a validation needs, or that it is not what comes next."""
    rows, title = records(data["tables"]["next_study"]), "Patients needed for a validation"
    if not rows or grade(data) is Grade.NONE:
        return Section("next-study", title, [NOT_YET], part="evidence", folded=True)
    heads = NEEDS if rows[0]["events"] is not None else NEEDS[:-1]
    cells = [[row["measure"], "as measured" if row["basis"] == "value" else "the lower limit",
              row["value"], row["samples"], row["events"]] for row in rows]  # fmt: skip
    safe = max((row for row in rows if row["basis"] != "value"), key=lambda row: row["samples"])
    first = next(row for row in rows if row["measure"] == safe["measure"])
    words = (
        f"To know {clean(first['measure'])} to within ±0.05 (95\u00a0% CI), a study of other"
        f" patients needs {_need(data, first)} if it is {decimal(first['value'])} as here, and"
        f" {_need(data, safe)} if it is {decimal(safe['value'])}, the lower limit here."
        f" {CALIBRATION[data['study']['task']]}"
    )
    table = filled_table("next-study", "Patients needed for an interval of ±0.05.", heads,
                         [row[: len(heads)] for row in cells], limits.table_rows,
                         file="next_study.tsv")  # fmt: skip
    return Section("next-study", title, [words], [table], part="evidence", folded=True)


def _need(data: Patients, row: Row) -> str:
    text = counted(row["samples"], "patient")
    if row["events"] is None:
        return text
    noun = "of the rarer class" if data["study"]["classes"] else "with the event"
    return f"{text} ({row['events']} {noun})"
