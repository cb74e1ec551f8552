"""Read the expression matrix and both tables into one data set."""

from genesig.data.study.dataset import read_dataset
from genesig.log import log_to

log_to(snakemake.log[0])
given, annotation = snakemake.input, next(iter(snakemake.input.annotation), None)
study = {"annotation": annotation, **snakemake.params}
read_dataset(given.expression, given.samples, **study).save(snakemake.output[0])
