"""The section about other predictors on the same splits."""

from __future__ import annotations

from functools import partial

from genesig.report.page.measure import measure
from genesig.report.page.predictors import each_value
from genesig.report.page.rows import control_rows, records
from genesig.report.page.section import Limits, Section
from genesig.report.page.svg import picture
from genesig.report.page.tables import Cell, Table, packed_table, shown_table
from genesig.report.page.words import counted
from genesig.report.prediction import figures
from genesig.report.prediction.record import Prediction
from genesig.selection.assess.controls import NAMED


def controls(data: Prediction, limits: Limits) -> Section:
    """Show other predictors on the same splits."""
    caption = "All predictors on the same outer splits, genesig at every μ."
    table = _controls_table(data, caption, limits)
    words = [
        "A short list need not beat methods that use all genes; it should come close. All"
        " predictors saw the same training and test samples." + _alone(data)
    ]
    rows = control_rows(data)
    if not any(row["model"] == "genesig" for row in rows):
        return Section("controls", "Other methods", words, [table], part="evidence")
    shown = measure(data)
    image = picture(
        "controls",
        partial(figures.controls, data),
        data={"model": [row["model"] for row in rows], **shown.columns(rows)},
        title=f"{shown.title} of every predictor on the same splits",
        description=f"{shown.name}, dots with 95 % CI: {each_value(rows, shown)}.",
        caption=f"Dot: {shown.name} on held-out samples; line: 95 % CI of the procedure."
        f" Dashed: guessing.{_band(data)} Where intervals overlap, they do not show which method is"
        " better; the paired differences in the table do.",
    )
    return Section("controls", "Other methods", words, [image, table], part="evidence", folded=True)


def _alone(data: Prediction) -> str:
    """Say what the model of named genes is; nothing where there is none."""
    if all(row["model"] != NAMED for row in records(data["tables"]["controls"])):
        return ""
    least = counted(data["config"]["signature"]["least"], "gene")
    return (
        " Named genes alone: a model of the genes that each training set can name, or, where these"
        f" are fewer than {least}, of those that its halves list most often."
    )


def _band(data: Prediction) -> str:
    if len(data["null"]["errors"]) < figures.FEWEST_FOR_BAND:
        return ""
    return " Grey: 95 % of the runs with shuffled labels."


def _controls_table(data: Prediction, caption: str, limits: Limits) -> Table:
    """Show controls.tsv; for regression its errors 1 - R² as R², like everything on the page."""
    table, shown = data["tables"]["controls"], measure(data)
    if data["study"]["classes"]:
        return _with_chosen(packed_table(data, "controls", caption, limits.table_rows))
    rows = [
        {**row, "error": shown.value(row["error"]),
         **dict(zip(("low", "high"), shown.interval(row), strict=True))}
        for row in records(table)
    ]  # fmt: skip
    columns = [shown.column if name == "error" else name for name in table["columns"]]
    return _with_chosen(shown_table(
        "controls", f"{caption} The column error of controls.tsv is 1 − {shown.name}.", columns,
        [list(row.values()) for row in rows], limits.table_rows, total=table["total"],
        file=table["file"],
    ))  # fmt: skip


def _with_chosen(table: Table) -> Table:
    """Call the lists by their name that have no μ of their own; other methods have none at all."""
    keys = [column.key for column in table.columns]
    if "mu" in keys:
        model, mu = keys.index("model"), keys.index("mu")
        for row in table.rows:
            if row[model].value == "genesig" and row[mu].value is None:
                row[mu] = Cell("chosen")
    return table
