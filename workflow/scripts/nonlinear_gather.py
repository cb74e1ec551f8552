"""Turn the nonlinear fits of all splits into result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_table, save_tables
from genesig.results.model_fits import ModelFits
from genesig.selection.nonlinear.gather import gather_nonlinear

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
parts = [ModelFits.load(path) for path in snakemake.input.fits]
final = ModelFits.load(snakemake.input.final)
observed = [Fits.load(path) for path in snakemake.input.observed]
lists = [load_table(path, ("gene", "symbol")) for path in snakemake.input.lists]
tables = gather_nonlinear(dataset, splits, parts, final, observed, *lists, **snakemake.params)
save_tables(snakemake.output, tables)
