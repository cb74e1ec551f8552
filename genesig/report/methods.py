"""The Methods text, written from the resolved config and what was measured."""

from __future__ import annotations

import re
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
from genesig.report.published import methods as published_methods
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
    (
        prediction_methods.chance,
        genes_methods.tests,
        prediction_methods.others,
        published_methods.sentences,
    ),
    (external_methods.external_sentences,),
)

CITING = (
    prediction_methods.REFERENCES, prediction_methods.OF_AREA, genes_methods.REFERENCES,
    nonlinear_methods.REFERENCES, sets_methods.REFERENCES, genome_methods.REFERENCES,
    enrichment_methods.REFERENCES, quality_methods.REFERENCES, survival_methods.REFERENCES,
    covariates_methods.REFERENCES, studies_methods.REFERENCES, published_methods.REFERENCES,
)  # fmt: skip


def methods(data: Report) -> list[str]:
    """Return the Methods text, one string per paragraph, ready to be copied and edited."""
    found = [
        " ".join(text for write in paragraph for text in write(data) if text)
        for paragraph in PARAGRAPHS
    ]
    return [paragraph for paragraph in found if paragraph]


def references(data: Report) -> list[str]:
    """Return what the Methods text cites, in the order of the alphabet."""
    text = " ".join(methods(data))
    known = {*external_methods.external_references(data), *proved.references(data)}
    known |= set(patients_methods.references(data))
    known |= {reference for topic in CITING for reference in topic}
    return sorted(reference for reference in known if _is_cited(reference, text))


def _is_cited(reference: str, text: str) -> bool:
    """Whether the first author's family name stands in the text with the year behind it."""
    first, year, _ = re.split(r" \((\d{4})\)", reference, maxsplit=1)
    family = first.split(",")[0].rpartition(" ")[0] or first
    return re.search(rf"{re.escape(family)}\b[^()]{{0,60}}?\b{year}", text) is not None


def methods_section(data: Report, limits: Limits) -> Section:
    """Show the Methods text."""
    return Section("methods", "Methods", methods(data), part="writeup", folded=True)


def references_section(data: Report, limits: Limits) -> Section:
    """Show what the Methods text cites, to be read and to be taken into a library."""
    cited = references(data)
    items = [Fold("As a list", "\n".join(cited)), Fold("BibTeX", bibtex(cited), "screen")]
    words = ["What the Methods text cites."]
    return Section("references", "References", words, items, part="writeup", folded=True)
