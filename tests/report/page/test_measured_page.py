"""The command that measures the page reports every figure of two pages."""

from __future__ import annotations

import pytest
from report_checks import BROWSER
from report_page import ACTS, Study, main, make_page

pytestmark = pytest.mark.drawn


@pytest.mark.slow
def test_every_figure_is_said_for_both_pages(tmp_path, capsys):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    page = make_page(Study(permutations=19, nonlinear=False), 0, tmp_path)
    main([page, page], large=Study(samples=40, nonlinear=False), rounds=1)
    small, large = capsys.readouterr().out.split("\n\n")
    for name in ("bytes", "nodes", "height", "load", "task", *ACTS):
        for listing in (small, large):
            figures = [
                line.split() for line in listing.splitlines() if line.startswith(f"{name}  ")
            ]
            assert len(figures) == 1
            assert float(figures[0][len(name.split())].replace(",", "")) >= 0
    assert small.count(f"{page.stat().st_size:,} ") == 1
    assert small.count(f"{page.stat().st_size:,}") == 2
