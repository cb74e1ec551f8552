# What jobs ask of the machine they run on.
#
# INPUTS: results/validation.json
# OUTPUTS: none; mem_mb and runtime of the rules

from pathlib import Path

from genesig.data.study.cost import Size, requests, study_costs
from genesig.results import load_json

# Asked where results lie in a storage, whose files this process has not at hand.
BLINDLY = {"mem_mb": 4000, "runtime": 240}
CHECKED = str(workflow.modifier.modify_path("results/validation.json"))


def needs(rule):
    """Return what jobs of a rule ask of the machine, twice as much at a second attempt.

    mem_mb and runtime (minutes) are asked for once the data are read; the jobs before that take
    what the profile gives.
    """

    def ask(what):
        def asked(wildcards, input, attempt):
            input.size_mb  # Snakemake asks again when it is there
            if not Path(CHECKED).exists():
                return attempt * BLINDLY[what]
            cost = study_costs(config, Size(**load_json(CHECKED)["size"]))
            return attempt * requests(cost.get(rule, cost["others"]))[what]

        return asked

    return {what: ask(what) for what in ("mem_mb", "runtime")}
