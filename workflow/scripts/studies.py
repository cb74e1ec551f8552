"""Compare several studies: by the scores of each left-out study, and gene by gene."""

from genesig.log import log_to
from genesig.results import Dataset, load_table, save_tables
from genesig.selection.left_out_studies import studies_table
from genesig.selection.meta_analysis import meta_table

log_to(snakemake.log[0])
inputs = snakemake.input
dataset = Dataset.load(inputs.dataset)
predictions = load_table(inputs.predictions, ("sample", "label", "predicted", "split"))
tables = {"studies": studies_table(dataset, predictions), "meta": meta_table(dataset)}
save_tables(snakemake.output, tables)
