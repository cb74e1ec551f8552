"""The parts of the page in their order: what the first screen says, then the sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from genesig.report.answer.chips import MOST_NAMED, GeneChip, chips_title, gene_chips
from genesig.report.answer.lights import Light, lights, rules
from genesig.report.answer.nothing import nothing_found
from genesig.report.answer.section import Tile, note, overview, tiles
from genesig.report.answer.sentences import finding, sentences
from genesig.report.classes.section import classes
from genesig.report.covariates.section import added_value, covariates
from genesig.report.data.section import reproducibility, study
from genesig.report.enrichment.section import enrichment
from genesig.report.enrichment.section import lists as enrichment_lists
from genesig.report.external.first_screen import caution, elsewhere
from genesig.report.external.section import external
from genesig.report.genes.brevity import brevity
from genesig.report.genes.section import blocks, lists, overlap, signature
from genesig.report.genes.section_cards import cards
from genesig.report.genes.section_values import expression, single_genes
from genesig.report.genome.section import genome
from genesig.report.methods import methods_section, references_section
from genesig.report.nonlinear.section import nonlinear
from genesig.report.page.section import Limits, Section
from genesig.report.page.shared import shared
from genesig.report.page.svg import Picture
from genesig.report.page.verdict import Grade, grade
from genesig.report.patients.section import next_study, studied
from genesig.report.patients.section_score import score_effect, subgroups
from genesig.report.prediction.section import chance, model_selection, performance
from genesig.report.prediction.section_controls import controls
from genesig.report.prediction.section_decision import decisions
from genesig.report.prediction.section_samples import samples
from genesig.report.published.section import published
from genesig.report.quality.section import quality
from genesig.report.record import Report
from genesig.report.sets.section import in_sets, sets
from genesig.report.studies.section import studies, unseen
from genesig.report.survival.section import survival
from genesig.report.writeup.section import limitations, results_paragraph, tripod

FIRST_SCREEN: tuple[Callable[[Report], list[str]], ...] = (
    finding,
    elsewhere,
    sentences,
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
    "decisions": decisions,
    "survival": survival,
    "score-effect": score_effect,
    "subgroups": subgroups,
    "samples": samples,
    "chance": chance,
    "controls": controls,
    "published": published,
    "brevity": brevity,
    "overlap": overlap,
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
    "lists": lists,
    "enrichment-lists": enrichment_lists,
}


OF_GENES = ("signature", "cards", "genome", "expression", "single-genes", "enrichment",
            "decisions", "samples", "score-effect", "next-study", "brevity", "lists", "overlap",
            "blocks", "sets", "nonlinear", "enrichment-lists")  # fmt: skip
"""What the page leaves out where there is no evidence."""


def written(data: Report, limits: Limits, processes: int = 1) -> list[Section]:
    """Return the sections in the order of the page, written by so many processes together."""
    none = grade(data) is Grade.NONE
    writers = [write for key, write in SECTIONS.items() if not (none and key in OF_GENES)]
    return shared(lambda number: writers[number](data, limits), len(writers), processes)
