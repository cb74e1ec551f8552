"""Write the settings of the run, its input files and the versions of the software."""

from genesig.data.study.config_check import describe_unavailable_analyses
from genesig.log import log_to
from genesig.results import Dataset, save_json
from genesig.results.run import run_record

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
record = run_record(dataset, snakemake.params.config)
if without := describe_unavailable_analyses(dataset.design.kind, record["config"]["data"]):
    record["not_applied"] = [without]
save_json(snakemake.output[0], record)
