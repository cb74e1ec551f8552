"""Read the expression matrix and both tables, or several studies, into one data set."""

from dataclasses import replace

from genesig.data.files.copies import FileCopies
from genesig.data.steps.collapse import gene_columns
from genesig.data.study.dataset import read_dataset
from genesig.log import log_to

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
settings = copies.with_paths(snakemake.params.settings)
settings["gene_columns"] = gene_columns(snakemake.params.folds)
dataset = read_dataset(**settings)
provenance = copies.with_names(dataset.provenance)
replace(dataset, provenance=provenance).save(snakemake.output[0])
