"""Fetch a series matrix from GEO."""

from pathlib import Path

from genesig.data.files.names import fetch
from genesig.log import log_to

log_to(snakemake.log[0])
fetch(snakemake.wildcards.series, Path(snakemake.output[0]).parent)
