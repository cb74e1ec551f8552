"""Compare the study with each omic and without it, fitted again on the same outer splits."""

from genesig.log import log_to
from genesig.results import CrossValidation, Fits, save_table
from genesig.selection.linear.comparisons import omics_table
from genesig.selection.linear.training_sets import LinearSettings

log_to(snakemake.log[0])
table = omics_table(
    CrossValidation.load(snakemake.input),
    Fits.load(snakemake.input.final),
    LinearSettings(**snakemake.params.linear),
    omic_factors=snakemake.params.omic_factors,
    permutations=snakemake.params.permutations,
    fold_steps=snakemake.params.fold_steps,
)
save_table(snakemake.output[0], table)
