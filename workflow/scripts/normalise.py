"""Apply the row-wise steps."""

from genesig.data.steps.normalise import normalise_samples
from genesig.log import log_to
from genesig.results import Dataset

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
normalise_samples(dataset, **snakemake.params).save(snakemake.output[0])
