"""Turn the selection of gene sets on all splits into result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.sets.gather import gather_sets

log_to(snakemake.log[0])
inputs = snakemake.input
study = Dataset.load(inputs.dataset), Splits.load(inputs.splits), GeneSets.load(inputs.known)
fits = [list(map(ModelFits.load, paths)) for paths in (inputs.observed, inputs.permuted)]
further_fits = (
    *map(ModelFits.load, (inputs.final, inputs.subsamples)),
    list(map(Fits.load, inputs.linear)),
)
save_tables(snakemake.output, gather_sets(*study, fits, *further_fits, **snakemake.params))
