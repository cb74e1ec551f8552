"""Several studies of one question: each held out whole, and what the next one may show."""
