# Memory and time that jobs ask for, and how long the run still takes.
#
# INPUTS: results/validation.json
# OUTPUTS: none; mem_mb and runtime of the rules

from pathlib import Path

from snakemake.logging import logger

from genesig.data.study.cost import RunProgress, Size, TimeLeftFormatter, job_resources, study_costs
from genesig.machine import BYTES_PER_TEXT_BYTE
from genesig.results import load_json

# For results in a storage, whose files this process cannot read.
DEFAULT_NEEDS = {"mem_mb": 4000, "runtime": 240}
VALIDATION = str(workflow.modifier.modify_path("results/validation.json"))


def announced_costs():
    """Return rule -> cost of its jobs; None before the data are read."""
    if Path(VALIDATION).exists():
        return study_costs(config, Size(**load_json(VALIDATION)["size"]))


if workflow.is_main_process and not IMPORTED:
    progress = RunProgress(announced_costs)
    for handler in logger.handlers:
        # Snakemake's own; another's (--logger) shows progress in its way.
        if (handler.name or "").startswith("Default"):
            handler.setFormatter(TimeLeftFormatter(handler.formatter, progress))
    logger.addHandler(progress)


def needs(rule):
    """Return the resources mem_mb and runtime (minutes) of a rule, as functions for Snakemake.

    They follow from the size of the study, which is known once the data are read. A second attempt
    asks for twice as much.
    """

    def request_of(resource):
        def request(wildcards, input, attempt):
            input.size_mb  # so that Snakemake calls this function again when the inputs are there
            if (costs := announced_costs()) is None:
                return attempt * DEFAULT_NEEDS[resource]
            return attempt * job_resources(costs.get(rule, costs["others"]))[resource]

        return request

    return {resource: request_of(resource) for resource in ("mem_mb", "runtime")}


def needs_before_reading():
    """Return the resources of a rule that runs before the study's size is known, by its files."""

    def memory(wildcards, input, attempt):
        return attempt * max(1500, 1000 + int(BYTES_PER_TEXT_BYTE * input.size_mb))

    def minutes(wildcards, attempt):
        return attempt * 120

    return {"mem_mb": memory, "runtime": minutes}
