"""Gene signatures from expression data."""

__version__ = "0.1.0"
