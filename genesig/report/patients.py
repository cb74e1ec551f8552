"""Sections about the patients: Table 1, effect of the score, subgroups, size of a validation."""

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
    validation_size,
)
from genesig.report.page.verdict import no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, decimal, enumerated, percent, shorten, significant
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from genesig.results import Dataset


class FlowStep(TypedDict):
    """A row of the table from the files to the analysis."""

    step: str  # name of the step, or reason if samples or genes were left out
    out: bool  # whether the numbers are those left out
    samples: int | None  # None if the step is about genes
    genes: int | None  # None if the step is about samples


class Patients(Study):
    """The keys of report_data.json that this topic reads."""

    flow: list[FlowStep]


def collect_flow(dataset: Dataset, quality_summary: Mapping[str, Any]) -> list[FlowStep]:
    """Return the numbers in the files, left out by each reason, analysed, and left by filters.

    Each training set learns its own filters; here they are those on all samples.
    """
    dropped = dataset.provenance.get("dropped", [])
    dropped = [note for note in dropped if note["kind"] != "annotation column"]
    exclusions = Counter((str(note["kind"]), str(note["reason"])) for note in dropped)
    n_samples = len(dataset.samples)
    n_genes = len(dataset.genes)
    n_dropped_samples = sum(note["kind"] == "sample" for note in dropped)
    n_dropped_genes = sum(note["kind"] in ("gene", "non-gene row") for note in dropped)

    def row(step: str, samples: int | None, genes: int | None, *, out: bool = False) -> FlowStep:
        return {"step": step, "out": out, "samples": samples, "genes": genes}

    rows = [row("In the files", n_samples + n_dropped_samples, n_genes + n_dropped_genes)]
    for (kind, reason), count in exclusions.items():
        counts = (count, None) if kind == "sample" else (None, count)
        rows.append(row(reason, *counts, out=True))
    rows.append(row("Analysed", n_samples, n_genes))
    for step in quality_summary["steps"]:
        if step["genes"] < n_genes:
            n_genes = step["genes"]
            name = str(step["step"]).replace("_", " ")
            rows.append(row(f"Left by the {name}, on all samples", None, n_genes))
    return rows


def draw_subgroups(rows: Sequence[TableRow], metric: Measure) -> Figure:
    """Draw the value and interval of all samples, the first row, and below it of each subgroup."""
    lines = [
        charts.ForestRow(
            f"{row['name']} (n = {row['samples']})",
            row["value"],
            (row["low"], row["high"]),
            colour=INK if y else GENESIG_COLOUR,
            marker="s" if y else "D",
            bold=not y,
        )
        for y, row in enumerate(rows)
    ]
    label = f"{metric.name} on held-out samples"
    figure = charts.forest(lines, label, reference_value=rows[0]["value"])
    (ax,) = figure.axes
    ax.axvline(metric.chance, color=MUTED, lw=0.9, dashes=(1, 2), zorder=0.5)
    low, high = ax.get_xlim()
    margin = 0.03 * (high - low)
    ax.set_xlim(min(low, metric.chance - margin), max(high, metric.chance + margin))
    beside_axes = ax.get_yaxis_transform()
    for y, row in enumerate(rows):
        ax.text(1.02, y, decimal(row["value"]), transform=beside_axes, va="center", fontsize=8)
    return figure


