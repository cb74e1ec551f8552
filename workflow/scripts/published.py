"""Refit published signatures and random lists of genes on the same outer splits."""

from genesig.log import log_to
from genesig.results import CrossValidation, save_table
from genesig.selection.linear.published import published_table

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
table = published_table(study, sets=snakemake.input[0], **snakemake.params)
save_table(snakemake.output[0], table)
