"""The section about external cohorts, their lines of the first screen and of Methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from genesig.report.external import figures
from genesig.report.external.collect import CohortRecord, CohortScore, External, ValueQuantiles
from genesig.report.page.measure import Measure, measure, two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Facts, Group, Item, Limits, Paragraph, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, Table, filled_table
from genesig.report.page.words import (
    bracketed_confidence,
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

GENE_COLUMNS = {
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
CLASS_SAMPLE_COLUMNS = {
    "sample": Column("Sample", "name"),
    "given": Column("Label there", "text"),
    "label": Column("Class", "text"),
    "score": Column("Score", "signed"),
    "predicted": Column("Called", "text"),
}
SURVIVAL_SAMPLE_COLUMNS = {
    "sample": CLASS_SAMPLE_COLUMNS["sample"],
    "given": Column("Time and event", "text"),
    "score": CLASS_SAMPLE_COLUMNS["score"],
    "predicted": Column("Risk group", "text"),
}
REGRESSION_SAMPLE_COLUMNS = {
    "sample": CLASS_SAMPLE_COLUMNS["sample"],
    "given": Column("Observed", "text"),
    "score": Column("Predicted", "number"),
}


def gene_columns(classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of the gene table, with help on how class means are weighted."""
    if not classes:
        return GENE_COLUMNS
    weighting = f", {'both' if len(classes) == 2 else 'all'} classes counting alike"
    means = {key: GENE_COLUMNS[key] for key in ("training_mean", "mean")}
    return GENE_COLUMNS | {
        key: replace(column, help=column.help + weighting) for key, column in means.items()
    }


