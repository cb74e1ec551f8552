"""Who was studied, what the score says of them, in whom it errs, how many a validation needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.measure import Measure, measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.style import INK, MUTED, OWN
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import (
    FROM,
    TO,
    Column,
    Row,
    Table,
    columns_of,
    filled_table,
    records,
)
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    enumerated,
    percent,
    shorten,
    significant,
)
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind

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


TABLES = ("patients", "score_effect", "subgroups", "next_study")
TEXT = ("column", "level", "class")


def flow(dataset: Dataset, seen: Mapping[str, Any]) -> list[FlowStep]:
    """Count what the files held, what was left out and why, what is analysed, what filters leave.

    Filters are learned anew in each training set; here they are those on all samples.
    """
    dropped = dataset.provenance.get("dropped", [])
    dropped = [note for note in dropped if note["kind"] != "annotation column"]
    out = Counter((str(one["kind"]), str(one["reason"])) for one in dropped)
    samples, genes = (
        len(kept) + sum(count for (kind, _), count in out.items() if kind in kinds)
        for kept, kinds in (
            (dataset.samples, ("sample",)),
            (dataset.genes, ("gene", "non-gene row")),
        )
    )
    steps = [_step("In the files", samples, genes)]
    steps += [_step(reason, *((count, None) if kind == "sample" else (None, count)), out=True)
              for (kind, reason), count in out.items()]  # fmt: skip
    left = len(dataset.genes)
    steps.append(_step("Analysed", len(dataset.samples), left))
    for one in seen["steps"]:
        if one["genes"] < left:
            left = one["genes"]
            name = str(one["step"]).replace("_", " ")
            steps.append(_step(f"Left by the {name}, on all samples", None, left))
    return steps


def _step(step: str, samples: int | None, genes: int | None, *, out: bool = False) -> FlowStep:
    return {"step": step, "out": out, "samples": samples, "genes": genes}


def draw_subgroups(rows: Sequence[Row], shown: Measure) -> Figure:
    """Value and interval of each subgroup below that of all samples."""
    lines = [
        charts.Line(f"{row['name']} (n = {row['samples']})", row["value"],
                    (row["low"], row["high"]), INK if y else OWN, "s" if y else "D", bold=not y)
        for y, row in enumerate(rows)
    ]  # fmt: skip
    label = f"{shown.name} on held-out samples"
    figure, ax = charts.forest(lines, label, at=rows[0]["value"])
    ax.axvline(shown.chance, color=MUTED, lw=0.9, dashes=(1, 2), zorder=0.5)
    low, high = ax.get_xlim()
    room = 0.03 * (high - low)
    ax.set_xlim(min(low, shown.chance - room), max(high, shown.chance + room))
    for y, row in enumerate(rows):
        ax.text(1.02, y, decimal(row["value"]), transform=ax.get_yaxis_transform(), va="center",
                fontsize=8)  # fmt: skip
    return figure


MOST_GROUPS = 6
"""Classes, beyond which the table is of all samples."""
MOST_ROWS = 40
"""Of Table 1, which readers want whole."""
FLOW = (Column("Step", "text"), Column("Samples", "integer"), Column("Genes", "integer"))
NEEDS = (Column("Measure", "text"), Column("If it is", "text"), Column("Its value", "number"),
         Column("Patients", "integer"), Column("Events, or rarer class", "integer"))  # fmt: skip
OF_CLASSES = "To check calibration, plan at least 100 patients of each class."
CALIBRATION = ByKind({
    "classification": OF_CLASSES,
    SEVERAL: OF_CLASSES,
    "survival": "To check calibration, plan at least 100 events.",
    "regression": "With fewer than 234 patients the standard deviation of the response is not known"
    " to within 10%.",
})  # fmt: skip

NOT_YET = (
    "No number is given: as long as chance is not ruled out, more patients in this study come"
    " before a validation study."
)


def studied(data: Patients, limits: Limits) -> Section:
    """Show Table 1, and the flow of samples and genes where anything was left out."""
    rows = records(data["tables"]["patients"])
    steps = [[f"Left out: {clean(one['step'])}" if one["out"] else clean(one["step"]),
              one["samples"], one["genes"]] for one in data["flow"]]  # fmt: skip
    flow = filled_table("flow", "From the files to the analysis.", FLOW, steps, MOST_ROWS,
                        shown=True)  # fmt: skip
    items = [one for one, told in ((_table_one(rows), True), (flow, len(steps) > 2))
             if told and one.rows]  # fmt: skip
    words = " ".join(_who(data, rows))
    return Section("patients", "Who was studied", [words], items, part="patients")


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


def _table_one(rows: Sequence[Row]) -> Table:
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
    caption = ("Who was studied: median (smallest to largest) of numbers, count (share of those"
               " with a value) of words.")  # fmt: skip
    return filled_table("patients", caption, [Column("Characteristic", "text"), *heads], lines,
                        MOST_ROWS, shown=True,
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
    title = "Size of a validation study"  # an AUC of 1 has no error, and tells nothing of n
    rows = [row for row in records(data["tables"]["next_study"]) if row["samples"]]
    if not rows or grade(data) is Grade.NONE:
        return Section("next-study", title, [NOT_YET], part="prediction", folded=True)
    heads = NEEDS if rows[0]["events"] is not None else NEEDS[:-1]
    cells = [[row["measure"], "as measured" if row["basis"] == "value" else "the lower limit",
              row["value"], row["samples"], row["events"]] for row in rows]  # fmt: skip
    safe = max((row for row in rows if row["basis"] != "value"), key=lambda row: row["samples"])
    own = [f"{_need(data, row)} if it is {decimal(row['value'])} as here, and " for row in rows
           if row["measure"] == safe["measure"] and row["basis"] == "value"]  # fmt: skip
    words = (
        f"To estimate the {clean(safe['measure'])} to ±0.05 (95% CI), a validation study needs"
        f" {''.join(own)}{_need(data, safe)}, assuming a true value of"
        f" {decimal(safe['value'])} (lower limit here)."
        f" {CALIBRATION[data['study']['task']]}"
    )
    table = filled_table("next-study", "Patients needed for an interval of ±0.05.", heads,
                         [row[: len(heads)] for row in cells], limits.table_rows)  # fmt: skip
    return Section("next-study", title, [words], [table] if len(rows) > 1 else [],
                   part="prediction", folded=True, files=["next_study.tsv"])  # fmt: skip


def _need(data: Patients, row: Row) -> str:
    text = counted(row["samples"], "patient")
    if row["events"] is None:
        return text
    noun = "of the rarer class" if data["study"]["classes"] else "with the event"
    return f"{text} ({row['events']} {noun})"


RATIOS = (Column("Adjusted for", "text"), Column("Value", "number"),
          Column(FROM, "number"), Column(TO, "number"))  # fmt: skip
PARTS = (Column("Subgroup", "text"), Column("Samples", "integer"), Column("Events", "integer"))


EFFECTS = ByKind({
    "classification": "Odds ratio of the score", SEVERAL: "Odds ratio of the score",
    "survival": "Hazard ratio of the score", "regression": "Slope of the score",
})  # fmt: skip


def score_effect(data: Patients, limits: Limits) -> Section:
    """Show the odds ratio, hazard ratio or slope of the held-out score, alone and adjusted."""
    title = EFFECTS[data["study"]["task"]]
    rows = [row for row in records(data["tables"]["score_effect"]) if row["value"] is not None]
    if not rows:
        return Section("score-effect", title, part="prediction")
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
        shown=several,
    )  # fmt: skip
    words += [] if several else _not_both(data, rows[0])
    words.append(_of_what(data))
    return Section("score-effect", title, [" ".join(words)], [table] if len(rows) > 1 else [],
                   part="prediction", folded=True, files=["score_effect.tsv"])  # fmt: skip


def _not_both(data: Patients, row: Row) -> list[str]:
    """Say why the effect and the error need not agree about chance; nothing where they do."""
    error, none = data["answer"]["error"], 0.0 if row["measure"] == "slope" else 1.0
    if row["low"] is None or row["high"] is None or error["high"] is None:
        return []
    apart, better = not row["low"] <= none <= row["high"], error["high"] < error["chance"]
    if apart == better:
        return []
    name, includes = measure(data).name, f"its CI includes {none:g}"
    uncertain = f"This effect is uncertain ({includes}) although the {name} exceeds chance"
    if apart:
        uncertain = f"This effect excludes {none:g} although the CI of the {name} includes chance"
    return [
        f"{uncertain}: with so few patients the two can disagree. The conclusion is based on the"
        f" {name}."
    ]


def _of_what(data: Patients) -> str:
    """Say what is compared, and what the interval is an interval of."""
    alone = data["design"]["test"][1] == 1
    compared = (
        "Each test set has one sample, so that scores of different models are compared, and the"
        " interval is somewhat short."
        if alone
        else "Only samples scored by the same model are compared."
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
        return Section("subgroups", title, part="prediction")
    write = measure(data).write
    columns = enumerated(list(dict.fromkeys(row["column"] for row in rows[1:])))
    words = (
        f"{counted(len(rows) - 1, 'subgroup')} by {columns}, of ten samples or more; numbers are"
        f" cut at their median. All samples together: {shown.name} {write(rows[0]['value'])}. Among"
        " many small subgroups some lie apart by chance alone, and the intervals do not allow for"
        " how many were looked at: a difference here is a question for the next study."
    )
    keys = ["name", "samples", "events", "value", "low", "high"]
    heads = [*PARTS, Column(shown.title, "number"), Column(FROM, "number"),
             Column(TO, "number")]  # fmt: skip
    if rows[0]["events"] is None:
        del heads[2], keys[2]
    table = filled_table(
        "subgroups", "The same in numbers.", heads, [[row[key] for key in keys] for row in rows],
        limits.table_rows, file="subgroups.tsv",
    )  # fmt: skip
    return Section("subgroups", title, [words], [_forest(rows, shown), table], part="prediction",
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
        partial(draw_subgroups, rows, shown),
        data=columns_of(rows, "name", "samples", "value", "low", "high"),
        title=f"{shown.title} in subgroups",
        description="; ".join(f"{row['name']} {decimal(row['value'])}" for row in rows),
        caption="Held-out samples of each subgroup, with 95% CI. Dashed line: all samples; dotted"
        f" line: {decimal(shown.chance)}, no information.",
    )


FIRTH = ", with a penalty against bias (Firth 1993)"
OF_BIAS = ByKind({"classification": FIRTH, SEVERAL: FIRTH, "survival": FIRTH})
"""What is said of pairs of which only the order counts."""
FOLLOWED = ByKind({
    "survival": "Follow-up was described by the reversed Kaplan-Meier curve (Schemper and Smith"
    " 1996).",
})  # fmt: skip
NEXT = ByKind({
    "classification": "Riley et al. 2021", SEVERAL: "Riley et al. 2021",
    "survival": "Jinks et al. 2015", "regression": "Archer et al. 2021",
})  # fmt: skip
"""How the size of a validation is cited."""


def sentences(data: Patients) -> list[str]:
    """Say how follow-up, effect, subgroups and the size of a validation were computed."""
    task, tables = data["study"]["task"], data["tables"]
    found = [FOLLOWED.get(task, "")]
    if grade(data) is Grade.NONE:  # the page has none of the others
        return found
    if effect := _effect(data):
        covariates = data["config"]["data"]["covariates"]
        held = ", alone and adjusted for the covariates," if covariates else ""
        found.append(
            f"The {effect} per standard deviation of the held-out score{held} was fitted to pairs"
            " of held-out samples that one model scored, which need no intercepts or baseline"
            f" hazards for each model (Liang and Qin 2000){OF_BIAS.get(task, '')}; its"
            " confidence interval adds the variances between splits and between samples."
        )
    if tables["subgroups"]["total"] > 1:
        found.append(
            "Errors in subgroups are those of their held-out samples, without correction for their"
            " number."
        )
    if tables["next_study"]["total"]:
        found.append(f"The size of a validation gives a 95% CI of ±0.05 ({NEXT[task]}).")
    return found


def _effect(data: Patients) -> str:
    rows = records(data["tables"]["score_effect"])
    return str(rows[0]["measure"]) if any(row["value"] is not None for row in rows) else ""
