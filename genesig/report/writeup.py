"""What is copied into a paper: results, limits, a reporting checklist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from genesig.data.steps.normalise import IMPUTATION_STEPS, LOW_VALUE_STEPS
from genesig.report.page.measure import Measure, held, measure, model_name, picked, two, where
from genesig.report.page.record import CohortError, Evidence, Measured, Price, Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import Column, filled_table, records
from genesig.report.page.verdict import Grade, grade, headline
from genesig.report.page.words import (
    Write,
    both,
    by_kind,
    clean,
    confidence,
    counted,
    decimal,
    percent,
    samples_in_groups,
    scheme_words,
    short_symbol,
    significant,
)


class Writeup(Study):
    """What every topic may read, and the warnings, which are limits of the study."""

    warnings: list[str]


NAMED = 12
"""Genes that the paragraph names."""
EACH = 4
"""Cohorts that have a sentence of their own; of more, the paragraph gives the median."""


def results(data: Writeup) -> list[str]:
    """Return the paragraph: the graded finding, its numbers, and genes where there is evidence."""
    said = (headline(data), _samples(data), _error(data), _chance(data), _genes(data),
            _stability(data), _rival(data), *_cohorts(data))  # fmt: skip
    return [" ".join(one for one in said if one)]


def limits(low: float | None, high: float | None, write: Write) -> str:
    """Return ``"95% CI 1–5%"``; nothing if a limit is absent."""
    return confidence(low, high, write)


def _samples(data: Writeup) -> str:
    it = data["study"]
    sizes = ""
    if it["classes"] and it["counts"]:
        pairs = zip(it["counts"], it["classes"], strict=True)
        sizes = f" ({', '.join(f'{n} {clean(name)}' for n, name in pairs)})"
    return (
        f"{counted(it['samples'], 'sample')}{sizes} with {counted(it['genes'], 'gene')} were"
        " analysed."
    )


def _error(data: Writeup) -> str:
    error, shown = data["answer"]["error"], measure(data)
    if error["value"] is None:
        return "The prediction error could not be estimated."
    interval = limits(*shown.interval(error), measure(data).write)
    more = "".join(map(_measure, data["answer"]["measures"]))
    value = measure(data).write(shown.value(error["value"]))
    return f"In nested cross-validation, the {shown.name} was {value} ({interval}){more}."


def _measure(one: Measured) -> str:
    write: Write = decimal if one["name"] == "auc" else percent
    name = one["name"].replace("auc", "AUC")
    return f", {name} {write(one['value'])} ({limits(one['low'], one['high'], write)})"


def _chance(data: Writeup) -> str:
    p, observed = data["answer"]["p"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "No permutation test was run."
    as_good = sum(error <= observed + 1e-9 for error in data["null"]["errors"])
    often = f"in {as_good}" if as_good else "in none"
    name = measure(data).name
    return (
        f"This {name} was reached {often} of {counted(p['permutations'], 'permutation')} of the"
        f" labels{where(data)} (p\u00a0=\u00a0{significant(p['value'], 2)})."
    )


def _genes(data: Writeup) -> str:
    it, share = data["answer"], percent(data["config"]["signature"]["cv_frequency"])
    if not it["size"]:
        return "The final model, fitted on all samples, selected no gene."
    if grade(data) is Grade.NONE:
        uses = _uses(it["evidence"]) if it["evidence"] else counted(it["size"], "gene")
        return f"The final model, fitted on all samples, uses {uses}, none of which exceeds chance."
    if it["evidence"]:
        return _named(data, it["evidence"])
    ranked = sorted(it["chips"], key=lambda one: -one["cv_frequency"])
    names = [short_symbol(one["symbol"]) or clean(one["symbol"]) for one in ranked[:NAMED]]
    more = f" and {it['size'] - len(names)} more" if it["size"] > len(names) else ""
    return (
        f"The final model, fitted on all samples, uses {counted(it['size'], 'gene')}, of which"
        f" {it['core']} had been selected in at least {share} of the"
        f" {counted(data['design']['outer'], 'training set')}: {', '.join(names)}{more}."
    )


def _named(data: Writeup, it: Evidence) -> str:
    q = f"estimated FDR {percent(data['config']['signature']['fdr'])}"
    model = "the final model, fitted on all samples, "
    model += f"uses {_uses(it)}" if it["model"] else "selected no gene"
    if not it["fdr_selected"]:
        return f"Stability selection identified no gene ({q}); {model}."
    genes = [one for one in data["answer"]["chips"] if one["fdr_selected"]][:NAMED]
    names = [short_symbol(one["symbol"]) or clean(one["symbol"]) for one in genes]
    more = f" and {it['fdr_selected'] - len(names)} more" if it["fdr_selected"] > len(names) else ""
    said = both(it["fdr_selected"] - it["indicators"][0], it["indicators"][0])
    return (
        f"Stability selection identified {said} ({q}): {', '.join(names)}{more}. For prediction,"
        f" {model}{_alone(data, it['price'])}."
    )


def _uses(it: Evidence) -> str:
    return both(it["model"] - it["indicators"][1], it["indicators"][1])


def _alone(data: Writeup, price: Price | None) -> str:
    """Say how models of FDR-selected genes did, beside the predictive ones."""
    shown, write = measure(data), measure(data).write
    if price is None:
        return ""
    return (
        f"; models of FDR-selected genes alone reached {write(shown.value(price['error']))}"
        f"{_difference(price['difference_low'], price['difference_high'])}"
    )


def _stability(data: Writeup) -> str:
    it = data["answer"]["stability"]
    if it is None or it["source"] != "half_subsamples":
        return ""
    return (
        f"The stability of the gene list on disjoint halves of the samples was"
        f" {decimal(it['value'])} (1: identical lists, 0: chance)."
    )


def _rival(data: Writeup) -> str:
    best, shown, write = data["answer"]["control"], measure(data), measure(data).write
    if best is None:
        return ""
    value = write(shown.value(best["error"]))
    return (
        f"On the same splits, {picked(best['of'])}, {model_name(best['model'])}, reached"
        f" {value}{_difference(best['difference_low'], best['difference_high'])}."
    )


def _difference(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    if high < 0:
        return "; this is better, as the interval of the paired difference excludes 0"
    if low > 0:
        return "; this is worse, as the interval of the paired difference excludes 0"
    return "; the interval of the paired difference includes 0"


def _cohorts(data: Writeup) -> Sequence[str]:
    shown, write = measure(data), measure(data).write
    rows = [one for one in data["answer"]["cohorts"]["rows"] if one["error"] is not None]
    if len(rows) > EACH:
        return [_together([one for one in rows if not one["seen"]] or rows, shown, write)]
    said = []
    for one in rows:
        seen = ", some of which had trained it" if one["seen"] else ""
        many = samples_in_groups(one["samples"], one["groups"])
        said.append(
            f"In {clean(one['name'])} ({many}{seen}), the final model"
            f" had a {shown.name} of {write(shown.value(one['error']))}"
            f" ({limits(*shown.interval(one), write)})."
        )
    return said


def _together(rows: Sequence[CohortError], shown: Measure, write: Write) -> str:
    """Say the median and the range of many cohorts."""
    values = sorted(value for one in rows if (value := shown.value(one["error"])) is not None)
    seen = ", some of which had trained it" if rows[0]["seen"] else ""
    return (
        f"In {len(rows)} external cohorts ({sum(one['samples'] for one in rows)} samples{seen}),"
        f" the final model had a median {shown.name} of {write(median(values))} (range"
        f" {write(values[0])} to {write(values[-1])})."
    )


OPEN = "open"
Answer = Callable[[Writeup], str] | None


def _objective(data: Writeup) -> str:
    tested = data["answer"]["cohorts"]["rows"]
    return "development" + (", and evaluation in external cohorts" if tested else "")


def _preparation(data: Writeup) -> str:
    steps = data["config"]["normalise"]
    names = [step["step"] for key in ("samples", "folds") for step in steps[key]]
    return f"steps: {', '.join(map(clean, names)) or 'none'}; sample quality in the supplement"


def _outcome(data: Writeup) -> str:
    it = data["study"]
    kind = " or ".join(map(clean, it["classes"])) if it["classes"] else measure(data).words.outcome
    return f"{clean(it['label'])} ({kind}); how it was assessed is {OPEN}"


def _predictors(data: Writeup) -> str:
    return f"all {counted(data['study']['genes'], 'gene')} measured; none was preselected by hand"


def _size(data: Writeup) -> str:
    return f"{counted(data['study']['samples'], 'sample')}; the justification is {OPEN}"


def _missing(data: Writeup) -> str:
    dropped = by_kind(data["study"]["dropped"])
    said = f"left out: {dropped}, each with its reason" if dropped else "nothing was left out"
    first: dict[str, Any] = next(iter(data["config"]["normalise"]["folds"]), {"step": ""})
    lost, all_of_them = data["study"]["missing"], data["study"]["samples"] * data["study"]["genes"]
    if not lost or first["step"] not in IMPUTATION_STEPS:
        return said
    how = "from genes alike" if first["step"] == "knn_impute" else "with the gene's mean"
    if first["step"] in LOW_VALUE_STEPS:
        how = "taken for values too small to be measured"
    said += f"; {lost} of {all_of_them} values ({percent(lost / all_of_them, 2)}) were missing and"
    said += f" imputed by {first['step']} ({how}), learned on training samples alone"
    most = float(first.get("missing_most", 1))
    return said + f"; genes missing in more than {percent(most)} were left out" * (most < 1)


def _division(data: Writeup) -> str:
    it = data["design"]
    splits = f"{scheme_words(it['scheme'])}, {counted(it['outer'], 'split')}"
    return f"{splits}, selection and tuning inside each"


def _clusters(data: Writeup) -> str:
    it, batch = data["study"], data["batch"]
    said = [f"groups by {clean(it['group'])} kept whole"] if it["group"] else []
    said += [f"batches by {clean(batch['column'])}"] if batch else []
    return "; ".join(said) or f"no groups or batches were named; {OPEN} whether there are any"


def _measures(data: Writeup) -> str:
    more = "AUC, sensitivity, specificity, calibration, net benefit"
    if not two(data["study"]):
        more = "mean AUC of each class against the others, sensitivity of each class"
    more = more if data["study"]["classes"] else measure(data).words.further
    return f"{measure(data).name}, {more}"


def _imbalance(data: Writeup) -> str:
    if not data["study"]["classes"]:
        return f"does not apply to {measure(data).words.outcome}"
    return "all classes count alike in error and selection; samples were not resampled"


def _output(data: Writeup) -> str:
    classes = data["study"]["classes"]
    if not classes:
        return measure(data).words.output
    if not two(data["study"]):
        return "a score and a probability of each class; the largest score is the prediction"
    return f"a score, above 0 called {clean(classes[1])}, and a probability of {clean(classes[1])}"


def _events(data: Writeup) -> str:
    it = data["study"]
    if not it["classes"] or not it["counts"]:
        return counted(it["samples"], "sample")
    pairs = zip(it["counts"], it["classes"], strict=True)
    return ", ".join(f"{n} {clean(name)}" for n, name in pairs)


def _flow(data: Writeup) -> str:
    return f"{counted(data['study']['samples'], 'sample')} analysed; {_missing(data)}"


def _performance(data: Writeup) -> str:
    where = "Prediction, with 95% CI"
    return f"{where}; subgroups there where the sample table has any"


def _elsewhere(data: Writeup) -> str:
    rows = data["answer"]["cohorts"]["rows"]
    return "External cohorts: shift of each gene" if rows else "no external cohort was tested"


def _limitations(data: Writeup) -> str:
    return f"{counted(len(data['warnings']), 'warning')} of this run, under Limits"


def _next_steps(data: Writeup) -> str:
    planned = any(row["samples"] for row in records(data["tables"]["next_study"]))
    if grade(data) is Grade.NONE:
        return "the last sentences of the Summary"
    return "Size of a validation study" if planned else OPEN


def _always(text: str) -> Callable[[Writeup], str]:
    return lambda data: text


ITEMS: tuple[tuple[str, str, Answer], ...] = (
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
    ("9c", "Who assessed subjective predictors", _always("does not apply to expression values")),
    ("10", "Study size and its justification", _size),
    ("11", "Missing data", _missing),
    ("12a", "How data were divided for development and evaluation", _division),
    ("12b", "How predictors were scaled and transformed", _preparation),
    ("12c", "Type of model, all steps, tuning, internal validation", _always("Methods")),
    ("12d", "Differences between clusters of samples", _clusters),
    ("12e", "Measures of performance", _measures),
    ("12f", "Updating of the model", _always("none")),
    ("12g", "How predictions were calculated", _always("model.json, by genesig predict")),
    ("13", "Class imbalance", _imbalance),
    ("14", "Approaches to fairness", None),
    ("15", "Output of the model and its threshold", _output),
    ("16", "Differences between development and evaluation data", _elsewhere),
    ("17", "Ethical approval and consent", None),
    ("18a", "Funding", None),
    ("18b", "Conflicts of interest", None),
    ("18c", "Protocol", None),
    ("18d", "Registration", None),
    ("18e", "Availability of the data", None),
    ("18f", "Availability of the code", _always("genesig; all settings under Reproducibility")),
    ("19", "Involvement of patients and the public", None),
    ("20a", "Flow of participants", _flow),
    ("20b", "Characteristics of participants", _always("Who was studied")),
    ("20c", "Predictors beside those of the development data", _elsewhere),
    ("21", "Participants and events in each analysis", _events),
    (
        "22",
        "The full model, so that others can predict",
        _always("model.json; weights under Genes"),
    ),
    ("23a", "Performance with intervals, also in subgroups", _performance),
    ("23b", "Performance across clusters", _clusters),
    ("24", "Results of updating", _always("none")),
    ("25", "Interpretation, also of fairness", None),
    ("26", "Limitations", _limitations),
    ("27a", "Handling of poor or absent input at use", _always("refused or imputed, and reported")),
    ("27b", "Interaction and expertise that users need", None),
    ("27c", "Next steps of research", _next_steps),
)


def checklist(data: Writeup) -> list[tuple[str, str, str]]:
    """Return (item, what it asks, what the run knows) for each item, in the statement's order."""
    return [(number, asks, OPEN if say is None else say(data)) for number, asks, say in ITEMS]


