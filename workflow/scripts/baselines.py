"""Run the other predictors on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Splits, save_table
from genesig.selection.assess.baseline_scores import run_baselines

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
save_table(snakemake.output[0], run_baselines(dataset, splits, **snakemake.params))
