"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import TEXT, collect, tables_in
from genesig.results import Dataset, Fits, Splits, load_arrays, load_json, load_tables, save_json
from genesig.results.joined import joined

log_to(snakemake.log[0])
dataset, splits = Dataset.load(snakemake.input.dataset), Splits.load(snakemake.input.splits)
observed = joined([Fits.load(path) for path in snakemake.input.observed], splits)
final, null = Fits.load(snakemake.input.final), load_arrays(snakemake.input.null)
run, checked, seen, *others = map(load_json, [snakemake.input.run, *snakemake.input.said])
study = {"tables": load_tables(snakemake.input, tables_in(snakemake.input), TEXT), "null": null}
study |= {"run": run, "config": run["config"], "said": checked["warnings"], "external": others}
save_json(snakemake.output[0], collect(dataset, splits, observed, final, seen, **study))
