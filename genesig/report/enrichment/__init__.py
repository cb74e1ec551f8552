"""Gene sets of which the lists, or all genes, hold more than under permuted labels."""
