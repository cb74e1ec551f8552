"""Fit a batch of outer splits, with observed or with permuted labels."""

from genesig.log import log_to
from genesig.results.splits import HalfSampleStudy
from genesig.selection.linear.nested_cross_validation import nested_cross_validation
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = LinearSettings(**snakemake.params.linear)
half_samples = HalfSampleStudy.load(snakemake.input.chance)
fits = nested_cross_validation(study, settings, half_samples, **snakemake.wildcards)
fits.save(snakemake.output[0])
