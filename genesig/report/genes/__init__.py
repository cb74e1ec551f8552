"""The signature, its lists, blocks and values."""
