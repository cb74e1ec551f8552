"""Write down what it takes to do this run again."""

from genesig.log import log_to
from genesig.results import Dataset, load_table, save_json
from genesig.results.run import job_names, run_record

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
tables = map(load_table, snakemake.input.costs)
costs = dict(zip(job_names(snakemake.input.costs), tables, strict=True))
save_json(snakemake.output[0], run_record(dataset, snakemake.params.config, costs))
