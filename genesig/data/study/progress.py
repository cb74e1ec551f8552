"""How long a run still takes, from what its jobs were announced to cost and what they took."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from genesig.data.study.cost import START, Cost, in_words

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
    took, said = defaultdict[str, float](float), defaultdict[str, float](float)
    for job, seconds in ended:
        took[job.rule] += seconds
        said[job.rule] += own[id(job)] + excess
    slow, left = (sum(took.values()) + START) / (sum(said.values()) + START), 0.0
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
