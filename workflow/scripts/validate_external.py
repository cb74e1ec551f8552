"""Check the data sets of other studies; stop with all problems, keep the warnings."""

from genesig.data.cohorts.checks import check_external
from genesig.log import log_to
from genesig.results import save_json

log_to(snakemake.log[0])
# With what was read, so that a corrected file of the same warnings is scored again.
read = {"read": snakemake.params.read}
save_json(snakemake.output[0], check_external(snakemake.config) | read)
