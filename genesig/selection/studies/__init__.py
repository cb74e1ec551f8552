"""Analyses over several studies: meta-analysis of genes, and models tested in left-out studies."""
