"""Select with derivative penalties on a batch of outer splits."""

from genesig.data.files.copies import FileCopies
from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.selection.nonlinear.loop import nonlinear_loop

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
settings = copies.with_paths(snakemake.params.settings)
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
fits = nonlinear_loop(dataset, splits, **snakemake.wildcards, **settings)
fits.save(snakemake.output[0])
