"""The section about covariates: what expression adds to them, and their weights."""

from __future__ import annotations

from genesig.report.covariates.record import Covariates
from genesig.report.page.columns import Column
from genesig.report.page.compared import Difference
from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import filled_table
from genesig.report.page.words import counted, decimal, enumerated, rate

TITLE = "Covariates"
COLUMNS = (
    Column("Covariate", "text"),
    Column("Against", "text"),
    Column("Weight", "signed"),
    Column("Weight per SD", "signed"),
    Column("Mean over splits", "signed"),
    Column("Smallest", "signed"),
    Column("Largest", "signed"),
    Column("Same sign", "share"),
)


def added_value(data: Covariates) -> list[str]:
    """Return one sentence for the first screen: what expression adds; nothing without covariates.

    The interval is that of the paired difference on the same held-out samples.
    """
    if "covariates" not in data:
        return []
    it = data["covariates"]
    d, names = it["alone"], enumerated(it["columns"])
    if d["error"] is None or d["linear"] is None or d["low"] is None or d["high"] is None:
        return [f"What expression adds to {names} could not be measured."]
    both, apart = _both(data, d, names), _apart(data, d)
    if d["low"] > 0:
        return [f"Expression adds to {names}: {both} ({apart})."]
    if d["high"] < 0:
        return [f"Expression added nothing to {names}, which predicted better alone: {both}"
                f" ({apart})."]  # fmt: skip
    return [f"No benefit of expression over {names} was detectable: {both} ({apart})."]


def _both(data: Study, d: Difference, names: str) -> str:
    shown = measure(data)
    write = rate if data["study"]["classes"] else decimal
    name = "balanced error" if data["study"]["classes"] else shown.name
    ours, theirs = write(shown.value(d["linear"])), write(shown.value(d["error"]))
    return f"{name} {ours} with it, {theirs} with {names} alone"


def _apart(data: Study, d: Difference) -> str:
    """Write how much smaller the error is, or how much larger R², with its interval."""
    two = data["study"]["classes"] is not None
    values = [d["difference"], d["low"], d["high"]]
    value, low, high = (
        decimal(None if v is None else 100 * v, 1) if two else decimal(v) for v in values
    )
    return f"difference {value}{' points' if two else ''}, 95\u00a0% CI {low} to {high}"


def covariates(data: Covariates, limits: Limits) -> Section:
    """Show what is held fixed; nothing where that is nothing."""
    if "covariates" not in data:
        return Section("covariates", TITLE)
    it = data["covariates"]
    names = enumerated(it["columns"])
    filled = (
        f" {counted(it['missing'], 'sample')} lacked a value, imputed with the mean of the training"
        " samples."
        if it["missing"]
        else ""
    )
    verb = "is" if len(it["columns"]) == 1 else "are"
    words = [
        *added_value(data),
        f"Held fixed: {names}, which {verb} in every model without a penalty. Genes are selected"
        f" for what they add; a gene that only follows {names} adds nothing.{filled} The comparison"
        " uses the same splits, and its interval the difference on each held-out sample.",
    ]
    rows = [
        [one["name"], one["reference"], one["weight"], one["per_sd"], one["mean"], one["low"],
         one["high"], one["sign"]]
        for one in it["weights"]
    ]  # fmt: skip
    caption = (
        "Weight of each covariate in the final model, in its own units and per standard deviation,"
        " and over the outer splits. A word is held against the one in the second column."
        + (" Each class has weights of its own." if len(data["study"]["classes"] or ()) > 2 else "")
    )
    return Section(
        "covariates", TITLE, words,
        [filled_table("covariates", caption, COLUMNS, rows, limits.table_rows)], part="evidence",
    )  # fmt: skip
