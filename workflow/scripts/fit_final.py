"""Fit the final model on all samples."""

from genesig.log import log_to
from genesig.results.splits import HalfSampleStudy
from genesig.selection.linear.nested_cross_validation import fit_final_model
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = LinearSettings(**snakemake.params.linear)
half_samples = HalfSampleStudy.load(snakemake.input.chance)
fit_final_model(study, settings, half_samples).save(snakemake.output[0])
