"""Select with derivative penalties on all samples, and draw the curves of this model."""

from genesig.log import log_to
from genesig.results import Dataset, Splits, save_table
from genesig.selection.nonlinear.loop import nonlinear_final

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
fits, curves = nonlinear_final(dataset, splits, **snakemake.params.settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.curves, curves)
