"""How well each of several classes is told from the others."""
