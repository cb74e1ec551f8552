"""Select gene sets on a batch of outer splits, with observed or with permuted labels."""

from genesig.log import log_to
from genesig.results.splits import GeneSets
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.sets.loop import cross_validate_sets
from genesig.selection.sets.training_sets import SetsSettings

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
sets = GeneSets.load(snakemake.input.sets)
settings = SetsSettings(**snakemake.params.settings)
fits = cross_validate_sets(study, sets, settings, **snakemake.wildcards)
fits.save(snakemake.output[0])
