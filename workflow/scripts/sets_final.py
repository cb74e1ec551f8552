"""Select gene sets on all samples and on halves of them."""

from genesig.log import log_to
from genesig.results import save_table
from genesig.results.splits import GeneSets
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.sets.loop import fit_sets_final, fit_sets_half_samples
from genesig.selection.sets.training_sets import SetsSettings

log_to(snakemake.log[0])
study = PreparedStudy.load(snakemake.input, snakemake.params.fold_steps)
sets = GeneSets.load(snakemake.input.sets)
settings = SetsSettings(**snakemake.params.settings)
fits, genes = fit_sets_final(study, sets, settings)
fits.save(snakemake.output.fits)
save_table(snakemake.output.genes, genes)
half_sample_fits = fit_sets_half_samples(study, sets, settings)
half_sample_fits.save(snakemake.output.subsamples)
