"""Score the samples of another study with the final model."""

from genesig.data.files.readers import read_json
from genesig.log import log_to
from genesig.results import Dataset, load_json, save_json, save_tables
from genesig.selection.model.external import score_cohort

log_to(snakemake.log[0])
dataset, model = Dataset.load(snakemake.input.dataset), read_json(snakemake.input.model)
said = load_json(snakemake.input.validation)["warnings"]
scored = score_cohort(dataset, model, said, **snakemake.params.cohort)
save_tables({name: snakemake.output[name] for name in scored.tables}, scored.tables)
save_json(snakemake.output.about, scored.about)
