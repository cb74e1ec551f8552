"""Select genes on half-subsamples, for stability."""

from genesig.log import log_to
from genesig.results import Dataset, Splits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.linear.nested_cross_validation import fit_half_samples

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
splits = Splits.load(snakemake.input.splits)
half_samples = HalfSampleStudy.load(snakemake.input.chance)
fit_half_samples(dataset, splits, half_samples, **snakemake.params).save(snakemake.output[0])
