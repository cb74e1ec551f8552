"""Compare the study with each omic and without it, fitted again on the same outer splits."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_table
from genesig.selection.linear.added_omics import omics_table

log_to(snakemake.log[0])
inputs = snakemake.input
settings = snakemake.params
study = (
    Dataset.load(inputs.dataset),
    Splits.load(inputs.splits),
    list(map(Fits.load, inputs.observed)),
)
keywords = {
    **settings.linear,
    "omic_factors": settings.given["omics"],
    "permutations": settings.permutations,
}
save_table(snakemake.output[0], omics_table(*study, Fits.load(inputs.final), **keywords))
