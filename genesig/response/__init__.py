"""Kinds of response (outcome), one file for each, and covariates."""
