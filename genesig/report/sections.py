"""The content of the page in its order: the first screen, then the sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genesig.report.answer.section import (
    Strip,
    beyond_covariates,
    first_screen_tiles,
    gene_frequencies,
    held_out_scores,
    models_note,
    permuted_accuracies,
)
from genesig.report.answer.sentences import (
    Check,
    answer_checks,
    grade_rules,
    next_steps,
    other_method,
    write_paragraphs,
)
from genesig.report.covariates import added_value, covariates_section
from genesig.report.data import data_section, reproducibility_section
from genesig.report.enrichment import enrichment_section
from genesig.report.external.section import cohort_paragraphs, external_section
from genesig.report.genes.cards import cards_section
from genesig.report.genes.section import (
    blocks_section,
    brevity_section,
    expression_section,
    signature_section,
    single_genes_section,
)
from genesig.report.genome import genome_section
from genesig.report.methods import methods_section, references_section
from genesig.report.nonlinear import nonlinear_section
from genesig.report.omics import omics_section
from genesig.report.page.measure import class_sizes, covariate_names, subject_noun, two_classes
from genesig.report.page.section import Limits, Paragraph, Section, Tile
from genesig.report.page.style import MUTED
from genesig.report.page.svg import Picture
from genesig.report.page.verdict import (
    Badge,
    Grade,
    conclusion,
    external_status,
    grade,
    headline,
    no_evidence,
)
from genesig.report.page.words import clean, counted
from genesig.report.patients import (
    next_study_section,
    patients_section,
    score_effect_section,
    subgroups_section,
)
from genesig.report.prediction.decision import (
    decisions_section,
    operating_point_paragraph,
    operating_point_section,
    operating_point_threshold,
)
from genesig.report.prediction.section import (
    classes_section,
    controls_section,
    model_selection_section,
    performance_section,
    permutation_section,
    samples_section,
)
from genesig.report.published import published_section
from genesig.report.quality.section import quality_section
from genesig.report.record import Report
from genesig.report.sets import sets_paragraph, sets_section
from genesig.report.studies import left_out_badge, left_out_paragraphs, studies_section
from genesig.report.survival import survival_section, survival_tiles
from genesig.report.writeup import limits_section, results_section, tripod_section
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

FIRST_SCREEN_FUNCTIONS: tuple[Callable[[Report], list[Paragraph]], ...] = (
    write_paragraphs,
    operating_point_paragraph,
    left_out_paragraphs,
    cohort_paragraphs,
    added_value,
    other_method,
    sets_paragraph,
    next_steps,
)
MAX_WARNINGS = 2  # of the first screen; all warnings are under Limits
SectionWriter = Callable[[Report, Limits], Section | None]  # None: the study has no such section
# section and name of the first figure, by kind of outcome; not used for two classes
FIRST_FIGURE_SOURCE: ByKind[tuple[SectionWriter, str]] = ByKind(
    {
        "classification": (performance_section, "confusion"),
        SEVERAL_CLASSES: (performance_section, "confusion"),
        "regression": (performance_section, "observed_predicted"),
        "survival": (survival_section, "survival_curves"),
    }
)


@dataclass(frozen=True)
class Summary:
    """The first screen."""

    grade: Grade
    about: str  # number of patients, by class
    badges: Sequence[Badge]
    headline: str
    paragraphs: Sequence[Paragraph]
    tiles: Sequence[Tile]
    items: Sequence[Picture]
    genes: str  # text of the link to the table of genes; empty without one
    checks: Sequence[Check]
    rules: str  # of the conclusion
    warnings: Sequence[str]  # the first ones
    more_warnings: int  # number of further warnings
    note: str  # below the tiles


def summary(data: Report, limits: Limits) -> Summary:
    """Return the content of the first screen."""
    study_grade = grade(data)
    second_badge = None if no_evidence(data) else left_out_badge(data)
    badges = (
        Badge(conclusion(data), look=f"grade {study_grade.name.lower()}"),
        second_badge or external_status(data),
    )
    several_genes = not no_evidence(data) and data["answer"]["size"] > 1
    warnings = [text if text.endswith(".") else f"{text}." for text in data["warnings"]]
    return Summary(
        grade=study_grade,
        about=_about(data),
        badges=[badge for badge in badges if badge],
        headline=headline(data),
        paragraphs=[
            paragraph
            for paragraphs_of in FIRST_SCREEN_FUNCTIONS
            for paragraph in paragraphs_of(data)
        ],
        tiles=first_screen_tiles(data, survival_tiles(data)),
        items=first_figures(data, limits),
        genes=f"All {data['answer']['size']} genes" if several_genes else "",
        checks=answer_checks(data),
        rules=grade_rules(data),
        warnings=warnings[:MAX_WARNINGS],
        more_warnings=len(warnings[MAX_WARNINGS:]),
        note=models_note(data),
    )


def _about(data: Report) -> str:
    """Return ``"38 patients (27 ALL, 11 AML)"``."""
    sizes = ", ".join(class_sizes(data["study"]))
    count = counted(data["study"]["samples"], subject_noun(data))
    return f"{count} ({sizes})" if sizes else count


def first_figures(data: Report, limits: Limits) -> list[Picture]:
    """Return the figures of the first screen: patients and genes; permutations without evidence."""
    if no_evidence(data):
        return [image for image in (permuted_accuracies(data),) if image is not None]
    if data["studies"] is not None:
        return _pictures(studies_section(data, limits))
    return [
        image
        for image in (_patient_figure(data, limits), gene_frequencies(data))
        if image is not None
    ]


def _patient_figure(data: Report, limits: Limits) -> Picture | None:
    """Return Figure 1 of a study with evidence: held-out samples, or the gain over covariates."""
    if covariate_names(data):
        return beyond_covariates(data)
    if two_classes(data["study"]):
        return held_out_scores(data, _cohort_strip(data), operating_point_threshold(data))
    section, name = FIRST_FIGURE_SOURCE[data["study"]["task"]]
    pictures = _pictures(section(data, limits))
    return next((image for image in pictures if image.name == name), None)


def _pictures(section: Section | None) -> list[Picture]:
    """Return the pictures of a section; [] if the study has no such section."""
    return [item for item in (section.items if section else ()) if isinstance(item, Picture)]


def _cohort_strip(data: Report) -> Strip | None:
    """Return the row of dots of the first external cohort without training samples, if any."""
    for cohort in data["external"]:
        if not cohort["seen_before"] and cohort["points"]:
            points = cohort["points"]
            return Strip(
                label=clean(cohort["name"]),
                size=counted(cohort["samples"], "sample"),
                colour=MUTED,
                scores=[point["score"] for point in points],
                names=[clean(point["sample"]) for point in points],
                wrong=[bool(point["wrong"]) for point in points],
            )
    return None


# in the order of the page; each section has the key of its part
SECTIONS: dict[str, SectionWriter] = {
    "external": external_section,
    "studies": studies_section,
    "expression": expression_section,
    "signature": signature_section,
    "brevity": brevity_section,
    "blocks": blocks_section,
    "cards": cards_section,
    "single-genes": single_genes_section,
    "enrichment": enrichment_section,
    "genome": genome_section,
    "sets": sets_section,
    "performance": performance_section,
    "survival": survival_section,
    "classes": classes_section,
    "samples": samples_section,
    "covariates": covariates_section,
    "omics": omics_section,
    "controls": controls_section,
    "published": published_section,
    "decision": operating_point_section,
    "decisions": decisions_section,
    "score-effect": score_effect_section,
    "subgroups": subgroups_section,
    "chance": permutation_section,
    "next-study": next_study_section,
    "patients": patients_section,
    "data": data_section,
    "quality": quality_section,
    "results": results_section,
    "methods": methods_section,
    "limits": limits_section,
    "references": references_section,
    "tripod": tripod_section,
    "nonlinear": nonlinear_section,
    "selection": model_selection_section,
    "reproducibility": reproducibility_section,
}


# sections that are left out without evidence
EVIDENCE_SECTIONS = (
    "signature",
    "cards",
    "genome",
    "expression",
    "single-genes",
    "enrichment",
    "decisions",
    "samples",
    "score-effect",
    "next-study",
    "brevity",
    "blocks",
    "sets",
    "nonlinear",
)


def writers(data: Report) -> list[SectionWriter]:
    """Return the functions that write the sections of the page, in order."""
    # Nonlinear selection may be better than chance although the linear models are not.
    kept_keys = ("nonlinear",) if data["answer"]["better_method"] is not None else ()
    return [
        write
        for key, write in SECTIONS.items()
        if not (no_evidence(data) and key in EVIDENCE_SECTIONS and key not in kept_keys)
    ]
