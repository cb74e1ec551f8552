"""Count how often halves of the samples list each gene, and how often they do by chance."""

from genesig.log import log_to
from genesig.selection.linear.half_samples import study_half_samples
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
settings = LinearSettings(**snakemake.params.linear)
half_samples = study_half_samples(study, settings, permutations=snakemake.params.permutations)
half_samples.save(snakemake.output[0])
