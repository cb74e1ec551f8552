"""Read the expression matrix and both tables into one data set."""

from genesig.data.dataset import read_dataset
from genesig.log import log_to

log_to(snakemake.log[0])
dataset = read_dataset(snakemake.input.expression, snakemake.input.samples, **snakemake.params)
dataset.save(snakemake.output[0])
