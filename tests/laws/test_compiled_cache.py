"""Compiled code is cached in one folder per content of the sources, if that is writable."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

import genesig
from genesig.compiled import cache, compiled

pytestmark = pytest.mark.slow

DOT = """
import numba, numpy as np
named = numba.config.CACHE_DIR
from genesig.compiled.algebra import dot
assert numba.config.CACHE_DIR == named
assert dot(np.ones(3), np.ones(3)) == 3.0
print(sum(dot.stats.cache_hits.values()), sum(dot.stats.cache_misses.values()))
"""


def counts(home: Path, path: Path | None = None) -> list[int]:
    """Return the hits and misses of a new process."""
    variables = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    variables |= {"XDG_CACHE_HOME": str(home)}
    variables |= {"PYTHONPATH": str(path or Path(genesig.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", DOT], env=variables, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return [int(word) for word in run.stdout.split()]


def test_the_second_process_compiles_nothing_and_other_people_write_nothing(tmp_path):
    assert counts(tmp_path) == [0, 1]
    assert counts(tmp_path) == [1, 0]
    (folder,) = (tmp_path / "genesig" / "compiled").iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_study_with_linked_package_compiles_nothing(tmp_path):
    assert counts(tmp_path / "cache") == [0, 1]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "genesig").symlink_to(Path(genesig.__file__).parent)
        assert counts(tmp_path / "cache", tmp_path / name) == [1, 0]


def test_unwritable_cache_folder_recompiles_without_error(tmp_path):
    (tmp_path / "cache").write_text("a file, where a folder should be")
    assert counts(tmp_path / "cache")[0] == 0


def test_a_place_without_room_is_not_used(tmp_path, monkeypatch):
    def full(**_):
        raise OSError("No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", "")
    assert cache.cache_folder() == tmp_path / "genesig" / "compiled" / cache.source_digest()[:20]
    monkeypatch.setattr(cache.tempfile, "TemporaryFile", full)
    assert cache.cache_folder() is None


def test_old_contents_are_forgotten(tmp_path):
    for number in range(cache.MAX_KEPT_CACHES + 3):
        (tmp_path / str(number)).mkdir()
        os.utime(tmp_path / str(number), (number, number))
    cache.delete_old_caches(tmp_path)
    remaining_numbers = {int(place.name) for place in tmp_path.iterdir()}
    assert remaining_numbers == set(range(3, cache.MAX_KEPT_CACHES + 3))


@pytest.mark.parametrize("file", ["compiled/column.py", "optim/structured/newton.py"])
def test_source_digest_changes_with_every_kernel(tmp_path, monkeypatch, file):
    for folder in ("compiled", "optim"):
        shutil.copytree(cache.PACKAGE / folder, tmp_path / folder)
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    before = cache.source_digest()
    with (tmp_path / file).open("a") as stream:
        stream.write("#")
    assert before != cache.source_digest()


def kernel_records():
    """Yield the records that annotate the arguments of compiled functions, with their modules."""
    for path in sorted((cache.PACKAGE / "optim").rglob("*.py")):
        names = path.relative_to(cache.PACKAGE.parent).with_suffix("").parts
        import_module(".".join(names).removesuffix(".__init__"))
    modules = [module for name, module in sys.modules.items() if name.startswith("genesig.")]
    kernels = {
        id(value): value.py_func
        for module in modules
        for value in vars(module).values()
        if hasattr(value, "py_func")
    }
    pending = [hint for kernel in kernels.values() for hint in get_type_hints(kernel).values()]
    while pending:
        hint = pending.pop()
        if hasattr(hint, "_fields"):
            yield hint
            pending += get_type_hints(hint).values()


def test_records_of_kernels_are_defined_in_kernel_sources():
    records = set(kernel_records())
    assert {"LassoFit", "PathPoint", "Terms"} <= {record.__name__ for record in records}
    files = {Path(sys.modules[record.__module__].__file__).resolve() for record in records}
    assert files <= {source.resolve() for source in cache.kernel_sources()}


def test_a_function_without_a_file_is_not_kept():
    assert compiled(eval("lambda x: x + 1.0"))(1.0) == 2.0
