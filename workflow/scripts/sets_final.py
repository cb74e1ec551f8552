"""Select gene sets on all samples and on halves of them."""

from genesig.log import log_to
from genesig.results import Dataset, Splits, save_table
from genesig.results.splits import GeneSets
from genesig.selection.sets.loop import fit_sets_final, fit_sets_half_samples

log_to(snakemake.log[0])
study = Dataset.load(snakemake.input.dataset), Splits.load(snakemake.input.splits)
sets, settings = GeneSets.load(snakemake.input.sets), snakemake.params.settings
fits, genes = fit_sets_final(*study, sets, **settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.genes, genes)
fit_sets_half_samples(*study, sets, **settings).save(snakemake.output.subsamples)
