"""Compare the study with each omic and without it, fitted again on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_table
from genesig.selection.linear.added_omics import omics_table

log_to(snakemake.log[0])
inputs = snakemake.input
settings = snakemake.params
table = omics_table(
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    observed=[Fits.load(path) for path in inputs.observed],
    final=Fits.load(inputs.final),
    omic_factors=settings.given["omics"],
    permutations=settings.permutations,
    **settings.linear,
)
save_table(snakemake.output[0], table)
