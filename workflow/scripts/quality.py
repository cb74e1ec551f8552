"""Describe the quality of the samples, before and after the steps."""

from genesig.data.quality.overview import describe_quality
from genesig.log import log_to
from genesig.results import Dataset, save_json

log_to(snakemake.log[0])
raw = Dataset.load(snakemake.input.raw)
dataset = Dataset.load(snakemake.input.dataset)
save_json(snakemake.output[0], describe_quality(raw, dataset, **snakemake.params))
