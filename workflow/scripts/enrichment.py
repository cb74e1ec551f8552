"""Hold the lists, the blocks and the order of all genes against gene sets."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_tables, save_tables
from genesig.selection.enrichment import NAME_COLUMNS, TABLES_OF_LISTS, enrichment

log_to(snakemake.log[0])
inputs = snakemake.input
study = (
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    load_tables(inputs, TABLES_OF_LISTS, NAME_COLUMNS),
)
fits = [list(map(Fits.load, paths)) for paths in (inputs.observed, inputs.permuted)]
save_tables(snakemake.output, enrichment(*study, fits, sets=inputs[0], **snakemake.params))
