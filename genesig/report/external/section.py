"""The section about external cohorts, their paragraph of the first screen, and Methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from genesig.report.external import figures
from genesig.report.external.collect import CohortRecord, CohortScore, External
from genesig.report.page.measure import measure
from genesig.report.page.section import Facts, Group, Item, Limits, Paragraph, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, Table, filled_table, value_and_limits
from genesig.report.page.wording import Wording
from genesig.report.page.words import Write, clean, decimal, enumerated, percent, rate, with_limits

# columns of genes.tsv of a cohort on the page; the means are only in the file
GENE_COLUMNS = {
    "symbol": Column("Symbol", "text"),
    "gene": Column("Gene id", "name"),
    "weight": Column("Weight", "signed", "Weight in the final model"),
    "shift": Column("Shift", "signed", "Mean less the mean of this study, in SD of this study"),
    "shift_before": Column("Before ComBat", "signed", "The shift as measured"),
    "score_shift": Column("Effect on score", "signed", "Weight times difference of the means"),
    "imputed": Column("Samples imputed", "integer", "Samples that lack the gene"),
}
# columns of predictions.tsv of a cohort, by kind of outcome
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
    """Return the columns of the gene table; with classes the help says that they count alike."""
    if not classes:
        return GENE_COLUMNS
    shift = GENE_COLUMNS["shift"]
    weighting = f"; {'both' if len(classes) == 2 else 'all'} classes count alike"
    return GENE_COLUMNS | {"shift": replace(shift, help=shift.help + weighting)}


def sample_columns(cohort: CohortRecord, classes: Sequence[str] | None) -> dict[str, Column]:
    """Return the columns of the sample table for survival, numbers or classes."""
    if classes:
        return CLASS_SAMPLE_COLUMNS
    return SURVIVAL_SAMPLE_COLUMNS if "curves" in cohort else REGRESSION_SAMPLE_COLUMNS


MAX_COHORTS_OF_FIRST_SCREEN = 3  # cohorts up to which a sentence has the numbers of each
MAX_LISTED_NAMES = 5  # names of cohorts that are not better than chance


def cohort_paragraphs(data: External) -> list[Paragraph]:
    """Return the paragraph of the first screen about external cohorts; [] without any."""
    text = WORDS.text("first_screen", data, measure(data))
    n_cohorts = len(data["external"]) + len(data["not_assessable"])
    lead = "External cohort." if n_cohorts == 1 else "External cohorts."
    return [Paragraph(lead, text)] if text else []


def _wrong_by_class(cohort: CohortRecord) -> list[str]:
    """Return ``["12 of 20 benign", "2 of 20 malignant"]``, the misclassified samples."""
    rows = cohort["confusion"] or []
    return [
        f"{sum(row) - row[index]} of {sum(row)} {clean(name)}"
        for index, (row, name) in enumerate(zip(rows, cohort["classes"] or (), strict=True))
    ]


def _first_names(names: Sequence[str]) -> str:
    """Return the first names and the number of the others."""
    omitted = [f"{len(names) - MAX_LISTED_NAMES} more"] if len(names) > MAX_LISTED_NAMES else []
    return enumerated([*names[:MAX_LISTED_NAMES], *omitted])


def _one_minus(error: float | None) -> float | None:
    """Return 1 - error, such as balanced accuracy; None stays None."""
    return None if error is None else 1 - error


MAX_COHORTS_OF_SUMMARY = 3  # cohorts up to which all results are at the top of the section
SHIFT_HELP = "Of the genes, in training standard deviations"


class CohortMeasure(NamedTuple):
    """A measure of a cohort, as the page shows it."""

    name: str
    format_number: Write


# by rows of scores.tsv, in the order of the table
COHORT_MEASURES = {
    "concordance": CohortMeasure("C", decimal),
    "uno": CohortMeasure("Uno's C", decimal),
    "auc": CohortMeasure("AUC", decimal),
    "balanced_error": CohortMeasure("Balanced accuracy", rate),
    "sensitivity": CohortMeasure("Sensitivity", percent),
    "specificity": CohortMeasure("Specificity", percent),
    "r2": CohortMeasure("R²", decimal),
}


def external_section(data: External, limits: Limits) -> Section | None:
    """Return the section with the final model in each external cohort; None without any."""
    cohorts = data["external"]
    words = WORDS.paragraphs("section", data, measure(data))
    if not words:  # no cohort was given
        return None
    items: list[Item] = [figures.cohort_forest(data)] if len(cohorts) > 1 else []
    # The words and facts of a single cohort have all values of the table.
    items += [_overview_table(data)] if len(cohorts) > 1 else []
    items += [
        Group(
            cohort["name"],
            _cohort_title(data, cohort),
            [WORDS.text("finding", data, cohort, measure(data))]
            if len(cohorts) > MAX_COHORTS_OF_SUMMARY
            else [],
            list(_cohort_items(data, cohort, limits)),
        )
        for cohort in cohorts
    ]
    return Section("external", "External cohorts", words, items, part="cohorts")


def _cohort_title(data: External, cohort: CohortRecord) -> str:
    """Return the heading of a cohort, with its main measure."""
    external_measure = measure(data).external_measure
    score = cohort["scores"].get(external_measure.key)
    if score is None or score["value"] is None:
        return clean(cohort["name"])
    reached = with_limits(external_measure.name, score["value"], score["low"], score["high"])
    return f"{clean(cohort['name'])}: {reached}"


def _overview_table(data: External) -> Table:
    """Return the table with one cohort per row."""
    keys = [
        key
        for key in COHORT_MEASURES
        if any(key in cohort["scores"] for cohort in data["external"])
    ]
    any_cohort = data["external"][0]  # all have the outcome of the study
    columns = [Column("Cohort", "name"), Column("Samples", "integer")]
    has_groups = any("groups" in cohort for cohort in data["external"])
    if has_groups:
        columns.append(Column("Groups", "integer", "Independent groups, such as patients"))
    columns.append(Column("Seen in training", "integer", "Samples that trained the model"))
    for key in keys:
        columns += [
            Column(_measure_name(key, any_cohort), _column_kind(key)),
            Column(CI_FROM, _column_kind(key)),
            Column(CI_TO, _column_kind(key)),
        ]
    columns += [Column("Genes absent", "integer"), Column("Median shift", "number", SHIFT_HELP)]
    rows = []
    for cohort in data["external"]:
        row: list[Any] = [cohort["name"], cohort["samples"]]
        if has_groups:
            row.append(cohort["groups"]["count"] if "groups" in cohort else cohort["samples"])
        row.append(cohort["seen_before"])
        for key in keys:
            row += value_and_limits(score_of_page(cohort, key))
        rows.append([*row, cohort["absent"], cohort["shift"]["scored"]["median"]])
    caption = "The final model in each cohort, with 95% CI."
    return filled_table("cohorts", caption, columns, rows, len(rows), is_open=True)


def score_of_page(cohort: CohortRecord, key: str) -> CohortScore | None:
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


def _measure_name(key: str, cohort: CohortRecord) -> str:
    """Return the name of a measure; in survival an AUC is at the horizon."""
    at_horizon = " at the horizon" if key == "auc" and "curves" in cohort else ""
    return f"{COHORT_MEASURES[key].name}{at_horizon}"


def _column_kind(key: str) -> str:
    """Return the format of the column of a measure."""
    return "number" if COHORT_MEASURES[key].format_number is decimal else "share"


def _cohort_items(data: External, cohort: CohortRecord, limits: Limits) -> Iterator[Item]:
    """Yield facts, figures and tables of one cohort."""
    stem = f"external_{cohort['name']}"
    classes = data["study"]["classes"]
    facts = list(_cohort_facts(cohort, _listed_measures(data, cohort)))
    yield Facts(stem, clean(cohort["name"]), facts)
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
        total=len(cohort["genes"]),
    )
    yield _cohort_table(
        cohort["points"],
        sample_columns(cohort, classes),
        f"{name}: every sample.",  # the page has at most `MAX_PLOTTED_SAMPLES`, the file all
        f"{folder}/predictions.tsv",
        limits.table_rows,
        total=cohort["samples"],
    )


def _listed_measures(data: External, cohort: CohortRecord) -> list[str]:
    """Return the keys of the measures among the facts of a cohort.

    The table of several cohorts has all measures, the words above a single one the main measures.
    """
    if len(data["external"]) > 1:
        return []
    main_key = measure(data).external_measure.key
    main_score = cohort["scores"].get(main_key)
    is_measured = main_score is not None and main_score["value"] is not None
    keys_in_words = (main_key, "balanced_error") if is_measured else ()
    return [key for key in COHORT_MEASURES if key not in keys_in_words]


def _cohort_facts(cohort: CohortRecord, measures: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each fact about a cohort, with these `measures`."""
    yield "Samples", WORDS.text("samples", cohort)
    for key in measures:
        cohort_measure = COHORT_MEASURES[key]
        score = score_of_page(cohort, key)
        if score is not None and score["value"] is not None:
            format_number = cohort_measure.format_number  # of the value and of its limits
            text = WORDS.text("with_interval", score, format_number, format_number)
            yield _measure_name(key, cohort), text
    if "curves" in cohort:
        yield "Calibration", WORDS.text("risks", cohort)
    slope = cohort["scores"].get("calibration_slope")
    if slope is not None and slope["value"] is not None:
        yield "Calibration", WORDS.text("calibration", cohort["scores"])
    yield "Genes of the model", WORDS.text("genes", cohort)
    yield "Batch check", figures.shift_sentence(cohort)
    yield "Values", WORDS.text("spread", cohort["quantiles"])
    digests = cohort["inputs"].items()
    yield "Files", "; ".join(f"{clean(file)} (SHA-256 {sha[:12]}…)" for file, sha in digests)
    if cohort["warnings"]:
        yield "Noted", "; ".join(map(clean, cohort["warnings"]))


def _cohort_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Column],
    caption: str,
    file: str,
    max_rows: int,
    total: int,
) -> Table:
    """Return the table of a file with `total` rows, `max_rows` visible, without empty columns."""
    filled_keys = [key for key in columns if any(row.get(key) is not None for row in rows)]
    values = [[row[key] for key in filled_keys] for row in rows]
    name = file.removesuffix(".tsv").replace("/", "-")
    headings = [replace(columns[key], key=key) for key in filled_keys]
    return filled_table(name, caption, headings, values, max_rows, total=total, file=file)


def external_sentences(data: External) -> list[str]:
    """Return the sentences of Methods about external cohorts; [] without any."""
    return WORDS.paragraphs("methods", data) if data["external"] else []


WORDS = Wording(
    __file__,  # sentences: the macros of section.j2, by name
    MAX_COHORTS_OF_FIRST_SCREEN=MAX_COHORTS_OF_FIRST_SCREEN,
    MAX_COHORTS_OF_SUMMARY=MAX_COHORTS_OF_SUMMARY,
    first_names=_first_names,
    median=median,
    one_minus=_one_minus,
    score_of_page=score_of_page,
    wrong_by_class=_wrong_by_class,
)
