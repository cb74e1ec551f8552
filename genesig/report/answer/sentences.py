"""The paragraphs of the first screen: prediction, genes, other patients; next steps; the rules."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from genesig.report.page.measure import measure, subject_noun
from genesig.report.page.record import Study
from genesig.report.page.section import Paragraph
from genesig.report.page.validation_size import MIN_CALIBRATION_PATIENTS, validation_size
from genesig.report.page.verdict import LEVEL, Grade, interval_and_chance, no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import counted, decimal, p_value
from genesig.selection.assess.intervals import NORMAL_QUANTILE, POWER
from genesig.selection.genes.frequency import MIN_PERMUTATIONS

# A smaller p is written as a bound, because it rests on the far tail of a normal curve.
SMALLEST_EXACT_P = NormalDist().cdf(-NORMAL_QUANTILE) * 1e-3


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
    if stability is None:
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
