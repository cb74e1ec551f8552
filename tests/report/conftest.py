"""What tests of the report share."""

import pytest

from genesig.report import render
from genesig.report.page import svg


@pytest.fixture
def undrawn(monkeypatch):
    """Leave pictures empty, for tests of what is said beside them."""
    monkeypatch.setattr(render, "composite", lambda data, limits: None)
    with svg.undrawn():
        yield
