"""Turn the fits of all splits into the result tables."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_tables
from genesig.results.splits import HalfSampleStudy
from genesig.selection.gather import gather

log_to(snakemake.log[0])
inputs = snakemake.input
tables = gather(
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    observed=[Fits.load(path) for path in inputs.observed],
    final=Fits.load(inputs.final),
    subsamples=Fits.load(inputs.subsamples),
    half_sample_study=HalfSampleStudy.load(inputs.chance),
    **snakemake.params,
)
save_tables(snakemake.output, tables)
