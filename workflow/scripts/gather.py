"""Turn the fits of all splits into the result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.results.splits import HalfSampleStudy
from genesig.selection.gather import gather

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
observed = [Fits.load(path) for path in snakemake.input.observed]
further_results = [Fits.load(snakemake.input[name]) for name in ("final", "subsamples")]
further_results.append(HalfSampleStudy.load(snakemake.input.chance))
save_tables(
    snakemake.output, gather(dataset, splits, observed, *further_results, **snakemake.params)
)
