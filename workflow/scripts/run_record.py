"""Write the record of the run: its settings, and the checksums of its results."""

from pathlib import Path

from genesig.log import log_to
from genesig.results import load_json, save_json
from genesig.results.run import compute_checksums

log_to(snakemake.log[0])
record = load_json(snakemake.input.settings)
home = Path(snakemake.output[0]).parent
written = {key: compute_checksums(snakemake.input[key], home) for key in ("results", "fits")}
save_json(snakemake.output[0], {**record, **written})
