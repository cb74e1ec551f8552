"""Compiled code is kept by content: wherever the package lies, whatever became of a file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import genesig
from genesig.compiled import jit, kept

FAST = """
import sys
sys.path.insert(0, sys.argv[1])
from doubled import doubled
assert doubled(2.0) == 4.0
print(len(doubled.stats.cache_hits), len(doubled.stats.cache_misses))
"""
SOURCE = """
from genesig.compiled import jit

@jit
def doubled(x):
    return 2.0 * x
"""
REFIT = """
import numpy as np
from genesig.optim.training import training_sets
X = np.random.default_rng(0).normal(size=(6, 3))
training_sets(X, X[:, :1], np.ones((6, 1), bool), centre=True, unit_variance=True)
from genesig.compiled.moments import describe
print(len(describe.stats.cache_hits), len(describe.stats.cache_misses))
"""


def counts(code: str, cache: Path, *words: str, path: Path | None = None) -> list[int]:
    """Return the hits and misses of a new process."""
    variables = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    variables |= {"XDG_CACHE_HOME": str(cache)}
    variables |= {"PYTHONPATH": str(path or Path(genesig.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", code, *words], env=variables, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return [int(word) for word in run.stdout.split()]


@pytest.fixture
def sources(tmp_path):
    """Two folders that hold the same function."""
    places = [tmp_path / name for name in ("here", "there")]
    for place in places:
        place.mkdir()
        (place / "doubled.py").write_text(SOURCE)
    return [str(place) for place in places]


def test_the_second_place_of_one_source_compiles_nothing(tmp_path, sources):
    assert counts(FAST, tmp_path / "cache", sources[0]) == [0, 1]
    assert counts(FAST, tmp_path / "cache", sources[1]) == [1, 0]


def test_damaged_code_is_compiled_again(tmp_path, sources):
    counts(FAST, tmp_path / "cache", sources[0])
    files = [*(tmp_path / "cache").rglob("doubled*.nbc")]
    assert files
    for file in files:
        file.write_bytes(b"\x80\x05nothing")
    assert counts(FAST, tmp_path / "cache", sources[1]) == [0, 1]
    assert counts(FAST, tmp_path / "cache", sources[1]) == [1, 0]


def test_a_place_that_cannot_be_written_costs_time_alone(tmp_path, sources):
    (tmp_path / "cache").write_text("a file, where a folder should be")
    assert counts(FAST, tmp_path / "cache", sources[0]) == [0, 1]


def test_the_code_of_other_people_is_not_writable(tmp_path, sources):
    counts(FAST, tmp_path / "cache", sources[0])
    (folder,) = (tmp_path / "cache" / "genesig" / "compiled").iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_old_contents_are_forgotten(tmp_path):
    for number in range(kept.VERSIONS + 3):
        (tmp_path / str(number)).mkdir()
        os.utime(tmp_path / str(number), (number, number))
    kept.forget(tmp_path)
    assert {int(place.name) for place in tmp_path.iterdir()} == set(range(3, kept.VERSIONS + 3))


def test_the_content_is_that_of_every_file(tmp_path, monkeypatch):
    shutil.copytree(kept.HERE, tmp_path / "compiled")
    monkeypatch.setattr(kept, "HERE", tmp_path / "compiled")
    before = kept.content()
    with (tmp_path / "compiled" / "dense.py").open("a") as file:
        file.write("#")
    assert before != kept.content()


def test_a_function_without_a_file_is_not_kept():
    assert jit(eval("lambda x: x + 1.0"))(1.0) == 2.0


@pytest.mark.slow
def test_a_clone_of_the_package_compiles_nothing_anew(tmp_path):
    package = Path(genesig.__file__).parent
    for name in ("one", "two"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, tmp_path / name / "genesig", ignore=ignored)
    assert counts(REFIT, tmp_path / "cache", path=tmp_path / "one") == [0, 1]
    assert counts(REFIT, tmp_path / "cache", path=tmp_path / "two") == [1, 0]
