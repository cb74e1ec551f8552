"""Tests of the report leave its figures undrawn, but for those marked `drawn`."""

import pytest

from genesig.report import render
from genesig.report.page import svg


@pytest.fixture
def undrawn(monkeypatch):
    """Leave figures empty: to draw them takes most of the time of a page."""
    monkeypatch.setattr(render, "composite", lambda data, limits: None)
    with svg.undrawn():
        yield


@pytest.fixture(autouse=True)
def _draw_on_request(request):
    if not request.node.get_closest_marker("drawn"):
        request.getfixturevalue("undrawn")
