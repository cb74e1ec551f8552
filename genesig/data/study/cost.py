"""What a study will cost, said before it runs, and how long a run still takes.

The constants were fitted to the jobs of `benchmarks/speed/study_cost.py`, run at several sizes.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, NamedTuple

from genesig.data.study.labels.known import LABELS
from genesig.errors import Problem
from genesig.response.design import SEVERAL, Design
from genesig.results import Splits
from genesig.results.splits import (
    INNER_FOLD_DRAWS,
    PAIRS_OF_ALL_SAMPLES,
    PAIRS_OF_INNER_FOLD,
    PAIRS_OF_TRAINING_SET,
)

START = 1.0
OWN = 5.0
"""Seconds of one processor in which a job imports and reads, and those of Snakemake itself."""

LOOK = 5e-7
"""Seconds of the largest job that only looks at the matrix, for one number; all take 2.5 times."""

FIT = 0.01
PRODUCT = 3.3e-10
STEP = 3.9e-8
"""Seconds of one outer training set: a part of its own; for each inner fold and step of a path, so
much for one number of the training matrix, and for the square of its samples."""

HALF = 2e-4
HALVED = 2.5e-9
"""Seconds of the list of one half of a training set: a part of its own, and for one number."""

OTHERS = 6e-4
OTHER = 2.5e-9
"""Seconds of the other models of an ensemble, for a training set and each of its folds: a part of
their own, and for one number."""

STRETCH = 0.0013
PLACED = 1.8e-8
"""Seconds of one step of a path of the fused lasso: a part of its own, and for one number."""

FOREST = 0.25
VALUE = 8.5e-7
"""Seconds of all baselines on one split: a part of its own, and for one number of the matrix."""

ONE = 350
MANY = 600
SAMPLE = 0.8
GENE = 4e-3
"""MB of a job that fits one training set, and of one that fits many side by side, with so much for
each sample and for each gene, beside the matrix and its copy by gene."""

FORESTS = 400
GROWN = 7
"""MB of the job of all baselines, and how many matrices it holds."""

ALIGNED = 5
"""Matrices more that are held where training sets choose how studies are aligned."""

MODULE = 6e-6
"""Seconds of a module, for one number of the matrix."""

CURVE = 0.01
CURVED = 0.17
POWER = 2.25
"""Seconds of one path of 12 tau by derivative penalties: a part of its own, 100 samples, growth."""

SETS = 0.0035
MEMBER = 4.5e-8
AGAIN = 7e-7
"""Seconds of one path over gene sets: a part of its own, for one number of the matrix, and for each
gene of a set beyond once a gene."""

SHUFFLED = (2.0, 2.1e-5)
SHUFFLE = 5e-5
"""Seconds of the thousand shufflings of enrichment: a part of their own, for one number, and for
each gene of a set."""

REFIT = 1e-3
RANDOM = 200
"""Seconds in which a list is refitted on one split, and lists of random genes beside published."""

READ = 1.8e-4
KEPT = 1.4e-4
NULL = 0.024
SCORED = 2.4e-5
"""MB for each gene of a set that is read, and that is selected; for each set under the thousand
shufflings, three arrays of them; for the scores of a sample by each list, three of these, too."""

LEARNED = 5
"""Ratios of the factors of two omics that are tried where they are learned."""

HOURS = 1.0
"""Of one processor, above which nonlinear selection and gene sets are warned of."""

OF_SETS = {
    "sets": "structured.sets",
    "enrichment": "enrichment.sets",
    "published": "controls.signatures",
}
"""What the names of rules of gene sets begin with -> the key that names their file."""


@dataclass(frozen=True)
class Size:
    """What a study's files and its splits say of its cost; classes are 0 unless more than two.

    Of each file of gene sets there are its sets and, of all of them together, their genes.
    """

    samples: int
    genes: int
    splits: int
    training: int
    classes: int = 0
    structured_sets: int = 0
    structured_members: int = 0
    enrichment_sets: int = 0
    enrichment_members: int = 0
    published_sets: int = 0
    published_members: int = 0

    @classmethod
    def of(cls, splits: Splits, genes: int, design: Design) -> Size:
        """Measure drawn splits; `training` is the number of samples that most of them train on."""
        training = max(len(split.train) for split in splits.outer)
        classes = len(design.classes or ()) if design.kind == SEVERAL else 0
        return cls(len(splits.final.train), genes, len(splits.outer), training, classes)


class Cost(NamedTuple):
    """Seconds of one processor and MB of the largest job of a rule; seconds of all its jobs.

    ``repeats`` are the permutations of the largest one.
    """

    seconds: float
    megabytes: float
    together: float
    jobs: int = 1
    repeats: int = 1


def study_costs(config: Mapping[str, Any], size: Size) -> dict[str, Cost]:
    """Estimate the jobs of every rule that computes; ``others`` are all the rest.

    What the first run after an installation compiles is not counted.

    Parameters
    ----------
    config : dict
        Resolved.
    size : Size
    """
    splits = config["splits"]
    controls = config["controls"]
    curved = config["nonlinear"]
    structured = config["structured"]
    matrix = 8e-6 * size.samples * size.genes
    fit = _fit(config, size)
    observed_fit = fit + _fdr_model(config, size)
    permuted_fit = observed_fit if _predicts_by_half_samples(config) else fit
    permutations = controls["permutations"]
    most = controls["permutations_per_job"]
    batches = min(splits["batches"], size.splits)
    share = -(-size.splits // batches)
    jobs = batches * (1 - (-permutations // most))
    repeats = max(1, min(permutations, most))
    all_fits = size.splits * (observed_fit + permutations * permuted_fit)
    half_size = replace(size, training=size.samples // 2)
    halves = splits["subsamples"] * (_fit(config, half_size) + _fdr_model(config, half_size))
    own = ALIGNED if config["studies"] and config["across"]["align"] == "auto" else 0
    held = (2 + own) * matrix + GENE * size.genes
    wide = MANY + held + SAMPLE * size.samples
    forest = size.splits * (FOREST + VALUE * size.samples * size.genes)
    costs = {
        "fit": Cost(
            START + share * max(observed_fit, repeats * permuted_fit),
            wide,
            jobs * START + all_fits,
            jobs,
            repeats,
        ),
        "chance": _alone(_chance(config, size), wide),
        "fit_final": _alone(INNER_FOLD_DRAWS * fit + observed_fit - fit, ONE + held),
        "fit_subsamples": _alone(halves, wide),
        "baselines": _alone(forest, FORESTS + GROWN * matrix),
        "others": _looked(size, matrix),
    }
    if k := config["quality"]["modules"]:
        costs["modules"] = _alone(MODULE * k * size.samples * size.genes, 250 + 6 * matrix)
    if curved["enabled"]:
        paths = 1 + _folds(config, size) * len(curved["nu"]) * len(curved["width"])
        each = paths * _curved(config, size)
        room = 250 + 4 * matrix
        many = batches * START + size.splits * each
        costs["nonlinear_fit"] = Cost(START + share * each, room, many, batches)
        costs["nonlinear_final"] = _alone(each, room)
    if omics := config["data"]["omics"]:
        seconds = _chance(config, size) + size.splits * observed_fit
        costs["omics"] = _alone(seconds * (2 if isinstance(omics, str) else len(omics)), wide)
    if config["enrichment"]["sets"] or (structured["sets"] and not structured["column"]):
        costs["enrichment"] = _of_enrichment(size, ONE + held)
    if size.published_sets:
        costs["published"] = _of_published(size, splits["repeats"], ONE + held)
    if config["structured"]["sets"] is not None:
        costs |= _of_sets(config, size, jobs)
    return costs


def _looked(size: Size, matrix: float) -> Cost:
    """Sum up the jobs that only look at a matrix of so many MB, or at what others made of it."""
    look = LOOK * size.samples * size.genes
    room = 160 + 5 * matrix + READ * _members(size)
    return Cost(START + look, room, 15 * START + OWN + 2.5 * look)


def _members(size: Size) -> int:
    """Return the genes of the sets of the largest file."""
    return max(size.structured_members, size.enrichment_members, size.published_members)


def _of_enrichment(size: Size, held: float) -> Cost:
    """Estimate the job of the thousand shufflings; its sets may be those that are selected."""
    own = bool(size.enrichment_sets)
    sets = size.enrichment_sets if own else size.structured_sets
    members = size.enrichment_members if own else size.structured_members
    seconds = SHUFFLED[0] + SHUFFLED[1] * size.samples * size.genes + SHUFFLE * members
    return _alone(seconds, held + NULL * sets + READ * members)


def _of_published(size: Size, repeats: int, held: float) -> Cost:
    """Estimate the job that refits published and random lists of genes."""
    lists = size.splits * (RANDOM + size.published_sets)
    scores = SCORED * size.samples * repeats * size.published_sets
    return _alone(REFIT * lists, held + scores + READ * size.published_members)


def _of_sets(config: Mapping[str, Any], size: Size, jobs: int) -> dict[str, Cost]:
    """Estimate the jobs that select gene sets: as many as fit, and one for the rest."""
    splits = config["splits"]
    controls = config["controls"]
    mus = len(config["structured"]["mu"])
    each = (SETS + MEMBER * size.training * size.genes) * max(1, size.classes)
    each *= LABELS[config["data"]["task"]].sets
    each += AGAIN * max(0, size.structured_members - size.genes)
    fit = (1 + _folds(config, size) * mus) * each
    half = splits["subsamples"] * fit * size.samples / (2 * size.training)
    permutations = controls["permutations"]
    most = controls["permutations_per_job"]
    share = -(-size.splits // min(splits["batches"], size.splits))
    repeats = max(1, min(permutations, most))
    room = 210 + 1e-4 * size.samples * size.genes + KEPT * size.structured_members
    return {
        "sets_fit": Cost(
            START + repeats * share * fit,
            room,
            jobs * START + size.splits * (1 + permutations) * fit,
            jobs,
            repeats,
        ),
        "sets_final": _alone(fit + half, room),
    }


def _alone(seconds: float, megabytes: float) -> Cost:
    return Cost(START + seconds, megabytes, START + seconds)


SUBMITTED_JOB = 300
"""MB of the two Snakemake processes in a submitted job: 150 were measured for each."""


def requests(cost: Cost) -> dict[str, int]:
    """Return what a job asks of a cluster: memory with a fourth to spare, four times its time."""
    memory = int(1.25 * cost.megabytes) + SUBMITTED_JOB
    return {"mem_mb": memory, "runtime": 10 + int(4 * cost.seconds / 60)}


def announced(costs: Mapping[str, Cost], slowness: float = 1.0) -> str:
    """Say in words what a study will take on a processor of this `slowness`."""
    seconds = slowness * sum(cost.together for cost in costs.values())
    most = max(cost.megabytes for cost in costs.values())
    return f"takes about {in_words(seconds)} of one processor, {10 * round(most / 10)} MB for a job"


def check_cost(costs: Mapping[str, Cost], source: str) -> Iterator[Problem]:
    """Yield a warning where nonlinear selection, or gene sets, take hours."""
    curved = [cost for rule, cost in costs.items() if rule.startswith("nonlinear")]
    if (much := sum(cost.together for cost in curved) / 3600) > HOURS:
        message = (
            f"takes about {much:.2g} hours of one processor on these samples; one value of"
            " nonlinear.nu, fewer splits.repeats or nonlinear.enabled: false make it shorter"
        )
        yield Problem(f"{source}, nonlinear", message, "warning")
    for rule, keys in OF_SETS.items():
        found = [cost for name, cost in costs.items() if name.startswith(rule)]
        if (much := sum(cost.together for cost in found) / 3600) > HOURS:
            most = max(cost.megabytes for cost in found)
            message = (
                f"these gene sets take about {much:.2g} hours of one processor and {most:.0f} MB"
                " for a job; name fewer sets"
            )
            yield Problem(f"{source}, {keys}", message, "warning")


def in_words(seconds: float) -> str:
    """Return ``"3.5 min"``, to two digits."""
    unit, name = (3600, "h") if seconds >= 5400 else (60, "min") if seconds >= 90 else (1, "s")
    return f"{float(f'{seconds / unit:.2g}'):g} {name}"


def _fit(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of both stages on one outer training set."""
    linear = config["linear"]
    folds = _folds(config, size)
    searched = 1 if linear["list"] == "minimal" else min(3, len(linear["mu"]))
    tried = LEARNED if config["data"]["omics"] == "learned" else 1
    steps = tried * folds * searched * linear["tau_count"] + len(linear["mu"])
    n = size.training
    if linear["penalty"] == "fused":
        return float(FIT + steps * (STRETCH + PLACED * n * size.genes))
    kind = LABELS[SEVERAL if size.classes else config["data"]["task"]]
    step = kind.step + PRODUCT * n * size.genes + STEP * n**2
    return float(FIT + steps * step * max(1, size.classes))


