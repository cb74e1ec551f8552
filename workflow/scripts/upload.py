"""Copy a file of the user into the storage of the workflow."""

from pathlib import Path

from genesig.data.files.names import copy_input
from genesig.log import log_to

log_to(snakemake.log[0])
copy_input(Path(snakemake.input[0]), Path(snakemake.output[0]))
