"""Count how often halves of the samples list each gene, and how often they do by chance."""

from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.selection.linear.half_samples import study_half_samples

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
study_half_samples(dataset, splits, **snakemake.params).save(snakemake.output[0])
