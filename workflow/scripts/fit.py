"""Fit a batch of outer splits, with observed or with permuted labels."""

from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.linear.nested_cross_validation import nested_cross_validation

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
half_samples = HalfSampleStudy.load(snakemake.input.chance)
fits = nested_cross_validation(
    dataset, splits, half_samples, **snakemake.wildcards, **snakemake.params
)
fits.save(snakemake.output[0])
