from os import environ
from pathlib import Path

from snakemake.exceptions import WorkflowError

import genesig
from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.settings import READ_KEYS
from genesig.data.study.settings_check import check_files
from genesig.data.validate import study_config
from genesig.errors import InvalidInput
from genesig.response.design import decision_rules_in
from genesig.selection.linear.training_sets import linear_keywords
from genesig.results.sources import sources_digest

# In a string, or a list of strings, braces are a wildcard to Snakemake, in a dictionary they are
# not: whatever a user may have written reaches a job as a dictionary, `settings`.

# Package that jobs import: in a clone beside this workflow, otherwise wherever it was installed.
PACKAGE = Path(genesig.__file__).parent
if set("{}") & set(str(PACKAGE)):
    raise WorkflowError(
        f"{PACKAGE}: braces in a folder's name are a wildcard to Snakemake; rename it"
    )

GATHERED_TABLES = (
    "signature selection nested_lists lists blocks prototypes scores predictions rejection stability univariate"
).split()

try:
    source = " + ".join(str(f).removeprefix(f"{Path.cwd()}/") for f in workflow.configfiles)
    source = "the module's config" if IMPORTED else source
    # For messages of jobs. As a parameter of rules, another name of a config would run them again.
    if not REMOTE_JOB:
        environ["GENESIG_CONFIG"] = source
    for configfile in [] if IMPORTED or REMOTE_JOB else workflow.configfiles:
        read_config(configfile)  # an error for repeated keys and the like, which Snakemake accepts
    config.update(study_config(config, load_schema(), source=source))
    if not IMPORTED and not REMOTE_JOB:
        check_files(config)
except InvalidInput as problems:
    raise WorkflowError(f"the config cannot be used:\n{problems}") from None

if not SHARED_DISK and not IMPORTED:
    if not REMOTE_JOB:
        resolved_config = yaml.safe_dump(config, sort_keys=False)
        environ[RESOLVED_CONFIG] = b64encode(resolved_config.encode()).decode()

    envvars:
        "GENESIG_CONFIG",
        RESOLVED_CONFIG,


STUDY = {"dataset": "results/dataset.h5ad", "splits": "results/splits.json"}
# Chance: how often halves of the samples list each gene, and how often they do by chance.
STUDY_AND_CHANCE = {**STUDY, "chance": "results/linear/chance.npz"}
LINEAR_SETTINGS = {"linear": linear_keywords(config), "fold_steps": config["normalise"]["folds"]}
STRETCH_TABLES = ["stretches"] if config["data"]["chromosome"] else []
DECISION_TABLES = ["decision"] if decision_rules_in(config["decision"]) else []
ENRICHMENT_TABLES = ["enrichment", "enrichment_ranking"]


def sources(script):
    """Return the digest of the modules that a script needs: its rule runs again if one changes."""
    return sources_digest(Path(workflow.source_path(f"../scripts/{script}")), PACKAGE.parent)


include: "files.smk"
