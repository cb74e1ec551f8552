"""Read the expression matrix and both tables, or several studies, into one data set."""

from dataclasses import replace

from genesig.data.files.names import FileCopies
from genesig.data.steps.gene_filters import set_columns_of
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.log import log_to

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
settings = StudySettings.from_config(copies.with_paths(snakemake.params.settings))
dataset = read_dataset(settings, set_columns_of(snakemake.params.fold_steps))
provenance = copies.with_names(dataset.provenance)
replace(dataset, provenance=provenance).save(snakemake.output[0])
