"""Fitting, validation and decision for each kind of outcome."""
