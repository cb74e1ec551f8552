"""Everything the report shows, as one JSON value: report_data.json.

A new topic is a folder (its record, what it collects, its sections, its sentences for Methods) and
its lines in the assembly: its record here, its keys in `collect`, its sections in `sections`, its
paragraph in `methods`.
"""

from __future__ import annotations

from genesig.report.answer.record import Answer
from genesig.report.covariates.record import Covariates
from genesig.report.data.record import Data
from genesig.report.enrichment.record import Enrichment
from genesig.report.external.record import External
from genesig.report.genes.record import Genes
from genesig.report.genome.record import Genome
from genesig.report.nonlinear.record import Nonlinear
from genesig.report.patients.record import Patients
from genesig.report.prediction.record import Prediction
from genesig.report.quality.record import Quality
from genesig.report.sets.record import Sets
from genesig.report.studies.record import Studies
from genesig.report.survival.record import Survival
from genesig.report.writeup.record import Writeup

VERSION = 4


class Report(
    Answer, Data, Quality, Prediction, Enrichment, External, Genes, Genome, Nonlinear, Sets,
    Studies, Survival, Covariates, Patients, Writeup,
):  # fmt: skip
    """What all topics read; ``warnings`` are sentences for the first screen and the limits."""

    version: int
