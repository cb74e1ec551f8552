"""How well the lists predict, how long they are and how stable, beside other methods.

    python benchmarks/answers.py --out FOLDER [--jobs 2] [--all] [DATA ...]
    python benchmarks/answers.py --out FOLDER --quick

DATA is golub, singh, alon, west, shipp or pomeroy, which were looked at while genesig was built
(all six without any), one of the nine others (--all: fifteen), khan, sorlie, desmedt_metastasis,
desmedt_er, rosenwald_status, rosenwald_group, GSE55235, GSE55457 or ALL_AML, or any two-class data
set as name=matrix,samples,label, for example
leukemia38=resources/golub_expression.tsv.gz,config/samples.tsv,class. The fifteen lie beside the
project, not in it.

Every method gets the same outer splits, the same inner folds and the same disjoint halves.
``genesig`` is the predictive model of the default config, ``FDR-selected genes`` its model of these
genes alone; ``best`` is the predictive model of the list of this name. ``stable`` and ``minimal``
are the chosen lists of the two stages alone, without the logistic model. Error (balanced)
and AUC are of held-out samples; the difference is to genesig, with its 95 % interval over samples.
Genes: median length of the lists. Stability: agreement of disjoint halves beyond chance, ± its
error of resampling, where a method chooses again in each half. Seconds are of the
processor, on the outer splits; genesig and FDR-selected genes come from the same fits, and each has
the seconds of both.

FOLDER keeps what each method gave on each data set. A run that was stopped goes on from there, and
what other data, code or settings gave is computed again. It also gets answers.tsv, the table.
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
from typing import Any

import pandas as pd
import sklearn
from answers_data import OTHER_SOURCES, PUBLISHED, Plan, Source, Study, simulate_source, study_of
from answers_goals import summary
from answers_rivals import RIVALS
from answers_runs import VARIANTS, Record, config_of_variant, methods_of_same_fits, run_together
from answers_table import format_table, heading, table
from study import settings

import genesig

METHODS = [*VARIANTS, *RIVALS]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
QUICK = Plan(folds=3, repeats=1, inner_folds=3, pairs=2)
Job = tuple[Source, str, Plan, Path]
Jobs = list[Job]


def job_key(source: Source, method: str, plan: Plan) -> dict[str, Any]:
    """Return all that a record depends on: data, plan, code and settings."""
    package = Path(genesig.__file__).parent
    folder = Path(__file__).parent
    if method in RIVALS:  # of genesig's code they use only the splits
        code = [folder / "answers_rivals.py"]
        splits_digest = split_jobs(study_of(source, plan))
        made_by: Any = [sklearn.__version__, settings({})["normalise"]["samples"], splits_digest]
    else:
        code = [
            folder / "answers_runs.py",
            folder.parent / "tests/references/study.py",
            *package.rglob("*.py"),
        ]
        made_by = config_of_variant(method), VARIANTS[method].answer
    contents = (path.read_bytes() for path in sorted([*code, folder / "answers_data.py"]))
    written = hashlib.sha256(b"".join(contents)).hexdigest()
    key_parts = {"data": source.key(), "plan": asdict(plan), "code": written, "made_by": made_by}
    return dict(json.loads(json.dumps(key_parts)))


def split_jobs(study: Study) -> str:
    """Return a digest of the outer splits, their inner folds and the halves."""
    parts = [asdict(split) for splits in (study.splits, study.halves) for split in splits.outer]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def cached_record(job: Job) -> Record | None:
    """Return the record of an earlier run; None without, or if its `job_key` has changed."""
    source, method, plan, path = job
    if not path.exists():
        return None
    cached = json.loads(path.read_text(encoding="utf-8"))
    return Record(**cached["record"]) if cached["key"] == job_key(source, method, plan) else None


def run_job(jobs: Jobs) -> str:
    """Run the methods of some jobs, which share their fits, and write a record of each.

    Returns a line about the time. jobs: of one data set and plan.
    """
    source, _, plan, _ = jobs[0]
    records = run_together([method for _, method, *_ in jobs], study_of(source, plan))
    for _, method, _, path in jobs:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        content = {"key": job_key(source, method, plan), "record": asdict(records[method])}
        part.write_text(json.dumps(content), encoding="utf-8")
        part.rename(path)
    seconds = next(iter(records.values())).seconds
    return f"{source.name}, {' and '.join(records)}: {seconds:.1f} s"


def run_jobs(jobs: Jobs, processes: int) -> None:
    """Run the jobs without a valid record, each process on one thread."""
    todo: dict[tuple[str, str], Jobs] = {}  # data set and first method of the same fits -> jobs
    for job in jobs:
        if cached_record(job) is None:
            todo.setdefault((job[0].name, methods_of_same_fits(job[1])[0]), []).append(job)
    os.environ |= dict.fromkeys(THREADS, "1")  # libraries read them when a new process starts
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for finished in as_completed(
            [pool.submit(run_job, job_group) for job_group in todo.values()]
        ):
            print(finished.result(), file=sys.stderr, flush=True)


def report(sources: list[Source], methods: list[str], plan: Plan, out: Path) -> Iterator[str]:
    """Yield the lines of the tables, the warnings and the summary; write answers.tsv.

    Without records nothing is yielded or written.
    """
    tables = []
    for source in sources:
        study = study_of(source, plan)
        cached_records = {
            method: cached_record(job_of(source, method, plan, out)) for method in methods
        }
        records = {
            method: record for method, record in cached_records.items() if record is not None
        }
        if not records:
            continue
        tables.append(table(source.name, study, records))
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


def job_of(source: Source, method: str, plan: Plan, out: Path) -> Job:
    """Return a job, with the file of its record."""
    name = "".join(letter if letter.isalnum() else "_" for letter in method)
    return source, method, plan, out / source.name / f"{name}.json"


def main(arguments: list[str] | None = None) -> None:
    """Run and print."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("data", nargs="*", help="name, or name=matrix,samples,label")
    asks.add_argument("--out", type=Path, required=True, help="folder of records and table")
    asks.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    asks.add_argument("--jobs", type=int, default=1, help="processes")
    asks.add_argument("--all", action="store_true", help="all fifteen data sets")
    asks.add_argument("--kept", action="store_true", help="run nothing, show what is there")
    asks.add_argument("--quick", action="store_true", help="one repeat of 3 folds, simulated data")
    for name in ("folds", "repeats", "pairs", "seed"):
        asks.add_argument(f"--{name}", type=int)
    chosen = asks.parse_args(arguments)
    plan = QUICK if chosen.quick else Plan()
    names = chosen.data
    plan_settings = {name: getattr(chosen, name) for name in ("folds", "repeats", "pairs", "seed")}
    plan = replace(
        plan, **{name: value for name, value in plan_settings.items() if value is not None}
    )
    if not names:
        named_sources = PUBLISHED | OTHER_SOURCES if chosen.all else PUBLISHED
        names = [simulate_source(chosen.out / "simulated")] if chosen.quick else list(named_sources)
    sources = list(map(Source.of, names))
    for file in (file for source in sources for file in (source.matrix, source.samples)):
        if not file.exists():
            raise SystemExit(f"{file} is not there")
    methods = [method for method in METHODS if method in chosen.methods]
    if not chosen.kept:
        jobs = [job_of(source, m, plan, chosen.out) for m in methods for source in sources]
        run_jobs(jobs, chosen.jobs)
    print("\n".join(report(sources, methods, plan, chosen.out)))


if __name__ == "__main__":
    main()
