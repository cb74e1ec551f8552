"""Compare the study with each omic and without it, fitted again on the same outer splits."""

from genesig.log import log_to
from genesig.results import CrossValidation, Fits, save_table
from genesig.selection.linear.added_omics import omics_table

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
table = omics_table(study, Fits.load(snakemake.input.final), **snakemake.params.settings)
save_table(snakemake.output[0], table)
