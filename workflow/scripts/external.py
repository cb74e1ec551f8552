"""Score the samples of another study with the final model."""

from genesig.data.files.names import FileCopies
from genesig.data.files.readers import read_json
from genesig.data.study.settings import CohortSettings
from genesig.log import log_to
from genesig.results import Dataset, load_json, save_json, save_tables
from genesig.selection.model.external import score_cohort

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
dataset = Dataset.load(snakemake.input.dataset)
model = read_json(snakemake.input.model)
warnings = load_json(snakemake.input.validation)["warnings"]
settings = CohortSettings(**copies.with_paths(snakemake.params.cohort))
scored = score_cohort(dataset, model, warnings, settings)
save_tables({name: snakemake.output[name] for name in scored.tables}, scored.tables)
save_json(snakemake.output.about, copies.with_names(scored.about))
