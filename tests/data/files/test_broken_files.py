"""More than sixty broken files each give one line with the place, the cause and the remedy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from broken_array_files import CHIPS, CUT_SHORT, LIBRARIES, METHYLATION
from broken_formats import ARRAYS_AND_OBJECTS, GEO_AND_GCT
from broken_labels import SEVERAL, SURVIVAL
from broken_tables import PLACES, SETS, TABLES, Broken
from places import ROOT

from genesig.cli import main

KINDS = {
    "table": TABLES,
    "geo and gct": GEO_AND_GCT,
    "arrays and objects": ARRAYS_AND_OBJECTS,
    "chips": CHIPS,
    "transcripts": LIBRARIES,
    "methylation": METHYLATION,
    "cut short": CUT_SHORT,
    "places": PLACES,
    "sets": SETS,
    "survival": SURVIVAL,
    "several classes": SEVERAL,
}
BROKEN_ARRAY_FILES: dict[str, Broken] = {
    f"{kind}: {name}": case for kind, cases in KINDS.items() for name, case in cases.items()
}
# One of each kind, through the whole workflow. A file that is missing is told by Snakemake itself.
SAMPLE = [
    "table: truncated gzip",
    *(f"{kind}: {next(iter(cases))}" for kind, cases in KINDS.items() if kind != "table"),
]
# A line that only says what is wrong leaves the user where he was.
REMEDY = re.compile(
    r"\b(add|choose|compress|copy|correct|did you mean|do the two|download|exchange|export|fill|"
    r"get|give|install|keep|make|move|must|name|needed|needs|put|"
    r"rename|run|saveRDS|save|set|take|unpack|use|write)\b",
    re.IGNORECASE,
)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a study with its bytes."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_broken_array_files_are_more_than_sixty() -> None:
    assert len(BROKEN_ARRAY_FILES) - len(CUT_SHORT) >= 60
    assert len({tuple(words) for _, words in BROKEN_ARRAY_FILES.values()}) >= 60


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BROKEN_ARRAY_FILES)
def test_broken_file_is_refused_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if ": R: " in name:
        pytest.importorskip("rdata")
    lay, words = BROKEN_ARRAY_FILES[name]
    lay(tmp_path)
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith(("error: ", "warning: ", "note: ")) for line in lines), lines
    (error,) = [line for line in lines if line.startswith("error: ")]
    assert [word for word in words if word not in error] == [], error
    assert REMEDY.search(error), error
    assert contents(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_workflow_gives_the_same_message_and_no_file(name: str, tmp_path: Path) -> None:
    lay, words = BROKEN_ARRAY_FILES[name]
    lay(tmp_path)
    before = contents(tmp_path)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--configfile",
        "config.yaml",
        "--snakefile",
        str(ROOT / "Snakefile"),
    ]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode != 0
    output = process.stdout + process.stderr
    lines = [line for line in output.splitlines() if all(word in line for word in words)]
    assert lines, output
    assert "Traceback" not in output
    after = contents(tmp_path)
    remaining = [name for name in after if not name.startswith((".snakemake/", "logs/"))]
    assert {name: after[name] for name in remaining} == before
