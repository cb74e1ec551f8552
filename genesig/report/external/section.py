"""Samples of other studies: the section, the first screen, the Methods text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from genesig.report.external import figures
from genesig.report.external.collect import CohortRecord, External, Quantiles, Score
from genesig.report.page.measure import Measure, measure, two
from genesig.report.page.record import Study
from genesig.report.page.section import Facts, Group, Item, Limits, Paragraph, Section
from genesig.report.page.tables import FROM, TO, Column, Table, filled_table
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    enumerated,
    percent,
    rate,
    samples_in_groups,
    significant,
    span,
    with_limits,
)

GENES = {
    "symbol": Column("Symbol", "text"),
    "gene": Column("Gene id", "name"),
    "weight": Column("Weight", "signed", "Weight in the final model"),
    "training_mean": Column("Training mean", "number", "In this study"),
    "training_sd": Column("Training SD", "number", "Standard deviation in this study"),
    "mean": Column("Cohort mean", "number", "In the other study"),
    "shift": Column("Shift", "signed", "Difference of the means in standard deviations of here"),
    "shift_before": Column("Before ComBat", "signed", "The shift as measured"),
    "score_shift": Column("Effect on score", "signed", "Weight times difference of the means"),
    "imputed": Column("Samples imputed", "integer", "Samples that lack the gene"),
}
SAMPLES = {
    "sample": Column("Sample", "name"),
    "given": Column("Label there", "text"),
    "label": Column("Class", "text"),
    "score": Column("Score", "signed"),
    "predicted": Column("Called", "text"),
}
TIMES = {"sample": SAMPLES["sample"], "given": Column("Time and event", "text"),
         "score": SAMPLES["score"], "predicted": Column("Risk group", "text")}  # fmt: skip
NUMBERS = {"sample": SAMPLES["sample"], "given": Column("Observed", "text"),
           "score": Column("Predicted", "number")}  # fmt: skip


def gene_columns(classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of genes, which say how their means are taken."""
    if not classes:
        return GENES
    alike = f", {'both' if len(classes) == 2 else 'all'} classes counting alike"
    means = {key: GENES[key] for key in ("training_mean", "mean")}
    return GENES | {key: replace(one, help=one.help + alike) for key, one in means.items()}


