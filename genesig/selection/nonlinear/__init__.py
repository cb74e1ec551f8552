"""Nonlinear selection on the splits of the study."""
