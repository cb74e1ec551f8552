"""Columns along chromosomes: their order, and the step functions nearest to values there."""
