"""Save the signature as an annotated matrix."""

from genesig.log import log_to
from genesig.results import Dataset, load_table
from genesig.selection.genes.export import signature_dataset

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
signature = load_table(snakemake.input.signature, text=("gene", "symbol"))
signature_dataset(dataset, signature).save(snakemake.output[0])
