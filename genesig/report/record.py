"""Everything the report shows, as one JSON value: report_data.json.

A new topic is a module (its record, what it collects, its figures and sections), a template of its
words beside it (``sets.py``, ``sets.j2``; see `page.wording`), and its lines in the assembly: its
record here, its keys and their digits in `collect`, its sections in `sections`, its paragraph in
`methods`.
"""

from __future__ import annotations

from genesig.report.covariates import Covariates
from genesig.report.enrichment import Enrichment
from genesig.report.external.collect import External
from genesig.report.genes.record import Genes
from genesig.report.genome import Genome
from genesig.report.nonlinear import Nonlinear
from genesig.report.patients import Patients
from genesig.report.prediction.collect import Prediction
from genesig.report.quality.collect import QualityStudy
from genesig.report.sets import Sets
from genesig.report.studies import Studies
from genesig.report.survival import Survival
from genesig.report.writeup import Writeup

VERSION = 10


class Report(
    QualityStudy,
    Prediction,
    Enrichment,
    External,
    Genes,
    Genome,
    Nonlinear,
    Sets,
    Studies,
    Survival,
    Covariates,
    Patients,
    Writeup,
):
    """The value of report_data.json; each base class has the keys of one topic."""

    version: int
