"""The forecast of the remaining time converges on recorded jobs and appears in the log."""

from __future__ import annotations

import csv
import logging
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_runs import CONFIG

from genesig.data.files.readers import load_schema
from genesig.data.study.cost import (
    JOB_SECONDS,
    Cost,
    Job,
    RunProgress,
    Size,
    TimeLeftFormatter,
    duration_text,
    expected_seconds_of_job,
    seconds_left,
    study_costs,
)
from genesig.data.validate import study_config

# Of tests/materials/study_runs.py, on a machine with many other things to do: eight times slower
# than announced.
RECORDED = Path(__file__).parent / "recorded_run.tsv"
# Its jobs were more and smaller than those of CONFIG are now.
RECORDED_CONFIG = {
    **CONFIG,
    "splits": {**CONFIG["splits"], "batches": 2},
    "controls": {"permutations": 6, "permutations_per_job": 3},
}
COSTS = study_costs(study_config(RECORDED_CONFIG, load_schema(), source="toy"), Size(24, 40, 6, 16))


def recorded():
    with RECORDED.open(encoding="utf-8") as stream:
        return [
            Job(row["rule"], row["labels"] or None, float(row["start"]), float(row["end"]))
            for row in csv.DictReader(stream, delimiter="\t")
        ]


def known_at(jobs, now):
    return [
        Job(job.rule, job.labels, job.start, job.end if job.end <= now else None)
        for job in jobs
        if job.start <= now
    ]


def forecasts(costs, slower=1.0):
    """Return (end of a job, remaining time, forecast of the remaining time), in seconds."""
    jobs = [Job(job.rule, job.labels, slower * job.start, slower * job.end) for job in recorded()]
    counts = Counter(job.rule for job in jobs)
    end = max(job.end for job in jobs)
    return [
        (now, end - now, seconds_left(costs, counts, known_at(jobs, now), now))
        for now in sorted(job.end for job in jobs)
    ]


@pytest.mark.parametrize("slower", [0.2, 1.0, 5.0])
def test_the_forecast_converges(slower):
    forecasts_made = forecasts(COSTS, slower)
    total = forecasts_made[-1][0]
    wrong = [
        (now / total, abs(seconds_forecast - remaining) / total)
        for now, remaining, seconds_forecast in forecasts_made
    ]
    assert max(off for at, off in wrong if at > 0.25) < 0.25
    assert max(off for at, off in wrong if at > 0.75) < 0.12
    assert forecasts_made[-1][2] == 0


def test_wrong_announcements_are_corrected():
    double = {
        k: cost._replace(seconds=3 * cost.seconds, total_seconds=3 * cost.total_seconds)
        for k, cost in COSTS.items()
    }
    (total, *_) = forecasts(double)[-1]
    late = [f for f in forecasts(double) if f[0] > 400]
    assert (
        max(abs(seconds_forecast - remaining) for _, remaining, seconds_forecast in late)
        < 0.15 * total
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["fit", "chance", "x"]),
            st.floats(0, 1e4),
            st.floats(0, 1e4),
            st.booleans(),
        ),
        max_size=8,
    ),
    st.integers(0, 5),
)
def test_forecast_of_remaining_time_is_never_negative(spans, n_waiting):
    jobs = [
        Job(rule, None, start, start + seconds if over else None)
        for rule, start, seconds, over in spans
    ]
    counts = Counter(job.rule for job in jobs) + Counter({"fit": n_waiting})
    assert seconds_left(COSTS, counts, jobs, 2e4) >= 0


def test_a_job_of_many_permutations_is_expected_to_take_their_time():
    costs = {"fit": Cost(JOB_SECONDS + 10.0, 1.0, 23.0, 3, 10)}
    assert expected_seconds_of_job(costs, "fit", "permuted-3-12") == JOB_SECONDS + 10
    assert expected_seconds_of_job(costs, "fit", "permuted-11-12") == JOB_SECONDS + 2
    assert expected_seconds_of_job(costs, "fit", "observed") == JOB_SECONDS + 1
    assert expected_seconds_of_job(costs, "report") == JOB_SECONDS
    assert COSTS["fit"].n_jobs == sum(job.rule == "fit" for job in recorded())


def record(event, **fields):
    log_record = logging.makeLogRecord({"msg": "said by Snakemake", "event": event})
    vars(log_record).update(fields)
    return log_record


def test_log_shows_the_remaining_time():
    clock = iter(range(0, 1000, 10))
    progress = RunProgress(lambda: {"fit": Cost(10.0, 1.0, 20.0, 2)}, lambda: float(next(clock)))
    written = TimeLeftFormatter(logging.Formatter(), progress)
    progress.emit(record("run_info", stats={"fit": 2, "total": 2}))
    progress.emit(record("job_info", jobid=4, rule_name="fit", wildcards={}))
    progress.emit(record("job_finished", job_id=4))
    assert written.format(record("progress", done=1, total=2)) == "fit done; about 13 s left"
    assert written.format(record("progress", done=2, total=2)) == ""
    assert written.format(record("job_finished", job_id=4)) == ""
    assert written.format(record(None)) == "said by Snakemake"


def test_forecast_before_reading_the_data_is_absent():
    progress = RunProgress(lambda: None)
    progress.emit(record("job_info", jobid=1, rule_name="validate", wildcards={}))
    progress.emit(record("job_finished", job_id=1))
    assert progress.progress_text() == "validate done"


def test_seconds_in_words():
    assert [duration_text(seconds) for seconds in (4, 89, 90, 5399, 5400)] == [
        "4 s",
        "89 s",
        "1.5 min",
        "90 min",
        "1.5 h",
    ]
