"""Estimate time and memory of a study before it runs, and the remaining time while it runs.

The constants were fitted to the jobs of `benchmarks/speed/study_cost.py`, run at several sizes.
Seconds are those of one processor of the machine that `LOOP_SECONDS` names; "per value" means for
one number of the expression matrix.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from genesig.data.study.label_rules import LABEL_RULES
from genesig.errors import Problem
from genesig.response.design import SEVERAL_CLASSES, Design
from genesig.results import Splits
from genesig.results.splits import (
    INNER_FOLD_DRAWS,
    PAIRS_OF_ALL_SAMPLES,
    PAIRS_OF_INNER_FOLD,
    PAIRS_OF_TRAINING_SET,
)

JOB_SECONDS = 1.0  # seconds in which any job imports its modules and reads its inputs
SNAKEMAKE_SECONDS = 5.0  # seconds of Snakemake itself

READ_SECONDS_PER_VALUE = 5e-7
"""Seconds of the largest job that reads the matrix without fitting; all take 2.5 times that."""

FIT_SECONDS = 0.01  # seconds of one outer training set, besides those of its paths
PATH_SECONDS_PER_VALUE = 3.3e-10
"""Seconds of a path's step in an inner fold, for each value of the training matrix."""
PATH_SECONDS_PER_SQUARED_SAMPLE = 3.9e-8  # the same, for the squared number of training samples

HALF_SAMPLE_SECONDS = 2e-4
HALF_SAMPLE_SECONDS_PER_VALUE = 2.5e-9
"""Seconds of the gene list of one half of a training set: constant, and for each value."""

ENSEMBLE_SECONDS = 6e-4
ENSEMBLE_SECONDS_PER_VALUE = 2.5e-9
"""Seconds of the further models of an ensemble, for a training set and for each of its folds."""

FUSED_SECONDS = 0.0013
FUSED_SECONDS_PER_VALUE = 1.8e-8  # seconds of one step of a path of the fused lasso

BASELINE_SECONDS = 0.55
BASELINE_SECONDS_PER_VALUE = 2.5e-6  # seconds of all baselines on one split

# Numbers below that have no name are MB of the job at hand: constant, and in copies of the matrix.
SINGLE_FIT_MB = 350  # MB of a job that fits one training set, besides its data
MANY_FITS_MB = 600  # MB of a job that fits many training sets side by side, besides its data
MB_PER_SAMPLE = 0.8  # MB for each sample in a job of many fits
MB_PER_GENE = 4e-3  # MB for each gene, besides the matrix and its copy by gene

BASELINES_MB = 400  # MB of the job of all baselines, beside its matrices
BASELINE_MATRICES = 7  # matrices that this job holds

ALIGNED_MATRICES = 5  # further matrices in memory if training sets choose how studies are aligned

MODULE_SECONDS_PER_VALUE = 6e-6  # seconds of one module of genes, for each value

N_COSTED_TAU = 12
NONLINEAR_SECONDS = 0.01
NONLINEAR_SECONDS_AT_100_SAMPLES = 0.17
NONLINEAR_GROWTH = 2.25
"""Seconds of one path of `N_COSTED_TAU` tau by derivative penalties: constant, at 100 samples, and
the power by which they grow with the samples."""

SET_SECONDS = 0.0035
SET_SECONDS_PER_VALUE = 4.5e-8  # seconds of one path over gene sets
SET_SECONDS_PER_REPEATED_GENE = 7e-7
"""Seconds of that path for each membership of a gene in a second or further set."""

ENRICHMENT_SECONDS = 2.0
ENRICHMENT_SECONDS_PER_VALUE = 2.1e-5
ENRICHMENT_SECONDS_PER_MEMBER = 5e-5
"""Seconds of the thousand permutations of enrichment: constant, for each value, and for each member
of a set."""

REFIT_SECONDS = 1e-3  # seconds in which a gene list is refitted on one split
N_RANDOM_LISTS = 200  # lists of random genes that are refitted beside published lists

MB_PER_READ_MEMBER = 1.8e-4  # MB for each member of a set in a file that is read
MB_PER_SELECTED_MEMBER = 1.4e-4  # MB for each member of the sets that are selected from
MB_PER_PERMUTED_SET = 0.024  # MB for each set under the thousand permutations: three arrays
MB_PER_SCORE = 2.4e-5  # MB for the score of a sample by a list: three arrays

