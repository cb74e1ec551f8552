"""Write a table with the time and memory of each job."""

from pathlib import Path

from genesig.log import log_to
from genesig.results import load_table, save_table
from genesig.results.run import job_times_table

log_to(snakemake.log[0])
home = Path(snakemake.output[0]).parent
costs = {str(Path(path).relative_to(home)): load_table(path) for path in snakemake.input.costs}
save_table(snakemake.output[0], job_times_table(costs))
