"""Write down what was set, what was read, and with which versions."""

from genesig.log import log_to
from genesig.results import Dataset, save_json
from genesig.results.run import run_record

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
save_json(snakemake.output[0], run_record(dataset, snakemake.params.config))
