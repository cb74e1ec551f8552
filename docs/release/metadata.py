"""What a release brings along, from CITATION.cff, pyproject.toml and CHANGELOG.md.

python docs/release/metadata.py writes .zenodo.json, which Zenodo reads in the repository;
python docs/release/metadata.py dist writes the rest beside the files that are released.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "docs" / "release"
ZENODO = ROOT / ".zenodo.json"
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = CITATION["version"]


def names(authors: list[dict[str, str]]) -> list[str]:
    """Return authors as citations have them: a name, or family and given names."""
    return [a.get("name") or f"{a['family-names']}, {a['given-names']}" for a in authors]


def cited() -> list[str]:
    """Return the identifiers of the works that genesig stands on."""
    return [each["value"] for work in CITATION["references"] for each in work["identifiers"]]


def zenodo() -> dict[str, Any]:
    """Return .zenodo.json."""
    return {
        "title": CITATION["title"],
        "description": CITATION["abstract"],
        "upload_type": "software",
        "creators": [{"name": name} for name in names(CITATION["authors"])],
        "license": CITATION["license"],
        "keywords": CITATION["keywords"],
        "version": VERSION,
        "related_identifiers": [{"identifier": work, "relation": "cites"} for work in cited()],
    }


def codemeta() -> dict[str, Any]:
    """Return codemeta.json, in the terms of CodeMeta 3.0."""
    authors = [{"type": "Organization", "name": name} for name in names(CITATION["authors"])]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": PROJECT["name"],
        "description": CITATION["abstract"],
        "version": VERSION,
        "license": f"https://spdx.org/licenses/{CITATION['license']}",
        "author": authors,
        "keywords": CITATION["keywords"],
        "programmingLanguage": ["Python", "Snakemake"],
        "runtimePlatform": f"Python {PROJECT['requires-python']}",
        "operatingSystem": "Linux",
        "softwareRequirements": PROJECT["dependencies"],
    }


def recipe(source: Path) -> str:
    """Return Bioconda's recipes/genesig/meta.yaml, for the source distribution."""
    given = {"version": VERSION, "sha256": hashlib.sha256(source.read_bytes()).hexdigest()}
    text = (TEMPLATES / "meta.yaml").read_text(encoding="utf-8")
    for name, value in given.items():
        text, lines = re.subn(rf'(set {name} = )"[^"]*"', rf'\g<1>"{value}"', text)
        assert lines == 1, name
    return text


def notes() -> str:
    """Return the notes of the release: the newest section of the changelog in the template."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    _, _, body = changes.partition("\n")
    template = (TEMPLATES / "notes.txt").read_text(encoding="utf-8")
    return template.format(version=VERSION, changes=body.strip())


def as_json(value: Any) -> str:
    """Write JSON as it is committed."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write(dist: Path) -> None:
    """Write what is made for the source distribution in a folder into its folder release."""
    (source,) = dist.glob("genesig-*.tar.gz")
    folder = dist / "release"
    folder.mkdir(exist_ok=True)
    made = {"codemeta.json": as_json(codemeta()), "meta.yaml": recipe(source), "notes.md": notes()}
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]))
    else:
        ZENODO.write_text(as_json(zenodo()), encoding="utf-8")
