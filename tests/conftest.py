"""Hypothesis gives the same examples every time and does not judge a slow machine."""

from hypothesis import settings

settings.register_profile("genesig", deadline=None, derandomize=True)
settings.load_profile("genesig")
