"""Tests of the report leave its figures undrawn, but for those marked `drawn`."""

from dataclasses import replace

import pytest

from genesig.report import render
from genesig.report.page import section


@pytest.fixture
def undrawn(monkeypatch):
    """Leave figures empty: to draw them takes most of the time of a page."""
    monkeypatch.setattr(render, "composite", lambda data, limits: None)
    monkeypatch.setattr(render, "draw_picture", lambda image: replace(image, draw=None))
    monkeypatch.setattr(section, "draw_picture", lambda image: replace(image, draw=None))


@pytest.fixture(autouse=True)
def _draw_on_request(request):
    if not request.node.get_closest_marker("drawn"):
        request.getfixturevalue("undrawn")
