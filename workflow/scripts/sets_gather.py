"""Turn the selection of gene sets on all splits into result tables."""

from genesig.log import log_to
from genesig.results import CrossValidation, save_tables
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.sets.gather import gather_sets

log_to(snakemake.log[0])
inputs = snakemake.input
fits = [list(map(ModelFits.load, paths)) for paths in (inputs.of_sets, inputs.permuted)]
models = fits, ModelFits.load(inputs.final), ModelFits.load(inputs.subsamples)
study = CrossValidation.load(inputs), GeneSets.load(inputs.known)
save_tables(snakemake.output, gather_sets(*study, *models, **snakemake.params))
