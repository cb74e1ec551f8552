"""Check everything the user gave; stop with all problems, keep the warnings."""

from os import environ

from genesig.data.validate import check_study
from genesig.log import log_to
from genesig.results import save_json

log_to(snakemake.log[0])
save_json(snakemake.output[0], check_study(snakemake.config, environ["GENESIG_CONFIG"]))
