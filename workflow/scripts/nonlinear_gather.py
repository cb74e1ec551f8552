"""Turn the nonlinear fits of all splits into result tables."""

from genesig.log import log_to
from genesig.results import CrossValidation, load_table, save_tables
from genesig.results.model_fits import ModelFits
from genesig.selection.nonlinear.gather import gather_nonlinear

log_to(snakemake.log[0])
inputs = snakemake.input
linear = CrossValidation.load(inputs)
batches = [ModelFits.load(path) for path in inputs.fits]
final = ModelFits.load(inputs.final)
nested, signature = (load_table(path, ("gene", "symbol")) for path in inputs.lists)
tables = gather_nonlinear(linear, batches, final, nested, signature, **snakemake.params)
save_tables(snakemake.output, tables)
