"""Gene sets of which the signature, its blocks or the order of all genes hold more than chance."""
