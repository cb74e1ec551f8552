"""Affymetrix arrays: from the scanner's files to probe intensities, and RMA."""
