"""Collect everything the report shows."""

from genesig.log import log_to
from genesig.report.collect import TEXT_COLUMNS, StudyResults, collect, tables_in
from genesig.results import Dataset, Fits, Splits, load_arrays, load_json, load_tables, save_json
from genesig.results.fits import joined

log_to(snakemake.log[0])
inputs = snakemake.input
dataset = Dataset.load(inputs.dataset)
splits = Splits.load(inputs.splits)
*fits, final, halves = map(Fits.load, [*inputs.observed, inputs.final, inputs.subsamples])
run, validation, quality, *cohorts = map(load_json, [inputs.run, *inputs.said])
results = StudyResults(
    dataset=dataset,
    splits=splits,
    observed=joined(fits, splits),
    final=final,
    quality_summary=quality,
    tables=load_tables(inputs, tables_in(inputs), TEXT_COLUMNS),
    null=load_arrays(inputs.null),
    run=run,
    warnings=validation["warnings"],
    warning_codes=validation["warning_codes"],
    external=cohorts,
    halves=halves,
)
save_json(snakemake.output[0], collect(results))
