"""Several studies of one question as one: each read by itself, then brought to common genes."""
