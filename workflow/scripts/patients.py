"""Describe the patients of the study, and relate the held-out score to their covariates."""

from genesig.log import log_to
from genesig.results import Dataset, Splits, load_table, save_tables
from genesig.selection.assess.patients_tables import patient_tables

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
predictions = load_table(snakemake.input.predictions, ("sample", "split"))
save_tables(snakemake.output, patient_tables(dataset, splits, predictions))
