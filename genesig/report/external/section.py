"""The section about samples of other studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from genesig.report.external import figures
from genesig.report.page.confusion import confusion
from genesig.report.page.measure import measure
from genesig.report.page.section import Facts, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import Column, Table, cell
from genesig.report.page.words import clean, counted, decimal, percent, rate, samples_tested

Data = dict[str, Any]

GENES = {
    "symbol": Column("Symbol", "text"),
    "gene": Column("Gene id", "name"),
    "coef": Column("Weight", "signed", "Weight in the final model"),
    "training_mean": Column("Mean here", "number", "In this study, both classes counting alike"),
    "training_sd": Column("SD here", "number", "Standard deviation in this study"),
    "mean": Column("Mean there", "number", "In the other study, both classes counting alike"),
    "shift": Column("Shift", "signed", "Difference of the means in standard deviations of here"),
    "shift_before": Column("Before ComBat", "signed", "The shift as measured"),
    "score_shift": Column("Moves scores by", "signed", "Weight times difference of the means"),
    "imputed": Column("Filled in", "integer", "Samples that lack the gene"),
}
SAMPLES = {
    "sample": Column("Sample", "name"),
    "given": Column("Label there", "text"),
    "label": Column("Class", "text"),
    "score": Column("Score", "signed"),
    "predicted": Column("Called", "text"),
}


SHOWN: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "auc": ("AUC", decimal),
    "balanced_error": ("Error, both classes counting alike", rate),
    "sensitivity": ("Sensitivity", percent),
    "specificity": ("Specificity", percent),
    "r2": ("R²", decimal),
}


def external(data: Data, limits: Limits) -> Section:
    """Show what the final model does on samples of other studies; empty without any."""
    cohorts = data["external"]
    if not cohorts:
        return Section("external", "Other studies")
    threshold = " and its threshold stayed" if data["study"]["classes"] else ""
    words = [
        "The final model, as it stands in model.json, on samples of other studies: nothing was"
        f" fitted again{threshold}. These intervals are for this one model in samples"
        " like these; those of the cross-validation are for the procedure that made it.",
        *(finding(data, cohort) for cohort in cohorts),
        *_moved(cohorts),
    ]
    items = [item for cohort in cohorts for item in _items(data, cohort, limits)]
    return Section("external", "Other studies", words, items)


def _moved(cohorts: list[Data]) -> Iterator[str]:
    names = [clean(cohort["name"]) for cohort in cohorts if cohort["combat"]]
    if names:
        yield (
            f"ComBat brought {', '.join(names)} to the level of this study first, without looking"
            " at classes. It needs many samples at once, and each score depends on the others: the"
            " numbers do not hold for patients who come one by one."
        )


def finding(data: Data, cohort: Data) -> str:
    """Say in one sentence what came out, beside the estimate of this study."""
    name, count = clean(cohort["name"]), samples_tested(cohort)
    own = measure(data).value(data["answer"]["error"]["value"])
    if data["study"]["classes"] is None:
        r2 = cohort["scores"]["r2"]
        return f"{name} ({count}): {_value('R²', r2)}; cross-validated here {decimal(own)}."
    scores = cohort["scores"]
    if scores["auc"]["value"] is None:
        wrong = scores["misclassification"]
        return (
            f"{name} ({count} of one class, so that there is no AUC): {rate(wrong['value'])}"
            f" wrong{_between(wrong, rate)}."
        )
    error = scores["balanced_error"]
    return (
        f"{name} ({count}): {_value('AUC', scores['auc'])}; wrong for {rate(error['value'])}"
        f"{_between(error, rate)}, both classes counting alike, after {rate(own)} in the"
        f" cross-validation here.{_chance(scores)}"
    )


def _chance(scores: Data) -> str:
    low, high = (scores["auc"][end] for end in ("low", "high"))
    if low is not None and low > 0.5:
        return ""
    if high is not None and high < 0.5:
        return " That is worse than chance (an AUC of 0.5), as if the classes were swapped."
    return " That is not told apart from chance (an AUC of 0.5)."


def _value(name: str, row: Data) -> str:
    return f"{name} {decimal(row['value'])}{_between(row, decimal)}"


def _between(row: Data, write: Any) -> str:
    if row["low"] is None:
        return ""
    return f" (95\u00a0% interval {write(row['low'])} to {write(row['high'])})"


def _items(data: Data, cohort: Data, limits: Limits) -> Iterator[Facts | Picture | Table]:
    stem, two = f"external_{cohort['name']}", data["study"]["classes"] is not None
    yield Facts(stem.replace("_", "-"), clean(cohort["name"]), list(_facts(data, cohort)))
    if cohort["roc"] is not None:
        yield _roc(data, cohort, stem)
    if two:
        yield _confusion(data, cohort, stem)
        yield _scores(data, cohort, stem)
    if two and cohort["scores"]["calibration_slope"]["value"] is not None:
        yield _reliability(data, cohort, stem)
    if not two:
        yield _fit(data, cohort, stem)
    yield _shift(data, cohort, stem)
    folder = f"external/{cohort['name']}"
    yield _table(cohort["genes"], GENES, f"{clean(cohort['name'])}: genes of the final model.",
                 f"{folder}/genes.tsv", limits.table_rows, len(cohort["genes"]))  # fmt: skip
    yield _table(cohort["points"], SAMPLES, f"{clean(cohort['name'])}: every sample.",
                 f"{folder}/predictions.tsv", limits.table_rows, cohort["samples"])  # fmt: skip


def _facts(data: Data, cohort: Data) -> Iterator[tuple[str, str]]:
    yield "Samples", _samples(cohort)
    for key, (name, write) in SHOWN.items():
        row = cohort["scores"].get(key)
        if row is not None and row["value"] is not None:
            yield name, f"{write(row['value'])}{_between(row, write)}"
    slope = cohort["scores"]["calibration_slope"]
    if slope["value"] is not None:
        intercept = cohort["scores"]["calibration_intercept"]
        yield (
            "Calibration",
            (
                f"slope {decimal(slope['value'])}{_between(slope, decimal)}, intercept"
                f" {decimal(intercept['value'])}{_between(intercept, decimal)};"
                " 1 and 0 would be right"
            ),
        )
    yield "Genes of the model", _genes(cohort)
    yield "Batch check", _batch(cohort)
    yield "Values", _spread(cohort)
    yield (
        "Files",
        "; ".join(
            f"{clean(file)} (SHA-256 {digest[:12]}…)" for file, digest in cohort["inputs"].items()
        ),
    )
    if cohort["warnings"]:
        yield "Noted", "; ".join(map(clean, cohort["warnings"]))


def _samples(cohort: Data) -> str:
    classes = cohort["classes"]
    text = counted(cohort["samples"], "sample") if classes is None else ", ".join(
        f"{number} {clean(name)}" for name, number in classes.items())  # fmt: skip
    out = ", ".join(f"{one['count']} ({clean(one['reason'])})" for one in cohort["left_out"])
    return f"{text}; left out: {out}" if out else text


def _genes(cohort: Data) -> str:
    needed = counted(cohort["needed"], "gene")
    if not cohort["imputed"]:
        return f"{needed} needed, all there"
    return (
        f"{needed} needed, {cohort['absent']} nowhere measured; filled in by the mean of the"
        f" training samples in {counted(cohort['imputed'], 'sample')}"
    )


def _batch(cohort: Data) -> str:
    it = cohort["shift"]
    measured = it["measured"]
    text = (
        f"the median gene is {decimal(measured['median'])} training standard deviations off;"
        f" {percent(measured['beyond'])} of {counted(measured['genes'], 'gene')} by more than one"
    )
    if cohort["combat"]:
        batches = "" if cohort["batches"] == 1 else f" in {cohort['batches']} batches"
        text += f"; after ComBat{batches} {decimal(it['scored']['median'])}"
    return text


def _spread(cohort: Data) -> str:
    it = cohort["quantiles"]
    low, high = (it["share"].index(share) for share in (0.25, 0.75))
    here, there = (f"{decimal(it[key][low])} to {decimal(it[key][high])}"
                   for key in ("training", "cohort"))  # fmt: skip
    return f"half of them lie from {here} in this study, from {there} in the other"


def _roc(data: Data, cohort: Data, stem: str) -> Picture:
    text = figures.limits_text("AUC", cohort["scores"]["auc"])
    return picture(
        f"{stem}_roc",
        partial(figures.roc, data, cohort),
        title=f"{clean(cohort['name'])}: ROC curve",
        description=f"ROC curve of the other study's samples, {text}, and those of the held-out"
        " samples.",
        caption="Green: samples of the other study. Grey: held-out samples of this study, one"
        " curve per repeat. The AUC looks at the order of the scores only: a shift of all of them"
        " does not change it, but changes who is above the threshold.",
    )


def _confusion(data: Data, cohort: Data, stem: str) -> Picture:
    classes, counts = data["study"]["classes"], cohort["confusion"]
    parts = [
        f"true {clean(true)} called {clean(said)} {counts[i][j]}"
        for i, true in enumerate(classes)
        for j, said in enumerate(classes)
    ]
    return picture(
        f"{stem}_confusion",
        partial(confusion, counts, classes),
        title=f"{clean(cohort['name'])}: confusion matrix",
        description=f"Number of samples: {'; '.join(parts)}.",
        caption="Number of samples and share of the true class, at the threshold of the model"
        " (score 0), which was not adapted.",
    )


def _scores(data: Data, cohort: Data, stem: str) -> Picture:
    return picture(
        f"{stem}_scores",
        partial(figures.scores, data, cohort),
        title=f"{clean(cohort['name'])}: scores by class",
        description="Dots of the scores of each class in this study while held out and in the"
        " other study.",
        caption="One dot per sample, bars for the medians. Both classes moved the same way mean a"
        " shift of the values (another laboratory, another scanner); classes that come closer"
        " mean less signal.",
    )


def _reliability(data: Data, cohort: Data, stem: str) -> Picture:
    positive = clean(data["study"]["classes"][1])
    parts = [f"score {decimal(one['score'])}: {percent(one['share'])} of {one['samples']}"
             for one in cohort["reliability"]]  # fmt: skip
    return picture(
        f"{stem}_calibration",
        partial(figures.reliability, data, cohort),
        title=f"{clean(cohort['name'])}: calibration",
        description=f"Share of {positive} in groups of similar scores: {'; '.join(parts)}.",
        caption=f"Dots: share of {positive} in groups of similar scores, with 95\u00a0% intervals"
        " and the number of samples above; green: line fitted to all samples; dashed:"
        " (1 + score)/2, where the scores of a calibrated model would lie in the class mix it was"
        " trained on. The score is a ridge prediction of ±1 and no probability: it may leave the"
        " range from −1 to 1.",
    )


def _fit(data: Data, cohort: Data, stem: str) -> Picture:
    return picture(
        f"{stem}_fit",
        partial(figures.observed_predicted, data, cohort),
        title=f"{clean(cohort['name'])}: observed and predicted values",
        description="Scatter of observed values against predictions.",
        caption="The dashed line is perfect prediction, the green one is fitted to the dots. R² is"
        " against the mean of these samples, and below 0 where that mean would do better.",
    )


def _shift(data: Data, cohort: Data, stem: str) -> Picture:
    after = " Green line: after ComBat, other height." if cohort["combat"] else ""
    return picture(
        f"{stem}_shift",
        partial(figures.shift, data, cohort),
        title=f"{clean(cohort['name'])}: shift of the genes",
        description=f"Histogram of the shift of every gene; {_batch(cohort)}.",
        caption="Grey: all genes that both studies have, as measured; green ticks: those of the"
        f" final model, as scored.{after} The light band is what chance alone allows a gene (95 %)."
        " Outer bars also hold what lies beyond.",
    )


def _table(rows: list[Data], columns: dict[str, Column], caption: str, file: str, most: int,
           total: int) -> Table:  # fmt: skip
    shown = rows[:most]
    keep = [key for key in columns if any(row.get(key) is not None for row in shown)]
    cells = [[cell(row[key], columns[key].kind) for key in keep] for row in shown]
    name = file.removesuffix(".tsv").replace("/", "-")
    return Table(name, caption, [columns[key] for key in keep], cells, total, file)
