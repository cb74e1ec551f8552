"""Gather the results of permuted labels."""

from genesig.log import log_to
from genesig.results import CrossValidation, Fits, save_arrays, save_tables
from genesig.selection.assess.controls import null_study

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
null, tables = null_study(study, list(map(Fits.load, snakemake.input.permuted)))
save_arrays(snakemake.output.null, null)
save_tables({name: snakemake.output[name] for name in tables}, tables)
