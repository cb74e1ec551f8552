"""Say what each omic adds to the others: all anew without it, on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_table
from genesig.selection.linear.added_omics import omics_table

log_to(snakemake.log[0])
took = snakemake.input
asked = snakemake.params
study = Dataset.load(took.dataset), Splits.load(took.splits), list(map(Fits.load, took.observed))
how = {**asked.linear, "given": asked.given["omics"], "permutations": asked.permutations}
save_table(snakemake.output[0], omics_table(*study, Fits.load(took.final), **how))
