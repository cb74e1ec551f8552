# What jobs ask of the machine they run on, and how long the run still takes.
#
# INPUTS: results/validation.json
# OUTPUTS: none; mem_mb and runtime of the rules

from pathlib import Path

from snakemake.logging import logger

from genesig.data.study.cost import Size, requests, study_costs
from genesig.data.study.cost import InTime, Progress
from genesig.results import load_json

# Asked where results lie in a storage, whose files this process has not at hand.
BLINDLY = {"mem_mb": 4000, "runtime": 240}
CHECKED = str(workflow.modifier.modify_path("results/validation.json"))


def announced():
    """Return the cost of every rule; None before the data are read."""
    if Path(CHECKED).exists():
        return study_costs(config, Size(**load_json(CHECKED)["size"]))


if workflow.is_main_process and not IMPORTED:
    progress = Progress(announced)
    for handler in logger.handlers:
        # Snakemake's own; another's (--logger) shows progress in its way.
        if (handler.name or "").startswith("Default"):
            handler.setFormatter(InTime(handler.formatter, progress))
    logger.addHandler(progress)


def needs(rule):
    """Return what jobs of a rule ask of the machine, twice as much at a second attempt.

    mem_mb and runtime (minutes) are asked for once the data are read; the jobs before that take
    what the profile gives.
    """

    def ask(what):
        def asked(wildcards, input, attempt):
            input.size_mb  # Snakemake asks again when it is there
            if (costs := announced()) is None:
                return attempt * BLINDLY[what]
            return attempt * requests(costs.get(rule, costs["others"]))[what]

        return asked

    return {what: ask(what) for what in ("mem_mb", "runtime")}
