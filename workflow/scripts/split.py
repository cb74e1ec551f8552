"""Draw the splits."""

from genesig.data.splits.draw import draw_splits
from genesig.log import log_to
from genesig.results import Dataset

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
draw_splits(dataset, **snakemake.params.settings).save(snakemake.output[0])
