"""Draw the splits."""

from genesig.data.files.names import FileCopies
from genesig.data.splits.draw import draw_splits
from genesig.log import log_to
from genesig.results import Dataset

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
dataset = Dataset.load(snakemake.input.dataset)
draw_splits(dataset, **copies.with_paths(snakemake.params.settings)).save(snakemake.output[0])
