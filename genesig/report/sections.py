"""The sections of the report, in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from genesig.report.section import Limits, Section
from genesig.report.sections_data import methods_section, reproducibility, study
from genesig.report.sections_external import external
from genesig.report.sections_genes import blocks, expression, lists, signature, single_genes
from genesig.report.sections_model import chance, controls, model_selection, performance
from genesig.report.sections_nonlinear import nonlinear
from genesig.report.sections_quality import quality
from genesig.report.sections_samples import samples

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
