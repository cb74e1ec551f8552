"""Refit published signatures and random lists of genes on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_table
from genesig.selection.linear.published import published_table

log_to(snakemake.log[0])
inputs = snakemake.input
study = (
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    list(map(Fits.load, inputs.observed)),
)
save_table(snakemake.output[0], published_table(*study, sets=inputs[0], **snakemake.params))