def sample_columns(cohort: CohortRecord, classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of samples: of times that have curves, of numbers, or of classes."""
    if classes:
        return SAMPLES
    return TIMES if "curves" in cohort else NUMBERS


MOST_COHORTS, MOST_NAMED = 3, 5
"""Cohorts that have numbers of their own in the sentence; names of those that are not better."""


def elsewhere(data: External) -> list[Paragraph]:
    """Return what the final model reached in external cohorts; nothing without any."""
    said = _reached(data)
    if not said:
        return []
    several = len(data["external"]) + len(data["not_assessable"]) > 1
    return [Paragraph(f"External cohort{'s' * several}.", " ".join(said))]


def _reached(data: External) -> list[str]:
    """Return what was reached, where only the order is right, what was not assessable."""
    cohorts = data["external"]
    if not cohorts:
        return not_assessed(data)
    if len(cohorts) > MOST_COHORTS and data["answer"]["cohorts"]["tested"]:
        return [_together(data), *not_assessed(data)]
    found = [_cohort(one, measure(data)) for one in cohorts[:MOST_COHORTS]]
    more = f"; {len(cohorts) - len(found)} more below" if len(cohorts) > len(found) else ""
    reached = f"The final model, unchanged, reached {'; '.join(found)}{more}."
    return [reached, *_ranked_only(data), *not_assessed(data)]


def _ranked_only(data: External) -> list[str]:
    """Name cohorts whose scores are in order although the calls are no better than chance."""
    error_by_chance = 1 - measure(data).chance
    names = [one["name"] for one in data["external"][:MOST_COHORTS]
             if one["classes"] and (one["scores"]["auc"]["low"] or 0) > 0.5
             and (one["scores"]["balanced_error"]["high"] or 0) >= error_by_chance]  # fmt: skip
    if not names:
        return []
    return [f"In {enumerated(names)}, scores rank samples better than chance (AUC), but calls at"
            " this threshold do not: the threshold may need recalibration."]  # fmt: skip


def not_assessed(data: External) -> list[str]:
    """Say of each data set that the model could not be tested on why not."""
    return [f"{clean(one['name'])}: not assessable, because {clean(one['reason'])}."
            for one in data["not_assessable"]]  # fmt: skip


def _together(data: External) -> str:
    """Say of many cohorts what the median is, and which are no better than chance."""
    (key, name, chance), counts = measure(data).elsewhere, data["answer"]["cohorts"]
    new = [(one["name"], one["scores"][key]) for one in data["external"] if not one["seen_before"]]
    values = sorted(row["value"] for _, row in new if row["value"] is not None)
    reached = ""
    if values:
        ends = f" (range {span(values[0], values[-1], decimal)})"
        differ = decimal(values[0]) != decimal(values[-1])
        reached = f" reached a median {name} of {decimal(median(values))}{ends * differ} and"
    left = [who for who, row in new if row["low"] is not None and row["low"] <= chance]
    worse = f", not in {_named(left)}" if left and counts["better"] else ""
    if unknown := [who for who, row in new if row["low"] is None]:
        worse += f", undecided in {_named(unknown)}"
    seen = len(data["external"]) - len(new)
    trained = f" {counted(seen, 'cohort')} with training samples not counted." * bool(seen)
    return (
        f"In {counted(len(new), 'cohort')} the final model, unchanged,{reached} was better than"
        f" chance in {counts['better'] or 'none'}{worse} (by the 95% CI).{trained}"
    )


def _named(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return enumerated([*names[:MOST_NAMED], *more])


def caution(data: External) -> list[str]:
    """Say what is missing if there are no external cohorts."""
    if data["external"] or grade(data) is Grade.NONE:
        return []
    return ["Test the final model in an independent cohort before any clinical use."]


def samples_tested(cohort: CohortRecord) -> str:
    """Count the samples and groups of another study, and the samples that trained the model."""
    seen, many = cohort["seen_before"], in_groups(cohort)
    if seen == 0:
        return many
    who = "all" if seen == cohort["samples"] else f"{seen} of them"
    return f"{many}, {who} seen in training"


def in_groups(cohort: CohortRecord) -> str:
    """Return ``"60 samples"`` or ``"60 samples in 20 groups (patient)"``."""
    groups = cohort.get("groups")
    if groups is None:
        return samples_in_groups(cohort["samples"], None)
    column = clean(groups["column"])
    return f"{samples_in_groups(cohort['samples'], groups['count'])} ({column})"


def _cohort(one: CohortRecord, shown: Measure) -> str:
    """Return the measure that stands first and the accuracy in one cohort, with their intervals."""
    moved = ", after ComBat" if one["combat"] else ""
    where = f"in {clean(one['name'])} ({samples_tested(one)}{moved})"
    scores, classes = one["scores"], one["classes"]
    key, name, _ = shown.elsewhere
    row = scores[key]
    if row["value"] is None:
        some = "of one class" if len(classes or ()) == 2 else "not of every class"
        if not classes:
            return f"no {name} {where}"
        return f"an accuracy of {rate(_right(scores['misclassification']))} {where}, {some}"
    reached = f"{name} {decimal(row['value'])}{between(row['low'], row['high'], decimal)}"
    if not classes:
        return f"{reached} {where}"
    error = scores["balanced_error"]
    limits = between(_less(error["high"]), _less(error["low"]), percent)
    return f"{reached} and a balanced accuracy of {rate(_right(error))}{limits} {where}"


def _right(error: Score) -> float | None:
    return _less(error["value"])


def _less(error: float | None) -> float | None:
    """Return 1 - error."""
    return None if error is None else 1 - error


TITLE = "External cohorts"
MOST_SENTENCES = 3
"""Cohorts whose sentences stand together; those of more stand with each of them."""
SHIFT = "Of the genes, in training standard deviations"
SHOWN: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "concordance": ("C", decimal),
    "uno": ("Uno's C", decimal),
    "auc": ("AUC", decimal),
    "balanced_error": ("Balanced accuracy", rate),
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
        *_grouped(cohorts),
        *_moved(cohorts),
        *not_assessed(data),
    ]
    items: list[Item] = [figures.forest(data)] if len(cohorts) > 1 else []
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
    grouped = any("groups" in one for one in data["external"])
    columns = [Column("Cohort", "name"), Column("Samples", "integer"),
               *[Column("Groups", "integer", "Independent groups, such as patients")] * grouped,
               Column("Seen in training", "integer", "Samples that trained the model")]  # fmt: skip
    for key in keys:
        columns += [Column(_name(key, data["external"][0]), _kind(key)),
                    Column(FROM, _kind(key)), Column(TO, _kind(key))]  # fmt: skip
    columns += [Column("Genes absent", "integer"), Column("Median shift", "number", SHIFT)]
    rows = [
        [one["name"], one["samples"], *[_independent(one)] * grouped, one["seen_before"],
         *(value for key in keys for value in _three(_shown_score(one, key))),
         one["absent"], one["shift"]["scored"]["median"]]
        for one in data["external"]
    ]  # fmt: skip
    caption = "The final model in each cohort, with 95% CI."
    return filled_table("cohorts", caption, columns, rows, len(rows), shown=True)


def _shown_score(cohort: CohortRecord, key: str) -> Score | None:
    """Return a score as the page shows it: accuracy instead of error."""
    row = cohort["scores"].get(key)
    if row is None or key != "balanced_error":
        return row
    return {**row, "value": _less(row["value"]), "low": _less(row["high"]),
            "high": _less(row["low"])}  # fmt: skip


def _independent(cohort: CohortRecord) -> int:
    """Return the number of groups of independent samples."""
    groups = cohort.get("groups")
    return cohort["samples"] if groups is None else groups["count"]


def _three(row: Score | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if row is None else (row["value"], row["low"], row["high"])


def _name(key: str, cohort: CohortRecord) -> str:
    """Return what a measure is called: of survival the AUC is that at one time."""
    at_once = key == "auc" and "curves" in cohort
    return f"{SHOWN[key][0]} at the horizon" if at_once else SHOWN[key][0]


def _kind(key: str) -> str:
    return "number" if SHOWN[key][1] is decimal else "share"


def _grouped(cohorts: Sequence[CohortRecord]) -> Iterator[str]:
    """Say which cohorts have several samples of a group, and how they are counted."""
    columns = {clean(one["name"]): clean(one["groups"]["column"])
               for one in cohorts if "groups" in one}  # fmt: skip
    if columns:
        named = enumerated([f"{name} ({column})" for name, column in columns.items()])
        yield (
            f"Samples of one group are not independent in {named}: intervals and p-values there are"
            " over groups."
        )


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
            f" misclassified{_between(wrong, rate)}."
        )
    accuracy = _shown_score(cohort, "balanced_error") or scores["balanced_error"]
    return (
        f"{name} ({count}): {_value('AUC', scores['auc'])}; balanced accuracy"
        f" {rate(accuracy['value'])}{_between(accuracy, percent)}, {rate(own)} in the"
        f" cross-validation of this"
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
        yield figures.survival(cohort, data["study"]["label"], stem)
    elif classes is None:
        yield figures.fit(cohort, data["study"]["label"], stem)
    else:
        yield from figures.of_classes(data["held_out"], cohort, classes, stem)
    yield figures.shift(cohort, stem)
    folder = f"external/{cohort['name']}"
    name = clean(cohort["name"])
    yield _table(cohort["genes"], gene_columns(classes), f"{name}: genes of the final model.",
                 f"{folder}/genes.tsv", limits.table_rows, len(cohort["genes"]))  # fmt: skip
    yield _table(cohort["points"], sample_columns(cohort, classes), f"{name}: every sample.",
                 f"{folder}/predictions.tsv", limits.table_rows, cohort["samples"])  # fmt: skip


def _facts(cohort: CohortRecord) -> Iterator[tuple[str, str]]:
    yield "Samples", _samples(cohort)
    for key, (_, write) in SHOWN.items():
        row = _shown_score(cohort, key)
        if row is not None and row["value"] is not None:
            yield _name(key, cohort), f"{write(row['value'])}{_between(row, write)}"
    if "curves" in cohort:
        yield "Calibration", _risk(cohort)
    slope = cohort["scores"].get("calibration_slope")
    if slope is not None and slope["value"] is not None:
        yield "Calibration", _calibrated(cohort, slope)
    yield "Genes of the model", _genes(cohort)
    yield "Batch check", figures.batch(cohort)
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
    if "groups" in cohort:
        groups = cohort["groups"]
        number = counted(groups["count"], "group")
        text += f"; {number} by {clean(groups['column'])}"
        if groups["classes"]:
            each = [f"{count} {clean(name)}" for name, count in groups["classes"].items()]
            text += f" ({', '.join(each)})"
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


def external_sentences(data: External) -> Iterator[str]:
    """Yield nothing for a study that names no other one."""
    cohorts = data["external"]
    if not cohorts:
        return
    classes = data["study"]["classes"] or ()
    cut = ", with its threshold" if len(classes) == 2 or _of_survival(data) else ""
    names = ", ".join(f"{clean(c['name'])}, n = {c['samples']}{_of_groups(c)}" for c in cohorts)
    yield (
        f"The final model was applied as it is{cut}, to"
        f" {counted(len(cohorts), 'data set')} of other studies ({names})."
    )
    corrected = [clean(cohort["name"]) for cohort in cohorts if cohort["combat"]]
    if corrected:
        yield (
            f"{', '.join(corrected)} had been brought to the training set by ComBat (Johnson et al."
            " 2007), this study as the reference batch and without the label in the design."
        )
    if any("groups" in cohort for cohort in cohorts):
        yield (
            "If samples came in groups, variances were those over groups (Obuchowski 1997 for the"
            " AUC; Lin and Wei 1989 for survival), corrected for few and unequal groups (Bell and"
            " McCaffrey 2002)."
        )
    if classes:
        each = "both" if len(classes) == 2 else "all"
        yield (
            "Intervals hold DeLong's and the score interval for the AUC (DeLong et al. 1988;"
            f" Newcombe 2006) and combine Wilson's of {each} classes for the error (Zou and Donner"
            " 2008)."
        )
    elif _of_survival(data):
        yield (
            "C is Harrell's, with the interval of the infinitesimal jackknife; what else is said of"
            " survival is as for held-out samples, with the censoring of this study's."
        )
    else:
        yield "R² is against the mean of these samples; its interval is the jackknife's."
    if _with_line(data):
        yield (
            "Calibration is the regression of the response on the score, with HC3 standard errors"
            " (Long and Ervin 2000)."
        )
    if _of_probabilities(data):
        yield (
            "Calibration is the slope of the logarithms of the probabilities in multinomial"
            " logistic regression, classes counting by their stated shares (its error: White 1982)."
        )


def _of_groups(cohort: CohortRecord) -> str:
    groups = cohort.get("groups")
    return "" if groups is None else f" in {counted(groups['count'], 'group')}"


def _of_survival(data: External) -> bool:
    return any("curves" in cohort for cohort in data["external"])


def _with_line(data: External) -> bool:
    return any("calibration_intercept" in cohort["scores"] for cohort in data["external"])


def _of_probabilities(data: External) -> bool:
    found = any("calibration_slope" in cohort["scores"] for cohort in data["external"])
    return found and not _with_line(data)
