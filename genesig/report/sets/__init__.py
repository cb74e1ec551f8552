"""Which gene sets predict, and whether they do it better than single genes."""
