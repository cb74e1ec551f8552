"""From fits to tables of genes."""
