"""Assess the predicted survival of held-out samples."""

from genesig.log import log_to
from genesig.results import CrossValidation, save_tables
from genesig.selection.survival import survival_tables

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
save_tables(snakemake.output, survival_tables(study, fold_steps=snakemake.params.fold_steps))
