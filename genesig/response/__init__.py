"""Kinds of response (outcome), the design of a study, its covariates and decision rules."""
