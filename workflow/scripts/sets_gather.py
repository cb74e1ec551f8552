"""Turn the selection of gene sets on all splits into result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.sets.gather import gather_sets

log_to(snakemake.log[0])
took = snakemake.input
study = Dataset.load(took.dataset), Splits.load(took.splits), GeneSets.load(took.known)
fits = [list(map(ModelFits.load, paths)) for paths in (took.observed, took.permuted)]
others = *map(ModelFits.load, (took.final, took.subsamples)), list(map(Fits.load, took.linear))
save_tables(snakemake.output, gather_sets(*study, fits, *others, **snakemake.params))
