"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import TEXT_COLUMNS, collect, tables_in
from genesig.results import Dataset, Fits, Splits, load_arrays, load_json, load_tables, save_json
from genesig.results.fits import joined

log_to(snakemake.log[0])
inputs = snakemake.input
dataset = Dataset.load(inputs.dataset)
splits = Splits.load(inputs.splits)
*fits, final, halves = map(Fits.load, [*inputs.observed, inputs.final, inputs.subsamples])
run, validation, quality, *cohorts = map(load_json, [inputs.run, *inputs.said])
study = {"tables": load_tables(inputs, tables_in(inputs), TEXT_COLUMNS)}
study |= {"null": load_arrays(inputs.null), "run": run}
study |= {"warnings": validation["warnings"], "warning_codes": validation["warning_codes"]}
study |= {"external": cohorts, "halves": halves}
save_json(
    snakemake.output[0], collect(dataset, splits, joined(fits, splits), final, quality, **study)
)
