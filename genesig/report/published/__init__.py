"""Published signatures and random lists of genes, refitted on the same splits as this one."""
