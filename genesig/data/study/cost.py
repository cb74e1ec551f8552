"""What a study will cost, said before it runs and asked of the cluster for each job.

The constants were fitted to the jobs of `tests/benchmarks/study_cost.py`, run at several sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from genesig.errors import Problem
from genesig.results import Splits

BASE = 250.0
"""MB of a process with all that it imports."""

START = 3.0
"""Seconds of one processor in which a job imports and reads."""

PRODUCT = 1.6e-9
"""Seconds for one number of the matrix, one inner fold and one step of a path, of few samples."""

STEP = 2.5e-10
"""Seconds for the cube of the samples, one inner fold and one step of a path, of many samples."""

FOREST = 2.5e-6
"""Seconds for one number of the matrix, of all baselines of one split."""

CURVED, POWER = 0.5, 2.7
"""Seconds of one path of 12 tau by derivative penalties on 100 samples; growth with samples."""

HOURS = 1.0
"""Of one processor, above which nonlinear selection is warned of."""


@dataclass(frozen=True)
class Size:
    """What a study's files and its splits say of its cost."""

    samples: int
    genes: int
    splits: int
    training: int

    @classmethod
    def of(cls, splits: Splits, genes: int) -> Size:
        """Measure drawn splits; `training` is the number of samples that most of them train on."""
        training = max(len(split.train) for split in splits.outer)
        return cls(len(splits.final.train), genes, len(splits.outer), training)


class Cost(NamedTuple):
    """Number of jobs of one rule; seconds of one processor and peak memory of each of them."""

    jobs: int
    seconds: float
    megabytes: float


def study_costs(config: Mapping[str, Any], size: Size) -> dict[str, Cost]:
    """Estimate the jobs of every rule that computes; ``others`` are all the rest.

    Parameters
    ----------
    config : dict
        Resolved.
    size : Size
    """
    controls, batches = config["controls"], min(config["splits"]["batches"], size.splits)
    matrix = 8e-6 * size.samples * size.genes
    fit = _fit(config, size)
    permutations, together = controls["permutations"], controls["permutations_per_job"]
    ranges, share = -(-permutations // together), size.splits / batches
    most = max(1, min(permutations, together)) * share
    memory = BASE + 3 * matrix + 50
    forest = FOREST * size.samples * size.genes * size.splits
    costs = {
        "fit": Cost(batches * (1 + ranges), START + most * fit, memory),
        "fit_final": Cost(1, START + fit, memory),
        "fit_subsamples": Cost(1, START + config["splits"]["subsamples"] * fit / 4, memory),
        "baselines": Cost(1, START + forest, BASE + 4 * matrix),
        "others": Cost(14, START, BASE + 3 * matrix),
    }
    if (curved := config["nonlinear"])["enabled"]:
        paths = 1 + _folds(config, size) * len(curved["nu"]) * len(curved["width"])
        each = paths * _curved(config, size)
        costs["nonlinear_fit"] = Cost(batches, START + share * each, BASE + 2 * matrix)
        costs["nonlinear_final"] = Cost(1, START + each, BASE + 2 * matrix)
    return costs


def requests(cost: Cost) -> dict[str, int]:
    """Return what a job asks of a cluster: memory with a fourth to spare, four times its time."""
    return {"mem_mb": int(1.25 * cost.megabytes), "runtime": 10 + int(4 * cost.seconds / 60)}


def announced(costs: Mapping[str, Cost]) -> str:
    """Say in words what a study will take."""
    seconds = sum(cost.jobs * cost.seconds for cost in costs.values())
    most = max(cost.megabytes for cost in costs.values())
    return f"takes about {_time(seconds)} of one processor, {10 * round(most / 10)} MB for a job"


def check_cost(costs: Mapping[str, Cost], source: str) -> Iterator[Problem]:
    """Yield a warning where nonlinear selection takes hours."""
    curved = [cost for rule, cost in costs.items() if rule.startswith("nonlinear")]
    if (much := sum(cost.jobs * cost.seconds for cost in curved) / 3600) > HOURS:
        what = (
            f"takes about {much:.2g} hours of one processor on these samples; one value of"
            " nonlinear.nu, fewer splits.repeats or nonlinear.enabled: false make it shorter"
        )
        yield Problem(f"{source}, nonlinear", what, "warning")


def _time(seconds: float) -> str:
    unit, name = (3600, "h") if seconds >= 5400 else (60, "min") if seconds >= 90 else (1, "s")
    return f"{float(f'{seconds / unit:.2g}'):g} {name}"


def _fit(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of both stages on one outer training set."""
    linear, folds = config["linear"], _folds(config, size)
    searched = 1 if linear["list"] == "minimal" else min(3, len(linear["mu"]))
    steps = folds * searched * linear["tau_count"] + len(linear["mu"])
    n = size.training
    return float(steps * (PRODUCT * n * size.genes + STEP * n**3))


def _curved(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of one path by derivative penalties."""
    return float(CURVED * config["nonlinear"]["tau_count"] / 12 * (size.training / 100) ** POWER)


def _folds(config: Mapping[str, Any], size: Size) -> int:
    splits = config["splits"]
    alone = splits["inner_scheme"] == "leave_one_out"
    return size.training if alone else min(splits["inner_folds"], size.training)
