"""Read the gene sets as column numbers of the data set."""

from genesig.data.study.gene_sets import match_sets
from genesig.log import log_to
from genesig.results import Dataset

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
symbols = dataset.var["symbol"].tolist()
settings = snakemake.params.settings
sets = match_sets(snakemake.input[0], dataset.genes, symbols, **settings)
sets.save(snakemake.output[0])
