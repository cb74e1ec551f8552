"""Save the signature as an annotated matrix."""

from genesig.log import log_to
from genesig.results import Dataset, load_json, load_table
from genesig.selection.genes.export import save_signature, signature_annotated

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
text_columns = ("gene", "symbol")
signature = load_table(snakemake.input.signature, text=text_columns)
nested = load_table(snakemake.input.nested_lists, text=text_columns)
settings = load_json(snakemake.input.settings)
save_signature(snakemake.output[0], signature_annotated(dataset, signature, nested, settings))
