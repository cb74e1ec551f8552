"""Assess what was foretold of held-out samples."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.selection.survival import survival_tables

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
observed = [Fits.load(path) for path in snakemake.input.observed]
tables = survival_tables(dataset, splits, observed, folds=snakemake.params.folds)
save_tables(snakemake.output, tables)
