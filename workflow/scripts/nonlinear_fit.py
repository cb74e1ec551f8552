"""Select with derivative penalties on a batch of outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.selection.nonlinear.loop import nonlinear_loop

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
fits = nonlinear_loop(dataset, splits, **snakemake.wildcards, **snakemake.params.settings)
fits.save(snakemake.output[0])
