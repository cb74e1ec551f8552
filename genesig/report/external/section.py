"""The section about samples of other studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from genesig.report.external import captions
from genesig.report.external.columns import gene_columns, sample_columns
from genesig.report.external.first_screen import not_assessed, samples_tested
from genesig.report.external.record import CohortRecord, External, Quantiles, Score
from genesig.report.page.columns import Column
from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.section import Facts, Group, Item, Limits, Section
from genesig.report.page.sides import two
from genesig.report.page.tables import LOWER, UPPER, Table, filled_table
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    percent,
    rate,
    significant,
    with_limits,
)

TITLE = "Samples of other studies"
MOST_SENTENCES = 3
"""Cohorts whose sentences stand together; those of more stand with each of them."""
SHIFT = "Of the genes, in training standard deviations"
SHOWN: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "concordance": ("C", decimal),
    "uno": ("Uno's C", decimal),
    "auc": ("AUC", decimal),
    "balanced_error": ("Balanced error", rate),
    "sensitivity": ("Sensitivity", percent),
    "specificity": ("Specificity", percent),
    "r2": ("R²", decimal),
}


def external(data: External, limits: Limits) -> Section:
    """Show what the final model does on samples of other studies."""
    cohorts = data["external"]
    if not cohorts and data["not_assessable"]:
        return Section("external", TITLE, not_assessed(data), part="cohorts")
    if not cohorts:
        return Section("external", TITLE, part="cohorts")
    threshold = " and its threshold stayed" if two(data["study"]) else ""
    words = [
        "The final model, as it stands in model.json, on samples of other studies: nothing was"
        f" fitted again{threshold}. These intervals are for this one model in samples"
        " like these; those of the cross-validation are for the procedure that made it.",
        *(finding(data, cohort) for cohort in cohorts if len(cohorts) <= MOST_SENTENCES),
        *_moved(cohorts),
        *not_assessed(data),
    ]
    items: list[Item] = [captions.forest(data)] if len(cohorts) > 1 else []
    items.append(_overview(data, limits))
    items += [
        Group(cohort["name"], _title(data, cohort),
              [finding(data, cohort)] if len(cohorts) > MOST_SENTENCES else [],
              list(_items(data, cohort, limits)))
        for cohort in cohorts
    ]  # fmt: skip
    return Section("external", TITLE, words, items, part="cohorts")


def _title(data: External, cohort: CohortRecord) -> str:
    key, name, _ = measure(data).elsewhere
    row = cohort["scores"].get(key)
    if row is None or row["value"] is None:
        return clean(cohort["name"])
    reached = with_limits(name, row["value"], row["low"], row["high"])
    return f"{clean(cohort['name'])}: {reached}"


def _overview(data: External, limits: Limits) -> Table:
    """List every cohort with its measures, one a row."""
    keys = [key for key in SHOWN if any(key in one["scores"] for one in data["external"])]
    columns = [Column("Cohort", "name"), Column("Samples", "integer"),
               Column("Seen in training", "integer", "Samples that trained the model")]  # fmt: skip
    for key in keys:
        columns += [Column(_name(key, data["external"][0]), _kind(key)),
                    Column("from", _kind(key), LOWER), Column("to", _kind(key), UPPER)]  # fmt: skip
    columns += [Column("Genes absent", "integer"), Column("Median shift", "number", SHIFT)]
    rows = [
        [one["name"], one["samples"], one["seen_before"],
         *(value for key in keys for value in _three(one["scores"].get(key))),
         one["absent"], one["shift"]["scored"]["median"]]
        for one in data["external"]
    ]  # fmt: skip
    caption = "The final model in each cohort, with 95\u00a0% CI."
    return filled_table("cohorts", caption, columns, rows, limits.table_rows, shown=True)


def _three(row: Score | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if row is None else (row["value"], row["low"], row["high"])


def _name(key: str, cohort: CohortRecord) -> str:
    """Return what a measure is called: of survival the AUC is that at one time."""
    at_once = key == "auc" and "curves" in cohort
    return f"{SHOWN[key][0]} at the horizon" if at_once else SHOWN[key][0]


def _kind(key: str) -> str:
    return "number" if SHOWN[key][1] is decimal else "share"


def _moved(cohorts: Sequence[CohortRecord]) -> Iterator[str]:
    names = [clean(cohort["name"]) for cohort in cohorts if cohort["combat"]]
    if names:
        yield (
            f"ComBat brought {', '.join(names)} to the level of this study first, without looking"
            " at the label. It needs many samples at once, and each score depends on the others:"
            " the numbers do not hold for patients who come one by one."
        )


def finding(data: Study, cohort: CohortRecord) -> str:
    """Say in one sentence what came out, beside the estimate of this study."""
    name, count = clean(cohort["name"]), samples_tested(cohort)
    own = measure(data).value(data["answer"]["error"]["value"])
    scores, (key, shown, chance) = cohort["scores"], measure(data).elsewhere
    if data["study"]["classes"] is None:
        here = f"{decimal(own)} in the cross-validation of this study"
        more = _chance(scores[key], shown, chance)
        return f"{name} ({count}): {_value(shown, scores[key])}; {here}.{more}"
    if scores["auc"]["value"] is None:
        wrong = scores["misclassification"]
        some = "of one class" if two(data["study"]) else "and not of every class"
        return (
            f"{name} ({count} {some}, so that there is no AUC): {rate(wrong['value'])}"
            f" wrong{_between(wrong, rate)}."
        )
    error = scores["balanced_error"]
    return (
        f"{name} ({count}): {_value('AUC', scores['auc'])}; balanced error {rate(error['value'])}"
        f"{_between(error, rate)}, {rate(own)} in the cross-validation of this"
        f" study.{_chance(scores['auc'], shown, chance)}"
    )


def _chance(row: Score, name: str, chance: float) -> str:
    low, high = row["low"], row["high"]
    if row["value"] is None or (low is not None and low > chance):
        return ""
    if high is not None and high < chance:
        turned = "an AUC below 0.5), as if the classes were swapped" if name == "AUC" else \
            f"{name} below {chance:g})"  # fmt: skip
        return f" That is worse than chance ({turned}."
    return f" The interval includes {chance:g} (chance)."


def _value(name: str, row: Score) -> str:
    return f"{name} {decimal(row['value'])}{_between(row, decimal)}"


def _between(row: Score, write: Callable[[float | None], str]) -> str:
    return between(row["low"], row["high"], write)


def _items(data: External, cohort: CohortRecord, limits: Limits) -> Iterator[Item]:
    stem, classes = f"external_{cohort['name']}", data["study"]["classes"]
    yield Facts(stem.replace("_", "-"), clean(cohort["name"]), list(_facts(cohort)))
    if "curves" in cohort:
        yield captions.survival(cohort, data["study"]["label"], stem)
    elif classes is None:
        yield captions.fit(cohort, data["study"]["label"], stem)
    else:
        yield from captions.of_classes(data["held_out"], cohort, classes, stem)
    yield captions.shift(cohort, stem)
    folder = f"external/{cohort['name']}"
    name = clean(cohort["name"])
    yield _table(cohort["genes"], gene_columns(classes), f"{name}: genes of the final model.",
                 f"{folder}/genes.tsv", limits.table_rows, len(cohort["genes"]))  # fmt: skip
    yield _table(cohort["points"], sample_columns(cohort, classes), f"{name}: every sample.",
                 f"{folder}/predictions.tsv", limits.table_rows, cohort["samples"])  # fmt: skip


def _facts(cohort: CohortRecord) -> Iterator[tuple[str, str]]:
    yield "Samples", _samples(cohort)
    for key, (_, write) in SHOWN.items():
        row = cohort["scores"].get(key)
        if row is not None and row["value"] is not None:
            yield _name(key, cohort), f"{write(row['value'])}{_between(row, write)}"
    if "curves" in cohort:
        yield "Calibration", _risk(cohort)
    slope = cohort["scores"].get("calibration_slope")
    if slope is not None and slope["value"] is not None:
        yield "Calibration", _calibrated(cohort, slope)
    yield "Genes of the model", _genes(cohort)
    yield "Batch check", captions.batch(cohort)
    yield "Values", _spread(cohort["quantiles"])
    yield (
        "Files",
        "; ".join(
            f"{clean(file)} (SHA-256 {digest[:12]}…)" for file, digest in cohort["inputs"].items()
        ),
    )
    if cohort["warnings"]:
        yield "Noted", "; ".join(map(clean, cohort["warnings"]))


def _calibrated(cohort: CohortRecord, slope: Score) -> str:
    said = f"slope {decimal(slope['value'])}{_between(slope, decimal)}"
    if "calibration_intercept" in cohort["scores"]:
        intercept = cohort["scores"]["calibration_intercept"]
        said += f", intercept {decimal(intercept['value'])}{_between(intercept, decimal)}"
        return said + "; 1 and 0 would be right"
    called, wrong = (cohort["scores"][k] for k in ("probability_of_called", "misclassification"))
    right = None if wrong["value"] is None else 1 - wrong["value"]
    return (
        f"{said}, 1 would be right; the class that is called has a probability of"
        f" {percent(called['value'])} on average, and is right in {percent(right)}"
    )


def _risk(cohort: CohortRecord) -> str:
    """Hold the predicted risk by the horizon against what came."""
    scores = cohort["scores"]
    predicted, came, slope = (scores[k] for k in ("risk_expected", "risk_observed", "slope"))
    return (
        f"risk by {significant(cohort['horizon'])} predicted {percent(predicted['value'])},"
        f" observed {percent(came['value'])}{_between(came, percent)}; slope"
        f" {decimal(slope['value'])}{_between(slope, decimal)}, 1 would be right"
    )


def _samples(cohort: CohortRecord) -> str:
    classes = cohort["classes"]
    text = counted(cohort["samples"], "sample") if classes is None else ", ".join(
        f"{number} {clean(name)}" for name, number in classes.items())  # fmt: skip
    if "events" in cohort:
        text += f", {counted(cohort['events'], 'event')}"
    out = ", ".join(f"{one['count']} ({clean(one['reason'])})" for one in cohort["left_out"])
    return f"{text}; left out: {out}" if out else text


def _genes(cohort: CohortRecord) -> str:
    needed = counted(cohort["needed"], "gene")
    if not cohort["imputed"]:
        return f"{needed} needed, all measured"
    return (
        f"{needed} needed; {cohort['absent']} not measured in this cohort, imputed with the"
        f" training mean ({counted(cohort['imputed'], 'sample')})"
    )


def _spread(it: Quantiles) -> str:
    low, high = (it["share"].index(share) for share in (0.25, 0.75))
    here, there = (f"{decimal(values[low])} to {decimal(values[high])}"
                   for values in (it["training"], it["cohort"]))  # fmt: skip
    return f"half of them lie from {here} in this study, from {there} in the other"


def _table(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Column], caption: str, file: str,
    most: int, total: int,
) -> Table:  # fmt: skip
    keep = [key for key in columns if any(row.get(key) is not None for row in rows)]
    values = [[row[key] for key in keep] for row in rows]
    name = file.removesuffix(".tsv").replace("/", "-")
    heads = [replace(columns[key], key=key) for key in keep]
    return filled_table(name, caption, heads, values, most, total=total, file=file)
