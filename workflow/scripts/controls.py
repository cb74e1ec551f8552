"""Put genesig and the other predictors side by side."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_arrays, load_table, save_table
from genesig.selection.assess.controls import controls_table

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
observed = [Fits.load(path) for path in snakemake.input.observed]
null = load_arrays(snakemake.input.null)
baselines = [load_table(path, ("model", "split", "sample")) for path in snakemake.input.others]
save_table(snakemake.output[0], controls_table(dataset, splits, observed, null, baselines))
