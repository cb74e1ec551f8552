"""Turn the nonlinear fits of all splits into result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_table, save_tables
from genesig.results.model_fits import ModelFits
from genesig.selection.nonlinear.gather import gather_nonlinear

log_to(snakemake.log[0])
inputs = snakemake.input
nested, signature = (load_table(path, ("gene", "symbol")) for path in inputs.lists)
tables = gather_nonlinear(
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    batches=[ModelFits.load(path) for path in inputs.fits],
    final=ModelFits.load(inputs.final),
    observed=[Fits.load(path) for path in inputs.observed],
    nested=nested,
    signature=signature,
    **snakemake.params,
)
save_tables(snakemake.output, tables)
