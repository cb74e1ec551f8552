"""Read the expression matrix and both tables, or several studies, into one data set."""

from genesig.data.steps.collapse import gene_columns
from genesig.data.study.dataset import read_dataset
from genesig.log import log_to

log_to(snakemake.log[0])
settings = snakemake.params.settings
settings["gene_columns"] = gene_columns(snakemake.params.folds)
read_dataset(**settings).save(snakemake.output[0])
