"""Texts for a paper: the Results paragraph, limits, and the TRIPOD+AI checklist."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from genesig.data.steps.normalise import IMPUTATION_STEPS, LOW_VALUE_STEPS
from genesig.report.page.measure import class_sizes, measure, two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import Column, filled_table, table_rows
from genesig.report.page.verdict import no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, counts_by_kind, percent, scheme_words


class Writeup(Study):
    """The keys of report_data.json that this topic reads."""

    warnings: list[str]  # limits of the study


WORDS = Wording(
    __file__,  # sentences: the macros of writeup.j2, by name
    MAX_GENES_IN_RESULTS=12,  # genes that the paragraph names
    MAX_SINGLE_COHORTS=4,  # cohorts with a sentence of their own; of more, the median
    accuracies=lambda metric, rows: sorted(metric.value(row["error"]) for row in rows),
    median=median,
)


def results(data: Writeup) -> list[str]:
    """Return the Results paragraph: the conclusion, its numbers, and genes if there is evidence."""
    return WORDS.paragraphs("results", data)


# Answers to items of `TRIPOD_ITEMS`.
OPEN_ITEM = "open"  # only the authors can fill in the item


def _objective(data: Writeup) -> str:
    """Return whether the study develops a model, or also evaluates it."""
    tested = data["answer"]["cohorts"]["rows"]
    return "development" + (", and evaluation in external cohorts" if tested else "")


def _preparation(data: Writeup) -> str:
    """Return the steps of normalisation: of each sample, then those fitted to training samples."""
    steps = data["config"]["normalise"]
    names = [step["step"] for key in ("samples", "folds") for step in steps[key]]
    return f"steps: {', '.join(map(clean, names)) or 'none'}; sample quality in the supplement"


def _outcome(data: Writeup) -> str:
    """Return the outcome and its kind."""
    facts = data["study"]
    kind = (
        " or ".join(map(clean, facts["classes"]))
        if facts["classes"]
        else measure(data).words.outcome
    )
    return f"{clean(facts['label'])} ({kind}); how it was assessed is {OPEN_ITEM}"


def _predictors(data: Writeup) -> str:
    """Return the number of measured genes."""
    return f"all {counted(data['study']['genes'], 'gene')} measured; none was preselected by hand"


def _size(data: Writeup) -> str:
    """Return the number of samples."""
    return f"{counted(data['study']['samples'], 'sample')}; the justification is {OPEN_ITEM}"


def _missing(data: Writeup) -> str:
    """Return what was left out, and how missing values were imputed."""
    dropped = counts_by_kind(data["study"]["dropped"])
    text = f"left out: {dropped}, each with its reason" if dropped else "nothing was left out"
    # Imputation, if any, is the first step inside the splits.
    first_step: dict[str, Any] = next(iter(data["config"]["normalise"]["folds"]), {"step": ""})
    n_missing = data["study"]["missing"]
    n_values = data["study"]["samples"] * data["study"]["genes"]
    if not n_missing or first_step["step"] not in IMPUTATION_STEPS:
        return text
    method = "from genes alike" if first_step["step"] == "knn_impute" else "with the gene's mean"
    if first_step["step"] in LOW_VALUE_STEPS:
        method = "taken for values too small to be measured"
    share = percent(n_missing / n_values, 2)
    text += f"; {n_missing} of {n_values} values ({share}) were missing and imputed by"
    text += f" {first_step['step']} ({method}), learned on training samples alone"
    max_missing = float(first_step.get("missing_most", 1))
    if max_missing >= 1:
        return text
    return f"{text}; genes missing in more than {percent(max_missing)} were left out"


def _division(data: Writeup) -> str:
    """Return the scheme of the outer splits."""
    design = data["design"]
    splits = f"{scheme_words(design['scheme'])}, {counted(design['outer'], 'split')}"
    return f"{splits}, selection and tuning inside each"


def _groups_and_batches(data: Writeup) -> str:
    """Return how the study treats clusters of samples: groups and batches."""
    facts = data["study"]
    batch = data["batch"]
    texts = [f"groups by {clean(facts['group'])} kept whole"] if facts["group"] else []
    texts += [f"batches by {clean(batch['column'])}"] if batch else []
    return "; ".join(texts) or f"no groups or batches were named; {OPEN_ITEM} whether there are any"


def _measures(data: Writeup) -> str:
    """Return the measures of the report."""
    if two_classes(data["study"]):
        further_measures = "AUC, sensitivity, specificity, calibration, net benefit"
    elif data["study"]["classes"]:
        further_measures = "mean AUC of each class against the others, sensitivity of each class"
    else:
        further_measures = measure(data).words.other_measures
    return f"{measure(data).name}, {further_measures}"


def _imbalance(data: Writeup) -> str:
    """Return how classes of different size are treated."""
    if not data["study"]["classes"]:
        return f"does not apply to {measure(data).words.outcome}"
    return "all classes count alike in error and selection; samples were not resampled"


def _output(data: Writeup) -> str:
    """Return the output of the model."""
    classes = data["study"]["classes"]
    if not classes:
        return measure(data).words.output
    if not two_classes(data["study"]):
        return "a score and a probability of each class; the largest score is the prediction"
    return f"a score, above 0 called {clean(classes[1])}, and a probability of {clean(classes[1])}"


def _events(data: Writeup) -> str:
    """Return the number of samples, by class."""
    return ", ".join(class_sizes(data["study"])) or counted(data["study"]["samples"], "sample")


def _flow(data: Writeup) -> str:
    """Return the number of analysed samples, and what was left out."""
    return f"{counted(data['study']['samples'], 'sample')} analysed; {_missing(data)}"


def _external_words(data: Writeup) -> str:
    """Return the section of the report that compares the data of external cohorts."""
    rows = data["answer"]["cohorts"]["rows"]
    return "External cohorts: shift of each gene" if rows else "no external cohort was tested"


def _limitations(data: Writeup) -> str:
    """Return the section of the report that lists limitations."""
    return f"{counted(len(data['warnings']), 'warning')} of this run, under Limits"


def _next_steps(data: Writeup) -> str:
    """Return the section of the report that names next steps, or `OPEN_ITEM`."""
    is_planned = any(row["samples"] for row in table_rows(data["tables"]["next_study"]))
    if no_evidence(data):
        return "the last sentences of the Summary"
    return "Size of a validation study" if is_planned else OPEN_ITEM


# number of the item, its request, and its answer: None is for the authors, a text is the same in
# every study
TRIPOD_ITEMS: tuple[tuple[str, str, Callable[[Writeup], str] | str | None], ...] = (
    ("1", "Title: model, target population, outcome", None),
    ("2", "Abstract as TRIPOD+AI for abstracts asks", None),
    ("3a", "Healthcare context, rationale, existing models", None),
    ("3b", "Target population, purpose, intended users", None),
    ("3c", "Known inequalities between groups of people", None),
    ("4", "Objectives: development or evaluation", _objective),
    ("5a", "Sources of the data, and how representative they are", None),
    ("5b", "Dates of accrual and follow-up", None),
    ("6a", "Setting, number and place of centres", None),
    ("6b", "Eligibility of participants", None),
    ("6c", "Treatments received, and how they were handled", None),
    ("7", "Preparation and quality of the data", _preparation),
    ("8a", "Outcome: definition, horizon, how and when assessed", _outcome),
    ("8b", "Who assessed a subjective outcome", None),
    ("8c", "Blinding of the assessment of the outcome", None),
    ("9a", "Choice of initial predictors, any preselection", _predictors),
    ("9b", "How and when predictors were measured", None),
    ("9c", "Who assessed subjective predictors", "does not apply to expression values"),
    ("10", "Study size and its justification", _size),
    ("11", "Missing data", _missing),
    ("12a", "How data were divided for development and evaluation", _division),
    ("12b", "How predictors were scaled and transformed", _preparation),
    ("12c", "Type of model, all steps, tuning, internal validation", "Methods"),
    ("12d", "Differences between clusters of samples", _groups_and_batches),
    ("12e", "Measures of performance", _measures),
    ("12f", "Updating of the model", "none"),
    ("12g", "How predictions were calculated", "model.json, by genesig predict"),
    ("13", "Class imbalance", _imbalance),
    ("14", "Approaches to fairness", None),
    ("15", "Output of the model and its threshold", _output),
    ("16", "Differences between development and evaluation data", _external_words),
    ("17", "Ethical approval and consent", None),
    ("18a", "Funding", None),
    ("18b", "Conflicts of interest", None),
    ("18c", "Protocol", None),
    ("18d", "Registration", None),
    ("18e", "Availability of the data", None),
    ("18f", "Availability of the code", "genesig; all settings under Reproducibility"),
    ("19", "Involvement of patients and the public", None),
    ("20a", "Flow of participants", _flow),
    ("20b", "Characteristics of participants", "Who was studied"),
    ("20c", "Predictors beside those of the development data", _external_words),
    ("21", "Participants and events in each analysis", _events),
    ("22", "The full model, so that others can predict", "model.json; weights under Genes"),
    (
        "23a",
        "Performance with intervals, also in subgroups",
        "Prediction, with 95% CI; subgroups there where the sample table has any",
    ),
    ("23b", "Performance across clusters", _groups_and_batches),
    ("24", "Results of updating", "none"),
    ("25", "Interpretation, also of fairness", None),
    ("26", "Limitations", _limitations),
    ("27a", "Handling of poor or absent input at use", "refused or imputed, and reported"),
    ("27b", "Interaction and expertise that users need", None),
    ("27c", "Next steps of research", _next_steps),
)


def checklist(data: Writeup) -> list[tuple[str, str, str]]:
    """Return (number, request, answer) of each item, in the order of the statement."""
    return [
        (number, request, answer(data) if callable(answer) else answer or OPEN_ITEM)
        for number, request, answer in TRIPOD_ITEMS
    ]


def results_section(data: Writeup, limits: Limits) -> Section:
    """Return the section with the Results paragraph."""
    files = ["figures/figure1.svg", "figures/figure1.pdf", "figures/captions/figure1.html"]
    return Section(
        "results", "Results paragraph", results(data), part="writeup", folded=True, files=files
    )


def limits_section(data: Writeup, limits: Limits) -> Section:
    """Return the section with the limits of the study."""
    words = [limits_words(data)]
    return Section("limits", "Limits", words, part="writeup", folded=True)


def limits_words(data: Writeup) -> str:
    """Return the limits of the study: of its accuracy and design, and its warnings."""
    return WORDS.text("limits", data)


def tripod_section(data: Writeup, limits: Limits) -> Section:
    """Return the section with the TRIPOD+AI checklist."""
    rows = checklist(data)
    columns = [Column("Item", "name"), Column("Asks for", "text"), Column("This run", "text")]
    n_open = sum(row[-1] == OPEN_ITEM for row in rows)
    words = [f"The run fills in {len(rows) - n_open} of {len(rows)} items; {n_open} are for you."]
    caption = "TRIPOD+AI checklist (Collins et al. 2024), in short words."
    table = filled_table("tripod", caption, columns, rows, limits.table_rows, search=True)
    return Section("tripod", "TRIPOD+AI checklist", words, [table], part="writeup", folded=True)
