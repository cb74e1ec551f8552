"""Normalisation steps: row-wise steps, and steps that learn from training samples."""
