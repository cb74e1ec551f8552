"""Check config and input files; stop with all problems, or write the warnings."""

from os import environ

from genesig.data.files.names import FileCopies
from genesig.data.validate import check_study
from genesig.log import log_to
from genesig.results import save_json

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
checked = check_study(copies.with_paths(snakemake.config), environ["GENESIG_CONFIG"])
save_json(snakemake.output[0], copies.with_names(checked))
