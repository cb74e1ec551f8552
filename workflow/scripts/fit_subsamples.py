"""Select genes on half-subsamples, for stability."""

from genesig.log import log_to
from genesig.results.splits import HalfSampleStudy
from genesig.selection.linear.nested_cross_validation import fit_half_samples
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = LinearSettings(**snakemake.params.linear)
half_samples = HalfSampleStudy.load(snakemake.input.chance)
fit_half_samples(study, settings, half_samples).save(snakemake.output[0])