def sample_columns(cohort: CohortRecord, classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of the sample table for survival, numbers or classes."""
    if classes:
        return CLASS_SAMPLE_COLUMNS
    return SURVIVAL_SAMPLE_COLUMNS if "curves" in cohort else REGRESSION_SAMPLE_COLUMNS


MAX_COHORTS_OF_FIRST_SCREEN = 3  # cohorts with numbers of their own in the sentence
MAX_LISTED_NAMES = 5  # names of cohorts that are not better than chance


def cohort_paragraphs(data: External) -> list[Paragraph]:
    """Return the paragraph of the first screen about external cohorts; none without any."""
    sentences = _cohort_sentences(data)
    if not sentences:
        return []
    several = len(data["external"]) + len(data["not_assessable"]) > 1
    return [Paragraph(f"External cohort{'s' * several}.", " ".join(sentences))]


def _cohort_sentences(data: External) -> list[str]:
    """Return sentences with the measures of each cohort, or a summary of many."""
    cohorts = data["external"]
    if not cohorts:
        return not_assessable_sentences(data)
    if len(cohorts) > MAX_COHORTS_OF_FIRST_SCREEN and data["answer"]["cohorts"]["tested"]:
        return [_many_cohorts_sentence(data), *not_assessable_sentences(data)]
    phrases = [
        _cohort_phrase(cohort, measure(data)) for cohort in cohorts[:MAX_COHORTS_OF_FIRST_SCREEN]
    ]
    omitted = f"; {len(cohorts) - len(phrases)} more below" if len(cohorts) > len(phrases) else ""
    reached = f"The final model, unchanged, reached {'; '.join(phrases)}{omitted}."
    return [reached, *_ranked_only(data), *not_assessable_sentences(data)]


def _ranked_only(data: External) -> list[str]:
    """Return a sentence on cohorts with a good AUC but calls no better than chance."""
    error_by_chance = 1 - measure(data).chance
    names = [
        cohort["name"]
        for cohort in data["external"][:MAX_COHORTS_OF_FIRST_SCREEN]
        if cohort["classes"]
        and (cohort["scores"]["auc"]["low"] or 0) > 0.5
        and (cohort["scores"]["balanced_error"]["high"] or 0) >= error_by_chance
    ]
    if not names:
        return []
    return [
        f"In {enumerated(names)}, scores rank samples better than chance (AUC), but calls at"
        " this threshold do not: the threshold may need recalibration."
    ]


def not_assessable_sentences(data: External) -> list[str]:
    """Return a sentence with the reason for each cohort that could not be assessed."""
    return [
        f"{clean(cohort['name'])}: not assessable, because {clean(cohort['reason'])}."
        for cohort in data["not_assessable"]
    ]


def _many_cohorts_sentence(data: External) -> str:
    """Return the median measure of many cohorts, and those no better than chance."""
    (key, name, chance) = measure(data).external_measure
    counts = data["answer"]["cohorts"]
    new_cohorts = [
        (cohort["name"], cohort["scores"][key])
        for cohort in data["external"]
        if not cohort["seen_before"]
    ]
    values = sorted(score["value"] for _, score in new_cohorts if score["value"] is not None)
    reached = ""
    if values:
        range_text = f" (range {span(values[0], values[-1], decimal)})"
        differ = decimal(values[0]) != decimal(values[-1])
        reached = f" reached a median {name} of {decimal(median(values))}{range_text * differ} and"
    not_better = [
        cohort_name
        for cohort_name, score in new_cohorts
        if score["low"] is not None and score["low"] <= chance
    ]
    exceptions = f", not in {_list_names(not_better)}" if not_better and counts["better"] else ""
    if without_interval := [
        cohort_name for cohort_name, score in new_cohorts if score["low"] is None
    ]:
        exceptions += f", undecided in {_list_names(without_interval)}"
    n_seen = len(data["external"]) - len(new_cohorts)
    trained = f" {counted(n_seen, 'cohort')} with training samples not counted." * bool(n_seen)
    return (
        f"In {counted(len(new_cohorts), 'cohort')} the final model, unchanged,{reached} was better"
        f" than chance in {counts['better'] or 'none'}{exceptions} (by the 95% CI).{trained}"
    )


def _list_names(names: Sequence[str]) -> str:
    """Return the first names and the number of the others."""
    omitted = [f"{len(names) - MAX_LISTED_NAMES} more"] if len(names) > MAX_LISTED_NAMES else []
    return enumerated([*names[:MAX_LISTED_NAMES], *omitted])


def samples_tested(cohort: CohortRecord) -> str:
    """Return the number of samples and groups, and of the samples seen in training."""
    n_seen = cohort["seen_before"]
    sample_count = in_groups(cohort)
    if n_seen == 0:
        return sample_count
    subset = "all" if n_seen == cohort["samples"] else f"{n_seen} of them"
    return f"{sample_count}, {subset} seen in training"


def in_groups(cohort: CohortRecord) -> str:
    """Return ``"60 samples"`` or ``"60 samples in 20 groups (patient)"``."""
    groups = cohort.get("groups")
    if groups is None:
        return samples_in_groups(cohort["samples"], None)
    column = clean(groups["column"])
    return f"{samples_in_groups(cohort['samples'], groups['count'])} ({column})"


def _cohort_phrase(cohort: CohortRecord, study_measure: Measure) -> str:
    """Return main measure and balanced accuracy of one cohort, with their intervals."""
    combat_note = ", after ComBat" if cohort["combat"] else ""
    context = f"in {clean(cohort['name'])} ({samples_tested(cohort)}{combat_note})"
    scores = cohort["scores"]
    classes = cohort["classes"]
    key, name, _ = study_measure.external_measure
    score = scores[key]
    if score["value"] is None:
        class_note = "of one class" if len(classes or ()) == 2 else "not of every class"
        if not classes:
            return f"no {name} {context}"
        return (
            f"an accuracy of {rate(_accuracy(scores['misclassification']))} {context}, {class_note}"
        )
    reached = (
        f"{name}"
        f" {decimal(score['value'])}{bracketed_confidence(score['low'], score['high'], decimal)}"
    )
    if not classes:
        return f"{reached} {context}"
    error = scores["balanced_error"]
    limits = bracketed_confidence(_one_minus(error["high"]), _one_minus(error["low"]), percent)
    return f"{reached} and a balanced accuracy of {rate(_accuracy(error))}{limits} {context}"


def _accuracy(error: CohortScore) -> float | None:
    """Return the accuracy of an error score."""
    return _one_minus(error["value"])


def _one_minus(error: float | None) -> float | None:
    """Return 1 - error; None stays None."""
    return None if error is None else 1 - error


EXTERNAL_TITLE = "External cohorts"
# cohorts whose findings are at the top; otherwise each group has its own
MAX_COHORTS_OF_SUMMARY = 3
SHIFT_HELP = "Of the genes, in training standard deviations"
MEASURE_COLUMNS: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "concordance": ("C", decimal),
    "uno": ("Uno's C", decimal),
    "auc": ("AUC", decimal),
    "balanced_error": ("Balanced accuracy", rate),
    "sensitivity": ("Sensitivity", percent),
    "specificity": ("Specificity", percent),
    "r2": ("R²", decimal),
}


def external(data: External, limits: Limits) -> Section:
    """Return the section with the final model in each external cohort."""
    cohorts = data["external"]
    if not cohorts and data["not_assessable"]:
        return Section("external", EXTERNAL_TITLE, not_assessable_sentences(data), part="cohorts")
    if not cohorts:
        return Section("external", EXTERNAL_TITLE, part="cohorts")
    threshold = " and its threshold stayed" if two_classes(data["study"]) else ""
    sentences = [
        "The final model, as it stands in model.json, on samples of other studies: nothing was"
        f" fitted again{threshold}. These intervals are for this one model in samples"
        " like these; those of the cross-validation are for the procedure that made it.",
        *(
            cohort_finding(data, cohort)
            for cohort in cohorts
            if len(cohorts) <= MAX_COHORTS_OF_SUMMARY
        ),
        *_group_sentences(cohorts),
        *_combat_sentences(cohorts),
        *not_assessable_sentences(data),
    ]
    items: list[Item] = [figures.cohort_forest(data)] if len(cohorts) > 1 else []
    items.append(_overview_table(data, limits))
    items += [
        Group(
            cohort["name"],
            _cohort_title(data, cohort),
            [cohort_finding(data, cohort)] if len(cohorts) > MAX_COHORTS_OF_SUMMARY else [],
            list(_cohort_items(data, cohort, limits)),
        )
        for cohort in cohorts
    ]
    return Section("external", EXTERNAL_TITLE, sentences, items, part="cohorts")


def _cohort_title(data: External, cohort: CohortRecord) -> str:
    """Return the heading of a cohort, with its main measure."""
    key, name, _ = measure(data).external_measure
    score = cohort["scores"].get(key)
    if score is None or score["value"] is None:
        return clean(cohort["name"])
    reached = with_limits(name, score["value"], score["low"], score["high"])
    return f"{clean(cohort['name'])}: {reached}"


def _overview_table(data: External, limits: Limits) -> Table:
    """Return the table with one cohort per row."""
    keys = [
        key
        for key in MEASURE_COLUMNS
        if any(key in cohort["scores"] for cohort in data["external"])
    ]
    has_groups = any("groups" in cohort for cohort in data["external"])
    columns = [
        Column("Cohort", "name"),
        Column("Samples", "integer"),
        *[Column("Groups", "integer", "Independent groups, such as patients")] * has_groups,
        Column("Seen in training", "integer", "Samples that trained the model"),
    ]
    for key in keys:
        columns += [
            Column(_measure_name(key, data["external"][0]), _column_kind(key)),
            Column(CI_FROM, _column_kind(key)),
            Column(CI_TO, _column_kind(key)),
        ]
    columns += [Column("Genes absent", "integer"), Column("Median shift", "number", SHIFT_HELP)]
    rows = [
        [
            cohort["name"],
            cohort["samples"],
            *[_n_independent(cohort)] * has_groups,
            cohort["seen_before"],
            *(value for key in keys for value in _value_and_interval(_score_of_page(cohort, key))),
            cohort["absent"],
            cohort["shift"]["scored"]["median"],
        ]
        for cohort in data["external"]
    ]
    caption = "The final model in each cohort, with 95% CI."
    return filled_table("cohorts", caption, columns, rows, len(rows), is_open=True)


def _score_of_page(cohort: CohortRecord, key: str) -> CohortScore | None:
    """Return a score as the page shows it: balanced accuracy instead of error."""
    score = cohort["scores"].get(key)
    if score is None or key != "balanced_error":
        return score
    return {
        **score,
        "value": _one_minus(score["value"]),
        "low": _one_minus(score["high"]),
        "high": _one_minus(score["low"]),
    }


def _n_independent(cohort: CohortRecord) -> int:
    """Return the number of independent samples: of groups, if there are any."""
    groups = cohort.get("groups")
    return cohort["samples"] if groups is None else groups["count"]


def _value_and_interval(
    score: CohortScore | None,
) -> tuple[float | None, float | None, float | None]:
    """Return value, lower and upper limit; three times None without a score."""
    return (None, None, None) if score is None else (score["value"], score["low"], score["high"])


def _measure_name(key: str, cohort: CohortRecord) -> str:
    """Return the name of a measure; in survival an AUC is at the horizon."""
    at_horizon = key == "auc" and "curves" in cohort
    return f"{MEASURE_COLUMNS[key][0]} at the horizon" if at_horizon else MEASURE_COLUMNS[key][0]


def _column_kind(key: str) -> str:
    """Return the format of the column of a measure."""
    return "number" if MEASURE_COLUMNS[key][1] is decimal else "share"


def _group_sentences(cohorts: Sequence[CohortRecord]) -> Iterator[str]:
    """Yield a sentence on cohorts with several samples of a group."""
    columns = {
        clean(cohort["name"]): clean(cohort["groups"]["column"])
        for cohort in cohorts
        if "groups" in cohort
    }
    if columns:
        cohort_texts = enumerated([f"{name} ({column})" for name, column in columns.items()])
        yield (
            f"Samples of one group are not independent in {cohort_texts}: intervals and p-values"
            " there are over groups."
        )


def _combat_sentences(cohorts: Sequence[CohortRecord]) -> Iterator[str]:
    """Yield a sentence on cohorts that ComBat adjusted."""
    names = [clean(cohort["name"]) for cohort in cohorts if cohort["combat"]]
    if names:
        yield (
            f"ComBat brought {', '.join(names)} to the level of this study first, without looking"
            " at the label. It needs many samples at once, and each score depends on the others:"
            " the numbers do not hold for patients who come one by one."
        )


def cohort_finding(data: Study, cohort: CohortRecord) -> str:
    """Return a sentence with the result in a cohort and in the cross-validation of this study."""
    name = clean(cohort["name"])
    count = samples_tested(cohort)
    error_of_this_study = measure(data).value(data["answer"]["error"]["value"])
    scores = cohort["scores"]
    (key, measure_name, chance) = measure(data).external_measure
    if data["study"]["classes"] is None:
        cross_validation = f"{decimal(error_of_this_study)} in the cross-validation of this study"
        comparison = _chance_sentence(scores[key], measure_name, chance)
        return (
            f"{name} ({count}): {_value_text(measure_name, scores[key])};"
            f" {cross_validation}.{comparison}"
        )
    if scores["auc"]["value"] is None:
        misclassification = scores["misclassification"]
        class_note = "of one class" if two_classes(data["study"]) else "and not of every class"
        return (
            f"{name} ({count} {class_note}, so that there is no AUC):"
            f" {rate(misclassification['value'])}"
            f" misclassified{_interval_text(misclassification, rate)}."
        )
    accuracy = _score_of_page(cohort, "balanced_error") or scores["balanced_error"]
    return (
        f"{name} ({count}): {_value_text('AUC', scores['auc'])}; balanced accuracy"
        f" {rate(accuracy['value'])}{_interval_text(accuracy, percent)},"
        f" {rate(error_of_this_study)} in the cross-validation of this"
        f" study.{_chance_sentence(scores['auc'], measure_name, chance)}"
    )


def _chance_sentence(score: CohortScore, name: str, chance: float) -> str:
    """Return a sentence if the interval includes chance or lies below it."""
    low = score["low"]
    high = score["high"]
    if score["value"] is None or (low is not None and low > chance):
        return ""
    if high is not None and high < chance:
        reversal = (
            "an AUC below 0.5), as if the classes were swapped"
            if name == "AUC"
            else f"{name} below {chance:g})"
        )
        return f" That is worse than chance ({reversal}."
    return f" The interval includes {chance:g} (chance)."


def _value_text(name: str, score: CohortScore) -> str:
    """Return name, value and interval of a score."""
    return f"{name} {decimal(score['value'])}{_interval_text(score, decimal)}"


def _interval_text(score: CohortScore, format_number: Callable[[float | None], str]) -> str:
    """Return the interval of a score in parentheses."""
    return bracketed_confidence(score["low"], score["high"], format_number)


def _cohort_items(data: External, cohort: CohortRecord, limits: Limits) -> Iterator[Item]:
    """Yield facts, figures and tables of one cohort."""
    stem = f"external_{cohort['name']}"
    classes = data["study"]["classes"]
    yield Facts(stem.replace("_", "-"), clean(cohort["name"]), list(_cohort_facts(cohort)))
    if "curves" in cohort:
        yield figures.survival_figure(cohort, data["study"]["label"], stem)
    elif classes is None:
        yield figures.observed_figure(cohort, data["study"]["label"], stem)
    else:
        yield from figures.classification_figures(data["held_out"], cohort, classes, stem)
    yield figures.shift_figure(cohort, stem)
    folder = f"external/{cohort['name']}"
    name = clean(cohort["name"])
    yield _cohort_table(
        cohort["genes"],
        gene_columns(classes),
        f"{name}: genes of the final model.",
        f"{folder}/genes.tsv",
        limits.table_rows,
        len(cohort["genes"]),
    )
    yield _cohort_table(
        cohort["points"],
        sample_columns(cohort, classes),
        f"{name}: every sample.",
        f"{folder}/predictions.tsv",
        limits.table_rows,
        cohort["samples"],
    )


def _cohort_facts(cohort: CohortRecord) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each fact about a cohort."""
    yield "Samples", _samples_text(cohort)
    for key, (_, format_number) in MEASURE_COLUMNS.items():
        score = _score_of_page(cohort, key)
        if score is not None and score["value"] is not None:
            yield (
                _measure_name(key, cohort),
                f"{format_number(score['value'])}{_interval_text(score, format_number)}",
            )
    if "curves" in cohort:
        yield "Calibration", _risk_text(cohort)
    slope = cohort["scores"].get("calibration_slope")
    if slope is not None and slope["value"] is not None:
        yield "Calibration", _calibration_text(cohort, slope)
    yield "Genes of the model", _genes_text(cohort)
    yield "Batch check", figures.shift_sentence(cohort)
    yield "Values", _spread_text(cohort["quantiles"])
    yield (
        "Files",
        "; ".join(
            f"{clean(file)} (SHA-256 {digest[:12]}…)" for file, digest in cohort["inputs"].items()
        ),
    )
    if cohort["warnings"]:
        yield "Noted", "; ".join(map(clean, cohort["warnings"]))


def _calibration_text(cohort: CohortRecord, slope: CohortScore) -> str:
    """Return slope and intercept of the calibration in words."""
    text = f"slope {decimal(slope['value'])}{_interval_text(slope, decimal)}"
    if "calibration_intercept" in cohort["scores"]:
        intercept = cohort["scores"]["calibration_intercept"]
        text += f", intercept {decimal(intercept['value'])}{_interval_text(intercept, decimal)}"
        return text + "; 1 and 0 would be right"
    called_probability, misclassification = (
        cohort["scores"][key] for key in ("probability_of_called", "misclassification")
    )
    accuracy = None if misclassification["value"] is None else 1 - misclassification["value"]
    return (
        f"{text}, 1 would be right; the class that is called has a probability of"
        f" {percent(called_probability['value'])} on average, and is right in {percent(accuracy)}"
    )


def _risk_text(cohort: CohortRecord) -> str:
    """Return the predicted and the observed risk at the horizon, and the slope."""
    scores = cohort["scores"]
    predicted, observed, slope = (
        scores[key] for key in ("risk_expected", "risk_observed", "slope")
    )
    return (
        f"risk by {significant(cohort['horizon'])} predicted {percent(predicted['value'])},"
        f" observed {percent(observed['value'])}{_interval_text(observed, percent)}; slope"
        f" {decimal(slope['value'])}{_interval_text(slope, decimal)}, 1 would be right"
    )


def _samples_text(cohort: CohortRecord) -> str:
    """Return the numbers of samples by class, groups, events and left-out samples."""
    classes = cohort["classes"]
    text = (
        counted(cohort["samples"], "sample")
        if classes is None
        else ", ".join(f"{number} {clean(name)}" for name, number in classes.items())
    )
    if "groups" in cohort:
        groups = cohort["groups"]
        number = counted(groups["count"], "group")
        text += f"; {number} by {clean(groups['column'])}"
        if groups["classes"]:
            class_counts = [f"{count} {clean(name)}" for name, count in groups["classes"].items()]
            text += f" ({', '.join(class_counts)})"
    if "events" in cohort:
        text += f", {counted(cohort['events'], 'event')}"
    left_out = ", ".join(
        f"{dropped['count']} ({clean(dropped['reason'])})" for dropped in cohort["left_out"]
    )
    return f"{text}; left out: {left_out}" if left_out else text


def _genes_text(cohort: CohortRecord) -> str:
    """Return how many genes of the model the cohort has."""
    needed = counted(cohort["needed"], "gene")
    if not cohort["imputed"]:
        return f"{needed} needed, all measured"
    return (
        f"{needed} needed; {cohort['absent']} not measured in this cohort, imputed with the"
        f" training mean ({counted(cohort['imputed'], 'sample')})"
    )


def _spread_text(quantiles: ValueQuantiles) -> str:
    """Return the quartiles of the values in this study and in the cohort."""
    low, high = (quantiles["share"].index(share) for share in (0.25, 0.75))
    in_training, in_cohort = (
        f"{decimal(values[low])} to {decimal(values[high])}"
        for values in (quantiles["training"], quantiles["cohort"])
    )
    return f"half of them lie from {in_training} in this study, from {in_cohort} in the other"


def _cohort_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Column],
    caption: str,
    file: str,
    max_rows: int,
    total: int,
) -> Table:
    """Return the table of a file of a cohort without its empty columns."""
    filled_keys = [key for key in columns if any(row.get(key) is not None for row in rows)]
    values = [[row[key] for key in filled_keys] for row in rows]
    name = file.removesuffix(".tsv").replace("/", "-")
    headings = [replace(columns[key], key=key) for key in filled_keys]
    return filled_table(name, caption, headings, values, max_rows, total=total, file=file)


