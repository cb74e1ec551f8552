"""Select with derivative penalties on all samples, and draw the curves of this model."""

from genesig.data.files.copies import FileCopies
from genesig.log import log_to
from genesig.results import Dataset, Splits, save_table
from genesig.selection.nonlinear.loop import nonlinear_final

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
settings = copies.with_paths(snakemake.params.settings)
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
fits, curves = nonlinear_final(dataset, splits, **settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.curves, curves)
