"""What tests of the report share."""

import sys

import pytest

from genesig.report.page.svg import Picture


@pytest.fixture
def undrawn(monkeypatch):
    """Leave pictures empty, for tests of what is said beside them."""

    def empty(name, draw, **words):
        return Picture(name, **words, svg='<svg xmlns="http://www.w3.org/2000/svg"/>', width=1.0)

    for module in [m for name, m in sys.modules.items() if name.startswith("genesig.report")]:
        if hasattr(module, "picture"):
            monkeypatch.setattr(module, "picture", empty)
