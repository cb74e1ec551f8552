"""Hypothesis gives the same examples every time; no plugin that is installed here takes part."""

import os

from hypothesis import settings

from genesig.plugins import ONLY

os.environ[ONLY] = ""  # before any entry point is sought, and for the processes of tests

settings.register_profile("genesig", deadline=None, derandomize=True)
settings.load_profile("genesig")
