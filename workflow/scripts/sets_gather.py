"""Turn the selection of gene sets on all splits into result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.sets.gather import gather_sets

log_to(snakemake.log[0])
inputs = snakemake.input
tables = gather_sets(
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    GeneSets.load(inputs.known),
    fits=[list(map(ModelFits.load, paths)) for paths in (inputs.observed, inputs.permuted)],
    final=ModelFits.load(inputs.final),
    subsamples=ModelFits.load(inputs.subsamples),
    linear=[Fits.load(path) for path in inputs.linear],
    **snakemake.params,
)
save_tables(snakemake.output, tables)
