"""Errors, intervals and decisions of each kind of response."""
