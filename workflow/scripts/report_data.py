"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import TABLES, TEXT, collect
from genesig.results import Dataset, Fits, Splits, load_arrays, load_json, load_tables, save_json
from genesig.selection.batches import joined

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits, final = Splits.load(snakemake.input.splits), Fits.load(snakemake.input.final)
observed = joined([Fits.load(path) for path in snakemake.input.observed], splits)
tables = load_tables(snakemake.input, [*TABLES, "predictions"], TEXT)
run, null = load_json(snakemake.input.run), load_arrays(snakemake.input.null)
study = {"tables": tables, "null": null, "config": run["config"], "run": run}
save_json(snakemake.output[0], collect(dataset, splits, observed, final, **study))
