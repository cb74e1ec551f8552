"""The sections of the report, in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from genesig.report.data.section import methods_section, reproducibility, study
from genesig.report.external.section import external
from genesig.report.genes.section import blocks, expression, lists, signature, single_genes
from genesig.report.nonlinear.section import nonlinear
from genesig.report.page.section import Limits, Section
from genesig.report.prediction.samples import samples
from genesig.report.prediction.section import chance, controls, model_selection, performance
from genesig.report.quality.section import quality

SECTIONS: dict[str, Callable[[dict[str, Any], Limits], Section]] = {
    "data": study,
    "quality": quality,
    "selection": model_selection,
    "performance": performance,
    "samples": samples,
    "chance": chance,
    "external": external,
    "signature": signature,
    "lists": lists,
    "blocks": blocks,
    "expression": expression,
    "controls": controls,
    "single-genes": single_genes,
    "nonlinear": nonlinear,
    "methods": methods_section,
    "reproducibility": reproducibility,
}