N_FACTOR_RATIOS = 5  # ratios of the factors of two omics that are tried if the factors are learned

MAX_HOURS = 1.0  # hours of one processor above which nonlinear models and gene sets get a warning

SET_RULE_KEYS = {
    "sets": "structured.sets",
    "enrichment": "enrichment.sets",
    "published": "controls.signatures",
}
"""Beginning of a rule's name -> the setting that names its file of gene sets."""


@dataclass(frozen=True)
class Size:
    """The sizes of a study that determine its cost; stored in validation.json under these names."""

    samples: int
    genes: int
    splits: int  # number of outer splits
    training: int  # number of training samples of the largest outer split
    classes: int = 0  # 0 for two classes and for other kinds of outcome
    structured_sets: int = 0  # sets in the file `structured.sets`
    structured_members: int = 0  # genes of these sets, counted once for each set
    enrichment_sets: int = 0  # sets in the file `enrichment.sets`
    enrichment_members: int = 0
    published_sets: int = 0  # gene lists in the file `controls.signatures`
    published_members: int = 0

    @classmethod
    def from_splits(cls, splits: Splits, genes: int, design: Design) -> Size:
        """Return the sizes of a study with drawn splits."""
        training = max(len(split.train) for split in splits.outer)
        classes = len(design.classes or ()) if design.kind == SEVERAL_CLASSES else 0
        return cls(len(splits.final.train), genes, len(splits.outer), training, classes)


class Cost(NamedTuple):
    """Estimated time and memory of the jobs of one rule."""

    seconds: float  # of the largest job
    megabytes: float  # of the largest job
    total_seconds: float  # of all jobs together
    n_jobs: int = 1
    n_permutations: int = 1  # number of permutations of the largest job


