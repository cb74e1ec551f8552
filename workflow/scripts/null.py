"""Gather what permuted labels give."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_arrays, save_tables
from genesig.selection.assess.controls import null_study

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
observed, permuted = (list(map(Fits.load, snakemake.input[k])) for k in ("observed", "permuted"))
null, tables = null_study(dataset, splits, observed, permuted)
save_arrays(snakemake.output.null, null)
save_tables({name: snakemake.output[name] for name in tables}, tables)