MAX_TABLE_GROUPS = 6  # classes up to which Table 1 has a column for each
MAX_TABLE_ONE_ROWS = 40  # visible rows: more than of other tables, because readers want it whole
FLOW_COLUMNS = (Column("Step", "text"), Column("Samples", "integer"), Column("Genes", "integer"))
SAMPLE_SIZE_COLUMNS = (
    Column("Measure", "text"),
    Column("If it is", "text"),
    Column("Its value", "number"),
    Column("Patients", "integer"),
    Column("Events, or rarer class", "integer"),
)
# {}: all patients, if classes, or events, are as frequent as in this study
CALIBRATION_OF_CLASSES = (
    "To check calibration, plan at least 100 patients of each class ({} at these class shares)."
)
CALIBRATION_ADVICE = ByKind(
    {
        "classification": CALIBRATION_OF_CLASSES,
        SEVERAL_CLASSES: CALIBRATION_OF_CLASSES,
        "survival": "To check calibration, plan at least 100 events ({} patients).",
        "regression": "At least 234 patients are needed to know the standard deviation of the"
        " response to within 10%.",
    }
)
# how the method for the size of a validation is cited
SAMPLE_SIZE_REFERENCE = ByKind(
    {
        "classification": "Riley et al. 2021",
        SEVERAL_CLASSES: "Riley et al. 2021",
        "survival": "Jinks et al. 2015",
        "regression": "Archer et al. 2021",
    }
)
WORDS = Wording(
    __file__,  # sentences: the macros of patients.j2, by name
    CALIBRATION_ADVICE=CALIBRATION_ADVICE,
    SAMPLE_SIZE_REFERENCE=SAMPLE_SIZE_REFERENCE,
)


def patients_section(data: Patients, limits: Limits) -> Section:
    """Return the section with Table 1, and the flow of samples and genes if any were left out."""
    rows = table_rows(data["tables"]["patients"])
    steps = [
        [
            f"Left out: {clean(step['step'])}" if step["out"] else clean(step["step"]),
            step["samples"],
            step["genes"],
        ]
        for step in data["flow"]
    ]
    flow_table = filled_table(
        "flow",
        "From the files to the analysis.",
        FLOW_COLUMNS,
        steps,
        MAX_TABLE_ONE_ROWS,
        is_open=True,
    )
    table_one = _table_one(rows)
    items = [*([table_one] if table_one.rows else []), *([flow_table] if len(steps) > 2 else [])]
    words = WORDS.paragraphs("studied", data, rows)
    return Section("patients", "Who was studied", words, items, part="patients")


def _table_one(rows: Sequence[TableRow]) -> Table:
    """Return Table 1 from the rows of patients.tsv in their order, with a column for each group.

    It has a row for each number or level of a sample column, and one with its missing values.
    """
    size = {row["group"]: row["samples"] for row in rows if row["kind"] == "samples"}
    # The last group is that of all samples.
    groups = list(size) if len(size) <= MAX_TABLE_GROUPS + 1 else list(size)[-1:]
    heads = [Column(f"{clean(group or 'All')} (n = {size[group]})", "text") for group in groups]
    lines: list[list[str]] = []
    value_rows = [row for row in rows if row["kind"] not in ("samples", "follow-up", "left out")]
    for column, column_rows in groupby(value_rows, key=lambda row: row["column"]):
        n_missing: list[int] = []
        for label, label_rows in groupby(column_rows, key=_row_label):
            row_of_group = {row["group"]: row for row in label_rows}
            lines.append([label, *(_cell_text(row_of_group[group]) for group in groups)])
            n_missing = [row_of_group[group]["missing"] for group in groups]  # of the whole column
        if any(n_missing):
            lines.append([f"{clean(column)}, missing", *map(str, n_missing)])
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
    """Return the first cell of a row of Table 1: the column, with its level if it has levels."""
    name = clean(row["column"])
    if row["kind"] == "units":
        return f"{name}, different"
    if row["kind"] == "others":
        return f"{name}: {row['level']} others"
    return f"{name}: {clean(row['level'])}" if row["level"] else name


def _cell_text(row: TableRow) -> str:
    """Return median and range of a number, or count and share of a level."""
    if row["kind"] == "number":
        middle, low, high = (significant(row[key], 4) for key in ("median", "low", "high"))
        return f"{middle} ({low} to {high})"
    share = "" if row["share"] is None else f" ({percent(row['share'])})"
    return f"{row['count']:.0f}{share}"


def next_study_section(data: Patients, limits: Limits) -> Section:
    """Return the section on the size of a validation study, or why none is next."""
    title = "Size of a validation study"
    size = validation_size(data)
    if size is None or no_evidence(data):
        words = WORDS.paragraphs("no_sample_size")
        return Section("next-study", title, words, part="prediction", folded=True)
    # Without samples: the measure has no error, such as an AUC of 1, so it gives no size.
    rows = [row for row in table_rows(data["tables"]["next_study"]) if row["samples"]]
    has_events = rows[0]["events"] is not None  # the last column, which a number has not
    heads = SAMPLE_SIZE_COLUMNS if has_events else SAMPLE_SIZE_COLUMNS[:-1]
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
    words = WORDS.paragraphs("next_study", data, size, rows)
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
        [table] if len({row["measure"] for row in rows}) > 1 else [],
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


