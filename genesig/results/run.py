"""The record of a run: settings, checksums, times, research object crate, what ended it."""

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
from genesig.errors import InvalidInput, Problem, refuse
from genesig.machine import AGAIN
from genesig.plugins import packages
from genesig.results import Dataset
from genesig.results.files import save_json

if TYPE_CHECKING:
    import pandas as pd


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, as they lie on disk; of a folder, that of its files."""
    path = Path(path)
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file())
        each = "".join(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in inside)
        return hashlib.sha256(each.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def checksums(paths: Iterable[str | Path], home: Path) -> dict[str, str]:
    """Return the SHA-256 of files, and of all files of folders, by their names below `home`."""
    files: set[Path] = set()
    for path in map(Path, paths):
        files |= {file for file in path.rglob("*") if file.is_file()} if path.is_dir() else {path}
    names = {file.relative_to(home).as_posix(): file for file in files}
    return {name: sha256(names[name]) for name in sorted(names)}


def changed(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each result and each input that is not what the run wrote and read.

    Inputs are looked for beside the folder of results, where a study is run; one that is not there
    is no fault, as results may be kept without them.

    Parameters
    ----------
    record : JSON value
        Content of run.json.
    home : Path
        The folder that it lies in.
    source : str
        Its name in messages.

    Raises
    ------
    InvalidInput
        It is no record of a run.
    """
    yield from _written(_recorded(record, "results", source), home)
    inputs = record.get("inputs")
    for name, digest in inputs.items() if isinstance(inputs, dict) else ():
        path = Path(os.path.normpath(home / os.pardir / name))
        if _inside(name) and path.exists() and sha256(path) != digest:
            yield Problem(str(path), "is another file than the run read")


def changed_fits(record: Any, home: Path, source: str) -> Iterator[Problem]:
    """Yield a problem for each fit that is not what the run wrote, and each it has not written.

    As in `changed`. A folder of them that is gone as a whole, as where space was needed, is one; a
    record of an earlier version holds none.
    """
    if not isinstance(record, dict) or "fits" not in record:
        return
    known = _recorded(record, "fits", source)
    folders = sorted({PurePosixPath(name).parts[0] for name in known if "/" in name})
    gone = [folder for folder in folders if not (home / folder).is_dir()]
    for folder in gone:
        yield Problem(str(home / folder), "is gone; the run wrote its fits there")
    there = {n: d for n, d in known.items() if PurePosixPath(n).parts[0] not in gone}
    yield from _written(there, home)
    for folder in folders:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and path.relative_to(home).as_posix() not in known:
                yield Problem(str(path), "is new; the run wrote no such file")


def _written(known: Mapping[str, str], home: Path) -> Iterator[Problem]:
    for name, digest in known.items():
        path = home / name
        if not path.is_file():
            yield Problem(str(path), "is gone; the run wrote it")
        elif sha256(path) != digest:
            yield Problem(str(path), "was changed after the run")


