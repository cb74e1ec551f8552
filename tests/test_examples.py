"""Every file of config/examples: dry-run and validated here, run as its first lines say if slow."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import yaml
from example_data import HOME, INFORMATIVE, annotated, files
from places import ROOT, SHARED
from report_checks import MAX_WORDS_OF_FIRST_SCREEN, words_of_first_screen

from genesig.cli import main

EXAMPLES = sorted((ROOT / "config/examples").glob("*.yaml"))
names = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
RUN_WITH_SLOW_TESTS = ("classes", "numbers")  # other slow tests run the rules of the others
runs = pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            path, id=path.stem, marks=() if path.stem in RUN_WITH_SLOW_TESTS else pytest.mark.long
        )
        for path in EXAMPLES
    ],
)

# Says of each command line whether it ended well. One interpreter for all, as imports take long.
DRY_RUNS = """
import json, sys
from snakemake.cli import main

codes = []
for line in json.load(sys.stdin):
    try:
        main(line)
        codes.append(0)
    except SystemExit as end:
        codes.append(end.code or 0)
print("\\n" + json.dumps(codes))
"""


def commands(example: Path) -> list[list[str]]:
    """Return the lines of the opening comment that are commands, as the shell splits them."""
    head = example.read_text().partition("\n\n")[0]
    return [
        shlex.split(line.removeprefix("#"))
        for line in head.splitlines()
        if re.match(r"# {5}\S", line)
    ]


def arguments(example: Path) -> list[str]:
    """Return what follows ``snakemake`` in the first command, with the place of the Snakefile."""
    program, *options = commands(example)[0]
    assert program == "snakemake"
    return [*options, "--snakefile", str(ROOT / "Snakefile")]


def configured(example: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(example.read_text()))


def named_files(value: Any) -> list[str]:
    """Return every file below data/ that a config names."""
    if isinstance(value, dict | list):
        return [
            f
            for item in (value.values() if isinstance(value, dict) else value)
            for f in named_files(item)
        ]
    return [value] if isinstance(value, str) and value.startswith("data/") else []


def clone(folder: Path) -> Path:
    """Lay a folder out as a clone is, with the user's data where the shared data are here."""
    for part in ("config", "resources"):
        (folder / part).symlink_to(ROOT / part)
    (folder / "data" / "geo").mkdir(parents=True)
    for path in SHARED.glob("geo/*.gz"):
        (folder / "data/geo" / path.name).symlink_to(path.resolve())
    for path in SHARED.glob("counts/*"):
        (folder / "data" / path.name).symlink_to(path.resolve())
    return folder


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, int]:
    """Dry-run all examples; files that only a user has are there, and empty."""
    folder = clone(tmp_path_factory.mktemp("clone"))
    for example in EXAMPLES:
        for file in named_files(configured(example)):
            if "_series_matrix" not in file:  # the workflow fetches those
                (folder / file).touch()
    lines = [[*arguments(example), "--dry-run", "--quiet", "all"] for example in EXAMPLES]
    process = subprocess.run(
        [sys.executable, "-c", DRY_RUNS],
        input=json.dumps(lines),
        cwd=folder,
        text=True,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert not (folder / "results").exists()
    return dict(zip(EXAMPLES, json.loads(process.stdout.splitlines()[-1]), strict=True))


@pytest.mark.slow
@names
def test_an_example_can_be_planned(example: Path, codes: dict[Path, int]) -> None:
    assert codes[example] == 0


@names
def test_first_lines_of_an_example_give_its_command(example: Path) -> None:
    (command, *_) = commands(example)
    assert command[:3] == ["snakemake", "--cores", "2"]
    configs = command[command.index("--configfile") + 1 :]
    assert configs[0] == example.relative_to(ROOT).as_posix()
    assert all((ROOT / config).exists() for config in configs)


@pytest.mark.one_in(2)
@names
def test_shipped_data_have_no_problem(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configured(example)
    if named_files(config) or "geo" in config or "GSE" in str(config):
        pytest.skip("its data are not shipped")
    monkeypatch.chdir(ROOT)
    assert main(["validate", str(example.relative_to(ROOT))]) == 0
    out, err = capsys.readouterr()
    known_warnings = []
    if config.get("splits", {}).get("scheme") == "leave_one_out":  # of the protocol
        known_warnings = [
            f"warning: {example.relative_to(ROOT)}, splits.scheme: 'leave_one_out' is pessim"
        ]
    assert [
        line[: len(known_warnings[0])] if known_warnings else line for line in err.splitlines()
    ] == known_warnings
    assert f"0 errors, {len(known_warnings)} warning" in out


def test_the_table_lists_every_example() -> None:
    text = (ROOT / "config/examples/README.md").read_text()
    listed = re.findall(r"^\| \[(\S+)\]\((\S+)\) \|", text, re.MULTILINE)
    assert sorted(listed) == [(path.name, path.name) for path in EXAMPLES]


@pytest.mark.slow
def test_shipped_data_equal_the_output_of_their_script() -> None:
    made_files = files()
    example_files = {p.relative_to(HOME).as_posix() for p in HOME.rglob("*") if p.is_file()}
    assert example_files == {*made_files, "annotated.h5ad"}
    for name, content in made_files.items():
        stored_bytes = (HOME / name).read_bytes()
        if name.endswith(".gz"):
            stored_bytes = gzip.decompress(stored_bytes)
            content = gzip.decompress(content)
        assert stored_bytes == content, name
    stored_bytes = anndata.read_h5ad(HOME / "annotated.h5ad")
    annotated_bytes = annotated()
    np.testing.assert_array_equal(stored_bytes.X, annotated_bytes.X)
    pd.testing.assert_frame_equal(stored_bytes.obs.astype(str), annotated_bytes.obs.astype(str))
    pd.testing.assert_frame_equal(stored_bytes.var, annotated_bytes.var)


@pytest.mark.slow
@runs
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    folder = clone(tmp_path)
    config = configured(example)
    absent = [file for file in named_files(config) if not (folder / file).exists()]
    if absent or ("GSE" in str(config) and not SHARED.is_dir()):
        pytest.skip("the shared data are not here")
    command = [sys.executable, "-m", "snakemake", *arguments(example)]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    assert config["report"]["title"] in (folder / "results/report.html").read_text()
    data = json.loads((folder / "results/report_data.json").read_text())
    assert words_of_first_screen(data) <= MAX_WORDS_OF_FIRST_SCREEN
    if "simulated" in config["report"]["title"] and example.stem != "noise":
        signature = pd.read_csv(folder / "results/signature.tsv", sep="\t")
        # The genes that lead the list: where samples are few, others follow them by chance.
        numbers = [int(re.findall(r"\d+", gene)[-1]) % 1000 for gene in signature["gene"][:5]]
        # Genes 1 to 6 differ, 7 to 22 follow the first two.
        informative = [number for number in numbers if number <= INFORMATIVE + 16]
        assert len(informative) >= max(1, len(numbers) / 2)
