"""Which gene sets the lists, and all genes by their t, hold more of than under permuted labels."""
