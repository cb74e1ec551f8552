"""Test tiers: README's line runs the quick tests, `-m slow` the others, `-m ''` all of them.

Examples of hypothesis are the same every time. Installed plugins take no part.
"""

import gc
import os
import re
import sys
from collections import defaultdict

import pytest
from hypothesis import settings

from genesig.plugins import PLUGINS_VARIABLE

QUICK = "not slow"  # the -m of pyproject.toml
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
SLOW_FILE = re.compile(r"^pytestmark = .*pytest\.mark\.slow\b", re.MULTILINE)

# Workers inherit this. With a worker for each core, more threads would only wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

os.environ[PLUGINS_VARIABLE] = (
    ""  # before any entry point is sought, and for the processes of tests
)

# Without bytecode every job of a study would compile the whole package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# `.ci/run slow` and `.ci/run long` draw more examples: --hypothesis-profile usual, thorough.
for profile, n_examples in (("quick", 5), ("usual", 20), ("thorough", 100)):
    settings.register_profile(profile, deadline=None, derandomize=True, max_examples=n_examples)
settings.load_profile("quick")

# The first four call nearly all compiled code. In this order no two of two workers compile a
# kernel at the same time; it then lies in the cache. Files of minutes come next, so that no worker
# ends long before the other.
FIRST = [
    "laws/test_cox.py",
    "laws/test_solver_laws.py",
    "laws/test_logistic.py",
    "laws/test_multitask.py",
    "toy/",
    "chaos/",
    "golden/",
    "claims/",
    "test_wheel.py",
    "test_site.py",
    "test_examples.py",
    "test_benchmarks.py",
]


# Garbage collections during the collection of tests take a sixth of its time and free nothing.
gc.disable()


def pytest_collection_finish():
    """Collect garbage again, rarely, and none of what was collected as tests."""
    gc.freeze()
    gc.set_threshold(50_000)  # to compile kernels makes many objects and little garbage
    gc.enable()


def pytest_ignore_collect(collection_path, config):
    """Skip a file that is slow as a whole: to import it takes longer than to read its marks."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    return True if SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_itemcollected(item):
    """Mark cases slow: those that `quick` leaves out, and those that `slow_cases` names."""
    quick = item.get_closest_marker("quick")
    slow = item.get_closest_marker("slow_cases")
    if (quick and item.callspec.id not in quick.args) or (slow and item.callspec.id in slow.args):
        item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let every other worker begin with the last file: each compiles half of the tests."""
    report = yield
    if isinstance(collector, pytest.Dir) and WORKER.endswith(tuple("13579")):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks
def pytest_collection_modifyitems(items):
    """Mark all but one of n cases slow where a test says `one_in(n)`; sort the files of workers."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("one_in"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for of_test in cases.values():
        (step,) = of_test[0].get_closest_marker("one_in").args
        for number, item in enumerate(of_test):
            if number % step:
                item.add_marker("slow")
    if WORKER:  # pytest-xdist hands out the files in this order
        items.sort(key=lambda item: ([part not in item.nodeid for part in FIRST], item.path))
