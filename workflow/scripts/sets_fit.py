"""Select gene sets on a batch of outer splits, with observed or with permuted labels."""

from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.results.splits import GeneSets
from genesig.selection.sets.loop import cross_validate_sets

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
sets = GeneSets.load(snakemake.input.sets)
fits = cross_validate_sets(
    dataset, splits, sets, **snakemake.wildcards, **snakemake.params.settings
)
fits.save(snakemake.output[0])
