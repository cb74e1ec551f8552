"""Turn the selection of gene sets on all splits into result tables."""

from genesig.log import log_to
from genesig.results import CrossValidation, save_tables
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.sets.gather import gather_sets

log_to(snakemake.log[0])
inputs = snakemake.input
linear = CrossValidation.load(inputs)
sets = GeneSets.load(inputs.known)
observed = list(map(ModelFits.load, inputs.of_sets))
permuted = list(map(ModelFits.load, inputs.permuted))
final = ModelFits.load(inputs.final)
subsamples = ModelFits.load(inputs.subsamples)
tables = gather_sets(linear, sets, observed, permuted, final, subsamples, **snakemake.params)
save_tables(snakemake.output, tables)
