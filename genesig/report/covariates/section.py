"""The section about covariates: what expression adds to them, and their weights."""

from __future__ import annotations

from genesig.report.covariates.record import Covariates, CovariatesRecord
from genesig.report.page.columns import Column
from genesig.report.page.compared import Difference
from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import filled_table
from genesig.report.page.verdict import Grade, here
from genesig.report.page.words import counted, decimal, enumerated, rate, significant

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

    Whether expression adds is for the grade to say: this sentence has the numbers.
    """
    if "covariates" not in data:
        return []
    it = data["covariates"]
    d, whole, names = it["alone"], it["whole"], enumerated(it["columns"])
    if d["error"] is None or d["linear"] is None or d["low"] is None or d["high"] is None:
        return [f"What expression adds to {names} could not be measured."]
    listed = f"{_both(data, d, names)} ({_apart(data, d)}{_p(it['p'])})"
    ridge = f"ridge on all genes beside {names} reached {_reached(data, whole, it['p_whole'])}"
    alone = here(data)
    if alone is Grade.HERE and data["verdict"]["by"] == "all genes":
        return [f"All genes together add to {names}, while the selected ones alone do not show it:"
                f" {ridge}; {listed}."]  # fmt: skip
    if alone is Grade.HERE:
        return [f"Expression adds to {names}: {listed}."]
    if data["verdict"]["excludes"]:
        known = data["verdict"]["small"] is not None
        why = "permutations did as well too often" if known else "chance is not ruled out"
        return [f"Better with expression than with {names} alone, but {why}: {listed}."]
    if alone is Grade.WEAK:
        return [f"Expression goes with what {names} leave open, but no better prediction was"
                f" shown: {listed}; {ridge}."]  # fmt: skip
    if d["high"] < 0:
        return [f"{names[0].upper()}{names[1:]} alone predicted better than with the selected"
                f" genes: {listed}; {ridge}."]  # fmt: skip
    return [f"No benefit of the selected genes over {names} was shown: {listed}; {ridge}."]


def _p(p: float | None) -> str:
    return "" if p is None else f", p\u00a0=\u00a0{significant(p, 2)}"


def _reached(data: Study, d: Difference, p: float | None) -> str:
    """Write the error of ridge, and what it gained over the covariates alone."""
    if d["linear"] is None:
        return "no measurable error"
    write = rate if data["study"]["classes"] else decimal
    gained = "" if d["low"] is None else f" ({_apart(data, d)}{_p(p)})"
    return f"{write(measure(data).value(d['linear']))}{gained}"


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
    tested = "" if it["p_whole"] is None else "; its p is that of the global test of all genes"
    words = [
        *added_value(data),
        f"Held fixed: {names}, which {verb} in every model without a penalty. Genes are selected"
        f" for what they add; a gene that only follows {names} adds nothing.{_curved(it)}{filled}"
        " The comparison uses the same splits, and its interval the differences of samples and of"
        f" repeats. Ridge uses all genes, so that what it adds is no matter of one list{tested}.",
    ]
    rows = [
        [one["name"], one["reference"], one["weight"], one["per_sd"], one["mean"], one["low"],
         one["high"], one["sign"]]
        for one in it["weights"]
    ]  # fmt: skip
    caption = (
        "Weight of each covariate in the final model, in its own units and per standard deviation,"
        " and over the outer splits. Categories are compared with the reference in column 2; where"
        " two values stand, the weight is what the score gains from the first to the second."
        + (" Each class has weights of its own." if len(data["study"]["classes"] or ()) > 2 else "")
    )
    return Section(
        "covariates", TITLE, words,
        [filled_table("covariates", caption, COLUMNS, rows, limits.table_rows)], part="evidence",
    )  # fmt: skip


def _curved(it: CovariatesRecord) -> str:
    if not it["curved"]:
        return ""
    verb = "enters as a smooth curve" if len(it["curved"]) == 1 else "enter as smooth curves"
    return f" {enumerated(it['curved'])} {verb} (restricted cubic splines)."
