"""Four questions that a careful reader asks, each with a short answer and its numbers."""

from __future__ import annotations

from typing import NamedTuple

from genesig.data.study.confounding import MIN_WARNED_ASSOCIATION, MIN_WEAK_ASSOCIATION
from genesig.report.answer.sentences import shared_of_size
from genesig.report.page.measure import model_name, permutation_scope
from genesig.report.page.record import Study
from genesig.report.page.verdict import Grade, grade, grade_within_study, interval_and_chance
from genesig.report.page.words import clean, counted, decimal, p_value, significant

CHANCE_QUESTION = "Better than chance?"
EXTERNAL_QUESTION = "Tested in an external cohort?"
GENES_QUESTION = "Would other patients give the same genes?"
BATCH_QUESTION = "Could batches explain the result?"
STUDY_QUESTION = "Is the study mixed up with the outcome?"
YES = "Yes"
NO = "No"
UNCLEAR = "Unclear"
UNKNOWN = "Not assessed"
LEFT_OUT = {"leave_one_batch_out": "batch", "leave_one_study_out": "study"}


class Check(NamedTuple):
    """A row of the table: the question, the answer in a few words, the numbers behind it."""

    question: str
    answer: str
    detail: str


def checks(data: Study) -> list[Check]:
    """Return the four checks. Without evidence there is no result that batches could explain."""
    answers = [_against_chance(data), _external(data), _same_genes(data)]
    if grade(data) is not Grade.NONE:
        answers.append(_batch(data))
    return answers


def _against_chance(data: Study) -> Check:
    p = data["answer"]["p"]
    error = data["answer"]["error"]
    verdict = data["verdict"]
    if error["value"] is None:
        return Check(CHANCE_QUESTION, UNKNOWN, "The accuracy could not be measured")
    if p["value"] is None:
        return Check(CHANCE_QUESTION, UNKNOWN, "No permutation test was run")
    detail = f"{p_value(p['value'])}{_permutations(data)}"
    name, chance = interval_and_chance(data)
    if grade_within_study(data) is Grade.HERE and verdict["by"] == "genes":
        of_measure = "" if name == "accuracy" else f" of the {name}"
        return Check(CHANCE_QUESTION, YES, f"{detail}; the 95% CI{of_measure} excludes {chance}")
    if grade_within_study(data) is Grade.HERE:
        return Check(CHANCE_QUESTION, YES, f"{detail} for single genes; {verdict['by']} are better")
    if verdict["small"]:
        missing = (
            "there is no 95% CI"
            if verdict["excludes"] is None
            else (f"the 95% CI of the {name} includes {chance}")
        )
        return Check(CHANCE_QUESTION, UNCLEAR, f"{detail}, but {missing}")
    if verdict["small"] is None:
        return Check(CHANCE_QUESTION, UNCLEAR, f"{detail}: too few permutations to tell")
    method = data["answer"]["alternative"]
    if method is not None:
        name = model_name(method["model"])
        detail = f"{detail} for the linear models; {name} is better than chance"
    return Check(CHANCE_QUESTION, NO, detail)


def _permutations(data: Study) -> str:
    """Return how p was reached: what was permuted, whether it is the smallest possible."""
    p = data["answer"]["p"]
    permutations = f"{counted(p['permutations'], 'permutation')}{permutation_scope(data)}"
    if p["value"] is not None and p["value"] <= p["smallest"] + 1e-9:
        return f" (smallest possible with {permutations})"
    return f" ({permutations}; smallest possible {significant(p['smallest'], 2)})"


def _external(data: Study) -> Check:
    cohorts = data["answer"]["cohorts"]
    if not cohorts["tested"]:
        trained = "Each external cohort contains training samples"
        return Check(
            EXTERNAL_QUESTION, NO, trained if cohorts["rows"] else "No external cohort was given"
        )
    worse = f"; worse than chance in {cohorts['worse']}" if cohorts["worse"] else ""
    n_cohorts = counted(cohorts["tested"], "cohort")
    return Check(
        EXTERNAL_QUESTION, YES, f"Better than chance in {cohorts['better']} of {n_cohorts}{worse}"
    )


def _same_genes(data: Study) -> Check:
    """Report shared genes and stability without a verdict: no threshold was ever calibrated."""
    stability = data["answer"]["stability"]
    numbers = shared_of_size(data)
    if stability is None or stability["source"] != "half_subsamples":
        return Check(GENES_QUESTION, UNKNOWN, _not_measured(data))
    lasso = ""
    if stability["lasso"] is not None:
        lasso = f"; lasso lists of the same length {decimal(stability['lasso'])}"
    detail = f"Stability {decimal(stability['value'])} (0 = chance, 1 = identical{lasso})"
    if stability["blocks"] is not None:
        detail += f"; stability of groups of correlated genes {decimal(stability['blocks'])}"
    if numbers is None:
        return Check(GENES_QUESTION, f"Stability {decimal(stability['value'])}", detail)
    shared, size, _ = numbers
    if (stability["shared"] or 0) <= (stability["shared_by_chance"] or 0):
        return Check(GENES_QUESTION, "No more than by chance", detail)
    return Check(GENES_QUESTION, f"About {shared} of {size}", detail)


def _not_measured(data: Study) -> str:
    """Return the text on why halves of the samples give no stability."""
    stability = data["answer"]["stability"]
    halves = data["answer"]["halves"]
    reason = "No halves of the samples were drawn"
    if halves["drawn"]:
        reason = f"Not defined on {halves['drawn']} halves of the samples"
    if halves["empty"]:
        reason = f"No gene was selected in any of {halves['drawn']} halves of the samples"
    if stability is None:
        return reason
    value = decimal(stability["value"])
    return f"{reason}; overlapping training sets, which flatter it, give {value}"


def _batch(data: Study) -> Check:
    batch = data["batch"]
    if batch is None:
        return Check(BATCH_QUESTION, UNKNOWN, "No batch column was given")
    left_out = LEFT_OUT.get(data["design"]["scheme"])
    question = STUDY_QUESTION if left_out == "study" else BATCH_QUESTION
    column = clean(batch["column"])
    if batch["association"] is None:
        return Check(question, UNKNOWN, f"The association with {column} is not defined")
    measure = "Cramér's V" if data["study"]["classes"] else "Correlation ratio"
    detail = f"{measure} of {column} and outcome {decimal(batch['association'])}"
    if batch["association"] < MIN_WEAK_ASSOCIATION:
        return Check(question, "Not associated", f"{detail} (below {MIN_WEAK_ASSOCIATION:g})")
    if batch["association"] <= MIN_WARNED_ASSOCIATION:
        return Check(question, "Weakly associated", detail)
    if left_out:
        return Check(question, "Associated", f"{detail}; each {left_out} was left out in turn")
    return Check(question, "Possibly", f"{detail} (above {MIN_WARNED_ASSOCIATION:g})")
