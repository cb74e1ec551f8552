"""The same examples every time; what takes long begins first; installed plugins take no part."""

import os

from hypothesis import settings

from genesig.plugins import ONLY

os.environ[ONLY] = ""  # before any entry point is sought, and for the processes of tests

# More examples are drawn by `pytest --hypothesis-profile thorough`.
for name, number in (("genesig", 20), ("thorough", 200)):
    settings.register_profile(name, deadline=None, derandomize=True, max_examples=number)
settings.load_profile("genesig")

# Between them they call nearly all compiled code. Begun together by different workers, each kernel
# is compiled by one of them, and then lies in the cache; whole studies come next, not at the end.
FIRST = ["laws/test_cox.py", "laws/test_logistic.py", "laws/test_multitask.py",
         "laws/test_solver_laws.py", "toy/"]  # fmt: skip


def pytest_collection_modifyitems(items):
    """Sort, as pytest-xdist hands out the files in this order."""
    items.sort(key=lambda item: [part not in item.nodeid for part in FIRST])
