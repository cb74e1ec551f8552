"""Penalties on blocks of columns: groups, overlapping sets, several responses, several kernels."""
