"""Held-out performance of the models, with intervals, permutation tests and calibration."""
