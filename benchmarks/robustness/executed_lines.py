"""Pytest plugin that records the lines of the package that each test file executes.

    PYTHONPATH=benchmarks/robustness EXECUTED_LINES=FILE pytest -n 0 -p executed_lines [-m slow]

It needs `coverage`. Compiled code and the jobs of whole studies are not recorded. Lines of a
session fixture count for the file whose test uses it first.
"""

from __future__ import annotations

import os
from pathlib import Path

import coverage
import pytest

PACKAGE = Path(__file__).parents[2] / "genesig"


class Recorder:
    """A coverage measurement whose contexts are test files."""

    def __init__(self) -> None:
        self.test_file = ""
        self.measurement = coverage.Coverage(
            data_file=os.environ["EXECUTED_LINES"], source=[str(PACKAGE)], config_file=False
        )
        self.measurement.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        test_file = item.nodeid.partition("::")[0]
        if test_file != self.test_file:
            self.test_file = test_file
            self.measurement.switch_context(test_file)

    def pytest_unconfigure(self) -> None:
        self.measurement.stop()
        self.measurement.save()


def pytest_configure(config: pytest.Config) -> None:
    """Start the measurement before any module of the package is imported."""
    config.pluginmanager.register(Recorder(), "recorder of executed lines")
