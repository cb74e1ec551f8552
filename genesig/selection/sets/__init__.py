"""Selection of gene sets on the study's own splits, and the tables of what it finds."""
