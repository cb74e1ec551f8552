"""Find genes that vary together over all samples."""

from genesig.log import log_to
from genesig.results import Dataset, save_table
from genesig.selection.genes.modules import gene_modules

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
save_table(snakemake.output[0], gene_modules(dataset, **snakemake.params))
