"""The TRIPOD+AI checklist: filled in where the run knows, open where it cannot know.

Collins GS et al. (2024), TRIPOD+AI statement, BMJ 385:e078378; items in short words of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from genesig.data.steps.normalise import AS_LOW, FILLERS
from genesig.report.page.measure import measure
from genesig.report.page.sides import two
from genesig.report.page.words import by_kind, clean, counted, percent
from genesig.report.writeup.record import Writeup

OPEN = "open"
Answer = Callable[[Writeup], str] | None


def _objective(data: Writeup) -> str:
    tested = data["answer"]["cohorts"]["rows"]
    return "development" + (", and evaluation in other cohorts" if tested else "")


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
    if not lost or first["step"] not in FILLERS:
        return said
    how = (
        "taken for values too small to be measured"
        if first["step"] in AS_LOW
        else "from genes alike"
    )
    said += f"; {lost} of {all_of_them} values ({percent(lost / all_of_them, 2)}) were missing and"
    said += f" imputed by {first['step']} ({how}), learned on training samples alone"
    most = float(first.get("missing_most", 1))
    return said + f"; genes missing in more than {percent(most)} were left out" * (most < 1)


def _division(data: Writeup) -> str:
    it = data["design"]
    scheme = clean(it["scheme"]).replace("_", " ")
    return f"{scheme}, {counted(it['outer'], 'split')}, selection and tuning inside each"


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
    return "part 3, with 95\u00a0% CI; subgroups there where the sample table has any"


def _elsewhere(data: Writeup) -> str:
    rows = data["answer"]["cohorts"]["rows"]
    return "part 5: shift of each gene" if rows else "no other cohort was tested"


def _limitations(data: Writeup) -> str:
    return f"{counted(len(data['warnings']), 'warning')} of this run, under Limits"


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
    ("20b", "Characteristics of participants", _always("part 3, Who was studied")),
    ("20c", "Predictors beside those of the development data", _elsewhere),
    ("21", "Participants and events in each analysis", _events),
    ("22", "The full model, so that others can predict", _always("model.json; weights in part 2")),
    ("23a", "Performance with intervals, also in subgroups", _performance),
    ("23b", "Performance across clusters", _clusters),
    ("24", "Results of updating", _always("none")),
    ("25", "Interpretation, also of fairness", None),
    ("26", "Limitations", _limitations),
    ("27a", "Handling of poor or absent input at use", _always("refused or imputed, and reported")),
    ("27b", "Interaction and expertise that users need", None),
    ("27c", "Next steps of research", _always("part 5: patients needed for a validation")),
)


def checklist(data: Writeup) -> list[tuple[str, str, str]]:
    """Return (item, what it asks, what the run knows) for each item, in the statement's order."""
    return [(number, asks, OPEN if say is None else say(data)) for number, asks, say in ITEMS]
