"""Save the final model as plain JSON."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, load_table, save_json
from genesig.results.joined import joined
from genesig.selection.model.final import final_model, held_out_scores

log_to(snakemake.log[0])
dataset, final = Dataset.load(snakemake.input.dataset), Fits.load(snakemake.input.final)
splits = Splits.load(snakemake.input.splits)
observed = joined([Fits.load(path) for path in snakemake.input.observed], splits)
found = held_out_scores(dataset, splits, observed, final)
evidence = load_table(snakemake.input.evidence, ("gene", "symbol"))
model = final_model(dataset, final, found=found, evidence=evidence, **snakemake.params)
save_json(snakemake.output[0], model)