def results_paragraph(data: Writeup, limits: Limits) -> Section:
    """Show the Results paragraph."""
    files = ["figures/figure1.svg", "figures/figure1.pdf", "figures/captions/figure1.html"]
    return Section("results", "Results paragraph", results(data), part="writeup", folded=True,
                   files=files)  # fmt: skip


def limitations(data: Writeup, limits: Limits) -> Section:
    """Show what a Limitations paragraph has to say."""
    words = [limits_words(data)]
    return Section("limits", "Limits", words, part="writeup", folded=True)


def limits_words(data: Writeup) -> str:
    """Return the limits of the study: of its error, of its batches, and its warnings."""
    cohorts = data["answer"]["cohorts"]
    said = [
        "The accuracy is that of the modelling procedure (internal validation)."
        + (
            " The final signature was tested in external cohorts only."
            if cohorts["tested"]
            else " The final signature has not been tested externally."
        )
    ]
    lacking = ["batches"] * (data["batch"] is None) + ["covariates"] * (not held(data))
    if lacking:
        said.append(f"No {' or '.join(lacking)} were given, so their influence was not assessed.")
    warned = (one if one.endswith(".") else f"{one}." for one in data["warnings"])
    return " ".join([*said, *warned])


def tripod(data: Writeup, limits: Limits) -> Section:
    """Show the checklist."""
    rows = checklist(data)
    columns = [Column("Item", "name"), Column("Asks for", "text"), Column("This run", "text")]
    left = sum(row[-1] == OPEN for row in rows)
    words = [f"The run fills in {len(rows) - left} of {len(rows)} items; {left} are for you."]
    caption = "TRIPOD+AI checklist (Collins et al. 2024), in short words."
    table = filled_table("tripod", caption, columns, rows, limits.table_rows, search=True)
    return Section("tripod", "TRIPOD+AI checklist", words, [table], part="writeup", folded=True)
