"""The parts of the page in their order: what the first screen says, then the sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genesig.report.answer.other_methods import other_method
from genesig.report.answer.section import (
    MOST_NAMED,
    GeneChip,
    Tile,
    chips_title,
    gene_chips,
    note,
    overview,
    tiles,
)
from genesig.report.answer.sentences import Light, finding, lights, nothing_found, rules, sentences
from genesig.report.classes import classes
from genesig.report.covariates import added_value, covariates
from genesig.report.data import reproducibility, study
from genesig.report.enrichment import enrichment
from genesig.report.external.section import caution, elsewhere, external
from genesig.report.genes.cards import cards
from genesig.report.genes.section import (
    blocks,
    brevity,
    expression,
    signature,
    single_genes,
)
from genesig.report.genome import genome
from genesig.report.methods import methods_section, references_section
from genesig.report.nonlinear.section import nonlinear
from genesig.report.omics import omics
from genesig.report.page.section import Limits, Section
from genesig.report.page.svg import Picture
from genesig.report.page.verdict import Grade, grade
from genesig.report.patients import next_study, score_effect, studied, subgroups
from genesig.report.prediction.decision import decisions
from genesig.report.prediction.section import (
    chance,
    controls,
    model_selection,
    performance,
    samples,
)
from genesig.report.published import published
from genesig.report.quality.section import quality
from genesig.report.record import Report
from genesig.report.sets import in_sets, sets
from genesig.report.studies import studies, unseen
from genesig.report.survival import survival
from genesig.report.writeup import limitations, results_paragraph, tripod

FIRST_SCREEN: tuple[Callable[[Report], list[str]], ...] = (
    finding,
    elsewhere,
    sentences,
    other_method,
    unseen,
    added_value,
    in_sets,
    nothing_found,
)
NOTE: tuple[Callable[[Report], list[str]], ...] = (note, caution)


@dataclass(frozen=True)
class Summary:
    """The first screen: the finding and its grade, its numbers, lights, genes and one picture."""

    grade: Grade
    sentences: Sequence[str]
    tiles: Sequence[Tile]
    lights: Sequence[Light]
    rules: str
    chips: Sequence[GeneChip]
    chips_title: str
    more_genes: int
    items: Sequence[Picture]
    note: str


def summary(data: Report) -> Summary:
    """Return what stands on the first screen."""
    return Summary(
        grade(data),
        [said for say in FIRST_SCREEN for said in say(data)],
        tiles(data),
        lights(data),
        rules(data),
        gene_chips(data),
        chips_title(data),
        max(0, data["answer"]["size"] - MOST_NAMED) * (grade(data) is not Grade.NONE),
        overview(data),
        " ".join(said for say in NOTE for said in say(data)),
    )


# In the order of the page; each names the part that it belongs to.
SECTIONS: dict[str, Callable[[Report, Limits], Section]] = {
    "external": external,
    "signature": signature,
    "cards": cards,
    "genome": genome,
    "expression": expression,
    "single-genes": single_genes,
    "enrichment": enrichment,
    "patients": studied,
    "performance": performance,
    "studies": studies,
    "classes": classes,
    "covariates": covariates,
    "omics": omics,
    "decisions": decisions,
    "survival": survival,
    "score-effect": score_effect,
    "subgroups": subgroups,
    "samples": samples,
    "chance": chance,
    "controls": controls,
    "published": published,
    "brevity": brevity,
    "blocks": blocks,
    "sets": sets,
    "nonlinear": nonlinear,
    "next-study": next_study,
    "results": results_paragraph,
    "methods": methods_section,
    "limits": limitations,
    "references": references_section,
    "tripod": tripod,
    "reproducibility": reproducibility,
    "data": study,
    "quality": quality,
    "selection": model_selection,
}


OF_GENES = ("signature", "cards", "genome", "expression", "single-genes", "enrichment",
            "decisions", "samples", "score-effect", "next-study", "brevity",
            "blocks", "sets", "nonlinear")  # fmt: skip
"""What the page leaves out where there is no evidence."""


def writers(data: Report) -> list[Callable[[Report, Limits], Section]]:
    """Return what writes the sections, in the order of the page."""
    none = grade(data) is Grade.NONE
    # A method that is not linear may predict where the linear models do not.
    shown = ("nonlinear",) if data["answer"]["alternative"] is not None else ()
    return [
        write
        for key, write in SECTIONS.items()
        if not (none and key in OF_GENES and key not in shown)
    ]
