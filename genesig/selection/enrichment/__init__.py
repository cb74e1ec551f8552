"""Which gene sets the lists, the blocks and the order of all genes hold more of than chance."""
