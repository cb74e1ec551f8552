"""Compare genesig with the other predictors."""

from genesig.log import log_to
from genesig.results import CrossValidation, load_arrays, load_table, save_table
from genesig.selection.assess.controls import controls_table

log_to(snakemake.log[0])
study = CrossValidation.load(snakemake.input)
null = load_arrays(snakemake.input.null)
baselines = [load_table(path, ("model", "split", "sample")) for path in snakemake.input.others]
save_table(snakemake.output[0], controls_table(study, null, baselines))