def score_effect_section(data: Patients, limits: Limits) -> Section | None:
    """Return the section on odds ratio, hazard ratio or slope of the score; None if undefined."""
    rows = [row for row in table_rows(data["tables"]["score_effect"]) if row["value"] is not None]
    if not rows:
        return None
    is_multiclass = len({row["class"] for row in rows}) > 1
    adjusted_for = enumerated(data["config"]["data"]["covariates"] or ["nothing"])
    tables = []
    if is_multiclass:  # two rows at most otherwise, which the words state
        cells = [
            [
                clean(row["class"]),
                adjusted_for if row["adjusted"] == "yes" else "nothing",
                *(row[column] for column in ("value", "low", "high")),
            ]
            for row in rows
        ]
        caption = f"{rows[0]['measure'].capitalize()} per standard deviation of the held-out score."
        columns = (Column("Class", "text"), *EFFECT_COLUMNS)
        tables.append(
            filled_table("score-effect", caption, columns, cells, limits.table_rows, is_open=True)
        )
    null_value = 0.0 if rows[0]["measure"] == "slope" else 1.0
    return Section(
        "score-effect",
        EFFECT_TITLES[data["study"]["task"]],
        WORDS.paragraphs("score_effect", data, rows, adjusted_for, null_value),
        tables,
        part="prediction",
        folded=True,
        files=["score_effect.tsv"],
    )


def subgroups_section(data: Patients, limits: Limits) -> Section | None:
    """Return the section on the error in subgroups; None without evidence, or subgroups.

    The first row of the table is that of all samples.
    """
    metric = measure(data)
    rows = [_with_metric(row, metric) for row in table_rows(data["tables"]["subgroups"])]
    if len(rows) < 2 or rows[0]["value"] is None or no_evidence(data):
        return None
    keys = ["name", "samples", "events", "value", "low", "high"]
    heads = [
        *SUBGROUP_COLUMNS,
        Column(metric.title, "number"),
        Column(CI_FROM, "number"),
        Column(CI_TO, "number"),
    ]
    if rows[0]["events"] is None:
        del heads[2], keys[2]  # the column of events
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
        "Error in subgroups",
        WORDS.paragraphs("subgroups", rows, metric),
        [
            Picture(
                "subgroups",
                partial(draw_subgroups, rows, metric),
                data=columns_of(rows, "name", "samples", "value", "low", "high"),
                title=f"{metric.title} in subgroups",
                description=f"{metric.title}: "
                + "; ".join(f"{row['name']} {decimal(row['value'])}" for row in rows),
                caption=WORDS.text("subgroups_caption", metric),
            ),
            table,
        ],
        part="prediction",
        folded=True,
    )


def _with_metric(row: TableRow, metric: Measure) -> TableRow:
    """Return a row of subgroups.tsv with a name, and value and limits of the study's measure."""
    low, high = metric.interval(row)
    name = "all samples"
    if row["column"]:
        name = f"{shorten(row['column'], 24)}: {shorten(row['level'] or '', 24)}"
    return {**row, "name": name, "value": metric.value(row["error"]), "low": low, "high": high}


def patient_sentences(data: Patients) -> list[str]:
    """Return the sentences of Methods about follow-up, effect, subgroups and sample size."""
    texts = WORDS.paragraphs("follow_up_methods", data["study"]["task"])
    if no_evidence(data):  # the page has no effect, subgroups or sample size
        return texts
    return [*texts, *WORDS.paragraphs("methods", data, _effect_name(data))]


def _effect_name(data: Patients) -> str:
    """Return ``"odds ratio"``, ``"hazard ratio"`` or ``"slope"``; empty if undefined."""
    rows = table_rows(data["tables"]["score_effect"])
    return str(rows[0]["measure"]) if any(row["value"] is not None for row in rows) else ""
