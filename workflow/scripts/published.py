"""Refit published signatures and random lists of genes on the same outer splits."""

from genesig.log import log_to
from genesig.results import CrossValidation, save_table
from genesig.selection.linear.comparisons import published_table
from genesig.selection.linear.training_sets import LinearSettings

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
settings = LinearSettings(**snakemake.params.linear)
fold_steps = snakemake.params.fold_steps
table = published_table(study, settings, sets=snakemake.input[0], fold_steps=fold_steps)
save_table(snakemake.output[0], table)