def external_sentences(data: External) -> Iterator[str]:
    """Yield the sentences of Methods about external cohorts; none without any."""
    cohorts = data["external"]
    if not cohorts:
        return
    classes = data["study"]["classes"] or ()
    threshold_note = ", with its threshold" if len(classes) == 2 or _has_survival(data) else ""
    names = ", ".join(
        f"{clean(cohort['name'])}, n = {cohort['samples']}{_groups_text(cohort)}"
        for cohort in cohorts
    )
    yield (
        f"The final model was applied as it is{threshold_note}, to"
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
        class_word = "both" if len(classes) == 2 else "all"
        yield (
            "Intervals hold DeLong's and the score interval for the AUC (DeLong et al. 1988;"
            f" Newcombe 2006) and combine Wilson's of {class_word} classes for the error (Zou and"
            " Donner 2008)."
        )
    elif _has_survival(data):
        yield (
            "C is Harrell's, with the interval of the infinitesimal jackknife; what else is said of"
            " survival is as for held-out samples, with the censoring of this study's."
        )
    else:
        yield "R² is against the mean of these samples; its interval is the jackknife's."
    if _has_calibration_line(data):
        yield (
            "Calibration is the regression of the response on the score, with HC3 standard errors"
            " (Long and Ervin 2000)."
        )
    if _has_probabilities(data):
        yield (
            "Calibration is the slope of the logarithms of the probabilities in multinomial"
            " logistic regression, classes counting by their stated shares (its error: White 1982)."
        )


def _groups_text(cohort: CohortRecord) -> str:
    """Return the number of groups of a cohort in words."""
    groups = cohort.get("groups")
    return "" if groups is None else f" in {counted(groups['count'], 'group')}"


def _has_survival(data: External) -> bool:
    """Tell whether the outcome of the cohorts is survival."""
    return any("curves" in cohort for cohort in data["external"])


def _has_calibration_line(data: External) -> bool:
    """Tell whether calibration is a regression on the score."""
    return any("calibration_intercept" in cohort["scores"] for cohort in data["external"])


def _has_probabilities(data: External) -> bool:
    """Tell whether calibration is a slope of class probabilities."""
    has_slope = any("calibration_slope" in cohort["scores"] for cohort in data["external"])
    return has_slope and not _has_calibration_line(data)
