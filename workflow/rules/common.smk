from os import environ
from pathlib import Path

from snakemake.exceptions import WorkflowError

from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.files_check import check_files
from genesig.data.validate import study_config
from genesig.errors import InvalidInput
from genesig.selection.linear.protocol import keywords
from genesig.results.sources import sources as needed

# In a string, or a list of strings, braces are a wildcard to Snakemake, in a dictionary they are
# not: whatever a user may have written reaches a job as a dictionary, `settings`.

ROOT = Path(workflow.basedir)
if set("{}") & set(str(ROOT)):
    raise WorkflowError(f"{ROOT}: braces in a folder's name are a wildcard to Snakemake; rename it")

GATHERED = (
    "signature nested_lists lists blocks prototypes scores predictions rejection stability univariate"
).split()

try:
    given = " + ".join(str(f).removeprefix(f"{Path.cwd()}/") for f in workflow.configfiles)
    # For messages of jobs. As a parameter, a config of another name would be computed anew.
    environ["GENESIG_CONFIG"] = given
    for configfile in workflow.configfiles:
        read_config(configfile)  # which says what YAML reads otherwise than it is written
    config.update(study_config(config, load_schema(), source=given))
    check_files(config)
except InvalidInput as problems:
    raise WorkflowError(f"the config cannot be used:\n{problems}") from None


def sources(script):
    """Return every file of the package that a script needs, as inputs of its rule."""
    return [str(file) for file in needed(ROOT / "workflow/scripts" / script, ROOT)]


include: "files.smk"
