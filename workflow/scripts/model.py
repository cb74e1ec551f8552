"""Save the final model as plain JSON."""

from genesig.log import log_to
from genesig.results import Dataset, Fits, Splits, save_json
from genesig.results.joined import joined
from genesig.selection.assess.held_out import held_out
from genesig.selection.model.final import final_model

log_to(snakemake.log[0])
dataset, final = Dataset.load(snakemake.input.dataset), Fits.load(snakemake.input.final)
splits = Splits.load(snakemake.input.splits)
observed = joined([Fits.load(path) for path in snakemake.input.observed], splits)
found = held_out(dataset, splits, observed.with_chosen())
save_json(snakemake.output[0], final_model(dataset, final, found=found, **snakemake.params))
