"""Select gene sets on all samples and on halves of them."""

from genesig.log import log_to
from genesig.results import Dataset, Splits, save_table
from genesig.results.splits import GeneSets
from genesig.selection.sets.loop import fit_sets_final, fit_sets_half_samples

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
sets = GeneSets.load(snakemake.input.sets)
settings = snakemake.params.settings
fits, genes = fit_sets_final(dataset, splits, sets, **settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.genes, genes)
half_sample_fits = fit_sets_half_samples(dataset, splits, sets, **settings)
half_sample_fits.save(snakemake.output.subsamples)
