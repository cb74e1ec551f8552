"""A folder of results as an RO-Crate: what was made of what, by which program, for archives."""

from __future__ import annotations

from collections.abc import Mapping
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from genesig.errors import InvalidInput, refuse
from genesig.results.checksums import changed
from genesig.results.files import save_json

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
    run = add("#run", {"@type": "CreateAction", "name": "genesig run"})
    run["instrument"] = add("#genesig", {"@type": "SoftwareApplication", **version})
    run["object"], run["result"] = read, written
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = add(PROFILE, profile)
    crate.root_dataset["mentions"] = run
    return crate.metadata.generate()
