"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import StudyResults, collect
from genesig.results import save_json

log_to(snakemake.log[0])
save_json(snakemake.output[0], collect(StudyResults.load(snakemake.input)))