def study_costs(config: Mapping[str, Any], size: Size) -> dict[str, Cost]:
    """Estimate the cost of each rule that computes; ``others`` stands for all other rules together.

    The compilation in the first run after an installation is not counted.

    config: resolved config, as in all functions of this file. Keys of the result: rules.
    """
    splits = config["splits"]
    controls = config["controls"]
    structured = config["structured"]
    matrix_mb = 8e-6 * size.samples * size.genes
    fit_seconds = _fit_seconds(config, size)
    # seconds of one training set under the observed and under permuted labels
    observed_seconds = fit_seconds + _fdr_model_seconds(config, size)
    permuted_seconds = observed_seconds if _predicts_by_half_samples(config) else fit_seconds
    n_permutations = controls["permutations"]
    permutations_per_job = controls["permutations_per_job"]
    n_batches = min(splits["batches"], size.splits)  # of outer splits, not of samples
    splits_per_batch = -(-size.splits // n_batches)
    n_permuted_jobs = n_batches * -(-n_permutations // permutations_per_job)
    half_sample_size = replace(size, training=size.samples // 2)
    subsample_seconds = splits["subsamples"] * (
        _fit_seconds(config, half_sample_size) + _fdr_model_seconds(config, half_sample_size)
    )
    n_aligned_matrices = (
        ALIGNED_MATRICES if config["studies"] and config["across"]["align"] == "auto" else 0
    )
    data_mb = (2 + n_aligned_matrices) * matrix_mb + MB_PER_GENE * size.genes
    many_fits_mb = MANY_FITS_MB + data_mb + MB_PER_SAMPLE * size.samples
    baseline_seconds = size.splits * (
        BASELINE_SECONDS + BASELINE_SECONDS_PER_VALUE * size.samples * size.genes
    )
    costs = {
        "fit_observed": Cost(
            seconds=JOB_SECONDS + splits_per_batch * observed_seconds,
            megabytes=many_fits_mb,
            total_seconds=n_batches * JOB_SECONDS + size.splits * observed_seconds,
            n_jobs=n_batches,
        ),
        "chance": _single_job(_chance_seconds(config, size), many_fits_mb),
        # The search is repeated with other inner folds; all else is computed once.
        "fit_final": _single_job(
            INNER_FOLD_DRAWS * fit_seconds + observed_seconds - fit_seconds, SINGLE_FIT_MB + data_mb
        ),
        "fit_subsamples": _single_job(subsample_seconds, many_fits_mb),
        "baselines": _single_job(baseline_seconds, BASELINES_MB + BASELINE_MATRICES * matrix_mb),
        "others": _other_jobs_cost(size, matrix_mb),
    }
    if n_permutations:
        permutations_of_job = min(n_permutations, permutations_per_job)
        costs["fit"] = Cost(
            seconds=JOB_SECONDS + splits_per_batch * permutations_of_job * permuted_seconds,
            megabytes=many_fits_mb,
            total_seconds=n_permuted_jobs * JOB_SECONDS
            + size.splits * n_permutations * permuted_seconds,
            n_jobs=n_permuted_jobs,
            n_permutations=permutations_of_job,
        )
    if n_modules := config["quality"]["modules"]:
        costs["modules"] = _single_job(
            MODULE_SECONDS_PER_VALUE * n_modules * size.samples * size.genes, 250 + 6 * matrix_mb
        )
    if config["nonlinear"]["enabled"]:
        costs |= _nonlinear_costs(config, size, n_batches, matrix_mb)
    if omics := config["data"]["omics"]:
        # Each omic is left out once. With learned factors their number is unknown: two as a rule.
        seconds = _chance_seconds(config, size) + size.splits * observed_seconds
        costs["omics"] = _single_job(
            seconds * (2 if isinstance(omics, str) else len(omics)), many_fits_mb
        )
    if config["enrichment"]["sets"] or (structured["sets"] and not structured["column"]):
        costs["enrichment"] = _enrichment_cost(size, SINGLE_FIT_MB + data_mb)
    if size.published_sets:
        costs["published"] = _published_cost(size, splits["repeats"], SINGLE_FIT_MB + data_mb)
    if config["structured"]["sets"] is not None:
        costs |= _set_costs(config, size, n_batches + n_permuted_jobs)
    return costs


def _other_jobs_cost(size: Size, matrix_mb: float) -> Cost:
    """Return the cost of the 15 or so jobs that fit nothing, but read the matrix of this size."""
    job_seconds = READ_SECONDS_PER_VALUE * size.samples * size.genes
    n_read_members = max(size.structured_members, size.enrichment_members, size.published_members)
    job_mb = 160 + 5 * matrix_mb + MB_PER_READ_MEMBER * n_read_members
    return Cost(
        JOB_SECONDS + job_seconds, job_mb, 15 * JOB_SECONDS + SNAKEMAKE_SECONDS + 2.5 * job_seconds
    )


def _enrichment_cost(size: Size, base_mb: float) -> Cost:
    """Return the cost of the enrichment job, which has `base_mb` MB besides its gene sets.

    Without a file of its own, enrichment tests the sets of the structured selection.
    """
    has_enrichment_sets = bool(size.enrichment_sets)
    n_sets = size.enrichment_sets if has_enrichment_sets else size.structured_sets
    n_members = size.enrichment_members if has_enrichment_sets else size.structured_members
    seconds = (
        ENRICHMENT_SECONDS
        + ENRICHMENT_SECONDS_PER_VALUE * size.samples * size.genes
        + ENRICHMENT_SECONDS_PER_MEMBER * n_members
    )
    return _single_job(
        seconds, base_mb + MB_PER_PERMUTED_SET * n_sets + MB_PER_READ_MEMBER * n_members
    )


def _published_cost(size: Size, n_repeats: int, base_mb: float) -> Cost:
    """Return the cost of the job that refits published and random lists, as `_enrichment_cost`."""
    n_lists = size.splits * (N_RANDOM_LISTS + size.published_sets)
    scores_mb = MB_PER_SCORE * size.samples * n_repeats * size.published_sets
    return _single_job(
        REFIT_SECONDS * n_lists, base_mb + scores_mb + MB_PER_READ_MEMBER * size.published_members
    )


def _nonlinear_costs(
    config: Mapping[str, Any], size: Size, n_batches: int, matrix_mb: float
) -> dict[str, Cost]:
    """Return the costs of nonlinear selection on a matrix of `matrix_mb` MB: batches, final fit."""
    nonlinear = config["nonlinear"]
    # one of each inner fold and pair of settings, then one of the training set
    n_paths = 1 + _n_inner_folds(config, size) * len(nonlinear["nu"]) * len(nonlinear["width"])
    split_seconds = n_paths * _nonlinear_path_seconds(config, size)
    job_mb = 250 + 4 * matrix_mb
    return {
        "nonlinear_fit": Cost(
            seconds=JOB_SECONDS + -(-size.splits // n_batches) * split_seconds,
            megabytes=job_mb,
            total_seconds=n_batches * JOB_SECONDS + size.splits * split_seconds,
            n_jobs=n_batches,
        ),
        "nonlinear_final": _single_job(split_seconds, job_mb),
    }


def _set_costs(config: Mapping[str, Any], size: Size, n_jobs: int) -> dict[str, Cost]:
    """Return the costs of selecting gene sets: `n_jobs` jobs, and one of all samples and halves."""
    splits = config["splits"]
    controls = config["controls"]
    n_mu = len(config["structured"]["mu"])
    path_seconds = (SET_SECONDS + SET_SECONDS_PER_VALUE * size.training * size.genes) * max(
        1, size.classes
    )
    path_seconds *= LABEL_RULES[config["data"]["task"]].set_path_factor
    path_seconds += SET_SECONDS_PER_REPEATED_GENE * max(0, size.structured_members - size.genes)
    fit_seconds = (1 + _n_inner_folds(config, size) * n_mu) * path_seconds
    subsample_seconds = splits["subsamples"] * fit_seconds * size.samples / (2 * size.training)
    n_permutations = controls["permutations"]
    permutations_per_job = controls["permutations_per_job"]
    splits_per_batch = -(-size.splits // min(splits["batches"], size.splits))
    permutations_of_job = max(1, min(n_permutations, permutations_per_job))
    job_mb = (
        210 + 1e-4 * size.samples * size.genes + MB_PER_SELECTED_MEMBER * size.structured_members
    )
    return {
        "sets_fit": Cost(
            seconds=JOB_SECONDS + permutations_of_job * splits_per_batch * fit_seconds,
            megabytes=job_mb,
            total_seconds=n_jobs * JOB_SECONDS + size.splits * (1 + n_permutations) * fit_seconds,
            n_jobs=n_jobs,
            n_permutations=permutations_of_job,
        ),
        "sets_final": _single_job(fit_seconds + subsample_seconds, job_mb),
    }


def _single_job(seconds: float, megabytes: float) -> Cost:
    """Return the cost of a rule of one job, which takes `seconds` besides those of any job."""
    return Cost(JOB_SECONDS + seconds, megabytes, JOB_SECONDS + seconds)


SUBMITTED_JOB_MB = 300  # MB of the two Snakemake processes in a submitted job, 150 each


def job_resources(cost: Cost) -> dict[str, int]:
    """Return a cluster request: 1.25 times the memory of a job; 10 minutes and 4 times its time."""
    memory = int(1.25 * cost.megabytes) + SUBMITTED_JOB_MB
    return {"mem_mb": memory, "runtime": 10 + int(4 * cost.seconds / 60)}  # minutes


def describe_costs(costs: Mapping[str, Cost], slowness: float = 1.0) -> str:
    """Return time and memory of a study in words; slowness: from `cpu_slowness`."""
    seconds = slowness * sum(cost.total_seconds for cost in costs.values())
    largest_mb = max(cost.megabytes for cost in costs.values())
    return (
        f"takes about {duration_text(seconds)} of one processor, "
        f"{10 * round(largest_mb / 10)} MB for a job"
    )


def check_cost(costs: Mapping[str, Cost], source: str) -> Iterator[Problem]:
    """Yield a warning if nonlinear selection or gene sets take more than `MAX_HOURS`."""
    nonlinear_costs = [cost for rule, cost in costs.items() if rule.startswith("nonlinear")]
    if (n_hours := sum(cost.total_seconds for cost in nonlinear_costs) / 3600) > MAX_HOURS:
        message = (
            f"takes about {n_hours:.2g} hours of one processor on these samples; one value of"
            " nonlinear.nu, fewer splits.repeats or nonlinear.enabled: false make it shorter"
        )
        yield Problem(f"{source}, nonlinear", message, "warning")
    for rule, key in SET_RULE_KEYS.items():
        rule_costs = [cost for name, cost in costs.items() if name.startswith(rule)]
        if (n_hours := sum(cost.total_seconds for cost in rule_costs) / 3600) > MAX_HOURS:
            largest_mb = max(cost.megabytes for cost in rule_costs)
            message = (
                f"these gene sets take about {n_hours:.2g} hours of one processor and "
                f"{largest_mb:.0f} MB for a job; name fewer sets"
            )
            yield Problem(f"{source}, {key}", message, "warning")


def duration_text(seconds: float) -> str:
    """Return seconds as text of two digits, ``"3.5 min"``."""
    unit, name = (3600, "h") if seconds >= 5400 else (60, "min") if seconds >= 90 else (1, "s")
    return f"{float(f'{seconds / unit:.2g}'):g} {name}"


def _fit_seconds(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of linear selection on one outer training set: inner folds, then a refit.

    A step is a fit for one tau and mu (strengths of the l1 and l2 penalties); a path has many tau.
    """
    linear = config["linear"]
    n_folds = _n_inner_folds(config, size)
    # List "minimal" searches one mu, list "stable" the three smallest of the default four.
    n_searched_mu = 1 if linear["list"] == "minimal" else min(3, len(linear["mu"]))
    n_factor_ratios = N_FACTOR_RATIOS if config["data"]["omics"] == "learned" else 1
    n_steps = n_factor_ratios * n_folds * n_searched_mu * linear["tau_count"] + len(linear["mu"])
    n = size.training
    if linear["penalty"] == "fused":
        return float(
            FIT_SECONDS + n_steps * (FUSED_SECONDS + FUSED_SECONDS_PER_VALUE * n * size.genes)
        )
    rules = LABEL_RULES[SEVERAL_CLASSES if size.classes else config["data"]["task"]]
    step_seconds = (
        rules.path_seconds
        + PATH_SECONDS_PER_VALUE * n * size.genes
        + PATH_SECONDS_PER_SQUARED_SAMPLE * n**2
    )
    return float(FIT_SECONDS + n_steps * step_seconds * max(1, size.classes))


def _fdr_model_seconds(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of the FDR-selected genes of one training set, and of its ensemble."""
    linear = config["linear"]
    if not config["signature"]["permutations"] or linear["penalty"] == "fused":
        return 0.0
    n_fold_pairs = _pairs_of_fold(config) * _n_inner_folds(config, size)
    seconds = _half_sample_seconds(size, PAIRS_OF_TRAINING_SET + n_fold_pairs)
    if linear["model"] == "ensemble":
        member_seconds = ENSEMBLE_SECONDS + ENSEMBLE_SECONDS_PER_VALUE * size.training * size.genes
        seconds += (1 + _n_inner_folds(config, size)) * member_seconds
    return float(seconds)


def _predicts_by_half_samples(config: Mapping[str, Any]) -> bool:
    """Tell whether predictions need half-sample lists, under permuted labels too."""
    linear = config["linear"]
    return linear["list"] in ("best", "fdr") or linear["model"] == "ensemble"


def _pairs_of_fold(config: Mapping[str, Any]) -> int:
    """Return the number of divisions of the training rows of an inner fold into two halves."""
    return PAIRS_OF_INNER_FOLD if config["linear"]["list"] in ("best", "fdr") else 1


def _half_sample_seconds(size: Size, n_pairs: int) -> float:
    """Return the seconds of the lists of both halves of `n_pairs` divisions of training rows."""
    list_seconds = HALF_SAMPLE_SECONDS + HALF_SAMPLE_SECONDS_PER_VALUE * size.training * size.genes
    return float(2 * n_pairs * list_seconds * max(1, size.classes))


def _chance_seconds(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of half-sample lists under permuted labels, 0 without the l1 penalty.

    A permutation is studied on all samples, one training set and one half-subsample, with one inner
    fold of each (`linear.half_samples.study_half_samples`). All count as training sets.
    """
    if config["linear"]["penalty"] != "l1":
        return 0.0
    n_pairs = PAIRS_OF_ALL_SAMPLES + 2 * PAIRS_OF_TRAINING_SET + 3 * _pairs_of_fold(config)
    return float(config["signature"]["permutations"] * _half_sample_seconds(size, n_pairs))


def _nonlinear_path_seconds(config: Mapping[str, Any], size: Size) -> float:
    """Return the seconds of one path by derivative penalties."""
    path_seconds = NONLINEAR_SECONDS_AT_100_SAMPLES * (size.training / 100) ** NONLINEAR_GROWTH
    return float(NONLINEAR_SECONDS + path_seconds * config["nonlinear"]["tau_count"] / N_COSTED_TAU)


def _n_inner_folds(config: Mapping[str, Any], size: Size) -> int:
    """Return the number of inner folds of a training set."""
    splits = config["splits"]
    is_leave_one_out = splits["inner_scheme"] == "leave_one_out"
    return size.training if is_leave_one_out else min(splits["inner_folds"], size.training)


PRIOR_SECONDS = 20.0  # seconds of one job at a time, until the run shows how many run together

SELECTION_LINE = "Select jobs to execute..."  # line that Snakemake writes between any two jobs

MAX_DONE_SHARE = 0.9  # largest share of its expected seconds that a running job is counted as done


@dataclass
class Job:
    """A started job of a rule."""

    rule: str
    # wildcard of the rule: "observed", or the permutations 3 to 12 as "permuted-3-12"; None without
    labels: str | None
    start: float  # seconds, by any clock
    end: float | None = None  # None while the job runs


def expected_seconds_of_job(
    costs: Mapping[str, Cost], rule: str, labels: str | None = None
) -> float:
    """Return the estimated seconds of a job, by the number of permutations that its labels name.

    Labels ``permuted-3-12`` are ten permutations; ``observed`` counts as one.
    Without labels the mean job of the rule is meant.
    """
    cost = costs.get(rule)
    if cost is None:
        return JOB_SECONDS
    if labels is None:
        return cost.total_seconds / cost.n_jobs
    numbers = [int(number) for number in labels.split("-")[1:]]
    n_permutations = numbers[-1] - numbers[0] + 1 if numbers else 1
    return JOB_SECONDS + (cost.seconds - JOB_SECONDS) * n_permutations / cost.n_permutations


def seconds_left(
    costs: Mapping[str, Cost], counts: Mapping[str, int], jobs: Iterable[Job], now: float
) -> float:
    """Forecast the seconds until the last job ends.

    Estimated seconds are corrected by the jobs that have ended: first by the median excess of a job
    over its estimate, then by the ratio of measured to estimated seconds over all jobs, and over
    those of the rule. The remaining seconds are divided by the mean number of jobs that ran at a
    time.

    costs: cost of each rule (`study_costs`).
    counts: number of jobs of each rule in this run, including those that have ended.
    jobs: jobs that have started.
    now: time, by the clock of the jobs.

    Returns at least 0; 0 if all jobs have ended.
    """
    started_jobs = list(jobs)
    ended_jobs = [(job, job.end - job.start) for job in started_jobs if job.end is not None]
    expected_seconds = {
        id(job): expected_seconds_of_job(costs, job.rule, job.labels) for job in started_jobs
    }
    overhead = max(  # seconds of a job besides its estimate
        0.0, median([seconds - expected_seconds[id(job)] for job, seconds in ended_jobs] or [0.0])
    )
    seconds_of_rule = defaultdict[str, float](float)
    expected_of_rule = defaultdict[str, float](float)
    for job, seconds in ended_jobs:
        seconds_of_rule[job.rule] += seconds
        expected_of_rule[job.rule] += expected_seconds[id(job)] + overhead
    slowness = (sum(seconds_of_rule.values()) + JOB_SECONDS) / (
        sum(expected_of_rule.values()) + JOB_SECONDS
    )
    remaining = 0.0
    for rule, count in counts.items():
        mean_seconds = expected_seconds_of_job(costs, rule) + overhead
        # The rule's own ratio, with one more job as slow as all jobs: before a job of it has ended.
        ratio = (seconds_of_rule[rule] + slowness * mean_seconds) / (
            expected_of_rule[rule] + mean_seconds
        )
        rule_seconds = ratio * count * mean_seconds
        done_seconds = ratio * expected_of_rule[rule] + sum(
            min(now - job.start, MAX_DONE_SHARE * ratio * (expected_seconds[id(job)] + overhead))
            for job in started_jobs
            if job.rule == rule and job.end is None
        )
        n_open_jobs = count - sum(job.rule == rule for job, _ in ended_jobs)
        remaining += max(0.0, rule_seconds - done_seconds) if n_open_jobs > 0 else 0.0
    return remaining / _mean_running_jobs(started_jobs, now)


def _mean_running_jobs(jobs: Iterable[Job], now: float) -> float:
    """Return the mean number of jobs that ran at a time, from the start of the first to now."""
    spans = [(job.start, now if job.end is None else job.end) for job in jobs]
    first_start = min((start for start, _ in spans), default=now)
    return (sum(end - start for start, end in spans) + PRIOR_SECONDS) / (
        now - first_start + PRIOR_SECONDS
    )


@dataclass(eq=False)
class RunProgress(logging.Handler):
    """Log handler that follows the jobs of a Snakemake run and forecasts its remaining time."""

    # returns the cost of each rule, None before the data are read
    read_costs: Callable[[], Mapping[str, Cost] | None]
    clock: Callable[[], float] = time.monotonic
    counts: dict[str, int] = field(default_factory=dict)  # number of jobs of each rule in this run
    jobs: dict[int, Job] = field(default_factory=dict)  # started jobs by Snakemake's id
    last_rule: str = ""  # rule of the job that ended last

    def __post_init__(self) -> None:
        super().__init__()

    def emit(self, record: logging.LogRecord) -> None:
        """Record the jobs, their starts and their ends from a log record of Snakemake."""
        fields = vars(record)
        match str(fields.get("event")):
            case "run_info":
                stats = fields.get("stats") or {}  # rule -> its number of jobs, and "total"
                self.counts = {rule: count for rule, count in stats.items() if rule != "total"}
            case "job_info":
                labels = (fields.get("wildcards") or {}).get("labels")
                self.jobs[fields["jobid"]] = Job(fields["rule_name"], labels, self.clock())
            # Snakemake's key for the id of a job is "jobid" at its start and "job_id" at its end.
            case "job_finished" if job := self.jobs.get(fields["job_id"]):
                job.end = self.clock()
                self.last_rule = job.rule

    def progress_text(self) -> str:
        """Return the line for the user, ``"fit done; about 3 min left"``."""
        costs = self.read_costs()
        if costs is None:
            return f"{self.last_rule} done"
        remaining = seconds_left(costs, self.counts, self.jobs.values(), self.clock())
        return f"{self.last_rule} done; about {duration_text(max(remaining, 1.0))} left"


@dataclass(eq=False)
class TimeLeftFormatter(logging.Formatter):
    """Log formatter that writes the remaining time instead of Snakemake's number of steps."""

    inner: logging.Formatter  # Snakemake's formatter
    progress: RunProgress

    def __post_init__(self) -> None:
        super().__init__()

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record, '' for records that users need not see."""
        fields = vars(record)
        match str(fields.get("event")):
            case "job_started" | "job_finished":
                return ""
            case "None" if fields["msg"] == SELECTION_LINE:  # a record without an event
                return ""
            case "progress":
                return self.progress.progress_text() if fields["done"] < fields["total"] else ""
        return self.inner.format(record)


LOOP_SECONDS = 0.0019
ARRAY_SECONDS = 0.00095
"""Processor seconds of both trials of `cpu_slowness` on the reference, an AMD EPYC of two cores."""

TRIALS = 5  # repeats of both trials; the fastest counts, as other work makes a trial only slower


@cache
def cpu_slowness() -> float:
    """Return this processor's time for a loop and for array sums, relative to the reference.

    Geometric mean of both ratios. The measurement takes less than a tenth of a second.
    """
    values = np.linspace(0.0, 1.0, 4096)
    loop_seconds = []
    array_seconds = []
    for _ in range(TRIALS):
        start = time.process_time()
        total = 0.0
        for number in range(50_000):
            total += number * 0.5
        middle = time.process_time()
        for _ in range(400):
            values * values + values
        loop_seconds.append(middle - start)
        array_seconds.append(time.process_time() - middle)
    ratio = min(loop_seconds) / LOOP_SECONDS * min(array_seconds) / ARRAY_SECONDS
    return float(np.sqrt(ratio))
