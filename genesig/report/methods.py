"""The Methods text, written from the resolved config and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from genesig.report.covariates import methods as covariates_methods
from genesig.report.data import methods as data_methods
from genesig.report.enrichment import methods as enrichment_methods
from genesig.report.external import methods as external_methods
from genesig.report.genes import methods as genes_methods
from genesig.report.genes import proved
from genesig.report.genome import methods as genome_methods
from genesig.report.nonlinear import methods as nonlinear_methods
from genesig.report.page.bibtex import bibtex
from genesig.report.page.section import Fold, Limits, Section
from genesig.report.patients import methods as patients_methods
from genesig.report.prediction import methods as prediction_methods
from genesig.report.quality import methods as quality_methods
from genesig.report.record import Report
from genesig.report.sets import methods as sets_methods
from genesig.report.studies import methods as studies_methods
from genesig.report.survival import methods as survival_methods

PARAGRAPHS: tuple[tuple[Callable[[Report], Iterable[str]], ...], ...] = (
    (data_methods.samples,),
    (studies_methods.study_sentences,),
    (data_methods.normalisation, quality_methods.module_sentences),
    (prediction_methods.assessment,),
    (prediction_methods.selection, genome_methods.stretch_sentences),
    (covariates_methods.held_sentences,),
    (survival_methods.sentences,),
    (patients_methods.sentences,),
    (proved.sentences,),
    (genes_methods.signature,),
    (sets_methods.sets_sentences,),
    (enrichment_methods.enrichment_sentences,),
    (nonlinear_methods.nonlinear_sentences,),
    (prediction_methods.chance, genes_methods.tests, prediction_methods.others),
    (external_methods.external_sentences,),
)


def methods(data: Report) -> list[str]:
    """Return the Methods text, one string per paragraph, ready to be copied and edited."""
    found = [
        " ".join(text for write in paragraph for text in write(data) if text)
        for paragraph in PARAGRAPHS
    ]
    return [paragraph for paragraph in found if paragraph]


def references(data: Report) -> list[str]:
    """Return what the Methods text cites, in the order of the alphabet."""
    always = (*prediction_methods.REFERENCES, *genes_methods.REFERENCES)
    nonlinear = nonlinear_methods.REFERENCES if data["nonlinear"] else ()
    of_sets = sets_methods.REFERENCES if data["sets"] else ()
    fused = data["config"]["linear"]["penalty"] == "fused"
    placed = genome_methods.REFERENCES if fused else ()
    enriched = enrichment_methods.REFERENCES if data["enrichment"] else ()
    modules = quality_methods.REFERENCES if "modules" in data["tables"] else ()
    of_survival = survival_methods.REFERENCES if data["survival"] else ()
    of_area = prediction_methods.OF_AREA if data["study"]["classes"] else ()
    several = studies_methods.REFERENCES if data["studies"] else ()
    cohorts = external_methods.external_references(data)
    studied = patients_methods.references(data)
    named = proved.references(data)
    held = covariates_methods.REFERENCES if "covariates" in data else ()
    sections = (
        always, named, nonlinear, of_sets, of_survival, placed, enriched, modules, of_area, cohorts,
        held, studied, several,
    )  # fmt: skip
    return sorted({reference for section in sections for reference in section})


def methods_section(data: Report, limits: Limits) -> Section:
    """Show the Methods text."""
    return Section("methods", "Methods", methods(data), part="writeup", folded=True)


def references_section(data: Report, limits: Limits) -> Section:
    """Show what the Methods text cites, to be read and to be taken into a library."""
    cited = references(data)
    items = [Fold("As a list", "\n".join(cited)), Fold("BibTeX", bibtex(cited), "screen")]
    words = ["What the Methods text cites."]
    return Section("references", "References", words, items, part="writeup")
