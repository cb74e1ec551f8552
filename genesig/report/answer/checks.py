"""The table of checks on the first screen: questions, each with a short answer and its numbers."""

from __future__ import annotations

from typing import NamedTuple

from genesig.data.study.confounding import MIN_WARNED_ASSOCIATION, MIN_WEAK_ASSOCIATION
from genesig.report.answer.sentences import shared_genes
from genesig.report.page.measure import model_name, permutation_scope
from genesig.report.page.record import Study
from genesig.report.page.verdict import Grade, grade_within_study, interval_and_chance, no_evidence
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
LEFT_OUT_UNITS = {"leave_one_batch_out": "batch", "leave_one_study_out": "study"}  # by scheme


class Check(NamedTuple):
    """A row of the table."""

    question: str
    answer: str  # a few words
    detail: str  # numbers behind the answer


def answer_checks(data: Study) -> list[Check]:
    """Return the checks; that of batches only if there is a result that they could explain."""
    rows = [_check_chance(data), _check_external(data), _check_genes(data)]
    return rows if no_evidence(data) else [*rows, _check_batches(data)]


def _check_chance(data: Study) -> Check:
    """Return whether the study is better than chance, by p and the interval."""
    p = data["answer"]["p"]
    error = data["answer"]["error"]
    verdict = data["verdict"]
    if error["value"] is None:
        return Check(CHANCE_QUESTION, UNKNOWN, "The accuracy could not be measured")
    if p["value"] is None:
        return Check(CHANCE_QUESTION, UNKNOWN, "No permutation test was run")
    detail = f"{p_value(p['value'])}{_permutation_words(data)}"
    name, chance = interval_and_chance(data)
    if grade_within_study(data) is Grade.HERE and verdict["basis"] == "genes":
        of_measure = "" if name == "the accuracy" else f" of {name}"
        return Check(CHANCE_QUESTION, YES, f"{detail}; the 95% CI{of_measure} excludes {chance}")
    if grade_within_study(data) is Grade.HERE:
        return Check(
            CHANCE_QUESTION, YES, f"{detail} for single genes; {verdict['basis']} are better"
        )
    if verdict["p_is_small"]:
        missing = (
            "there is no 95% CI"
            if verdict["interval_excludes_chance"] is None
            else (f"the 95% CI of {name} includes {chance}")
        )
        return Check(CHANCE_QUESTION, UNCLEAR, f"{detail}, but {missing}")
    if verdict["p_is_small"] is None:
        return Check(CHANCE_QUESTION, UNCLEAR, f"{detail}: too few permutations to tell")
    method = data["answer"]["better_method"]
    if method is not None:
        name = model_name(method["model"])
        detail = f"{detail} for the linear models; {name} is better than chance"
    return Check(CHANCE_QUESTION, NO, detail)


def _permutation_words(data: Study) -> str:
    """Return the number and scope of the permutations, and the smallest possible p, in brackets."""
    p = data["answer"]["p"]
    permutations = f"{counted(p['permutations'], 'permutation')}{permutation_scope(data)}"
    if p["value"] is not None and p["value"] <= p["smallest"] + 1e-9:
        return f" (smallest possible with {permutations})"
    return f" ({permutations}; smallest possible {significant(p['smallest'], 2)})"


def _check_external(data: Study) -> Check:
    """Return in how many external cohorts the final model is better than chance."""
    cohorts = data["answer"]["cohorts"]
    if not cohorts["tested"]:
        reason = "No external cohort was given"
        if cohorts["rows"]:
            reason = "Each external cohort contains training samples"
        elif data["design"]["scheme"] == "leave_one_study_out":
            reason += "; each study was left out in turn"
        return Check(EXTERNAL_QUESTION, NO, reason)
    worse = f"; worse than chance in {cohorts['worse']}" if cohorts["worse"] else ""
    n_cohorts = counted(cohorts["tested"], "cohort")
    return Check(
        EXTERNAL_QUESTION, YES, f"Better than chance in {cohorts['better']} of {n_cohorts}{worse}"
    )


def _check_genes(data: Study) -> Check:
    """Return how many genes two halves share; "No" without evidence, or if chance gives as many."""
    stability = data["answer"]["stability"]
    genes = shared_genes(data)
    if stability is None or genes is None or stability["source"] != "half_subsamples":
        return Check(GENES_QUESTION, UNKNOWN, _missing_stability_words(data))
    groups = ""
    if stability["blocks"] is not None:
        groups = f" (correlated groups {decimal(stability['blocks'])})"
    agreement = f"agreement beyond chance {decimal(stability['value'])}{groups}"
    count = f"{genes.shared} of {genes.size}"
    if genes.exceeds_chance and not no_evidence(data):
        return Check(GENES_QUESTION, f"About {count}", f"{genes.by_chance} by chance; {agreement}")
    words = f"Two halves share {count} genes, {genes.by_chance} by chance; {agreement}"
    return Check(GENES_QUESTION, NO, words)


def _missing_stability_words(data: Study) -> str:
    """Return the text on why halves of the samples give no stability."""
    stability = data["answer"]["stability"]
    halves = data["answer"]["halves"]
    reason = "No halves of the samples were drawn"
    if halves["drawn"]:
        reason = f"Not defined on {halves['drawn']} halves of the samples"
    if halves["no_gene_selected"]:
        reason = f"No gene was selected in any of {halves['drawn']} halves of the samples"
    if stability is None:
        return reason
    value = decimal(stability["value"])
    return f"{reason}; overlapping training sets, which flatter it, give {value}"


def _check_batches(data: Study) -> Check:
    """Return how strongly batches, or studies, are associated with the outcome."""
    batch = data["batch"]
    if batch is None:
        return Check(BATCH_QUESTION, UNKNOWN, "No batch column")
    left_out_unit = LEFT_OUT_UNITS.get(data["design"]["scheme"])
    question = STUDY_QUESTION if left_out_unit == "study" else BATCH_QUESTION
    column = clean(batch["column"])
    if batch["association"] is None:
        return Check(question, UNKNOWN, f"The association with {column} is not defined")
    measure = "Cramér's V" if data["study"]["classes"] else "Correlation ratio"
    detail = f"{measure} of {column} and outcome {decimal(batch['association'])}"
    if batch["association"] < MIN_WEAK_ASSOCIATION:
        return Check(question, NO, f"{detail} (below {MIN_WEAK_ASSOCIATION:g})")
    if batch["association"] <= MIN_WARNED_ASSOCIATION:
        return Check(question, "Weakly associated", detail)
    if left_out_unit:
        return Check(question, "Associated", f"{detail}; each {left_out_unit} was left out in turn")
    return Check(question, "Possibly", f"{detail} (above {MIN_WARNED_ASSOCIATION:g})")
