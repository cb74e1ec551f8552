"""Turn the fits of all splits into the result tables."""

from genesig.log import log_to
from genesig.results import save_tables
from genesig.selection.gather import LinearResults, gather

log_to(snakemake.log[0])
results = LinearResults.load(snakemake.input)
save_tables(snakemake.output, gather(results, **snakemake.params))
