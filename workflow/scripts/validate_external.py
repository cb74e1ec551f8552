"""Check the data sets of other studies; stop with all problems, or write the warnings."""

from genesig.data.cohorts.checks import check_external
from genesig.data.files.names import FileCopies
from genesig.log import log_to
from genesig.results import save_json
from genesig.results.run import sha256

copies = FileCopies(snakemake.params.copies)
log_to(snakemake.log[0], copies.with_names)
checked = copies.with_names(check_external(copies.with_paths(snakemake.config)))
# Digests of the files, so that a corrected file is scored again even if its warnings are the same.
digests = {name: sha256(path) for name, path in copies.path_of_name.items()}
save_json(snakemake.output[0], checked | {"read": digests or snakemake.params.read})
