"""Affymetrix arrays: CEL files and the layouts of their chips."""
