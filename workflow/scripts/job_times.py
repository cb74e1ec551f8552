"""Write what each job cost."""

from genesig.log import log_to
from genesig.results import load_table, save_table
from genesig.results.run import job_times

log_to(snakemake.log[0])
costs = {path: load_table(path) for path in snakemake.input.costs}
save_table(snakemake.output[0], job_times(costs))
