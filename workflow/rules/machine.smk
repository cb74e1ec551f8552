# Check of this machine before anything is read, and the reason why jobs of a failed run were killed.
#
# INPUTS: none
# OUTPUTS: none

from snakemake.exceptions import WorkflowError

try:
    import genesig
except ModuleNotFoundError as error:
    if error.name != "genesig":
        raise
    raise WorkflowError(
        "genesig is not installed in the Python that runs Snakemake; install it there, by"
        " pip install . in a clone of this version (docs/how_to/running.md)"
    ) from None

from genesig.errors import InvalidInput
from genesig.machine import check_memory, check_writable
from genesig.results.run import print_failures

try:
    check_memory()  # the libraries that common.smk loads would wait for it for ever
    check_writable(*map(str, map(workflow.modifier.modify_path, ("results", "logs"))))
except InvalidInput as problem:
    raise WorkflowError(str(problem)) from None


onerror:
    print_failures(*log)
