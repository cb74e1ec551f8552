"""Error, length and stability of the gene lists of genesig and of other methods (rivals).

    python benchmarks/answers.py --out FOLDER [--jobs 2] [--all] [DATA ...]
    python benchmarks/answers.py --out FOLDER --quick

DATA is golub, singh, alon, west, shipp or pomeroy, which were used during development (default: all
six), one of the nine others (--all: fifteen), khan, sorlie, desmedt_metastasis, desmedt_er,
rosenwald_status, rosenwald_group, GSE55235, GSE55457 or ALL_AML, or any two-class data set as
name=matrix,samples,label, for example
leukemia38=resources/golub_expression.tsv.gz,config/samples.tsv,class. The project does not contain
the fifteen data sets.

Every method has the same outer splits, inner folds and disjoint halves. ``genesig`` is the
predictive model of the default config, ``FDR-selected genes`` its model of these genes alone;
``best`` is the predictive model with ``linear.list: best``. ``stable`` and ``minimal`` are these
lists of the two stages (elastic net, ridge refit) without the logistic model. Error (balanced) and
AUC are of held-out samples; the difference is to genesig, with its 95 % interval over samples.
Genes: median length of the lists. Stability: agreement beyond chance of lists from disjoint halves,
± its error of resampling. Seconds: processor time of the outer splits; genesig and FDR-selected
genes come from the same fits, and each has the seconds of both.

FOLDER keeps a record of each method and data set, and answers.tsv, the table. A stopped run
continues from the records; if data, code or settings change, a record is computed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import sklearn
from answers_data import OTHER_SOURCES, PUBLISHED, Plan, Source, Study, read_study, simulate_source
from answers_goals import summary
from answers_rivals import RIVALS
from answers_runs import VARIANTS, Record, config_of_variant, methods_of_same_fits, run_together
from answers_table import format_table, heading, method_table
from study import settings

import genesig

METHODS = [*VARIANTS, *RIVALS]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
QUICK = Plan(folds=3, repeats=1, inner_folds=3, pairs=2)


class Job(NamedTuple):
    """A method on a data set, and the file of its record."""

    source: Source
    method: str
    plan: Plan
    path: Path


def job_key(job: Job) -> dict[str, Any]:
    """Return everything that a record depends on: data, plan, code and settings."""
    package = Path(genesig.__file__).parent
    folder = Path(__file__).parent
    if job.method in RIVALS:  # they use only the splits of genesig's code
        code = [folder / "answers_rivals.py"]
        splits_digest = digest_splits(read_study(job.source, job.plan))
        steps = settings({})["normalise"]["samples"]
        method_settings: Any = sklearn.__version__, steps, splits_digest
    else:
        code = [
            folder / "answers_runs.py",
            folder.parent / "tests/references/study.py",
            *package.rglob("*.py"),
        ]
        method_settings = config_of_variant(job.method), VARIANTS[job.method].answer
    contents = (path.read_bytes() for path in sorted([*code, folder / "answers_data.py"]))
    key_parts = {
        "data": job.source.key(),
        "plan": asdict(job.plan),
        "code": hashlib.sha256(b"".join(contents)).hexdigest(),
        "settings": method_settings,
    }
    return dict(json.loads(json.dumps(key_parts)))  # tuples become lists, as in a stored record


def digest_splits(study: Study) -> str:
    """Return a digest of the outer splits, their inner folds and the halves."""
    parts = [asdict(split) for splits in (study.splits, study.halves) for split in splits.outer]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def cached_record(job: Job) -> Record | None:
    """Return the record of an earlier run; None without, or if its `job_key` has changed."""
    if not job.path.exists():
        return None
    cached = json.loads(job.path.read_text(encoding="utf-8"))
    return Record(**cached["record"]) if cached["key"] == job_key(job) else None


def run_together_and_write(jobs: list[Job]) -> str:
    """Run jobs of one data set and plan whose methods share their fits; write their records.

    Returns a line about the time.
    """
    study = read_study(jobs[0].source, jobs[0].plan)
    records = run_together([job.method for job in jobs], study)
    for job in jobs:
        job.path.parent.mkdir(parents=True, exist_ok=True)
        part = job.path.with_suffix(".part")
        content = {"key": job_key(job), "record": asdict(records[job.method])}
        part.write_text(json.dumps(content), encoding="utf-8")
        part.rename(job.path)
    seconds = records[jobs[0].method].seconds
    return f"{jobs[0].source.name}, {' and '.join(records)}: {seconds:.1f} s"


def run_jobs(jobs: list[Job], processes: int) -> None:
    """Run the jobs without a valid record, each process on one thread."""
    # Data set and first method of the same fits -> jobs.
    job_groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        if cached_record(job) is None:
            key = job.source.name, methods_of_same_fits(job.method)[0]
            job_groups.setdefault(key, []).append(job)
    os.environ |= dict.fromkeys(THREADS, "1")  # libraries read them when a new process starts
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run_together_and_write, group) for group in job_groups.values()]
        for future in as_completed(futures):
            print(future.result(), file=sys.stderr, flush=True)


def report(sources: list[Source], methods: list[str], plan: Plan, out: Path) -> Iterator[str]:
    """Yield the lines of the tables, the warnings and the summary; write answers.tsv.

    Without any record it yields and writes nothing.
    """
    tables = []
    for source in sources:
        study = read_study(source, plan)
        records = {}
        for method in methods:
            if record := cached_record(make_job(source, method, plan, out)):
                records[method] = record
        if not records:
            continue
        tables.append(method_table(source.name, study, records))
        yield f"{source.name}: {heading(study)}"
        yield format_table(tables[-1])
        for method, record in records.items():
            yield from (f"  {method}: {n} x {message}" for message, n in record.warnings.items())
        yield ""
    if not tables:
        return
    rows = pd.concat(tables, ignore_index=True)
    rows.to_csv(out / "answers.tsv", sep="\t", index=False, float_format="%.6g")
    yield from summary(rows)


def make_job(source: Source, method: str, plan: Plan, out: Path) -> Job:
    """Return a job whose record has a file in the folder `out`."""
    name = "".join(letter if letter.isalnum() else "_" for letter in method)
    return Job(source, method, plan, out / source.name / f"{name}.json")


def main(arguments: list[str] | None = None) -> None:
    """Run the missing jobs and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="name, or name=matrix,samples,label")
    parser.add_argument("--out", type=Path, required=True, help="folder of records and table")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--all", action="store_true", help="all fifteen data sets")
    parser.add_argument("--kept", action="store_true", help="run nothing, show the records")
    parser.add_argument("--quick", action="store_true", help="one repeat of 3 folds, simulated")
    for name in ("folds", "repeats", "pairs", "seed"):
        parser.add_argument(f"--{name}", type=int)
    options = parser.parse_args(arguments)
    numbers = {name: getattr(options, name) for name in ("folds", "repeats", "pairs", "seed")}
    plan = replace(
        QUICK if options.quick else Plan(),
        **{name: number for name, number in numbers.items() if number is not None},
    )
    names = options.data
    if not names:
        named_sources = PUBLISHED | OTHER_SOURCES if options.all else PUBLISHED
        names = list(named_sources)
        if options.quick:
            names = [simulate_source(options.out / "simulated")]
    sources = list(map(Source.from_text, names))
    for file in (file for source in sources for file in (source.matrix, source.samples)):
        if not file.exists():
            raise SystemExit(f"{file} does not exist")
    methods = [method for method in METHODS if method in options.methods]
    if not options.kept:
        jobs = [make_job(source, m, plan, options.out) for m in methods for source in sources]
        run_jobs(jobs, options.jobs)
    print("\n".join(report(sources, methods, plan, options.out)))


if __name__ == "__main__":
    main()