def _fdr_model(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of the FDR-selected genes of one training set, and of an ensemble."""
    linear = config["linear"]
    if not config["signature"]["permutations"] or linear["penalty"] == "fused":
        return 0.0
    seconds = _halves(config, size, PAIRS_OF_TRAINING_SET)
    if linear["model"] == "ensemble":
        each = OTHERS + OTHER * size.training * size.genes
        seconds += (1 + _folds(config, size)) * each
    return float(seconds)


def _predicts_by_half_samples(config: Mapping[str, Any]) -> bool:
    """Return whether permuted labels need the lists of half samples, too."""
    linear = config["linear"]
    return linear["list"] in ("best", "fdr") or linear["model"] == "ensemble"


def _halves(config: Mapping[str, Any], size: Size, pairs: int) -> float:
    """Return the seconds of the half-sample lists of one training set and of its inner folds."""
    own = PAIRS_OF_INNER_FOLD if config["linear"]["list"] in ("best", "fdr") else 1
    each = HALF + HALVED * size.training * size.genes
    return float(2 * (pairs + own * _folds(config, size)) * each * max(1, size.classes))


def _chance(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of the half-sample lists under permuted labels."""
    asked = config["signature"]["permutations"] * (config["linear"]["penalty"] == "l1")
    return float(
        asked
        * sum(
            _halves(config, size, pairs) for pairs in (PAIRS_OF_ALL_SAMPLES, PAIRS_OF_TRAINING_SET)
        )
    )


def _curved(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of one path by derivative penalties."""
    grown = CURVED * (size.training / 100) ** POWER
    return float(CURVE + grown * config["nonlinear"]["tau_count"] / 12)


def _folds(config: Mapping[str, Any], size: Size) -> int:
    splits = config["splits"]
    alone = splits["inner_scheme"] == "leave_one_out"
    return size.training if alone else min(splits["inner_folds"], size.training)


SOLE = 20.0
"""Seconds for which one job at a time is believed in, before the run shows how many it runs."""

SELECTS = "Select jobs to execute..."
"""What Snakemake says between any two jobs."""

OVERDUE = 0.9
"""Share of its seconds that a job can at most have behind it while it runs."""


@dataclass
class Job:
    """A job of a rule on these labels, when it began and ended (seconds, of any clock)."""

    rule: str
    labels: str | None
    start: float
    end: float | None = None


def expected(costs: Mapping[str, Cost], rule: str, labels: str | None = None) -> float:
    """Return the announced seconds of a job; of the fits on permuted labels, as many as it has.

    ``permuted-3-12`` are ten permutations; without labels a job is taken as their mean.
    """
    cost = costs.get(rule)
    if cost is None:
        return START
    if labels is None:
        return cost.together / cost.jobs
    numbers = [int(each) for each in labels.split("-")[1:]]
    repeats = numbers[-1] - numbers[0] + 1 if numbers else 1
    return START + (cost.seconds - START) * repeats / cost.repeats


def seconds_left(
    costs: Mapping[str, Cost], counts: Mapping[str, int], jobs: Iterable[Job], now: float
) -> float:
    """Forecast the seconds until the last job ends.

    Announced seconds are corrected by those of the jobs that have ended: by what a job takes beside
    its own work (the median excess), by how slow all were, then by how slow those of the rule were.
    What is left is divided by the mean number of jobs that ran at a time.

    Parameters
    ----------
    costs : dict
        Announced, of each rule (`study_costs`).
    counts : dict
        Jobs of each rule in this run, ended ones included.
    jobs : iterable of Job
        Those that have begun.
    now : float
        By the same clock as the jobs.

    Returns
    -------
    float
        Never negative; 0 when as many jobs have ended as there are.
    """
    begun = list(jobs)
    ended = [(job, job.end - job.start) for job in begun if job.end is not None]
    own = {id(job): expected(costs, job.rule, job.labels) for job in begun}
    excess = max(0.0, median([took - own[id(job)] for job, took in ended] or [0.0]))
    took = defaultdict[str, float](float)
    said = defaultdict[str, float](float)
    for job, seconds in ended:
        took[job.rule] += seconds
        said[job.rule] += own[id(job)] + excess
    slow = (sum(took.values()) + START) / (sum(said.values()) + START)
    left = 0.0
    for rule, count in counts.items():
        mean = expected(costs, rule) + excess
        ratio = (took[rule] + slow * mean) / (said[rule] + mean)
        whole = ratio * count * mean
        done = ratio * said[rule] + sum(
            min(now - job.start, OVERDUE * ratio * (own[id(job)] + excess))
            for job in begun
            if job.rule == rule and job.end is None
        )
        open_jobs = count - sum(job.rule == rule for job, _ in ended)
        left += max(0.0, whole - done) if open_jobs > 0 else 0.0
    return left / _at_a_time(begun, now)


def _at_a_time(jobs: Iterable[Job], now: float) -> float:
    """Return the mean number of jobs that ran at a time since the first began."""
    spans = [(job.start, now if job.end is None else job.end) for job in jobs]
    first = min((start for start, _ in spans), default=now)
    return (sum(end - start for start, end in spans) + SOLE) / (now - first + SOLE)


@dataclass(eq=False)
class Progress(logging.Handler):
    """Listens to the log of a workflow's run, and says how long it still takes.

    Attributes
    ----------
    announced : callable
        Returns the costs, or None while they are not known.
    clock : callable
    """

    announced: Callable[[], Mapping[str, Cost] | None]
    clock: Callable[[], float] = time.monotonic
    counts: dict[str, int] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    last: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def emit(self, record: logging.LogRecord) -> None:
        """Note which jobs there are, begin and end, from what a record says of its event."""
        said = vars(record)
        match str(said.get("event")):
            case "run_info":
                self.counts = {k: n for k, n in (said.get("stats") or {}).items() if k != "total"}
            case "job_info":
                labels = (said.get("wildcards") or {}).get("labels")
                self.jobs[said["jobid"]] = Job(said["rule_name"], labels, self.clock())
            case "job_finished" if job := self.jobs.get(said["job_id"]):
                job.end, self.last = self.clock(), job.rule

    def words(self) -> str:
        """Return ``"fit done; about 3 min left"``."""
        costs = self.announced()
        if costs is None:
            return f"{self.last} done"
        left = seconds_left(costs, self.counts, self.jobs.values(), self.clock())
        return f"{self.last} done; about {in_words(max(left, 1.0))} left"


@dataclass(eq=False)
class InTime(logging.Formatter):
    """Writes time left where `inner` writes the number of steps, and nothing of what runs."""

    inner: logging.Formatter
    progress: Progress

    def __post_init__(self) -> None:
        super().__init__()

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; an empty text is not written."""
        said = vars(record)
        match str(said.get("event")):
            case "job_started" | "job_finished":
                return ""
            case "None" if said["msg"] == SELECTS:
                return ""
            case "progress":
                return self.progress.words() if said["done"] < said["total"] else ""
        return self.inner.format(record)
