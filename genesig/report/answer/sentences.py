"""The paragraphs of the first screen, its next steps, and its table of checks."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from genesig.data.study.confounding import MIN_WARNED_ASSOCIATION, MIN_WEAK_ASSOCIATION
from genesig.report.page.measure import measure, model_name, permutation_scope, subject_noun
from genesig.report.page.record import Study
from genesig.report.page.section import Paragraph
from genesig.report.page.tables import MIN_CALIBRATION_PATIENTS, validation_size
from genesig.report.page.verdict import (
    LEVEL,
    Grade,
    grade_within_study,
    interval_and_chance,
    no_evidence,
)
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, decimal, p_value, significant
from genesig.selection.assess.intervals import NORMAL_QUANTILE, POWER
from genesig.selection.genes.frequency import MIN_PERMUTATIONS

# A smaller p is written as a bound, because it rests on the far tail of a normal curve.
SMALLEST_EXACT_P = NormalDist().cdf(-NORMAL_QUANTILE) * 1e-3

# questions and answers of the checks
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


def write_paragraphs(data: Study) -> list[Paragraph]:
    """Return the paragraphs of the first screen: prediction, genes and other patients.

    Without evidence for a signature, effects that the study could have detected and advice replace
    the other patients.
    """
    paragraphs = [
        Paragraph("Prediction.", WORDS.text("prediction", data)),
        Paragraph("Genes.", WORDS.text("genes", data)),
    ]
    if no_evidence(data):
        return [
            *paragraphs,
            Paragraph("What this study could have found.", WORDS.text("detectable", data)),
            Paragraph("Next steps.", WORDS.text("steps_without_evidence", data)),
        ]
    stability_text = WORDS.text("other_patients", data, shared_genes(data))
    if stability_text:
        paragraphs.append(Paragraph("In other patients,", stability_text))
    return paragraphs


def _misclassified(data: Study) -> str:
    """Return ``"22 of 60 held-out patients"``, on average if each was tested repeatedly."""
    tested = [sample for sample in data["held_out"]["samples"] if sample["tested"]]
    wrong = sum((sample["wrong"] or 0) / sample["tested"] for sample in tested)
    count = decimal(wrong, 1).removesuffix(".0")
    on_average = " on average" if data["design"]["repeats"] > 1 else ""
    return f"{count} of {counted(len(tested), f'held-out {subject_noun(data)}')}{on_average}"


class SharedGenes(NamedTuple):
    """Mean numbers of genes of signatures from two separate halves of the samples, as text."""

    shared: str
    size: str
    by_chance: str  # shared genes that chance gives
    exceeds_chance: bool  # in the digits shown
    shares_most: bool  # more than half of the size


def shared_genes(data: Study) -> SharedGenes | None:
    """Return how many genes the signatures of two halves share; None if not measured."""
    stability = data["answer"]["stability"]
    if stability is None or stability["source"] != "half_subsamples":
        return None
    shared = stability["shared"]
    size = stability["size"]
    by_chance = stability["shared_by_chance"]
    if shared is None or by_chance is None or not size:
        return None
    shared_text = _mean_text(shared)
    by_chance_text = _mean_text(by_chance)
    return SharedGenes(
        shared_text,
        _mean_text(size),
        by_chance_text,
        exceeds_chance=shared > by_chance and shared_text != by_chance_text,
        shares_most=shared > size / 2,
    )


def _mean_text(n_genes: float) -> str:
    """Write a mean number of genes: ``"4"``, ``"0.6"``."""
    return f"{n_genes:.0f}" if n_genes >= 1 else decimal(n_genes, 1)


def next_steps(data: Study) -> list[Paragraph]:
    """Return what to do next with a signature; empty without evidence."""
    step = WORDS.text("next_step", data)
    return [Paragraph("Next steps.", step)] if step else []


def other_method(data: Study) -> list[Paragraph]:
    """Return the paragraph on a method that predicts better than the linear signature."""
    method = data["answer"]["better_method"]
    if method is None or data["answer"]["error"]["value"] is None:
        return []
    p = p_value(method["p"]) if method["p"] > SMALLEST_EXACT_P else "p\u00a0<\u00a00.0001"
    return [Paragraph("Another method.", WORDS.text("better_method", data, method, p))]


WORDS = Wording(
    __file__,  # sentences: the macros of sentences.j2, by name
    LARGE_AUC=0.7,  # a study that had the power to detect larger values only is called too small
    MIN_CALIBRATION_PATIENTS=MIN_CALIBRATION_PATIENTS,
    MIN_PERMUTATIONS=MIN_PERMUTATIONS,
    POWER=POWER,
    SETTLING_PERMUTATIONS=99,  # permutations with which p can be as small as 0.01
    misclassified=_misclassified,
    validation_size=validation_size,
)


def grade_rules(data: Study) -> str:
    """Return the rules of the conclusion, in the words of the study's measure.

    Below each grade stands its rule; "them" are the external cohorts that the grade names.
    """
    name, chance = interval_and_chance(data)
    text = f"""\
{Grade.HERE.value}
  permutation p ≤ {LEVEL:g}, and the 95% CI of {name} excludes {chance}
{Grade.WEAK.value}
  only p is small; or only the interval excludes {chance} and p is not known; or genes pass the FDR
{Grade.NONE.value}
  none of these
"""
    if not data["answer"]["cohorts"]["rows"]:
        return text
    external = measure(data).external_measure
    return f"""\
{text}{Grade.ELSEWHERE.value}
  at least half of them are (95% CI of {external.name} above {external.chance:g}), and none is worse
{Grade.AGAINST.value}
  no external cohort is better than chance, and one is worse or excludes the accuracy of this study
"""


class Check(NamedTuple):
    """A row of the table of checks."""

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
    if stability is None or genes is None:
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
    association = "Cramér's V" if data["study"]["classes"] else "Correlation ratio"
    detail = f"{association} of {column} and outcome {decimal(batch['association'])}"
    if batch["association"] < MIN_WEAK_ASSOCIATION:
        return Check(question, NO, f"{detail} (below {MIN_WEAK_ASSOCIATION:g})")
    if batch["association"] <= MIN_WARNED_ASSOCIATION:
        return Check(question, "Weakly associated", detail)
    if left_out_unit:
        return Check(question, "Associated", f"{detail}; each {left_out_unit} was left out in turn")
    return Check(question, "Possibly", f"{detail} (above {MIN_WARNED_ASSOCIATION:g})")
