"""How good it is, and how sure that is."""
