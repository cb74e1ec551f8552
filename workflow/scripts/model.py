"""Save the final model as plain JSON."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, load_table, save_json
from genesig.selection.model.final import final_model

log_to(snakemake.log[0])
dataset = Dataset.load(snakemake.input.dataset)
final = Fits.load(snakemake.input.final)
selection = load_table(snakemake.input.selection, ("gene", "symbol"))
model = final_model(dataset, final, selection=selection, **snakemake.params)
save_json(snakemake.output[0], model)
