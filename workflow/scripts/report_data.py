"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import TEXT_COLUMNS, collect, tables_in
from genesig.results import Dataset, Fits, Splits, load_arrays, load_json, load_tables, save_json
from genesig.results.fits import joined

log_to(snakemake.log[0])
given = snakemake.input
dataset = Dataset.load(given.dataset)
splits = Splits.load(given.splits)
*fits, final, halves = map(Fits.load, [*given.observed, given.final, given.subsamples])
run, checked, seen, *others = map(load_json, [given.run, *given.said])
study = {"tables": load_tables(given, tables_in(given), TEXT_COLUMNS)}
study |= {"null": load_arrays(given.null), "run": run}
study |= {"warnings": checked["warnings"], "external": others, "halves": halves}
save_json(snakemake.output[0], collect(dataset, splits, joined(fits, splits), final, seen, **study))
