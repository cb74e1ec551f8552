"""Read the gene sets as genes of the study."""

from genesig.data.study.gene_sets import match_sets
from genesig.log import log_to
from genesig.results import Dataset

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
names = dataset.genes, dataset.var["symbol"].tolist()
match_sets(snakemake.input[0], *names, **snakemake.params.settings).save(snakemake.output[0])
