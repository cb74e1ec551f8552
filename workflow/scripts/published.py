"""Refit published signatures and random lists of genes on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_table
from genesig.selection.linear.published import published_table

log_to(snakemake.log[0])
took = snakemake.input
study = Dataset.load(took.dataset), Splits.load(took.splits), list(map(Fits.load, took.observed))
save_table(snakemake.output[0], published_table(*study, sets=took[0], **snakemake.params))
