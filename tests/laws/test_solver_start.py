"""What the first call in a process brings with it, and jobs that start together."""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compiled_solver import STUDY, run
from places import ROOT

from genesig import compiled

COMPILED = [
    importlib.import_module(f"{compiled.__name__}.{module.name}")
    for module in pkgutil.iter_modules(compiled.__path__)
]

AFTER = """
import numba, numpy
assert "scipy.linalg" not in sys.modules, "a warm first call takes a third longer with it"
assert "numpy.f2py" not in sys.modules
square = numba.njit(lambda a: numpy.dot(a, a))
numpy.testing.assert_allclose(square(numpy.eye(3) * 2), numpy.eye(3) * 4)
"""


def start(code: str, cache: Path | None = None) -> subprocess.Popen:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", code, "in turn"]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_solver_loads_no_linear_algebra_that_it_does_not_use():
    job = start(STUDY + AFTER)
    _, error = job.communicate()
    assert job.returncode == 0, error.decode()


LISTEN = """
from numba.core import event

heard = event.RecordingListener()
event.register("numba:compile", heard)
"""
ONCE = """
made = [each.data["dispatcher"].py_func for _, each in heard.buffer if each.is_start]
names = [f"{function.__module__}.{function.__qualname__}" for function in made]
assert len(names) > 60 and sorted(set(names)) == sorted(names), names
others = [name for name in names if not name.startswith("genesig.")]
assert len(others) <= 1, others  # the call of numba's allocator
"""


@pytest.mark.slow
def test_a_first_start_compiles_every_kernel_once_and_nothing_else(tmp_path):
    job = start(LISTEN + STUDY + ONCE, tmp_path)
    _, error = job.communicate()
    assert job.returncode == 0, error.decode()


def test_kernels_call_no_function_that_numba_would_compile_for_them():
    kernels = [k for m in COMPILED for k in vars(m).values() if hasattr(k, "py_func")]
    assert len(kernels) > 60
    dear = {"max", "min", "empty", "empty_like", "ones", "eye", "flatnonzero", "sum", "full"}
    assert not [k for k in kernels if dear & {*k.py_func.__code__.co_names}]


UNKNOWN = "import numba; numba.__version__ = '9.0.0'\n"


@pytest.mark.slow
def test_a_numba_that_nobody_has_tried_compiles_in_its_own_way_to_the_same_bytes(tmp_path):
    made = []
    for name, before in (("known", ""), ("unknown", UNKNOWN)):
        job = start(before + STUDY, tmp_path / name)
        out, error = job.communicate()
        assert job.returncode == 0, error.decode()
        made.append(out)
    assert made[0] == made[1]
    sizes = [sum(f.stat().st_size for f in (tmp_path / n).rglob("*")) for n in ("known", "unknown")]
    assert sizes[0] != sizes[1]  # so that the second did take the other way


@pytest.mark.slow
def test_jobs_that_start_together_on_an_empty_cache_do_not_disturb_each_other(tmp_path):
    jobs = [start(STUDY, tmp_path) for _ in range(3)]
    out = [job.communicate() for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0], out[0][1].decode()
    assert len(np.frombuffer(out[0][0])) > 1000
    assert {made for made, _ in out} == {run(tmp_path, "in turn")}
    assert not [file for file in tmp_path.rglob("*") if file.suffix not in (".nbi", ".nbc", "")]
