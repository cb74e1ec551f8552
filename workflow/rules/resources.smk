# What jobs ask of the machine they run on, and how long the run still takes.
#
# INPUTS: results/validation.json
# OUTPUTS: none; mem_mb and runtime of the rules

from pathlib import Path

from snakemake.logging import logger

from genesig.data.study.cost import RunProgress, Size, TimeLeftFormatter, job_resources, study_costs
from genesig.machine import BYTES_PER_TEXT_BYTE
from genesig.results import load_json

# Asked where results lie in a storage, whose files this process has not at hand.
BLINDLY = {"mem_mb": 4000, "runtime": 240}
CHECKED = str(workflow.modifier.modify_path("results/validation.json"))


def announced():
    """Return the cost of every rule; None before the data are read."""
    if Path(CHECKED).exists():
        return study_costs(config, Size(**load_json(CHECKED)["size"]))


if workflow.is_main_process and not IMPORTED:
    progress = RunProgress(announced)
    for handler in logger.handlers:
        # Snakemake's own; another's (--logger) shows progress in its way.
        if (handler.name or "").startswith("Default"):
            handler.setFormatter(TimeLeftFormatter(handler.formatter, progress))
    logger.addHandler(progress)


def needs(rule):
    """Return what jobs of a rule ask of the machine, twice as much at a second attempt.

    mem_mb and runtime (minutes) follow from the size of the study, which is known once the data
    are read.
    """

    def request_of(resource):
        def request(wildcards, input, attempt):
            input.size_mb  # Snakemake asks again when it is there
            if (costs := announced()) is None:
                return attempt * BLINDLY[resource]
            return attempt * job_resources(costs.get(rule, costs["others"]))[resource]

        return request

    return {resource: request_of(resource) for resource in ("mem_mb", "runtime")}


def needs_before_reading():
    """Return what jobs ask for before the size of the study is known: memory by their files."""

    def memory(wildcards, input, attempt):
        return attempt * max(1500, 1000 + int(BYTES_PER_TEXT_BYTE * input.size_mb))

    def minutes(wildcards, attempt):
        return attempt * 120

    return {"mem_mb": memory, "runtime": minutes}
