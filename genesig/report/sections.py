"""The parts of the page in their order: what the first screen says, then the sections."""

from __future__ import annotations

from collections.abc import Callable

from genesig.report.answer.section import Tile, note, sentences, tiles
from genesig.report.covariates.section import added_value, covariates
from genesig.report.data.section import reproducibility, study
from genesig.report.external.first_screen import caution, elsewhere
from genesig.report.external.section import external
from genesig.report.genes.section import blocks, expression, lists, signature, single_genes
from genesig.report.methods import methods_section
from genesig.report.nonlinear.section import nonlinear
from genesig.report.page.section import Limits, Section
from genesig.report.prediction.section import chance, controls, model_selection, performance
from genesig.report.prediction.section_samples import samples
from genesig.report.quality.section import quality
from genesig.report.record import Report
from genesig.report.sets.section import in_sets, sets

FIRST_SCREEN: tuple[Callable[[Report], list[str]], ...] = (
    sentences,
    added_value,
    in_sets,
    elsewhere,
)
TILES: Callable[[Report], list[Tile]] = tiles
NOTE: tuple[Callable[[Report], list[str]], ...] = (note, caution)

SECTIONS: dict[str, Callable[[Report, Limits], Section]] = {
    "data": study,
    "quality": quality,
    "selection": model_selection,
    "performance": performance,
    "covariates": covariates,
    "samples": samples,
    "chance": chance,
    "external": external,
    "signature": signature,
    "lists": lists,
    "blocks": blocks,
    "sets": sets,
    "expression": expression,
    "controls": controls,
    "single-genes": single_genes,
    "nonlinear": nonlinear,
    "methods": methods_section,
    "reproducibility": reproducibility,
}
