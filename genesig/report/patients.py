"""Who was studied, what the score says of them, in whom it errs, how many a validation needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.measure import Measure, measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.style import GENESIG_COLOUR, INK, MUTED
from genesig.report.page.svg import Picture
from genesig.report.page.tables import (
    CI_FROM,
    CI_TO,
    Column,
    Table,
    TableRow,
    columns_of,
    filled_table,
    table_rows,
)
from genesig.report.page.verdict import no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import (
    clean,
    decimal,
    enumerated,
    percent,
    shorten,
    significant,
)
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from genesig.results import Dataset


class FlowStep(TypedDict):
    """How many samples and genes stand at a step, or left (``out``); null where none are told."""

    step: str
    out: bool
    samples: int | None
    genes: int | None


class Patients(Study):
    """What this topic reads."""

    flow: list[FlowStep]


def flow(dataset: Dataset, quality_summary: Mapping[str, Any]) -> list[FlowStep]:
    """Count what the files held, what was left out and why, what is analysed, what filters leave.

    Filters are learned anew in each training set; here they are those on all samples.
    """
    dropped = dataset.provenance.get("dropped", [])
    dropped = [note for note in dropped if note["kind"] != "annotation column"]
    exclusions = Counter((str(step["kind"]), str(step["reason"])) for step in dropped)
    samples, genes = (
        len(names) + sum(count for (kind, _), count in exclusions.items() if kind in kinds)
        for names, kinds in (
            (dataset.samples, ("sample",)),
            (dataset.genes, ("gene", "non-gene row")),
        )
    )
    flow_steps = [_flow_step("In the files", samples, genes)]
    flow_steps += [
        _flow_step(reason, *((count, None) if kind == "sample" else (None, count)), out=True)
        for (kind, reason), count in exclusions.items()
    ]
    n_genes = len(dataset.genes)
    flow_steps.append(_flow_step("Analysed", len(dataset.samples), n_genes))
    for step in quality_summary["steps"]:
        if step["genes"] < n_genes:
            n_genes = step["genes"]
            name = str(step["step"]).replace("_", " ")
            flow_steps.append(_flow_step(f"Left by the {name}, on all samples", None, n_genes))
    return flow_steps


def _flow_step(step: str, samples: int | None, genes: int | None, *, out: bool = False) -> FlowStep:
    return {"step": step, "out": out, "samples": samples, "genes": genes}


def draw_subgroups(rows: Sequence[TableRow], metric: Measure) -> Figure:
    """Value and interval of each subgroup below that of all samples."""
    lines = [
        charts.ForestRow(
            f"{row['name']} (n = {row['samples']})",
            row["value"],
            (row["low"], row["high"]),
            INK if y else GENESIG_COLOUR,
            "s" if y else "D",
            bold=not y,
        )
        for y, row in enumerate(rows)
    ]
    label = f"{metric.name} on held-out samples"
    figure, ax = charts.forest(lines, label, reference_value=rows[0]["value"])
    ax.axvline(metric.chance, color=MUTED, lw=0.9, dashes=(1, 2), zorder=0.5)
    low, high = ax.get_xlim()
    room = 0.03 * (high - low)
    ax.set_xlim(min(low, metric.chance - room), max(high, metric.chance + room))
    for y, row in enumerate(rows):
        ax.text(
            1.02,
            y,
            decimal(row["value"]),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=8,
        )
    return figure


MAX_TABLE_GROUPS = 6
"""Classes, beyond which the table is of all samples."""
MAX_TABLE_ONE_ROWS = 40
"""Of Table 1, which readers want whole."""
FLOW_COLUMNS = (Column("Step", "text"), Column("Samples", "integer"), Column("Genes", "integer"))
SAMPLE_SIZE_COLUMNS = (
    Column("Measure", "text"),
    Column("If it is", "text"),
    Column("Its value", "number"),
    Column("Patients", "integer"),
    Column("Events, or rarer class", "integer"),
)
CALIBRATION_OF_CLASSES = "To check calibration, plan at least 100 patients of each class."
CALIBRATION_ADVICE = ByKind(
    {
        "classification": CALIBRATION_OF_CLASSES,
        SEVERAL_CLASSES: CALIBRATION_OF_CLASSES,
        "survival": "To check calibration, plan at least 100 events.",
        "regression": "With fewer than 234 patients the standard deviation of the response is not"
        " known to within 10%.",
    }
)

SAMPLE_SIZE_REFERENCE = ByKind(
    {
        "classification": "Riley et al. 2021",
        SEVERAL_CLASSES: "Riley et al. 2021",
        "survival": "Jinks et al. 2015",
        "regression": "Archer et al. 2021",
    }
)
"""How the size of a validation is cited."""
WORDS = Wording(
    __file__, CALIBRATION_ADVICE=CALIBRATION_ADVICE, SAMPLE_SIZE_REFERENCE=SAMPLE_SIZE_REFERENCE
)


def studied(data: Patients, limits: Limits) -> Section:
    """Show Table 1, and the flow of samples and genes where anything was left out."""
    rows = table_rows(data["tables"]["patients"])
    steps = [
        [
            f"Left out: {clean(table['step'])}" if table["out"] else clean(table["step"]),
            table["samples"],
            table["genes"],
        ]
        for table in data["flow"]
    ]
    flow = filled_table(
        "flow",
        "From the files to the analysis.",
        FLOW_COLUMNS,
        steps,
        MAX_TABLE_ONE_ROWS,
        is_open=True,
    )
    items = [
        table
        for table, is_needed in ((_table_one(rows), True), (flow, len(steps) > 2))
        if is_needed and table.rows
    ]
    words = WORDS.paragraphs("studied", data, rows)
    return Section("patients", "Who was studied", words, items, part="patients")


def _table_one(rows: Sequence[TableRow]) -> Table:
    """Put groups side by side, a row for each column or word, and one for what is missing."""
    size = {row["group"]: row["samples"] for row in rows if row["kind"] == "samples"}
    groups = list(size) if len(size) <= MAX_TABLE_GROUPS + 1 else list(size)[-1:]
    heads = [Column(f"{clean(group or 'All')} (n = {size[group]})", "text") for group in groups]
    lines: list[list[str]] = []
    value_rows = [row for row in rows if row["kind"] not in ("samples", "follow-up", "left out")]
    for column, of_column in groupby(value_rows, key=lambda row: row["column"]):
        missing: dict[str | None, int] = {}
        for label, rows_of_label in groupby(of_column, key=_row_label):
            row_of_group = {row["group"]: row for row in rows_of_label}
            lines.append([label, *(_cell_text(row_of_group[group]) for group in groups)])
            missing = {group: row_of_group[group]["missing"] for group in groups}
        if any(missing.values()):
            lines.append([f"{clean(column)}, missing", *map(str, missing.values())])
    return filled_table(
        "patients",
        WORDS.text("table_one"),
        [Column("Characteristic", "text"), *heads],
        lines,
        MAX_TABLE_ONE_ROWS,
        is_open=True,
        file="patients.tsv",
    )


def _row_label(row: TableRow) -> str:
    name = clean(row["column"])
    if row["kind"] == "units":
        return f"{name}, different"
    if row["kind"] == "others":
        return f"{name}: {row['level']} others"
    return f"{name}: {clean(row['level'])}" if row["level"] else name


def _cell_text(row: TableRow) -> str:
    """Return median and range of a number, or else count and share."""
    if row["kind"] == "number":
        middle, low, high = (significant(row[key], 4) for key in ("median", "low", "high"))
        return f"{middle} ({low} to {high})"
    share = "" if row["share"] is None else f" ({percent(row['share'])})"
    return f"{row['count']:.0f}{share}"


def next_study(data: Patients, limits: Limits) -> Section:
    """Return the section on the size of a validation, or why none comes next."""
    title = "Size of a validation study"  # an AUC of 1 has no error, and tells nothing of n
    rows = [row for row in table_rows(data["tables"]["next_study"]) if row["samples"]]
    if not rows or no_evidence(data):
        words = WORDS.paragraphs("no_sample_size")
        return Section("next-study", title, words, part="prediction", folded=True)
    heads = SAMPLE_SIZE_COLUMNS if rows[0]["events"] is not None else SAMPLE_SIZE_COLUMNS[:-1]
    cells = [
        [
            row["measure"],
            "as measured" if row["basis"] == "value" else "the lower limit",
            row["value"],
            row["samples"],
            row["events"],
        ]
        for row in rows
    ]
    safest_row = max(
        (row for row in rows if row["basis"] != "value"), key=lambda row: row["samples"]
    )
    words = WORDS.paragraphs("next_study", data, safest_row, rows)
    table = filled_table(
        "next-study",
        "Patients needed for an interval of ±0.05.",
        heads,
        [row[: len(heads)] for row in cells],
        limits.table_rows,
    )
    return Section(
        "next-study",
        title,
        words,
        [table] if len(rows) > 1 else [],
        part="prediction",
        folded=True,
        files=["next_study.tsv"],
    )


EFFECT_COLUMNS = (
    Column("Adjusted for", "text"),
    Column("Value", "number"),
    Column(CI_FROM, "number"),
    Column(CI_TO, "number"),
)
SUBGROUP_COLUMNS = (
    Column("Subgroup", "text"),
    Column("Samples", "integer"),
    Column("Events", "integer"),
)


EFFECT_TITLES = ByKind(
    {
        "classification": "Odds ratio of the score",
        SEVERAL_CLASSES: "Odds ratio of the score",
        "survival": "Hazard ratio of the score",
        "regression": "Slope of the score",
    }
)


def score_effect(data: Patients, limits: Limits) -> Section:
    """Show the odds ratio, hazard ratio or slope of the held-out score, alone and adjusted."""
    title = EFFECT_TITLES[data["study"]["task"]]
    rows = [row for row in table_rows(data["tables"]["score_effect"]) if row["value"] is not None]
    if not rows:
        return Section("score-effect", title, part="prediction")
    is_multiclass = len({row["class"] for row in rows}) > 1
    adjusted_for = enumerated(data["config"]["data"]["covariates"] or ["nothing"])
    cells = [
        [
            clean(row["class"]),
            adjusted_for if row["adjusted"] == "yes" else "nothing",
            row["value"],
            row["low"],
            row["high"],
        ]
        for row in rows
    ]
    heads = (Column("Class", "text"), *EFFECT_COLUMNS)
    caption = f"{rows[0]['measure'].capitalize()} per standard deviation of the held-out score."
    first_column = 0 if is_multiclass else 1
    table = filled_table(
        "score-effect",
        caption,
        heads[first_column:],
        [row[first_column:] for row in cells],
        limits.table_rows,
        is_open=is_multiclass,
    )
    null_value = 0.0 if rows[0]["measure"] == "slope" else 1.0
    return Section(
        "score-effect",
        title,
        WORDS.paragraphs("score_effect", data, rows, adjusted_for, null_value),
        [table] if len(rows) > 1 else [],
        part="prediction",
        folded=True,
        files=["score_effect.tsv"],
    )


def subgroups(data: Patients, limits: Limits) -> Section:
    """Show the held-out error in parts of the samples; nothing without evidence, or parts."""
    title = "Error in subgroups"
    metric = measure(data)
    rows = [_with_metric(row, metric) for row in table_rows(data["tables"]["subgroups"])]
    if len(rows) < 2 or rows[0]["value"] is None or no_evidence(data):
        return Section("subgroups", title, part="prediction")
    keys = ["name", "samples", "events", "value", "low", "high"]
    heads = [
        *SUBGROUP_COLUMNS,
        Column(metric.title, "number"),
        Column(CI_FROM, "number"),
        Column(CI_TO, "number"),
    ]
    if rows[0]["events"] is None:
        del heads[2], keys[2]
    table = filled_table(
        "subgroups",
        "The same in numbers.",
        heads,
        [[row[key] for key in keys] for row in rows],
        limits.table_rows,
        file="subgroups.tsv",
    )
    return Section(
        "subgroups",
        title,
        WORDS.paragraphs("subgroups", rows, metric),
        [_subgroup_figure(rows, metric), table],
        part="prediction",
        folded=True,
    )


def _with_metric(row: TableRow, metric: Measure) -> TableRow:
    """Give a row its name, and value and limits of what the page measures."""
    low, high = metric.interval(row)
    level_name = f"{shorten(row['column'] or '', 24)}: {shorten(row['level'] or '', 24)}"
    name = level_name if row["column"] else "all samples"
    return {**row, "name": name, "value": metric.value(row["error"]), "low": low, "high": high}


def _subgroup_figure(rows: list[TableRow], metric: Measure) -> Picture:
    return Picture(
        "subgroups",
        partial(draw_subgroups, rows, metric),
        data=columns_of(rows, "name", "samples", "value", "low", "high"),
        title=f"{metric.title} in subgroups",
        description=f"{metric.title}: "
        + "; ".join(f"{row['name']} {decimal(row['value'])}" for row in rows),
        caption=WORDS.text("subgroups_caption", metric),
    )


def patient_sentences(data: Patients) -> list[str]:
    """Return how follow-up, effect, subgroups and the size of a validation were computed."""
    texts = WORDS.paragraphs("follow_up_methods", data["study"]["task"])
    if no_evidence(data):  # the page has none of the others
        return texts
    return [*texts, *WORDS.paragraphs("methods", data, _effect_name(data))]


def _effect_name(data: Patients) -> str:
    rows = table_rows(data["tables"]["score_effect"])
    return str(rows[0]["measure"]) if any(row["value"] is not None for row in rows) else ""
