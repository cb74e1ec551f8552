"""Numerical code: arrays in, arrays out."""
