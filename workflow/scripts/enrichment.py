"""Test the gene lists, the blocks and the ranking of all genes for enrichment in gene sets."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_tables, save_tables
from genesig.selection.enrichment import NAME_COLUMNS, TABLES_OF_LISTS, enrichment

log_to(snakemake.log[0])
inputs = snakemake.input
dataset = Dataset.load(inputs.dataset)
splits = Splits.load(inputs.splits)
tables = load_tables(inputs, TABLES_OF_LISTS, NAME_COLUMNS)
observed = list(map(Fits.load, inputs.observed))
permuted = list(map(Fits.load, inputs.permuted))
results = enrichment(
    dataset, splits, tables, observed, permuted, sets=inputs[0], **snakemake.params
)
save_tables(snakemake.output, results)
