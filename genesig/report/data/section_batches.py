"""What the report says of batches, in the section about the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genesig.report.data.record import Data
from genesig.report.page.columns import Column
from genesig.report.page.record import Batch
from genesig.report.page.section import Limits
from genesig.report.page.tables import Table, filled_table
from genesig.report.page.words import clean, counted, decimal, percent


def batch_fact(data: Data) -> str:
    """Return ``"3 batches (centre; Cramér's V with the label 0.21)"``; empty without batches."""
    it = data["batch"]
    if it is None:
        return ""
    named = clean(it["column"])
    return f"{counted(len(it['names']), 'batch')} ({named}; {_measured(it)})"


def _measured(it: Batch) -> str:
    """Return the association in words."""
    value = it["association"]
    if value is None:
        return "association with the label not defined"
    if it["counts"]:
        return f"Cramér's V with the label {decimal(value)}"
    return f"{percent(value**2)} of the label's variance lies between batches, beyond chance"


def batch_words(data: Data) -> list[str]:
    """Say what the table of batches is about."""
    it = data["batch"]
    if it is None:
        return []
    scale = " (0: none beyond chance; 1: one class in each batch)"
    if not data["study"]["classes"] or it["association"] is None:
        scale = ""
    words = (
        "The more a batch goes with the label, the more of what predicts the label may be the batch"
        f" itself; here, {_measured(it)}{scale}."
    )
    if it["combat"] and it["too_few"]:
        words += (
            f" ComBat could not correct {it['too_few']} of {it['held_out']} held-out samples, whose"
            " batches had too few training samples."
        )
    elif it["combat"]:
        words += " ComBat corrected every held-out sample by estimates from training samples."
    if it["combat"] and not it["shown"]:
        words += (
            " The quality of the samples is shown before and after it; other pictures and"
            " single-gene tests show the values as they were before it."
        )
    return [words]


def batch_table(data: Data, limits: Limits) -> list[Table]:
    """Show how many samples of each class, or which responses, each batch has."""
    it = data["batch"]
    if it is None:
        return []
    label = clean(data["study"]["label"])
    columns = [Column("Batch", "name"), Column("Samples", "integer")]
    values: list[Sequence[Any]] = [it["names"], it["sizes"]]
    if it["counts"]:
        columns += [Column(clean(name), "integer") for name in data["study"]["classes"] or []]
        values += zip(*it["counts"], strict=True)
    if it["mean"] and it["sd"]:
        columns += [Column(f"Mean {label}", "number"), Column("Standard deviation", "number")]
        values += [it["mean"], it["sd"]]
    if it["wrong"] is not None:
        help_ = "Share of the decisions on the batch's samples while they were held out"
        columns.append(Column("Wrong while held out", "share", help_))
        values.append(it["wrong"])
    caption = f"Batches ({clean(it['column'])}) and {label}."
    rows = list(zip(*values, strict=True))
    return [filled_table("batches", caption, columns, rows, limits.table_rows)]
