"""The record of a run: settings, checksums, times, research object crate, killed jobs."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from signal import Signals
from typing import TYPE_CHECKING, Any

import genesig
from genesig.errors import InvalidInput, Problem, input_error
from genesig.machine import RERUN_ADVICE
from genesig.plugins import plugin_versions
from genesig.results import Dataset
from genesig.results.files import save_json

if TYPE_CHECKING:
    import pandas as pd


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of the digests and names of all files in a folder."""
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        digest_lines = "".join(
            f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in files
        )
        return hashlib.sha256(digest_lines.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def compute_checksums(paths: Iterable[str | Path], home: Path) -> dict[str, str]:
    """Return the SHA-256 of files, and of all files in folders, by their paths below `home`."""
    files: set[Path] = set()
    for path in map(Path, paths):
        files |= {file for file in path.rglob("*") if file.is_file()} if path.is_dir() else {path}
    names = {file.relative_to(home).as_posix(): file for file in files}
    return {name: sha256(names[name]) for name in sorted(names)}


def find_changes(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each result and each input that was changed after the run.

    Inputs are expected beside the folder of results, where a study is run. A missing input is no
    problem, as results may be kept without inputs.

    record: content of run.json.
    home: the folder of run.json.
    source: name of the record in messages.

    Raises InvalidInput: the record is not one of a run.
    """
    yield from _changed_files(_checked_digests(record, "results", source), home)
    inputs = record.get("inputs")
    for name, digest in inputs.items() if isinstance(inputs, dict) else ():
        path = Path(os.path.normpath(home / os.pardir / name))
        if _is_below_folder(name) and path.exists() and sha256(path) != digest:
            yield Problem(str(path), "is another file than the run read")


def find_changed_fits(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each file of fits that was changed, removed or added after the run.

    A folder that was removed as a whole, to free space, is one problem. Records of earlier versions
    have no fits. Parameters are those of `find_changes`.
    """
    if not isinstance(record, dict) or "fits" not in record:
        return
    recorded = _checked_digests(record, "fits", source)
    folders = sorted({PurePosixPath(name).parts[0] for name in recorded if "/" in name})
    missing_folders = [folder for folder in folders if not (home / folder).is_dir()]
    for folder in missing_folders:
        yield Problem(str(home / folder), "is gone; the run wrote its fits there")
    expected = {
        recorded_name: digest
        for recorded_name, digest in recorded.items()
        if PurePosixPath(recorded_name).parts[0] not in missing_folders
    }
    yield from _changed_files(expected, home)
    for folder in folders:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and path.relative_to(home).as_posix() not in recorded:
                yield Problem(str(path), "is new; the run wrote no such file")


def _changed_files(recorded: Mapping[str, str], home: Path) -> Iterator[Problem]:
    """Yield a problem for each recorded file that is missing or has another digest."""
    for name, digest in recorded.items():
        path = home / name
        if not path.is_file():
            yield Problem(str(path), "is gone; the run wrote it")
        elif sha256(path) != digest:
            yield Problem(str(path), "was changed after the run")


def _checked_digests(record: Any, key: str, source: str) -> Mapping[str, str]:
    """Return the digests of files by name from a record; raise if they are not valid."""
    digests = record.get(key) if isinstance(record, dict) else None
    if not isinstance(digests, dict) or not digests:
        message = "has no checksums of results; run the study again with this version"
        raise input_error(source, message)
    for name, digest in digests.items():
        if not _is_below_folder(name) or not isinstance(digest, str):
            raise input_error(
                source, f"'{name}' is no file below the results; the record was changed"
            )
    return digests


def _is_below_folder(name: str) -> bool:
    """Tell whether a name is a relative path that stays in its folder."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def job_times_table(costs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return times/jobs.tsv: job, seconds, largest resident memory in MB.

    costs: the benchmark table of each job by its path below times/: ``s`` (seconds) and ``max_rss``
        (MB, no number where the job was too short for a reading).
    """
    import pandas as pd

    rows = [
        (_job_name(path), round(float(table["s"].sum()), 2), _largest_memory(table))
        for path, table in costs.items()
    ]
    return pd.DataFrame(rows, columns=["job", "seconds", "memory_mb"])


def _job_name(path: str) -> str:
    """Return the name of a job from its benchmark file: observed/1of2.tsv is ``observed 1of2``."""
    return " ".join(Path(path).with_suffix("").parts)


def _largest_memory(table: pd.DataFrame) -> float | None:
    """Return the largest memory of the jobs, in MB; None if it was not measured.

    A "-" for a job without a reading makes the column one of text.
    """
    return float(table["max_rss"].max()) if table["max_rss"].dtype.kind == "f" else None


CRATE_FILE = "ro-crate-metadata.json"
LICENSE = "Not stated: it is for those to say whose data these are"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"


def write_crate(record: Any, home: Path, source: str) -> Path:
    """Write ``ro-crate-metadata.json`` beside the results that it describes; return its path.

    A CreateAction connects the input files (by name and SHA-256; they are not in the crate),
    genesig with its version, and every result.

    record, home, source: as for `find_changes`.

    Raises InvalidInput: results were changed after the run, or the extra ``crate`` is not
    installed.

    Source: RO-Crate Metadata Specification 1.1; Process Run Crate 0.5, of the workflow run crates.
    """
    if problems := list(find_changes(record, home, source)):
        raise InvalidInput(problems)
    try:
        import rocrate  # noqa: F401
    except ImportError:
        message = "a crate needs the package rocrate: pip install 'genesig[crate]'"
        raise input_error(source, message) from None
    try:
        metadata = _crate_metadata(record, home)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise input_error(source, "is no record of a run: it was changed, or cut off") from None
    save_json(home / CRATE_FILE, metadata)
    return home / CRATE_FILE


def _crate_metadata(record: Mapping[str, Any], home: Path) -> Any:
    """Return the JSON-LD of the crate of a recorded run."""
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")  # the version that PROFILE builds on
    title = (record["config"].get("report") or {}).get("title")
    crate.name = title or f"Gene signature for {record['config']['label']}"
    crate.description = "Results of genesig: a gene signature, its error and its evidence"
    crate.license = LICENSE

    def add(name: str, properties: Mapping[str, Any]) -> Any:
        """Add an entity that is no file of the crate, and return it."""
        return crate.add(ContextEntity(crate, name, properties=properties))

    def identifier_of(digest: str) -> dict[str, str]:
        """Return the property that states a SHA-256."""
        return {"identifier": f"sha256:{digest}"}

    def add_file(name: str, **properties_of_file: str) -> Any:
        """Add a file of the results, and return its entity."""
        kind = guess_type(name)[0] or "application/octet-stream"
        return crate.add_file(
            home / name, name, properties={"encodingFormat": kind, **properties_of_file}
        )

    result_files = [
        add_file(name, **identifier_of(digest)) for name, digest in record["results"].items()
    ]
    add_file("run.json")
    input_files = [
        add(f"#input-{number}", {"@type": "CreativeWork", "name": name, **identifier_of(digest)})
        for number, (name, digest) in enumerate(record["inputs"].items(), 1)
    ]
    version = {"name": "genesig", "softwareVersion": record["versions"]["genesig"]}
    end_time = datetime.fromtimestamp((home / "run.json").stat().st_mtime, UTC).isoformat(
        "T", "seconds"
    )
    action = {"@type": "CreateAction", "name": "genesig run", "endTime": end_time}
    run = add("#run", action | {"description": "The workflow of genesig, from inputs to report"})
    run["instrument"] = add("#genesig", {"@type": "SoftwareApplication", **version})
    run["object"] = input_files
    run["result"] = result_files
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = add(PROFILE, profile)
    crate.root_dataset["mentions"] = run
    return crate.metadata.generate()


LIBRARIES = (
    "anndata",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "snakemake",
)


def run_record(dataset: Dataset, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings.json: resolved config, seed, versions, sha256 of every input.

    The same run gives the same record; times, which differ from run to run, are in times/jobs.tsv.

    dataset: its provenance has the checksums of the input files. config: the resolved config.
    """
    return {
        "version": 1,
        "seed": config["seed"],
        "config": dict(config),
        "inputs": dataset.provenance["inputs"],
        "versions": {
            "genesig": genesig.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
            **plugin_versions(),
        },
    }


SLURM_LOGS = Path(".snakemake", "slurm_logs")
LOG_TAIL_BYTES = 20_000  # bytes at the end of a log that are searched

KILLED_JOB = re.compile(
    r"/tmp\w+\.(\w+)\.py' (?:died with <Signals\.(\w+)|returned .* status (\d+)\.)"
)
"""Matches ``/tmpx1.fit.py' died with <Signals.SIGKILL``, or ``... returned non-zero exit status
137.``; the groups are the rule, the signal and the status."""
SIGNAL_REASONS = {
    "SIGKILL": "was killed (SIGKILL), by the system if memory ran out: free some, or run fewer "
    f"jobs at a time (--cores), and {RERUN_ADVICE}",
    "SIGBUS": "lost what it read or wrote (SIGBUS), as of a disk that is full or gone:"
    f" {RERUN_ADVICE}",
    "SIGXCPU": f"used up its time (ulimit -t): raise that, and {RERUN_ADVICE}",
}
# Patterns in the last lines of a job's log, or in the state reported by SLURM, and their reasons.
SLURM_REASONS = {
    r"OUT_OF_MEMORY|oom.kill|oom_kill|Out Of Memory|Exceeded job memory": "was killed for its "
    f"memory: ask for more (--set-resources RULE:mem_mb=8000), and {RERUN_ADVICE}",
    r"TIMEOUT|DUE TO TIME LIMIT": "ran out of time: ask for more minutes "
    f"(--set-resources RULE:runtime=240), and {RERUN_ADVICE}",
    r"NODE_FAIL|NODE FAILURE|BOOT_FAIL": f"lost its node, which failed: {RERUN_ADVICE}",
    r"PREEMPTED|DUE TO PREEMPTION": f"had to make room for another job (preempted): {RERUN_ADVICE}",
    r"SLURM status is: 'CANCELLED|CANCELLED AT": f"was cancelled (scancel): {RERUN_ADVICE}",
}


def print_failures(log: str) -> None:
    """Print a line for each killed job of a run, with advice.

    log: Snakemake's log of the run; those of its SLURM jobs lie in ``.snakemake/slurm_logs``.
    """
    for problem in find_failures(Path(log), SLURM_LOGS):
        print(problem, file=sys.stderr)


def find_failures(log: Path, slurm_logs: Path) -> Iterator[Problem]:
    """Yield a problem for each job that was killed, here or by SLURM.

    log: Snakemake's log of the run; logs of older runs in the folder `slurm_logs` are left out.
    """
    text = _log_tail(log)
    problems = dict.fromkeys(_signal_problems(text))
    start_time = _start_time(log)
    for path in sorted(slurm_logs.rglob("*.log")):
        if path.stat().st_mtime >= start_time and (reason := _slurm_reason(_log_tail(path))):
            folder = path.relative_to(slurm_logs).parts[0]  # of the rule, or of a group of rules
            rule = folder.removeprefix("rule_").removeprefix("group_")
            problems[Problem(f"rule {rule}, {path}", reason)] = None
    if not problems and (reason := _slurm_reason(text)):
        problems[Problem(str(log), f"a job {reason}")] = None
    yield from problems


def _signal_problems(text: str) -> Iterator[Problem]:
    """Yield a problem for each job that a signal ended."""
    for rule, name, status in KILLED_JOB.findall(text):
        signal_number = int(status or 0) - 128  # a shell adds 128 to the number of the signal
        name = name or (Signals(signal_number).name if signal_number in set(Signals) else "")
        if name:
            yield Problem(
                f"rule {rule}", SIGNAL_REASONS.get(name, f"was ended by {name}: {RERUN_ADVICE}")
            )


def _slurm_reason(text: str) -> str | None:
    """Return why SLURM ended a job, by its log; None if it does not say so."""
    return next(
        (reason for pattern, reason in SLURM_REASONS.items() if re.search(pattern, text)), None
    )


def _start_time(log: Path) -> float:
    """Return the start of a run, in seconds, from the name of its log; 0 for another name.

    Snakemake names its logs ``2026-01-31T235959.123456.snakemake.log``.
    """
    try:
        return datetime.strptime(log.name[:17], "%Y-%m-%dT%H%M%S").timestamp()
    except ValueError:
        return 0.0


def _log_tail(path: Path) -> str:
    """Return the last `LOG_TAIL_BYTES` of a log, "" if it cannot be read."""
    try:
        with path.open("rb") as stream:
            stream.seek(-min(LOG_TAIL_BYTES, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