def _recorded(record: Any, key: str, source: str) -> Mapping[str, str]:
    """Return names and digests, once they are known to be such."""
    found = record.get(key) if isinstance(record, dict) else None
    if not isinstance(found, dict) or not found:
        what = "has no checksums of results; run the study again with this version"
        raise refuse(source, what)
    for name, digest in found.items():
        if not _inside(name) or not isinstance(digest, str):
            raise refuse(source, f"'{name}' is no file below the results; the record was changed")
    return found


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def job_times(costs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return times/jobs.tsv: job, seconds, largest resident memory in MB.

    Parameters
    ----------
    costs : mapping of str to DataFrame
        The benchmark table of each job by its path below times/: ``s`` (seconds) and ``max_rss``
        (MB, no number where the job was too short for a reading).
    """
    import pandas as pd

    rows = [
        (_job(path), round(float(table["s"].sum()), 2), _memory(table))
        for path, table in costs.items()
    ]
    return pd.DataFrame(rows, columns=["job", "seconds", "memory_mb"])


def _job(path: str) -> str:
    """Name a job after its benchmark file."""
    return " ".join(Path(path).with_suffix("").parts)


def _memory(table: pd.DataFrame) -> float | None:
    return float(table["max_rss"].max()) if table["max_rss"].dtype.kind == "f" else None


NAME = "ro-crate-metadata.json"
LICENSE = "Not stated: it is for those to say whose data these are"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"


def write_crate(record: Any, home: Path, source: str) -> Path:
    """Write ``ro-crate-metadata.json`` beside the results that it describes; return its path.

    A CreateAction joins the files that were read (as they were called, with their SHA-256; they are
    not in the crate), genesig with its version, and every result.

    Parameters
    ----------
    record, home, source
        As for `changed`.

    Raises
    ------
    InvalidInput
        Results were changed after the run, or the extra ``crate`` is not installed.

    References
    ----------
    RO-Crate Metadata Specification 1.1; Process Run Crate 0.5, of the workflow run crates.
    """
    if problems := list(changed(record, home, source)):
        raise InvalidInput(problems)
    try:
        import rocrate  # noqa: F401
    except ImportError:
        what = "a crate needs the package rocrate: pip install 'genesig[crate]'"
        raise refuse(source, what) from None
    try:
        made = _described(record, home)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise refuse(source, "is no record of a run: it was changed, or cut off") from None
    save_json(home / NAME, made)
    return home / NAME


def _described(record: Mapping[str, Any], home: Path) -> Any:
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")  # which the profile stands on
    title = (record["config"].get("report") or {}).get("title")
    crate.name = title or f"Gene signature for {record['config']['label']}"
    crate.description = "Results of genesig: a gene signature, its error and its evidence"
    crate.license = LICENSE

    def add(name: str, properties: Mapping[str, Any]) -> Any:
        return crate.add(ContextEntity(crate, name, properties=properties))

    def by(digest: str) -> dict[str, str]:
        return {"identifier": f"sha256:{digest}"}

    def file(name: str, **its: str) -> Any:
        kind = guess_type(name)[0] or "application/octet-stream"
        return crate.add_file(home / name, name, properties={"encodingFormat": kind, **its})

    written = [file(name, **by(digest)) for name, digest in record["results"].items()]
    file("run.json")
    read = [
        add(f"#input-{k}", {"@type": "CreativeWork", "name": name, **by(digest)})
        for k, (name, digest) in enumerate(record["inputs"].items(), 1)
    ]
    version = {"name": "genesig", "softwareVersion": record["versions"]["genesig"]}
    ended = datetime.fromtimestamp((home / "run.json").stat().st_mtime, UTC).isoformat(
        "T", "seconds"
    )
    action = {"@type": "CreateAction", "name": "genesig run", "endTime": ended}
    run = add("#run", action | {"description": "The workflow of genesig, from inputs to report"})
    run["instrument"] = add("#genesig", {"@type": "SoftwareApplication", **version})
    run["object"] = read
    run["result"] = written
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

    The same run gives the same record: what differs from run to run stands in times/jobs.tsv.

    Parameters
    ----------
    dataset : Dataset
        Its provenance holds the checksums of what was read.
    config : mapping
        The resolved config.
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
            **packages(),
        },
    }


SLURM = Path(".snakemake", "slurm_logs")
TAIL = 20_000
"""Bytes at the end of a log that are looked at."""

KILLED = re.compile(r"/tmp\w+\.(\w+)\.py' (?:died with <Signals\.(\w+)|returned .* status (\d+)\.)")
SIGNALS = {
    "SIGKILL": "was killed (SIGKILL), by the system if memory ran out: free some, or run fewer "
    f"jobs at a time (--cores), and {AGAIN}",
    "SIGBUS": f"lost what it read or wrote (SIGBUS), as of a disk that is full or gone: {AGAIN}",
    "SIGXCPU": f"used up its time (ulimit -t): raise that, and {AGAIN}",
}
# What SLURM writes at the end of a job's log, or answers when asked for its state.
REASONS = {
    r"OUT_OF_MEMORY|oom.kill|oom_kill|Out Of Memory|Exceeded job memory": "was killed for its "
    f"memory: ask for more (--set-resources RULE:mem_mb=8000), and {AGAIN}",
    r"TIMEOUT|DUE TO TIME LIMIT": "ran out of time: ask for more minutes "
    f"(--set-resources RULE:runtime=240), and {AGAIN}",
    r"NODE_FAIL|NODE FAILURE|BOOT_FAIL": f"lost its node, which failed: {AGAIN}",
    r"PREEMPTED|DUE TO PREEMPTION": f"had to make room for another job (preempted): {AGAIN}",
    r"SLURM status is: 'CANCELLED|CANCELLED AT": f"was cancelled (scancel): {AGAIN}",
}


def say_failures(log: str) -> None:
    """Print a line for each job of a run that was killed, with what to do.

    Parameters
    ----------
    log : str
        Snakemake's log of the run; those of its SLURM jobs lie in ``.snakemake/slurm_logs``.
    """
    for problem in failures(Path(log), SLURM):
        print(problem, file=sys.stderr)


def failures(log: Path, slurm: Path) -> Iterator[Problem]:
    """Yield a problem for each job that was killed, here or by SLURM."""
    text = _end(log)
    found = dict.fromkeys(_signals(text))
    begun = _begun(log)
    for path in sorted(slurm.rglob("*.log")):
        if path.stat().st_mtime >= begun and (what := _reason(_end(path))):
            rule = path.relative_to(slurm).parts[0].removeprefix("rule_").removeprefix("group_")
            found[Problem(f"rule {rule}, {path}", what)] = None
    if not found and (what := _reason(text)):
        found[Problem(str(log), f"a job {what}")] = None
    yield from found


def _signals(text: str) -> Iterator[Problem]:
    for rule, name, status in KILLED.findall(text):
        number = int(status or 0) - 128  # as a shell says it
        name = name or (Signals(number).name if number in set(Signals) else "")
        if name:
            yield Problem(f"rule {rule}", SIGNALS.get(name, f"was ended by {name}: {AGAIN}"))


def _reason(text: str) -> str | None:
    return next((what for pattern, what in REASONS.items() if re.search(pattern, text)), None)


def _begun(log: Path) -> float:
    """Return when a run began, after which its log is named; 0 for another name."""
    try:
        return datetime.strptime(log.name[:17], "%Y-%m-%dT%H%M%S").timestamp()
    except ValueError:
        return 0.0


def _end(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(-min(TAIL, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
